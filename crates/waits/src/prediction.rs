//! Predicts a victim's latencies if a task's time were removed from each of its operations.

use crate::bucket::Bucket;
use crate::culprit::CulpritId;
use crate::sums::Sums;
use crate::without::{Left, Without};
use std::collections::BTreeMap;
use trace::Nanos;

/// The method of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Subtracts the culprit's part from each operation.
    Subtract,
    /// Operations that met the culprit in a device take as long as those that did not.
    LikeOthers,
}

/// Predicted latencies without a culprit.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The mean.
    pub mean: Nanos,
    /// The standard deviation of single operations, in nanoseconds.
    pub deviation: f64,
    /// The requested quantiles.
    pub at: Vec<Nanos>,
}

impl Without {
    /// All operations by bucket, with the culprit's time subtracted. `is_unclear`: whether no task is responsible for a culprit's time.
    pub(crate) fn subtracted(
        &self,
        of: &Sums,
        is_unclear: impl Fn(CulpritId) -> bool,
    ) -> BTreeMap<Bucket, Left> {
        let mut cells = BTreeMap::<Bucket, Left>::new();
        for (bucket, cell) in &of.cells {
            let ops = cell.ops - self.removed.get(bucket).copied().unwrap_or(0).min(cell.ops);
            if ops > 0 {
                let each = |ns: u64| (ns / cell.ops.max(1)).saturating_mul(ops);
                let unclear =
                    cell.rows.iter().filter(|(_, who, _)| is_unclear(*who)).map(|(.., ns)| ns).sum();
                cells.insert(*bucket, Left { ops, ns: each(cell.ns), unclear: each(unclear) });
            }
        }
        self.added.iter().for_each(|(bucket, left)| cells.entry(*bucket).or_default().add(*left));
        cells
    }

    /// All operations by bucket, if those that met the culprit in a device took as long as those that did not; `None` if there are too few
    /// of these. Operations that were not in a device stay unchanged.
    pub(crate) fn like_others(&self, of: &Sums) -> Option<BTreeMap<Bucket, (u64, u64)>> {
        let all: u64 = of.in_device.values().sum();
        let met: u64 = self.met.values().sum();
        let others = all.saturating_sub(met);
        if met == 0 || others < ENOUGH_OTHERS {
            return None;
        }
        let mut cells = BTreeMap::new();
        let (mut seen, mut given) = (0, 0);
        for (bucket, cell) in &of.cells {
            let in_device = of.in_device.get(bucket).copied().unwrap_or(0).min(cell.ops);
            seen += in_device.saturating_sub(self.met.get(bucket).copied().unwrap_or(0));
            // The part of all operations in this bucket or below is that of the operations that did not meet the culprit.
            let until = (u128::from(all) * u128::from(seen) / u128::from(others)) as u64;
            let ops = cell.ops - in_device + until - given;
            given = until;
            if ops > 0 {
                cells.insert(*bucket, (ops, (cell.ns / cell.ops.max(1)).saturating_mul(ops)));
            }
        }
        Some(cells)
    }
}

