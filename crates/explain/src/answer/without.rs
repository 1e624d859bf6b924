//! Predicts a victim's latencies without a culprit: each operation's time less the time that the culprit had in it.
//!
//! The remaining tasks would use the freed capacity. If they, a limit or a processor would then determine the latencies, nothing is
//! predicted.

use super::nature::is_limit;
use super::thresholds::{PERCENTILES, WORTH_SEEING};
use crate::explanation::Explanation;
use causes::Answer;
use life::Class;
use stats::{Group, TailRow};
use std::collections::{BTreeMap, BTreeSet};
use trace::{Bytes, Nanos};
use waits::{Absent, Culprit, CulpritKind, Prediction, Selection, Table, VictimId, Way};

/// A victim's predicted latencies without a culprit.
#[derive(Clone, Debug)]
pub struct Without {
    /// The culprit that is taken away.
    pub who: Absent,
    /// The prediction, or why there is none.
    pub then: Result<Latencies, NotPredictable>,
}

/// Predicted latencies.
#[derive(Clone, Copy, Debug)]
pub struct Latencies {
    /// The mean. Its lower bound is 0 if the slowest make up much of it and the rest of their time is unclear.
    pub mean: Predicted,
    /// The median.
    pub p50: Predicted,
    /// `None` for fewer than 100 operations. Its lower bound is 0 if the rest of the slowest operations' time is unclear.
    pub p99: Option<Predicted>,
}

impl Latencies {
    /// The same with a lower bound of 0.
    pub(super) fn at_most_these(self) -> Latencies {
        let [mean, p50] = [self.mean, self.p50].map(Predicted::at_most_this);
        Latencies { mean, p50, p99: self.p99.map(Predicted::at_most_this) }
    }

    fn at_most(self, other: Latencies) -> Latencies {
        let p99 = self.p99.zip(other.p99).map(|(own, other)| own.at_most(other));
        Latencies {
            mean: self.mean.at_most(other.mean),
            p50: self.p50.at_most(other.p50),
            p99: p99.or(self.p99),
        }
    }
}

/// Why nothing is predicted: what remains would determine the latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPredictable {
    /// A limit sets the pace of requests; whether it would still be reached is unknown.
    Limit,
    /// Other tasks interfere at least as much as the culprit.
    Others,
    /// The victim waits for processors at least as much as for the culprit.
    Processors,
    /// Its latency alone is unknown: no operation ran without the culprit.
    NeverAlone,
}

impl NotPredictable {
    /// A clause for the screen.
    pub fn words(self) -> &'static str {
        match self {
            NotPredictable::Limit => "a limit sets the pace: whether it would still be reached is not known",
            NotPredictable::Others => {
                "others interfere as much: how much of the freed capacity they would take is not known"
            }
            NotPredictable::NeverAlone => "no operation ran without it: its latency alone is not known",
            NotPredictable::Processors => {
                "it waits for processors as much: who would use them then is not known"
            }
        }
    }
}

/// A predicted latency with its 90 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicted {
    /// The predicted value.
    pub value: Nanos,
    /// Lower bound of the 90 % interval.
    pub low: Nanos,
    /// Upper bound of the 90 % interval.
    pub high: Nanos,
}

impl Predicted {
    /// A prediction for a latency that is `now`. The interval is the error of such predictions in measurements ([`TOO_HIGH`], [`TOO_LOW`]),
    /// but not below the latency `alone`.
    fn of(value: Nanos, now: Nanos, alone: Nanos) -> Predicted {
        let part = |part: f64| Nanos((now.0 as f64 * part) as u64);
        let low = value.since(part(TOO_HIGH)).max(alone).min(value);
        Predicted { value, low, high: value + part(TOO_LOW) }
    }

    /// A prediction without a cause: the operations' own time may be lower by the part `unlike`.
    pub(super) fn relieved(value: Nanos, now: Nanos, alone: Nanos, unlike: f64) -> Predicted {
        Predicted::of(value, now, Nanos((alone.min(value).0 as f64 * (1.0 - unlike)) as u64))
    }

    /// The same with a lower bound of 0: only the upper bound is known.
    pub(super) fn at_most_this(self) -> Predicted {
        Predicted { low: Nanos(0), ..self }
    }

    /// A prediction from operations that did not meet the culprit: the bounds `within`, widened by [`UNLIKE`].
    fn like(value: Nanos, least: Nanos, within: [Nanos; 2]) -> Predicted {
        let [low, high] = within.map(|t| t.0 as f64);
        let low = Nanos((low * (1.0 - UNLIKE)) as u64).max(least).min(value);
        Predicted { value, low, high: Nanos((high * (1.0 + UNLIKE)) as u64).max(value) }
    }

