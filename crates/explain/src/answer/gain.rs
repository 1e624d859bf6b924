//! Estimates the gain of a remedy: a victim's predicted latencies without the cause, and the result of the same command in a test.

use super::claims::Claims;
use super::nature::{changes_the_work, compares, gone_without, makes_rarer};
use super::thresholds::PERCENTILES;
use super::victim::Sufferer;
use super::without::{Latencies, Predicted, UNCLEAR, UNLIKE};
use crate::explanation::Explanation;
use causes::{tested, Acts, Answer, Gain, Remedy, Tested};
use stats::Group;
use std::collections::BTreeMap;
use trace::Nanos;
use waits::{Absent, Bucket};

/// A remedy and its expected gain.
#[derive(Clone, Debug)]
pub struct Try<'a> {
    /// The remedy as its cause suggests it.
    pub remedy: &'a Remedy,
    /// The first victim's latencies without the target of the remedy: the culprit, or the cause; `None` if not predictable.
    pub predicted: Option<Latencies>,
    /// The result of the same command in a test; `None` if it was not tested, is proven or changes nothing.
    pub tested: Option<Tested>,
}

impl<'a> Try<'a> {
    /// Estimates the gain of a remedy of `cause` for a victim.
    pub fn of(remedy: &'a Remedy, cause: &str, victim: Option<&Sufferer>) -> Try<'a> {
        let without = |name: &str| {
            let all = victim?.without.iter();
            let is = |who: &Absent| matches!(who, Absent::Task(task) if **task == *name);
            all.filter(|w| is(&w.who)).find_map(|w| w.then.ok())
        };
        let of_cause = || victim?.relieved.get(cause).copied();
        let predicted = match &remedy.acts {
            Acts::Culprit(name) => without(name).or_else(of_cause),
            // The victim would do other work instead, which may take almost no time: only the upper bounds hold.
            Acts::Victim => of_cause().map(Latencies::at_most_these),
            _ => of_cause(),
        };
        // Only commands that change something were tested, not those that look at a setting.
        let is_tried = remedy.action.changes() && remedy.gain != Gain::Proven;
        let tested = if is_tried { tested(cause, &remedy.command()) } else { None };
        Try { remedy, predicted: predicted.filter(|_| remedy.gain != Gain::OfPart), tested }
    }

    /// Whether the gain is predicted or tested, or not needed: the remedy is proven, changes nothing, or removes a part of a cause that was found.
    pub fn is_founded(&self) -> bool {
        let is_needed = self.remedy.action.changes() && self.remedy.gain == Gain::OfCause;
        !is_needed || self.predicted.is_some() || self.tested.is_some()
    }
}

/// The predicted latencies of a group's largest victim without each cause, if they are lower. Counts all of the time that a cause claims,
/// lost or not: an I/O that is no longer needed takes no service time either.
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
    // If the median itself is among the slowest, claims on the slowest also hold for usual operations.
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
        table.latencies_with_less(*victim, part, &PERCENTILES)
    };
    let mut all = BTreeMap::new();
    for cause in found.map(|v| v.cause) {
        let (mean, at) = without(cause);
        if mean < now {
            // If operations are less work without the cause, neither their own time nor what others wait for is a lower bound.
            let bounded = |p: Predicted| if changes_the_work(cause) { p.at_most_this() } else { p };
            let of = |part: usize, unlike: f64| {
                let (now, alone) = (sums.quantile(PERCENTILES[part]), sums.own_quantile(PERCENTILES[part]));
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

/// Whether operations of a latency bucket contain any of the time that a cause claimed of the slowest.
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

    /// An operation of 10 ms that takes 4 ms without a cause and 3 ms alone.
    #[test]
    fn how_much_less_its_own_time_may_be() {
        let [now, then, alone] = [10, 4, 3].map(|ms| Nanos(ms * 1_000_000));
        let (p50, p99) =
            (Predicted::relieved(then, now, alone, UNLIKE), Predicted::relieved(then, now, alone, UNCLEAR));
        assert_eq!((p50.low, p99.low), (Nanos(2_550_000), Nanos(2_100_000)));
        assert_eq!(p50.at_most_this(), Predicted { low: Nanos(0), ..p50 });
    }
}
