//! What always holds of a table: it adds up, merging below its bounds is exact in any order, and above them it still adds up, rows
//! are lower bounds, and what they lack is in `others`.

use life::Op;
use operation::{Kind, Wait};
use proptest::prelude::*;
use std::collections::BTreeMap;
use trace::{Call, DevId, Fs, Nanos};
use waits::{
    Absent, Asked, Bounds, Bucket, ChainId, Culprit, CulpritKind, Link, Part, Phase, Prediction, Table,
    Victim, VictimId, Waiting, Way,
};

/// An operation: who, when it ended, and parts of its time: which chain, because of whom, how long.
#[derive(Clone, Debug)]
pub struct Given {
    victim: u32,
    end: u64,
    parts: Vec<(u32, u32, u64)>,
    own: u8,
}

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

fn victim(n: u32) -> Victim {
    let calls = [Call::Read, Call::Write, Call::Fsync];
    let asked = Asked::Operation(Kind::Call(calls[n as usize % 3]));
    Victim { task: format!("task{n}").into(), asked, fs: Fs::Ext4, dev: DevId::new(8, n % 2) }
}

fn culprit(n: u32) -> Culprit {
    match n % 4 {
        0 => Culprit::of(CulpritKind::Own),
        1 => Culprit::of(CulpritKind::Device),
        _ => Culprit { name: Some(format!("who{n}").into()), ..Culprit::of(CulpritKind::Task) },
    }
}

fn chain(table: &mut Table, n: u32) -> ChainId {
    let function = table.function_number(&format!("function{}", n / 3));
    let mut at = table.chain(ChainId(0), Link::Wait(Wait::PageRead, function));
    if n % 2 == 0 {
        at = table.chain(at, Link::Request(Op::Read, false, false));
    }
    let phases = [Phase::Service, Phase::Behind, Phase::Paused];
    table.chain(at, Link::Phase(phases[n as usize % 3]))
}

fn add(table: &mut Table, given: &[Given]) {
    for g in given {
        let victim = table.victim(&victim(g.victim));
        let mut parts = Vec::<Part>::new();
        for (c, who, time) in &g.parts {
            let (chain, culprit, time) = (chain(table, *c), table.culprit(&culprit(*who)), Nanos(*time));
            match parts.iter_mut().find(|p| (p.chain, p.culprit) == (chain, culprit)) {
                Some(part) => part.time += time,
                None => parts.push(Part { chain, culprit, time }),
            }
        }
        let total: Nanos = parts.iter().map(|p| p.time).sum();
        let lost = Nanos((u128::from(total.0) * u128::from(g.own) / 255) as u64);
        table.waited_on(victim, DevId::new(8, g.victim % 3), total);
        table.was_cut(victim, 2, 8192);
        table.add(
            Waiting { victim, end: Nanos(g.end), total, bytes: 4096, in_device: g.own % 2 == 0 },
            &parts,
            lost,
            Nanos(0),
        );
    }
}

pub fn of(given: &[Given]) -> Table {
    let mut table = Table::default();
    add(&mut table, given);
    table
}

fn bounded(bounds: Bounds, given: &[Given]) -> Table {
    let mut table = Table::bounded(bounds);
    add(&mut table, given);
    table
}

pub fn given(victims: u32, chains: u32, culprits: u32) -> impl Strategy<Value = Given> {
    let parts = proptest::collection::vec((0..chains, 0..culprits, 1..50 * MS), 1..5);
    (0..victims, 0..9_000 * SECOND, parts, any::<u8>()).prop_map(|(victim, end, parts, own)| Given {
        victim,
        end,
        parts,
        own,
    })
}

type Rows = BTreeMap<(Victim, Vec<String>, Culprit, Bucket), u64>;