    fn at_most(self, other: Predicted) -> Predicted {
        Predicted {
            value: self.value.min(other.value),
            low: self.low.min(other.low),
            high: self.high.min(other.high),
        }
    }
}

/// 9 of 10 predicted means without a neighbour were too high by at most this part of the mean with the neighbour, in recordings of
/// applications (docs/what-if.md, "Without somebody")...
const TOO_HIGH: f64 = 0.45;
/// ... or too low by at most this part: other tasks use the freed capacity.
const TOO_LOW: f64 = 0.35;

/// 9 of 10 medians of operations that did not meet a culprit were off by at most this part (docs/what-if.md, "Pairs of victim and
/// culprit").
pub(super) const UNLIKE: f64 = 0.15;

/// If at least this part of the slowest operations' time would be unclear, only an upper bound is predicted: a p99 may be off by twice as
/// much as a median (docs/what-if.md).
pub(super) const UNCLEAR: f64 = 2.0 * UNLIKE;

/// 9 of 10 values lie within this many standard deviations of the mean (normal distribution).
const NINE_IN_TEN: f64 = 1.645;

/// A victim is concerned if the absence of a culprit saves at least this part of its mean latency.
pub const CONCERNED: f64 = 0.01;

/// Predicts each victim's latencies without a culprit: pairs of (group in focus, prediction).
pub fn without_somebody(e: &Explanation, who: &Absent) -> Vec<(usize, Without)> {
    let is_gone = |g: &Group| match who {
        Absent::Task(name) => **name == *g.task,
        Absent::Those(them) => them.tasks.contains(&*g.task),
        Absent::Everybody | Absent::Flushes => false,
    };
    let groups = e.focus.groups.iter().enumerate().filter(|(_, g)| !g.is_thin(&e.facts) && !is_gone(g));
    groups.filter_map(|(number, g)| Some((number, one(e, g, who)?))).collect()
}

/// Tasks that delayed others, with the time they cost, the largest first.
pub fn in_the_way(e: &Explanation) -> Vec<(String, Nanos)> {
    let table = &e.facts.waits;
    let mut all = BTreeMap::<String, Nanos>::new();
    let victims = e.focus.groups.iter().flat_map(|g| &g.victims);
    for (who, without) in victims.flat_map(|v| &table.of(*v).1.without) {
        if let Absent::Task(name) = table.absent(*who) {
            *all.entry(name.into()).or_default() += Nanos(without.time);
        }
    }
    // A task that was only present delayed nobody.
    let mut all: Vec<_> = all.into_iter().filter(|(_, time)| time.0 > 0).collect();
    all.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    all
}

/// Predictions without each task whose I/O caused at least 1/20 of the lost time. A task that only ran on the processor has its own cause.
pub(super) fn each(e: &Explanation, group: &Group) -> Vec<Without> {
    let table = &e.facts.waits;
    let Some(victim) = group.victims.iter().max_by_key(|v| table.of(**v).1.ops) else { return vec![] };
    let sums = table.of(*victim).1;
    let rows = group.rows(table, Selection::default());
    let culprits = rows.iter().map(|row| table.culprit_of(row.culprit)).filter(|c| c.is_somebody());
    let send: BTreeSet<&str> = culprits.filter_map(|c| c.name.as_deref()).collect();
    let told = sums.without.iter().filter(|(_, w)| w.time.saturating_mul(20) >= sums.lost);
    let mut all: Vec<(Absent, u64)> = told.map(|(who, w)| (table.absent(*who), w.time)).collect();
    // Unnamed tasks are several that nobody can stop.
    all.retain(|(who, _)| matches!(who, Absent::Task(name) if send.contains(&**name) && &**name != "?"));
    all.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    all.iter().filter_map(|(who, _)| one(e, group, who)).collect()
}

