//! What a remedy would gain: the latencies of a victim without its cause, and what came of the same command where it was tried.

use super::claims::Claims;
use super::precedence::gone_without;
use super::victim::{Sufferer, TOLD};
use super::without::{Latencies, Predicted};
use crate::explanation::Explanation;
use causes::{tested, Acts, Answer, Remedy, Tested};
use stats::Group;
use std::collections::BTreeMap;
use trace::Nanos;
use waits::Absent;

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
            _ => of_cause(),
        };
        let tested = if remedy.is_proven { None } else { tested(cause, &remedy.command()) };
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
    let without = |cause: &str| {
        let part = |chain, who| {
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
            let of = |part: usize| {
                Predicted::relieved(at[part], sums.quantile(TOLD[part]), sums.own_quantile(TOLD[part]))
            };
            let alone = Nanos(sums.ns.saturating_sub(sums.lost) / sums.ops.max(1));
            let p99 = (sums.ops >= 100).then(|| of(1));
            all.insert(cause, Latencies { mean: Predicted::relieved(mean, now, alone), p50: of(0), p99 });
        }
    }
    all
}
