//! Latencies without somebody who was in the way, and without a part of each row.

use crate::table::{given, of};
use life::{Class, Io};
use proptest::prelude::*;
use trace::{DevId, Fs, Nanos};
use waits::{
    Absent, Asked, ChainId, Culprit, CulpritKind, Link, Part, Phase, Table, Those, Victim, Waiting, Way,
};

/// One reader behind a copy's reads and an archive's writeback: without both it is alone, whichever table they were added to.
#[test]
fn several_are_gone_together_by_name_or_by_kind() {
    let those = |tasks: &[&str], kinds: &[Io]| Those {
        tasks: tasks.iter().map(|name| (*name).into()).collect(),
        kinds: kinds.iter().copied().collect(),
    };
    let mean_without = |asked: Those| {
        let mut all = Table::default();
        all.follow(asked.clone());
        for _ in 0..2 {
            let mut t = Table::default();
            t.follow(asked.clone());
            let victim = t.victim(&Victim {
                task: "reader".into(),
                asked: Asked::Bio(Class::Read),
                fs: Fs::Unknown,
                dev: DevId(8),
            });
            let by = |t: &mut Table, name: &str, io| {
                t.culprit(&Culprit {
                    name: Some(name.into()),
                    io: Some(io),
                    ..Culprit::of(CulpritKind::Task)
                })
            };
            let holders = [
                by(&mut t, "cp", Io::Read),
                by(&mut t, "tar", Io::BackgroundWrite),
                by(&mut t, "reader", Io::Read),
            ];
            let chain = t.chain(ChainId(0), Link::Phase(Phase::Behind));
            let parts = holders.map(|culprit| Part { chain, culprit, time: Nanos(1000) });
            t.add(
                Waiting { victim, end: Nanos(0), total: Nanos(3000), bytes: 0, in_device: true },
                &parts,
                Nanos(3000),
                Nanos(0),
            );
            all.merge(&t);
        }
        let (victim, ..) = all.victims().next().unwrap();
        all.latencies_without(victim, &Absent::Those(asked), &[0.5], Way::Subtract).unwrap().mean
    };
    assert_eq!(mean_without(those(&["cp", "tar"], &[])), Nanos(1000));
    assert_eq!(mean_without(those(&["cp"], &[Io::BackgroundWrite])), Nanos(1000));
    assert_eq!(mean_without(those(&["cp"], &[])), Nanos(2000));
    // Nobody is without itself.
    assert_eq!(mean_without(those(&["reader"], &[Io::Read])), Nanos(2000));
}

/// Reads of 4 ms: 1 behind a copy or not, 2 without a processor, and the rest that the device serves.
#[test]
fn what_is_left_for_nobody_who_could_be_asked_is_unclear() {
    let mut t = Table::default();
    let victim = t.victim(&Victim {
        task: "reader".into(),
        asked: Asked::Bio(Class::Read),
        fs: Fs::Unknown,
        dev: DevId(8),
    });
    let copy = Culprit { name: Some("cp".into()), io: Some(Io::Read), ..Culprit::of(CulpritKind::Task) };
    let chain = t.chain(ChainId(0), Link::Phase(Phase::Behind));
    let [cpu, own] = [CulpritKind::Cpu, CulpritKind::Own].map(Culprit::of);
    for behind in [1000, 0] {
        let all = [(&copy, behind), (&cpu, 2000), (&own, 2000 - behind)];
        let parts = all.map(|(culprit, ns)| Part { chain, culprit: t.culprit(culprit), time: Nanos(ns) });
        let parts = &parts[usize::from(behind == 0)..];
        for _ in 0..10 {
            let waiting = Waiting { victim, end: Nanos(0), total: Nanos(4000), bytes: 0, in_device: true };
            t.add(waiting, parts, Nanos(4000), Nanos(0));
        }
    }
    let unclear = t.unclear_without(victim, &Absent::Task("cp".into()), 0.0);
    assert!((unclear - 4.0 / 7.0).abs() < 0.01, "{unclear}");
}

proptest! {
    /// Without nothing all stays, without all nothing does, and in between no latency rises.
    #[test]
    fn less_of_each_row_is_less_of_each_latency(
        all in proptest::collection::vec(given(2, 6, 4), 1..60),
        part in 0.0_f64..1.0,
    ) {
        let table = of(&all);
        for (id, _, sums) in table.victims() {
            let now = Nanos(sums.ns / sums.ops.max(1));
            let without = |part: f64| table.latencies_with_less(id, |_, _, _| part, &[0.5, 0.99]);
            prop_assert_eq!(without(0.0).0, now);
            prop_assert_eq!(without(1.0), (Nanos(0), vec![Nanos(0); 2]));
            let (mean, at) = without(part);
            prop_assert!(mean <= now && at[0] <= at[1]);
            prop_assert!(at[0] <= sums.quantile(0.5) && at[1] <= sums.quantile(0.99));
        }
    }
}