/// A group's latencies without a culprit; `None` if its absence was not tracked.
fn one(e: &Explanation, group: &Group, who: &Absent) -> Option<Without> {
    let table = &e.facts.waits;
    let victim = *group.victims.iter().max_by_key(|v| table.of(**v).1.ops)?;
    let sums = table.of(victim).1;
    let subtracted = table.latencies_without(victim, who, &PERCENTILES, Way::Subtract)?;
    let like = Like::of(table, victim, who);
    let least = least(e, group, Bytes(sums.bytes / sums.ops.max(1)));
    let now = Nanos(sums.ns / sums.ops.max(1));
    let mean = like.as_ref().map_or(subtracted.mean, |like| like.told.mean);
    let saved = now.since(mean).0 as f64 / now.0.max(1) as f64;
    let is_known = least.is_some() || like.is_some() || !group.is_mostly_unknown();
    let is_unfounded = group.class == Class::Read && !is_known;
    let then = match refused(e, group, who, saved) {
        Some(why) => Err(why),
        None if is_unfounded && saved >= CONCERNED => Err(NotPredictable::NeverAlone),
        None => {
            Ok(Then { table, victim, who, least: least.unwrap_or_default(), subtracted, like }.latencies())
        }
    };
    // Without any other task, operations take no longer than without one of them.
    let by_each = if *who == Absent::Everybody { each(e, group) } else { vec![] };
    let then = then.map(|own| by_each.iter().filter_map(|w| w.then.ok()).fold(own, Latencies::at_most));
    Some(Without { who: who.clone(), then })
}

/// Operations that did not meet the culprit in the device, if there are enough.
struct Like {
    told: Prediction,
    /// Number of these operations.
    count: f64,
}

impl Like {
    fn of(table: &Table, victim: VictimId, who: &Absent) -> Option<Like> {
        let count = table.did_not_meet(victim, who) as f64;
        // For n operations, the standard deviation of the part below the true median is 0.5 / sqrt(n).
        let off = NINE_IN_TEN * 0.5 / count.max(1.0).sqrt();
        let told = table.latencies_without(
            victim,
            who,
            &[PERCENTILES[0], PERCENTILES[1], 0.5 - off, 0.5 + off],
            Way::LikeOthers,
        )?;
        Some(Like { told, count })
    }

    fn mean(&self, least: Nanos) -> Predicted {
        let (mean, off) = (self.told.mean, NINE_IN_TEN * self.told.deviation / self.count.max(1.0).sqrt());
        let off = Nanos(off as u64);
        Predicted::like(mean.max(least), least, [mean.since(off), mean + off])
    }

    fn p50(&self, least: Nanos) -> Predicted {
        Predicted::like(self.told.at[0].max(least), least, [self.told.at[2], self.told.at[3]])
    }
}

/// A victim without a culprit, predicted in both ways.
struct Then<'a> {
    table: &'a Table,
    victim: VictimId,
    who: &'a Absent,
    /// The least time that an operation in the device takes.
    least: Nanos,
    subtracted: Prediction,
    like: Option<Like>,
}

impl Then<'_> {
    fn latencies(self) -> Latencies {
        let sums = self.table.of(self.victim).1;
        let all = sums.ops.max(1);
        // Operations outside the device take no time in it and are usually the quickest.
        let in_device = sums.in_device.values().sum::<u64>() as f64 / all as f64;
        let of = |part: usize, then: Nanos| {
            let (now, alone) = (sums.quantile(PERCENTILES[part]), sums.own_quantile(PERCENTILES[part]));
            let least = if in_device > 1.0 - PERCENTILES[part] { self.least.min(now) } else { Nanos(0) };
            Predicted::of(then.max(least), now, alone.max(least))
        };
        let now = Nanos(sums.ns / all);
        let least_mean = Nanos((self.least.0 as f64 * in_device) as u64).min(now);
        let alone = Nanos(sums.ns.saturating_sub(sums.lost) / all).max(least_mean);
        let mean = match &self.like {
            Some(like) => like.mean(least_mean),
            None => Predicted::of(self.subtracted.mean.max(least_mean), now, alone),
        };
        let p50 = match &self.like {
            Some(like) if in_device > 0.5 => like.p50(self.least.min(sums.quantile(PERCENTILES[0]))),
            Some(like) => of(0, like.told.at[0]),
            None => of(0, self.subtracted.at[0]),
        };
        // What happens only together with the culprit stays in the slowest by either method: use the lower value.
        let slowest = self.like.iter().map(|like| like.told.at[1]).fold(self.subtracted.at[1], Nanos::min);
        let unclear = self.table.unclear_without(self.victim, self.who, PERCENTILES[1]) >= UNCLEAR;
        let by_slowest = mean.value.0 as f64 > (1.0 + UNLIKE) * p50.value.0 as f64;
        let at_most = |p: Predicted, only: bool| if only { Predicted { low: Nanos(0), ..p } } else { p };
        Latencies {
            mean: at_most(mean, unclear && by_slowest),
            p50,
            p99: (sums.ops >= 100).then(|| at_most(of(1, slowest), unclear)),
        }
    }
}

