//! Decides the kind of answer: a cause, nothing to act on, or unknown.

use super::victim::Sufferer;
use super::{precedence, worth};
use crate::explanation::Explanation;
use crate::lack::Lack;
use causes::{Answer as Verdicted, Verdict};
use serde::Serialize;
use stats::{Facts, LONG_BY_ITSELF};
use trace::DevId;

/// What kind of answer it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "AnswerKind"))]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A cause was found.
    Cause,
    /// No task lost time worth acting on.
    Healthy,
    /// Unknown: nothing recorded shows it.
    Unknown,
}

impl Kind {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Cause => "cause",
            Kind::Healthy => "healthy",
            Kind::Unknown => "unknown",
        }
    }
}

/// A victim that lost less than 1/100 of the recording was not delayed, unless a single operation was long by itself.
const UNHINDERED: u64 = 100;

/// The kind of answer by its victims, before the decision whether the cause is worth acting on.
pub(super) fn kind(e: &Explanation, victims: &[Sufferer]) -> Kind {
    let found = |v: &&Verdict| v.verdict == Verdicted::Found;
    let claims = || e.verdicts.iter().filter(found).any(|v| !v.claims.is_empty());
    match e.lack {
        Some(Lack::Work { .. }) => return Kind::Healthy,
        // If a processor's events are missing, operation times are unknown, but most request times are known.
        Some(Lack::Others | Lack::Whole) if claims() && is_blind(&e.facts) => return Kind::Cause,
        // A missing end on one device does not affect what was recorded of a victim on another device.
        Some(Lack::End { dev, .. })
            if claims() && victims.first().is_some_and(|v| is_elsewhere(e, v, dev)) =>
        {
            return Kind::Cause
        }
        Some(_) => return Kind::Unknown,
        None => {}
    }
    // The recorder saw all operations of the tasks, and none of them waited.
    if victims.is_empty() && e.subject.of_operations && e.subject.watched.is_some() {
        return Kind::Healthy;
    }
    let fails = precedence::errors(e).is_some() && victims.iter().any(|v| precedence::fails(e, v));
    let healthy = !fails && e.verdicts.iter().filter(found).any(|v| v.cause == "healthy");
    let nothing = victims.iter().all(|v| v.is_thin);
    let least = e.facts.duration().0 / UNHINDERED;
    let found_none = e.verdicts.iter().filter(found).all(|v| v.claims.is_empty() && v.throughout.is_empty());
    let quick = victims.iter().all(|v| v.lost.since(v.noise).0 < least && v.latency[2] < LONG_BY_ITSELF);
    if found_none && !fails && quick && !victims.is_empty() && !is_blind(&e.facts) {
        return Kind::Healthy;
    }
    match (healthy, nothing, e.verdicts.iter().any(|v| found(&v))) {
        (true, ..) if may_be_held_above(e) => Kind::Unknown,
        (true, true, _) if is_blind(&e.facts) && worth::read_quickly(&e.facts.devices) => Kind::Healthy,
        (_, true, _) if is_blind(&e.facts) => Kind::Unknown,
        (true, ..) => Kind::Healthy,
        (_, true, _) | (_, _, false) => Kind::Unknown,
        _ => Kind::Cause,
    }
}

/// Whether the victim's operations waited for another device than `dev`.
fn is_elsewhere(e: &Explanation, v: &Sufferer, dev: DevId) -> bool {
    e.focus.groups.get(v.group).is_some_and(|group| group.dev != dev)
}

/// Whether a recording of block events alone has signs of a cgroup limit, which delays I/O before its first block event.
pub(super) fn may_be_held_above(e: &Explanation) -> bool {
    let shows = |v: &Verdict| {
        v.cause == "cgroup-limit" && v.verdict == Verdicted::CannotTell && !v.evidence.is_empty()
    };
    is_blind(&e.facts) && e.verdicts.iter().any(shows)
}

/// Whether the recording has block events only: what applications wait for was not recorded.
pub(super) fn is_blind(facts: &Facts) -> bool {
    facts.operations.is_empty()
}
