//! What a remedy would gain: the latencies of a victim without its cause, and what came of the same command where it was tried.

use super::claims::Claims;
use super::precedence::{changes_the_work, compares, gone_without, makes_rarer};
use super::victim::{Sufferer, TOLD};
use super::without::{Latencies, Predicted, UNCLEAR, UNLIKE};
use crate::explanation::Explanation;
use causes::{tested, Acts, Answer, Remedy, Tested};
use stats::Group;
use std::collections::BTreeMap;
use trace::Nanos;
use waits::{Absent, Bucket};

/// A remedy, and what there is to gain.
#[derive(Clone, Debug)]
pub struct Try<'a> {
    /// The remedy.
    pub remedy: &'a Remedy,
    /// The first victim's latencies without what the remedy acts on: the culprit, or the cause.
    pub predicted: Option<Latencies>,
    /// What came of the command where it was tried.
    pub tested: Option<Tested>,
}

impl<'a> Try<'a> {
    /// A remedy of a cause of what a victim lost.
    pub fn of(remedy: &'a Remedy, cause: &str, victim: Option<&Sufferer>) -> Try<'a> {
        let without = |name: &str| {
            let all = victim?.without.iter();
            let is = |who: &Absent| matches!(who, Absent::Task(task) if **task == *name);
            all.filter(|w| is(&w.who)).find_map(|w| w.then.ok())
        };
        let of_cause = || victim?.relieved.get(cause).copied();
        let predicted = match &remedy.acts {
            Acts::Culprit(name) => without(name).or_else(of_cause),
            // What it does otherwise is other work: it may take next to nothing.
            Acts::Victim => of_cause().map(Latencies::at_most_these),
            _ => of_cause(),
        };
        // What was tried is the change, of which the command to look at it is a part.
        let is_tried = remedy.action.changes() && !remedy.is_proven;
        let tested = if is_tried { tested(cause, &remedy.command()) } else { None };
        Try { remedy, predicted, tested }
    }

    /// Whether something is known of what it gains, or it changes nothing.
    pub fn is_founded(&self) -> bool {
        let is_needed = self.remedy.action.changes() && !self.remedy.is_proven;
        !is_needed || self.predicted.is_some() || self.tested.is_some()
    }
}

/// Of a group's victim with most operations, for each cause that has a part of its time, lost or not: what need not be read any more is not
/// even served.
pub(super) fn of_each(
    e: &Explanation,
    (number, group): (usize, &Group),
    claims: &Claims,
) -> BTreeMap<&'static str, Latencies> {
    let table = &e.facts.waits;
    let found = e.verdicts.iter().filter(|v| v.verdict == Answer::Found);
    let Some(victim) = group.victims.iter().max_by_key(|v| table.of(**v).1.ops) else {
        return BTreeMap::new();
    };
    let sums = table.of(*victim).1;
    let now = Nanos(sums.ns / sums.ops.max(1));
    // Where the median is among the slowest, what was claimed of these is of the usual ones, too.
    let (usual, slowest) = (Bucket::of(sums.quantile(0.5)), Bucket::of(group.tail.threshold));
    let without = |cause: &str| {
        let part = |bucket, chain, who| {
            if !has_any(cause, bucket, usual, slowest) {
                return 0.0;
            }
            let parts = claims.of(table, number, group.dev, (chain, who)).iter();
            let part: f64 = parts.filter(|(of, _)| *of == cause).map(|(_, part)| part).sum();
            part * gone_without(cause, table.culprit_of(who).kind)
        };
        table.told_less(*victim, part, &TOLD)
    };
    let mut all = BTreeMap::new();
    for cause in found.map(|v| v.cause) {
        let (mean, at) = without(cause);
        if mean < now {
            // Where the work itself is less without it, its own time is no bound, nor what others wait for.
            let bounded = |p: Predicted| if changes_the_work(cause) { p.at_most_this() } else { p };
            let of = |part: usize, unlike: f64| {
                let (now, alone) = (sums.quantile(TOLD[part]), sums.own_quantile(TOLD[part]));
                bounded(Predicted::relieved(at[part], now, alone, unlike))
            };
            let alone = Nanos(sums.ns.saturating_sub(sums.lost) / sums.ops.max(1));
            let p99 = (sums.ops >= 100 && !makes_rarer(cause)).then(|| of(1, UNCLEAR));
            let mean = bounded(Predicted::relieved(mean, now, alone, UNLIKE));
            all.insert(cause, Latencies { mean, p50: of(0, UNLIKE), p99 });
        }
    }
    all
}

/// Whether operations of a bucket have anything of what a cause claimed of the slowest.
fn has_any(cause: &str, bucket: Bucket, usual: Bucket, slowest: Bucket) -> bool {
    !compares(cause) || bucket > usual || bucket >= slowest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_usual_has_nothing_of_what_the_slowest_are_compared_for() {
        let bucket = |ms: u64| Bucket::of(Nanos(ms * 1_000_000));
        let of = |cause, ms| has_any(cause, bucket(ms), bucket(10), bucket(100));
        assert_eq!([5, 10, 20, 200].map(|ms| of("device-stall", ms)), [false, false, true, true]);
        assert_eq!([5, 10, 20, 200].map(|ms| of("flush-cost", ms)), [true; 4], "a flush is a flush");
        assert!(
            has_any("device-stall", bucket(10), bucket(10), bucket(8)),
            "the median is among the slowest"
        );
    }

    /// Of 10 ms that are 4 without a cause and 3 by themselves.
    #[test]
    fn how_much_less_its_own_time_may_be() {
        let [now, then, alone] = [10, 4, 3].map(|ms| Nanos(ms * 1_000_000));
        let (p50, p99) =
            (Predicted::relieved(then, now, alone, UNLIKE), Predicted::relieved(then, now, alone, UNCLEAR));
        assert_eq!((p50.low, p99.low), (Nanos(2_550_000), Nanos(2_100_000)));
        assert_eq!(p50.at_most_this(), Predicted { low: Nanos(0), ..p50 });
    }
}