/// Rows by what they mean; numbers differ from table to table.
fn rows(table: &Table) -> Rows {
    let mut all = Rows::new();
    for (_, victim, sums) in table.victims() {
        for (bucket, cell) in &sums.cells {
            for (chain, who, ns) in &cell.rows {
                let words = table
                    .links(*chain)
                    .into_iter()
                    .map(|l| format!("{} {:?}", table.link_words(l), kind(l)))
                    .collect();
                let key = (victim.clone(), words, table.culprit_of(*who).clone(), *bucket);
                assert_eq!(all.insert(key, *ns), None, "a row stands there twice");
            }
        }
    }
    all
}

fn kind(link: Link) -> Option<Phase> {
    match link {
        Link::Phase(phase) => Some(phase),
        _ => None,
    }
}

/// All of a table that is not in rows.
fn headers(table: &Table) -> Vec<String> {
    let of = |(id, v, s): (VictimId, &Victim, &waits::Sums)| {
        let cells: Vec<_> = s.cells.iter().map(|(b, c)| (b, c.ops, c.ns, c.lost)).collect();
        let mut devices = s.devices.to_vec();
        devices.sort();
        let mut without: Vec<_> = s.without.iter().map(|(who, w)| (table.absent(*who), w)).collect();
        without.sort_by(|(a, _), (b, _)| a.cmp(b));
        let axis = table.seconds().of(id);
        format!(
            "{v:?} {cells:?} {:?} {devices:?} {without:?} {axis:?} {:?}",
            (s.ops, s.ns, s.lost, s.bytes, s.max),
            s.cut
        )
    };
    let mut all: Vec<String> = table.victims().map(of).collect();
    all.sort();
    all
}

fn merged(a: &Table, b: &Table) -> Table {
    let mut sum = a.clone();
    sum.merge(b);
    sum
}

fn is_others(row: &(Victim, Vec<String>, Culprit, Bucket)) -> bool {
    row.0.is_others() || row.1.iter().any(|words| words.starts_with("others")) || row.2 == Culprit::others()
}

