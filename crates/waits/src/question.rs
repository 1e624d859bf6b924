//! Queries of the table: rows of victims from a latency on; lost time by culprit; predictions; folded stacks.

use crate::bucket::Bucket;
use crate::chain::{ChainId, Link};
use crate::culprit::{Culprit, CulpritId, CulpritKind};
use crate::phase::Phase;
use crate::prediction::{Prediction, Way};
use crate::table::Table;
use crate::victim::VictimId;
use crate::without::Absent;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use trace::Nanos;

/// Time of one victim with the same chain and culprit, summed over the selected buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The victim.
    pub victim: VictimId,
    /// The chain of waits, from the operation to the last link.
    pub chain: ChainId,
    /// The culprit.
    pub culprit: CulpritId,
    /// The sum of the time.
    pub time: Nanos,
}

/// The operations to include.
#[derive(Clone, Copy, Debug, Default)]
pub struct Selection {
    /// Operations in this bucket and slower ones.
    pub from: Bucket,
}

impl Table {
    /// The slowest bucket such that at least `share` of the victims' operations are in it or in slower ones.
    pub fn slowest_from(&self, victims: &[VictimId], share: f64) -> Bucket {
        self.slowest_until(victims, share, |_| true).0.from
    }

    /// The same as a selection, with the number of operations in it. More are included until no single operation has most of their time,
    /// unless it has most of the victims' lost time: otherwise it would hide the others.
    ///
    /// Example: of 880 fsyncs of 4 ms, one took 371 ms. It has 80 % of the time of the slowest nine, but 14 % of the lost time. So the
    /// slowest hundred are selected.
    pub fn slowest_of(&self, victims: &[VictimId], share: f64) -> (Selection, u64) {
        let sums = || victims.iter().map(|v| self.of(*v).1);
        let lost = sums().fold(0, |lost: u64, s| lost.saturating_add(s.lost));
        let longest = sums().map(|s| s.max.0).max().unwrap_or(0);
        let is_most = longest > lost.saturating_sub(longest);
        self.slowest_until(victims, share, |time| is_most || longest <= time.saturating_sub(longest))
    }

    /// Selects buckets from the slowest on, until at least `share` of the operations are included and `enough` accepts their time.
    fn slowest_until(
        &self,
        victims: &[VictimId],
        share: f64,
        enough: impl Fn(u64) -> bool,
    ) -> (Selection, u64) {
        let sums = || victims.iter().map(|v| self.of(*v).1);
        let all: u64 = sums().map(|s| s.ops).sum();
        let wanted = ((all as f64 * share).ceil() as u64).max(1);
        let mut buckets = BTreeMap::<Bucket, (u64, u64)>::new();
        for (bucket, cell) in sums().flat_map(|s| &s.cells) {
            let of = buckets.entry(*bucket).or_default();
            *of = (of.0 + cell.ops, of.1.saturating_add(cell.ns));
        }
        let (mut seen, mut time) = (0, 0_u64);
        for (bucket, (ops, ns)) in buckets.iter().rev() {
            (seen, time) = (seen + ops, time.saturating_add(*ns));
            if seen >= wanted && enough(time) {
                return (Selection { from: *bucket }, seen);
            }
        }
        (Selection::default(), seen)
    }

    /// The rows of a victim, the largest first.
    pub fn rows_of(&self, victim: VictimId, which: Selection) -> Vec<Row> {
        let mut sums = FxHashMap::<(ChainId, CulpritId), u64>::default();
        let (_, of) = self.of(victim);
        for cell in of.cells.range(which.from..).map(|(_, cell)| cell) {
            for (chain, culprit, ns) in &cell.rows {
                *sums.entry((*chain, *culprit)).or_default() += ns;
            }
        }
        let row = |((chain, culprit), ns)| Row { victim, chain, culprit, time: Nanos(ns) };
        let mut rows: Vec<Row> = sums.into_iter().map(row).collect();
        rows.sort_unstable_by_key(|r| (std::cmp::Reverse(r.time), r.chain, r.culprit));
        rows
    }

    /// The number of selected operations and their time.
    pub fn selected(&self, victim: VictimId, which: Selection) -> (u64, Nanos) {
        let cells = self.of(victim).1.cells.range(which.from..);
        cells.fold((0, Nanos(0)), |(n, t), (_, c)| (n + c.ops, t + Nanos(c.ns)))
    }