/// The least time of a read without others on a device that serves one request at a time; `None` if unknown.
fn least(e: &Explanation, group: &Group, mean_size: Bytes) -> Option<Nanos> {
    let device = e.facts.device(group.dev).filter(|_| group.class == Class::Read)?;
    let kind = device.pace.kinds(false).find(|kind| kind.is_read && mean_size <= kind.most)?;
    kind.turns.least(group.all.time.total.0 as f64 / e.facts.duration().0.max(1) as f64)
}

/// Why a group's latencies without a culprit are not predictable; `saved` is the part of the mean that would be saved.
fn refused(e: &Explanation, group: &Group, who: &Absent, saved: f64) -> Option<NotPredictable> {
    let table = &e.facts.waits;
    let rows = group.rows(table, Selection::default());
    let all: Nanos = rows.iter().map(|row| row.time).sum();
    let part = |is: &dyn Fn(&Culprit) -> bool| {
        let of = |row: &&TailRow| is(table.culprit_of(row.culprit));
        rows.iter().filter(of).map(|row| row.time).sum::<Nanos>().0 as f64 / all.0.max(1) as f64
    };
    let paced = e.verdicts.iter().filter(|v| v.verdict == Answer::Found && is_limit(v.cause)).any(|v| {
        let claimed = v.claims.iter().map(|c| c.group);
        let mut groups = claimed.chain(v.throughout.iter().map(|(group, _)| *group));
        groups.any(|number| e.focus.groups.get(number).is_some_and(|g| g.dev == group.dev))
    });
    let left = |is: &dyn Fn(&Culprit) -> bool| part(&|c| is(c) && !who.takes(c));
    // The journal's writes of its own changes are its own.
    let others = left(&|c| c.is_somebody() && c.name.as_deref() != Some(&*group.task));
    let limits = if paced { 1.0 } else { part(&|c| c.kind == CulpritKind::Limit) };
    Parts { saved, limits, others, processors: left(&|c| c.kind == CulpritKind::Cpu) }.decide()
}

/// Parts of a victim's time, 0 to 1: what is saved without the culprit, and what remains.
struct Parts {
    saved: f64,
    limits: f64,
    others: f64,
    processors: f64,
}

impl Parts {
    /// Whether something that remains would determine the latencies.
    fn decide(&self) -> Option<NotPredictable> {
        let decides = |theirs: f64| theirs >= WORTH_SEEING && theirs >= self.saved;
        if self.limits >= WORTH_SEEING {
            return Some(NotPredictable::Limit);
        }
        if self.saved >= CONCERNED && decides(self.others) {
            return Some(NotPredictable::Others);
        }
        decides(self.processors).then_some(NotPredictable::Processors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(saved: f64, limits: f64, others: f64, processors: f64) -> Option<NotPredictable> {
        Parts { saved, limits, others, processors }.decide()
    }

    #[test]
    fn who_has_more_than_what_is_left_can_be_taken_away() {
        assert_eq!(refused(0.6, 0.1, 0.3, 0.05), None);
        assert_eq!(refused(0.1, 0.0, 0.15, 0.15), None, "what is left is little");
    }

    #[test]
    fn what_is_left_decides() {
        assert_eq!(refused(0.3, 0.0, 0.3, 0.0), Some(NotPredictable::Others));
        assert_eq!(refused(0.3, 0.0, 0.0, 0.4), Some(NotPredictable::Processors));
        assert_eq!(
            refused(0.7, 0.2, 0.0, 0.0),
            Some(NotPredictable::Limit),
            "a cap that only that one reaches"
        );
    }

    #[test]
    fn without_everybody_nothing_takes_longer_than_without_one() {
        let of = |value: u64| {
            let told = Predicted::of(Nanos(value), Nanos(1000), Nanos(10));
            Latencies { mean: told, p50: told, p99: Some(told) }
        };
        let told = of(500).at_most(of(300));
        assert_eq!((told.mean, told.p99), (of(300).mean, of(300).p99));
        let few = Latencies { p99: None, ..of(300) };
        assert_eq!(of(500).at_most(few).p99, of(500).p99, "nothing is known of its slowest");
    }

    #[test]
    fn who_was_in_nobodys_way_leaves_no_room() {
        assert_eq!(refused(0.0, 0.0, 0.9, 0.0), None);
    }
}