/// Kept rows are lower bounds, and what they lack together is `others`.
fn check_bounded(exact: &Table, table: &Table) {
    assert_eq!(table.imbalance(), None);
    let (all, sampled) = (rows(exact), rows(table));
    let mut told = 0;
    for (row, ns) in sampled.iter().filter(|(row, _)| !is_others(row)) {
        let true_ns = all.get(row).copied().unwrap_or(0);
        assert!(*ns <= true_ns, "{row:?}: {ns} of {true_ns}");
        told += ns;
    }
    let sum: u64 = all.values().sum();
    assert_eq!(sum, sampled.values().sum::<u64>());
    assert_eq!(table.others_time(), Nanos(sum - told));
    assert!(table.others() >= 0.0 && table.others() <= 1.0);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn a_table_adds_up(all in proptest::collection::vec(given(6, 12, 9), 0..120)) {
        let table = of(&all);
        prop_assert_eq!(table.imbalance(), None);
        let wanted: u64 = all.iter().flat_map(|g| &g.parts).map(|(.., ns)| ns).sum();
        prop_assert_eq!(rows(&table).values().sum::<u64>(), wanted);
        prop_assert_eq!(table.victims().map(|(_, _, s)| s.ops).sum::<u64>(), all.len() as u64);
        prop_assert_eq!(table.others(), 0.0);
    }

    #[test]
    fn merging_is_adding_in_any_order(
        a in proptest::collection::vec(given(6, 12, 9), 0..40),
        b in proptest::collection::vec(given(6, 12, 9), 0..40),
        c in proptest::collection::vec(given(6, 12, 9), 0..40),
    ) {
        let all: Vec<Given> = [&a[..], &b, &c].concat();
        let (whole, a, b, c) = (of(&all), of(&a), of(&b), of(&c));
        let wanted = (rows(&whole), headers(&whole), whole.seconds().width());
        let ways = [
            merged(&merged(&a, &b), &c),
            merged(&a, &merged(&b, &c)),
            merged(&merged(&c, &b), &a),
            merged(&merged(&b, &a), &c),
            merged(&Table::default(), &merged(&merged(&a, &c), &b)),
        ];
        for way in ways {
            prop_assert_eq!(way.imbalance(), None);
            prop_assert_eq!(&(rows(&way), headers(&way), way.seconds().width()), &wanted);
        }
    }

    #[test]
    fn above_the_bounds_rows_are_lower_bounds(
        all in proptest::collection::vec(given(40, 90, 40), 0..400),
        which in 0usize..6,
    ) {
        let few = Bounds::default();
        let bounds = [
            Bounds { rows: 512, ..few },
            Bounds { rows_of_cell: 3, ..few },
            Bounds { victims: 6, ..few },
            Bounds { chains: 24, ..few },
            Bounds { culprits: 6, ..few },
            Bounds { rows: 512, rows_of_cell: 4, victims: 8, chains: 24, culprits: 8 },
        ][which];
        let (exact, table) = (of(&all), bounded(bounds, &all));
        check_bounded(&exact, &table);
        let half = all.len() / 2;
        let mut sum = bounded(bounds, &all[half..]);
        sum.merge(&bounded(bounds, &all[..half]));
        check_bounded(&exact, &sum);
    }

    /// Whoever is heavy is kept, however late it comes and whatever came before.
    #[test]
    fn the_heaviest_stay(light in proptest::collection::vec(given(200, 300, 200), 100..400), at in 0usize..100) {
        let heavy = Given { victim: 1000, end: 0, parts: vec![(1001, 1002, 5_000 * MS)], own: 0 };
        let mut all: Vec<Given> = light;
        (0..10).for_each(|i| all.insert(at * i / 10, heavy.clone()));
        let bounds = Bounds { rows: 2048, rows_of_cell: 64, victims: 16, chains: 48, culprits: 16 };
        let (exact, table) = (of(&all), bounded(bounds, &all));
        check_bounded(&exact, &table);
        let (sampled, known) = (rows(&table), rows(&exact));
        let (row, ns) = known.iter().find(|(row, _)| row.0 == victim(1000)).unwrap();
        // It may have come when there was no room, once.
        prop_assert!(sampled.get(row).is_some_and(|sampled| *sampled >= ns - 5_000 * MS), "{:?} of {}", sampled.get(row), ns);
    }

    #[test]
    fn stretches_double_as_often_as_needed_and_not_more(
        ends in proptest::collection::vec((0u32..4, prop_oneof![4 => 0u64..40_000, 1 => 0..=u64::MAX / SECOND]), 1..60),
    ) {
        let all: Vec<Given> = ends.iter()
            .map(|(victim, end)| Given { victim: *victim, end: end * SECOND, parts: vec![(0, 0, MS)], own: 9 })
            .collect();
        let table = of(&all);
        prop_assert_eq!(table.imbalance(), None);
        let (first, last) = (ends.iter().map(|(_, e)| e).min().unwrap(), ends.iter().map(|(_, e)| e).max().unwrap());
        let stretches = |width: u64| last / width - first / width + 1;
        let width = table.seconds().width();
        prop_assert!(width.is_power_of_two() && stretches(width) <= 3600);
        prop_assert!(width == 1 || stretches(width / 2) > 3600, "{} s wide", width);
        for (id, ..) in table.victims() {
            let at = table.seconds().of(id);
            prop_assert!(at.windows(2).all(|w| w[0].0 < w[1].0));
            prop_assert!(at.iter().all(|(at, _)| at.0 % (width * SECOND) == 0));
        }
    }

    #[test]
    fn without_somebody_nobody_is_slower(all in proptest::collection::vec(given(2, 6, 9), 1..120)) {
        let table = of(&all);
        let nobody = Absent::Task("nobody".into());
        let parts = [0.0, 0.1, 0.5, 0.9, 0.99, 1.0];
        for (id, _, sums) in table.victims() {
            let now: Vec<Nanos> = parts.iter().map(|part| sums.quantile(*part)).collect();
            let same = table.latencies_without(id, &nobody, &parts, Way::Subtract).unwrap();
            prop_assert_eq!((same.mean, &same.at), (Nanos(sums.ns / sums.ops), &now));
            for (who, without) in &sums.without {
                for way in [Way::Subtract, Way::LikeOthers] {
                    let told = table.latencies_without(id, &table.absent(*who), &parts, way);
                    let Some(Prediction { mean, at: then, .. }) = told else { continue };
                    if way == Way::Subtract {
                        prop_assert_eq!(mean, Nanos((sums.ns - without.time) / sums.ops));
                    }
                    prop_assert!(mean.0 <= sums.ns / sums.ops);
                    prop_assert!(then.iter().zip(&now).all(|(then, now)| then <= now), "{:?} {:?}", then, now);
                    prop_assert!(then.windows(2).all(|w| w[0] <= w[1]), "{:?}", then);
                }
            }
        }
    }

    /// Times of centuries: nothing overflows, and what does not fit is counted and left out.
    #[test]
    fn centuries_are_left_out_and_counted(times in proptest::collection::vec(prop_oneof![any::<u64>(), Just(u64::MAX), 1..MS], 1..40)) {
        let all: Vec<Given> = times.iter()
            .map(|ns| Given { victim: (ns % 3) as u32, end: *ns, parts: vec![(0, 2, (*ns).max(1))], own: 255 })
            .collect();
        let table = of(&all);
        prop_assert_eq!(table.imbalance(), None);
        let added: u64 = table.victims().map(|(_, _, s)| s.ops).sum();
        prop_assert_eq!(added + table.left_out(), all.len() as u64);
        let twice = merged(&table, &table);
        prop_assert_eq!(twice.imbalance(), None);
        let ids: Vec<VictimId> = twice.victims().map(|(id, ..)| id).collect();
        twice.slowest_of(&ids, 0.01);
        for id in ids {
            twice.rows_of(id, Default::default());
            twice.of(id).1.quantile(0.99);
            twice.of(id).1.own_quantile(0.99);
        }
        twice.folded(|id| Some((format!("{id:?}"), waits::Selection::default())));
    }
}