    /// The phase at the end of a chain; `None` if the chain has been merged into others.
    pub fn phase(&self, chain: ChainId) -> Option<Phase> {
        match self.chains.last(chain) {
            Link::Phase(phase) => Some(phase),
            _ => None,
        }
    }

    /// Whether a row is its victim's own time and not lost.
    pub fn is_own(&self, chain: ChainId, culprit: CulpritId) -> bool {
        self.phase(chain).is_some_and(|phase| phase.is_own(self.culprit_of(culprit).kind))
    }

    /// Whether a link of a chain satisfies `is`.
    pub fn passes(&self, chain: ChainId, is: impl Fn(Link) -> bool) -> bool {
        self.chains.backward(chain).any(is)
    }

    /// A victim's predicted latencies without `who`: the mean and the quantiles `parts`. `None` if the absence was not tracked, or if too few
    /// operations did not meet `who` for [`Way::LikeOthers`].
    pub fn latencies_without(
        &self,
        victim: VictimId,
        who: &Absent,
        parts: &[f64],
        way: Way,
    ) -> Option<Prediction> {
        let (_, of) = self.of(victim);
        let Some((_, without)) = of.without.iter().find(|(id, _)| self.absent(*id) == *who) else {
            let all = || parts.iter().map(|part| of.quantile(*part)).collect();
            let mean = Nanos(of.ns / of.ops.max(1));
            // If all absences are tracked, one without an entry cost no time.
            return of.follows_all().then(|| Prediction { mean, deviation: 0.0, at: all() });
        };
        let (cells, ns) = match way {
            Way::Subtract => {
                let left = without.subtracted(of, |who| self.is_unclear(who));
                let cells: BTreeMap<_, _> =
                    left.into_iter().map(|(b, left)| (b, (left.ops, left.ns))).collect();
                (cells, of.ns.saturating_sub(without.time))
            }
            Way::LikeOthers => {
                let cells = without.like_others(of)?;
                let ns = cells.values().fold(0_u64, |sum, (_, ns)| sum.saturating_add(*ns));
                (cells, ns.min(of.ns))
            }
        };
        let mean = Nanos(ns / of.ops.max(1));
        // No operation is slower without a culprit; means of buckets alone do not guarantee that.
        let at = |part: &f64| {
            crate::sums::quantile(cells.values().copied(), of.ops, *part).min(of.quantile(*part))
        };
        let deviation = deviation(cells.values().copied(), mean);
        Some(Prediction { mean, deviation, at: parts.iter().map(at).collect() })
    }

    /// A victim's latencies if the part `gone` of each row were removed: the mean and the quantiles `parts`. Treats operations of one bucket as
    /// equal.
    pub fn latencies_with_less(
        &self,
        victim: VictimId,
        gone: impl Fn(Bucket, ChainId, CulpritId) -> f64,
        parts: &[f64],
    ) -> (Nanos, Vec<Nanos>) {
        let (_, of) = self.of(victim);
        let mut cells = BTreeMap::<Bucket, (u64, u64)>::new();
        for (bucket, cell) in &of.cells {
            let gone = |chain, who| gone(*bucket, chain, who);
            let less: f64 = cell.rows.iter().map(|(chain, who, ns)| *ns as f64 * gone(*chain, *who)).sum();
            let ns = cell.ns.saturating_sub(less as u64);
            let to = cells.entry(Bucket::of(Nanos(ns / cell.ops.max(1)))).or_default();
            *to = (to.0 + cell.ops, to.1.saturating_add(ns));
        }
        let all = cells.values().fold(0_u64, |sum, (_, ns)| sum.saturating_add(*ns));
        let at = |part: &f64| {
            crate::sums::quantile(cells.values().copied(), of.ops, *part).min(of.quantile(*part))
        };
        (Nanos(all / of.ops.max(1)), parts.iter().map(at).collect())
    }

    /// The number of a victim's operations that were in a device and did not meet `who` there.
    pub fn did_not_meet(&self, victim: VictimId, who: &Absent) -> u64 {
        let (_, of) = self.of(victim);
        let all: u64 = of.in_device.values().sum();
        let without = of.without.iter().find(|(id, _)| self.absent(*id) == *who);
        all.saturating_sub(without.map_or(0, |(_, w)| w.met.values().sum()))
    }