/// In 9 of 10 cases, the median of this many operations lies between the true quantiles 0.35 and 0.65 (normal approximation of the binomial
/// distribution); for 10 operations, between 0.24 and 0.76.
const ENOUGH_OTHERS: u64 = 30;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::{ChainId, Link};
    use crate::culprit::{Culprit, CulpritKind};
    use crate::phase::Phase;
    use crate::table::{Part, Table, Waiting};
    use crate::victim::{Asked, Victim};
    use crate::without::Absent;
    use life::Class;
    use trace::{DevId, Fs};

    const MS: u64 = 1_000_000;

    /// Fifty reads from a cache in 10 us, `others` of 1 ms in a device, and thirty of 6 ms there, 3 ms of these behind dd: the rest beside dd is
    /// unclear.
    fn beside_dd(others: usize) -> (Table, crate::victim::VictimId) {
        let mut t = Table::default();
        let asked = Asked::Bio(Class::Read);
        let victim = t.victim(&Victim { task: "reader".into(), asked, fs: Fs::Unknown, dev: DevId(8) });
        let dd = t.culprit(&Culprit { name: Some("dd".into()), ..Culprit::of(CulpritKind::Task) });
        let nobody = t.culprit(&Culprit::of(CulpritKind::Device));
        let chain = t.chain(ChainId(0), Link::Phase(Phase::Behind));
        let hits = std::iter::repeat_n((MS / 100, 0, false), 50);
        let alone = std::iter::repeat_n((MS, 0, true), others);
        let beside = std::iter::repeat_n((6 * MS, 3 * MS, true), 30);
        for (total, of_dd, in_device) in hits.chain(alone).chain(beside) {
            let part = |culprit, ns| Part { chain, culprit, time: Nanos(ns) };
            let parts = [part(nobody, total - of_dd), part(dd, of_dd)];
            let waiting = Waiting { victim, end: Nanos(0), total: Nanos(total), bytes: 4096, in_device };
            t.add(waiting, &parts[..1 + usize::from(of_dd > 0)], Nanos(of_dd), Nanos(0));
        }
        (t, victim)
    }

    #[test]
    fn who_met_somebody_is_like_those_who_did_not() {
        let (table, victim) = beside_dd(40);
        let dd = Absent::Task("dd".into());
        let without = |way| table.latencies_without(victim, &dd, &[0.4, 0.99], way).unwrap();
        let told = without(Way::Subtract);
        let mean = (MS / 2 + 40 * MS + 30 * 3 * MS) / 120;
        assert_eq!((told.mean, told.at), (Nanos(mean), vec![Nanos(MS / 100), Nanos(3 * MS)]));
        let told = without(Way::LikeOthers);
        assert_eq!((told.mean, told.at), (Nanos((MS / 2 + 70 * MS) / 120), vec![Nanos(MS / 100), Nanos(MS)]));
        // Fifty of 0.01 ms and seventy of 1 ms.
        assert!((told.deviation / MS as f64 - 0.488).abs() < 0.001, "{}", told.deviation);
    }

    /// An evicted absence that returns is not tracked: its earlier time is unknown.
    #[test]
    fn who_made_room_is_not_followed_again() {
        let mut t = Table::default();
        let asked = Asked::Bio(Class::Read);
        let victim = t.victim(&Victim { task: "reader".into(), asked, fs: Fs::Unknown, dev: DevId(8) });
        let chain = t.chain(ChainId(0), Link::Phase(Phase::Behind));
        let mut behind = |name: &str, ns: u64| {
            let who = t.culprit(&Culprit { name: Some(name.into()), ..Culprit::of(CulpritKind::Task) });
            let waiting = Waiting { victim, end: Nanos(0), total: Nanos(ns), bytes: 4096, in_device: true };
            t.add(waiting, &[Part { chain, culprit: who, time: Nanos(ns) }], Nanos(ns), Nanos(0));
        };
        behind("cp", MS);
        for n in 0..30 {
            behind(&format!("dd{n}"), (2 + n) * MS);
        }
        behind("cp", 100 * MS);
        let told = |who: &Absent| t.latencies_without(victim, who, &[0.5], Way::Subtract);
        let of = |name: &str| told(&Absent::Task(name.into()));
        let all: u64 = MS + (2..32).sum::<u64>() * MS + 100 * MS;
        assert!(of("cp").is_none() && of("dd0").is_none());
        assert_eq!(of("dd29").map(|told| told.mean), Some(Nanos((all - 31 * MS) / 32)));
        assert_eq!(told(&Absent::Everybody).map(|told| told.mean), Some(Nanos(0)), "never made room");
    }

    /// Reads of 1 ms beside dd, which takes none of their time, and ten of 5 ms, 3 ms of these waiting for a processor.
    #[test]
    fn who_was_there_was_met_and_what_is_left_of_the_slowest_may_be_nobodys() {
        let mut t = Table::default();
        let asked = Asked::Bio(Class::Read);
        let victim = t.victim(&Victim { task: "reader".into(), asked, fs: Fs::Unknown, dev: DevId(8) });
        let dd = t.culprit(&Culprit { name: Some("dd".into()), ..Culprit::of(CulpritKind::Task) });
        let (own, cpu) =
            (t.culprit(&Culprit::of(CulpritKind::Own)), t.culprit(&Culprit::of(CulpritKind::Cpu)));
        let chain = t.chain(ChainId(0), Link::Phase(Phase::Behind));
        for (total, of_cpu) in
            std::iter::repeat_n((MS, 0), 90).chain(std::iter::repeat_n((5 * MS, 3 * MS), 10))
        {
            let part = |culprit, ns| Part { chain, culprit, time: Nanos(ns) };
            let parts = [part(dd, 0), part(cpu, of_cpu), part(own, total - of_cpu)];
            let waiting =
                Waiting { victim, end: Nanos(0), total: Nanos(total), bytes: 4096, in_device: true };
            t.add(waiting, &parts, Nanos(of_cpu), Nanos(0));
        }
        let dd = Absent::Task("dd".into());
        assert_eq!(t.did_not_meet(victim, &dd), 0);
        assert_eq!(t.imbalance(), None);
        let unclear = |beyond| t.unclear_without(victim, &dd, beyond);
        assert!((unclear(0.95) - 0.6).abs() < 1e-9 && (unclear(0.0) - 30.0 / 140.0).abs() < 1e-9);
    }

    #[test]
    fn a_few_others_are_no_measure() {
        let like = |others| {
            let (table, victim) = beside_dd(others);
            table.latencies_without(victim, &Absent::Task("dd".into()), &[0.5], Way::LikeOthers)
        };
        assert!(like(29).is_none() && like(30).is_some());
    }

    #[test]
    fn who_leaves_takes_the_processors_time_along() {
        let cpu = Culprit { name: Some("cc1".into()), ..Culprit::of(CulpritKind::Cpu) };
        assert!(Absent::Task("cc1".into()).takes(&cpu) && Absent::Everybody.takes(&cpu));
        assert!(!Absent::Task("dd".into()).takes(&cpu) && !Absent::Flushes.takes(&cpu));
        let nobody = Culprit::of(CulpritKind::Cpu);
        assert!(!Absent::Everybody.takes(&nobody), "it is not known who ran");
    }
}