/// More rows, victims, chains and culprits than fit: the default bounds hold all the way, and the heaviest row is there.
#[test]
fn a_hostile_crowd_stays_within_the_default_bounds() {
    let (mut table, mut most) = (Table::default(), 0);
    for n in 0..40_000u32 {
        let scattered = |salt: u32| n.wrapping_add(salt).wrapping_mul(2_654_435_761) >> 4;
        // First only too many rows, then too many of everything.
        let (chains, culprits, victims) =
            if n < 35_000 { (4_001, 2_003, 300) } else { (70_001, 9_001, 1_500) };
        let part = |salt| {
            (
                scattered(salt) % chains,
                scattered(salt) % culprits,
                1000 + u64::from(scattered(salt) % 5_000_000),
            )
        };
        let parts = vec![part(1), part(70_000), part(140_000), part(210_000), (n % 7, 0, 500)];
        let other = Given { victim: scattered(0) % victims, end: u64::from(n) * SECOND, parts, own: 200 };
        add(&mut table, &[other]);
        if n % 200 == 0 {
            add(&mut table, &[Given { victim: 9_999, end: 0, parts: vec![(1, 2, 900 * MS)], own: 255 }]);
        }
        most = most.max(table.len());
    }
    assert_eq!(table.imbalance(), None);
    assert!(most <= Bounds::default().rows && most > Bounds::default().rows - 9, "{most} rows");
    let (id, _, sums) = table.victims().max_by_key(|(_, v, s)| (!v.is_others(), s.ns)).unwrap();
    assert_eq!((&*table.of(id).0.task, sums.ops), ("task9999", 200));
    assert_eq!(table.rows_of(id, Default::default())[0].time, Nanos(200 * 900 * MS));
    assert!(table.epoch() > 2 && table.epoch() < 200, "room was made {} times", table.epoch());
    assert!(table.others() > 0.1 && table.others() < 1.0, "{}", table.others());
}