    /// The part of the slowest operations' time, without `who`, for which no task is responsible (processors, the device's own pauses, time
    /// without an explanation). `beyond`: the part of all operations that are not among the slowest.
    pub fn unclear_without(&self, victim: VictimId, who: &Absent, beyond: f64) -> f64 {
        let (_, of) = self.of(victim);
        let Some((_, without)) = of.without.iter().find(|(id, _)| self.absent(*id) == *who) else {
            return 0.0;
        };
        let cells = without.subtracted(of, |who| self.is_unclear(who));
        let mut wanted = of.ops - (of.ops as f64 * beyond) as u64;
        let (mut ns, mut unclear) = (0.0, 0.0);
        for left in cells.values().rev() {
            let part = wanted.min(left.ops) as f64 / left.ops.max(1) as f64;
            wanted -= wanted.min(left.ops);
            ns += part * left.ns as f64;
            unclear += part * left.unclear as f64;
        }
        unclear / f64::max(ns, 1.0)
    }

    /// A victim's lost time by culprit; `None` for time that is merged into others. Sums to [`Sums::lost`](crate::Sums) exactly.
    pub fn lost_by(&self, victim: VictimId) -> BTreeMap<Option<CulpritId>, Nanos> {
        let mut sums = BTreeMap::<Option<CulpritId>, Nanos>::new();
        let mut rest = Nanos(self.of(victim).1.lost);
        for row in self.rows_of(victim, Selection::default()) {
            // Rows that were merged also contain own time: their lost time is known only for the victim as a whole.
            if self.phase(row.chain).is_some() && !self.is_own(row.chain, row.culprit) {
                *sums.entry(Some(row.culprit)).or_default() += row.time;
                rest = rest.since(row.time);
            }
        }
        if rest.0 > 0 {
            sums.insert(None, rest);
        }
        sums
    }

    /// Rows as folded stacks (`a;b;c 123`): victim, chain, culprit, nanoseconds. Rows with the same text are added. `of`: the name and selection of
    /// each wanted victim.
    pub fn folded(&self, of: impl Fn(VictimId) -> Option<(String, Selection)>) -> BTreeMap<String, Nanos> {
        let mut all = BTreeMap::new();
        for (id, ..) in self.victims() {
            let Some((name, which)) = of(id) else { continue };
            for row in self.rows_of(id, which) {
                let links = self.links(row.chain);
                let who = culprit_words(self.culprit_of(row.culprit));
                let frames = std::iter::once(name.clone())
                    .chain(links.into_iter().map(|link| self.link_words(link)))
                    .chain(Some(who).filter(|who| !who.is_empty()));
                let stack: Vec<String> = frames.map(|frame| frame.replace(is_no_frame, ",")).collect();
                *all.entry(stack.join(";")).or_default() += row.time;
            }
        }
        all
    }

    /// A link in words, with the function that identifies it.
    pub fn link_words(&self, link: Link) -> String {
        match link {
            Link::Wait(wait, f) => match self.function(f) {
                "" => wait.words().into(),
                function => format!("{} ({function})", wait.words()),
            },
            Link::Commit(phase) => format!("commit: {}", phase.name()),
            Link::Work(f) => format!("work item {}", self.function(f)),
            Link::Request(op, cut, _) => format!("{}{}", if cut { "piece of a " } else { "" }, op.name()),
            Link::Phase(phase) => phase.words().into(),
            Link::Others => "others".into(),
        }
    }
}

/// The standard deviation of operations in buckets (counts and sums), in ns.
fn deviation(cells: impl Iterator<Item = (u64, u64)>, mean: Nanos) -> f64 {
    let (mut all, mut squares) = (0, 0.0);
    for (ops, ns) in cells {
        let off = ns as f64 / ops.max(1) as f64 - mean.0 as f64;
        all += ops;
        squares += ops as f64 * off * off;
    }
    (squares / all.max(1) as f64).sqrt()
}

/// Characters that separate frames and lines of folded stacks; task names may contain them.
fn is_no_frame(c: char) -> bool {
    c == ';' || c.is_control()
}

/// A culprit in words; empty if it is unknown and has no name.
pub fn culprit_words(c: &Culprit) -> String {
    let io = c.io.map_or(String::new(), |io| format!(": {}", io.words()));
    match (&c.name, &c.dirtied_by) {
        (Some(name), _) if c.kind == CulpritKind::Cpu => format!("{name} on the processor"),
        (Some(name), Some(of)) => format!("{name} (data of {of}){io}"),
        (Some(name), None) => format!("{name}{io}"),
        (None, _) => match c.kind {
            CulpritKind::Unknown => String::new(),
            kind => format!("{}{io}", kind.name()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Part, Waiting};
    use crate::victim::{Asked, Victim};
    use life::{Class, Io, Op};
    use trace::{DevId, Fs};

    /// Operations of one reader: 1 ms of its own, the rest behind a writer whose name contains separators.
    fn table(operations: &[u64]) -> (Table, VictimId) {
        let mut t = Table::default();
        let asked = Asked::Bio(Class::Read);
        let victim = t.victim(&Victim { task: "a;b".into(), asked, fs: Fs::Unknown, dev: DevId(8) });
        let own = t.culprit(&Culprit::of(CulpritKind::Own));
        let io = Some(Io::BackgroundWrite);
        let dd = t.culprit(&Culprit { name: Some("d;d\n".into()), io, ..Culprit::of(CulpritKind::Task) });
        let request = t.chain(ChainId(0), Link::Request(Op::Read, false, false));
        let (service, behind) =
            (t.chain(request, Link::Phase(Phase::Service)), t.chain(request, Link::Phase(Phase::Behind)));
        for (i, total) in operations.iter().enumerate() {
            let own_time = Nanos(1_000_000.min(*total));
            let lost = Nanos(*total).since(own_time);
            let part = |chain, culprit, time| Part { chain, culprit, time };
            let parts = [part(service, own, own_time), part(behind, dd, lost)];
            let end = Nanos(i as u64 * 1_000_000_000);
            t.add(
                Waiting { victim, end, total: Nanos(*total), bytes: 4096, in_device: true },
                &parts,
                lost,
                Nanos(0),
            );
        }
        (t, victim)
    }

    #[test]
    fn stacks_sum_to_the_time_and_names_stay_in_their_frames() {
        let (t, victim) = table(&[1_000_001, 5_000_000, 40_000_000]);
        let stacks = t.folded(|_| Some(("a;b reads on sda".into(), Selection::default())));
        assert_eq!(stacks.values().map(|n| n.0).sum::<u64>(), t.of(victim).1.ns);
        let lines: Vec<String> = stacks.iter().map(|(stack, time)| format!("{stack} {}", time.0)).collect();
        assert_eq!(
            lines,
            [
                "a,b reads on sda;read;in the device behind others;d,d,: writeback 43000001",
                "a,b reads on sda;read;served by the device;self 3000000",
            ]
        );
        let (slowest, n) = t.slowest_of(&[victim], 0.01);
        let tail = t.folded(|_| Some((String::new(), slowest)));
        assert_eq!((n, tail.values().map(|n| n.0).sum()), (1, 40_000_000));
        assert!(t.folded(|_| None).is_empty());
    }

    /// Fifty operations of 4 ms, six of 8 ms, and a longer one.
    #[test]
    fn one_operation_stands_for_the_slowest_only_if_it_lost_most() {
        let slowest = |longest: u64| {
            let ms: Vec<u64> =
                [4; 50].into_iter().chain([8; 6]).chain([longest]).map(|ms| ms * 1_000_000).collect();
            let (t, victim) = table(&ms);
            assert_eq!(t.slowest_from(&[victim], 0.01), Bucket::of(Nanos(longest * 1_000_000)));
            t.slowest_of(&[victim], 0.01).1
        };
        assert_eq!(slowest(30), 7, "it has most of the time of two");
        assert_eq!(slowest(1000), 1, "what all others lost is little beside it");
    }

    #[test]
    fn what_is_lost_is_told_by_culprit_and_own_time_is_not() {
        let (mut t, victim) = table(&[1_000_001, 5_000_000, 40_000_000]);
        let lost = t.lost_by(victim);
        assert_eq!(lost.values().map(|n| n.0).collect::<Vec<_>>(), [43_000_001]);
        assert!(lost.keys().all(|c| c.is_some_and(|c| t.culprit_of(c).is_somebody())));
        // For merged chains only the sum of the lost time is known.
        let nobody = t.culprit(&Culprit::default());
        let part = Part { chain: crate::chain::OTHERS, culprit: nobody, time: Nanos(100) };
        let one = Waiting { victim, end: Nanos(0), total: Nanos(100), bytes: 0, in_device: false };
        t.add(one, &[part], Nanos(60), Nanos(0));
        assert_eq!(t.lost_by(victim).get(&None), Some(&Nanos(60)));
        assert_eq!(t.lost_by(victim).values().map(|n| n.0).sum::<u64>(), t.of(victim).1.lost);
    }
}
