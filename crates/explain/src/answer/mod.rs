//! The answer: who lost time, because of which cause and which culprit. Derived from the table of waits and the causes' claims.
//!
//! Victims are ranked by time lost. Each victim's `because` sums to its lost time, to the nanosecond; time that has neither a
//! cause nor a culprit is `unknown`.

mod because;
mod chosen;
mod claims;
mod gain;
mod job;
mod kind;
mod nature;
mod precedence;
mod rank;
mod thresholds;
mod victim;
mod victims;
mod which_operation;
mod without;
mod worth;

pub use crate::roles::Roles;
pub use because::Because;
pub use gain::Try;
pub use kind::Kind;
pub use nature::is_limit;
pub use precedence::{most_of_slowest, share_of_slowest, ERRORS};
pub use thresholds::WORTH_SEEING;
pub use victim::Sufferer;
pub use victims::tasks_of_cgroup;
pub use waits::{Absent, Those};
pub use without::{in_the_way, without_somebody, Latencies, NotPredictable, Predicted, Without, CONCERNED};

use crate::explanation::Explanation;
use causes::{Action, Acts, Answer as Verdicted, Confidence, Remedy, Verdict};
use chosen::chosen;
use kind::{is_blind, kind, may_be_held_above};
use life::Io;
use trace::Nanos;
use waits::Culprit;

/// The answer of a recording or of texts.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Whether a cause was found, nothing is worth acting on, or the cause is unknown.
    pub kind: Kind,
    /// The cause of the first victim's lost time, or `healthy`; `None` if it is unknown. Example: `writeback-flood`.
    pub cause: Option<&'static str>,
    /// The root cause behind `cause`, if one was found.
    pub root: Option<&'static str>,
    /// The confidence of `cause`; `None` unless `kind` is [`Kind::Cause`].
    pub confidence: Option<Confidence>,
    /// The task or other culprit that is named beside the cause; `None` if it has less than 1/5 of the time that the cause explains.
    pub culprit: Option<Culprit>,
    /// The part of the first victim's lost time that has a cause or a culprit, 0 to 1. `None` if only texts were read: their
    /// counters do not show who lost time.
    pub explained: Option<f64>,
    /// Sorted by rank, at most 30; the first one is the victim that the answer is about.
    pub victims: Vec<Sufferer>,
    /// Number of victims that are left out because they lost too little.
    pub bystanders: usize,
    /// Set if the first victim lost too little to act on.
    pub too_little: Option<TooLittle>,
}

/// A loss that is too little to act on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooLittle {
    /// The cause with the largest part of it, if known.
    pub cause: Option<&'static str>,
    /// The time lost to that cause; without one, all that was lost.
    pub lost: Nanos,
    /// Whether it is much, of operations that take no longer than Linux expects of flash ([`Sufferer::is_as_expected`]).
    pub as_expected: bool,
}

/// Maximal number of victims in an answer.
const MOST_VICTIMS: usize = 30;

/// A culprit with less than 1/5 of the time that the cause explains is not named.
const WORTH_NAMING: u64 = 5;

/// Maximal number of remedies in an answer.
pub const MOST_REMEDIES: usize = 3;

/// The cause of a victim that waits for its own flushes.
const FLUSH_COST: &str = "flush-cost";

/// A victim with less than this part of the largest lost time is a bystander, unless it noticed its lost time ([`thresholds::NOTICED`]).
const BYSTANDER: f64 = 0.01;

impl Answer {
    /// Derives the answer from an explanation.
    pub fn of(e: &Explanation) -> Answer {
        if e.is_of_texts() {
            return Answer::of_texts(e);
        }
        let mut victims = victims::all(e);
        rank::held_first(e, &mut victims);
        let kind = kind(e, &victims);
        let most = victims.iter().map(|v| v.lost.0).max().unwrap_or(0) as f64;
        let least = (BYSTANDER * most).min(thresholds::NOTICED * e.facts.duration().0 as f64);
        let all = victims.len();
        let mut first = true;
        victims.retain(|v| std::mem::take(&mut first) || v.lost.0 as f64 >= least && !v.is_thin);
        victims.truncate(MOST_VICTIMS);
        let bystanders = all - victims.len();
        if kind == Kind::Cause {
            worth_acting_on_first(e, &mut victims);
            flushes_first(e, &mut victims);
            which_operation::move_to_front(e, &mut victims);
        }
        let first = victims.first();
        let told = first.filter(|_| kind == Kind::Cause).and_then(|v| chosen(e, v, &victims));
        let (verdict, is_worth) = told.unzip();
        let verdict = verdict.filter(|found| first.is_some_and(|v| !worth::hardly_explains(e, v, found)));
        let is_a_place = |found: &&Verdict| nature::is_everyday(found.cause);
        let endless = verdict.filter(is_a_place).and(first).is_some_and(Sufferer::waits_without_end);
        let verdict = verdict.filter(|_| !endless);
        let too_little = first.zip(verdict).filter(|_| is_worth == Some(false));
        let of_cause = |(v, found): (&Sufferer, &Verdict)| TooLittle {
            cause: Some(found.cause),
            lost: v.lost_to(found.cause),
            as_expected: false,
        };
        let too_little = too_little.map(of_cause);
        let unknown = first.filter(|v| verdict.is_none() && !endless && !v.waits_without_end());
        let quick = first.is_some_and(|v| verdict.is_none() && worth::is_quick(v));
        let is_followed = !quick && e.lack.is_none() && !is_blind(&e.facts);
        let unfelt = unknown.filter(|v| is_followed && (!worth::is_felt(e, v) || v.is_as_expected()));
        let of_all =
            |v: &Sufferer| TooLittle { cause: None, lost: v.lost, as_expected: worth::is_felt(e, v) };
        let too_little = too_little.or_else(|| unfelt.map(of_all));
        let kind = match kind {
            _ if too_little.is_some()
                && (may_be_held_above(e) || first.is_some_and(|v| worth::is_behind_somebody(e, v))) =>
            {
                Kind::Unknown
            }
            _ if too_little.is_some() => Kind::Healthy,
            Kind::Cause if quick => Kind::Healthy,
            // The cause found concerns other victims.
            Kind::Cause if verdict.is_none() => Kind::Unknown,
            kind => kind,
        };
        let verdict = verdict.filter(|_| kind == Kind::Cause);
        let culprit = first.filter(|_| kind == Kind::Cause).and_then(|v| culprit(v, verdict));
        Answer {
            kind,
            cause: match kind {
                Kind::Healthy => Some("healthy"),
                _ => verdict.map(|v| v.cause),
            },
            root: verdict.and_then(|v| v.root),
            confidence: verdict.and_then(|v| v.confidence),
            culprit,
            explained: Some(first.map_or(1.0, |v| 1.0 - v.unexplained())),
            victims,
            bystanders,
            too_little,
        }
    }

    /// The answer from texts alone: counters show a cause but no victims.
    fn of_texts(e: &Explanation) -> Answer {
        let found = e.verdicts.iter().find(|v| v.verdict == Verdicted::Found);
        Answer {
            kind: if found.is_some() { Kind::Cause } else { Kind::Unknown },
            cause: found.map(|v| v.cause),
            root: found.and_then(|v| v.root),
            confidence: found.and_then(|v| v.confidence),
            culprit: None,
            explained: None,
            victims: vec![],
            bystanders: 0,
            too_little: None,
        }
    }

    /// The remedies to try first, at most [`MOST_REMEDIES`]: those with less risk first, and at equal risk the first remedy of the root
    /// cause before those of the visible cause, unless it pauses a task that is no known job: nobody knows what waits for that.
    pub fn remedies<'a>(&self, e: &'a Explanation) -> Vec<Try<'a>> {
        let of = |cause: Option<&str>| {
            let verdict = e.verdicts.iter().find(|v| Some(v.cause) == cause);
            verdict.map_or(vec![], |v| self.remedies_of(e, v))
        };
        let pauses_no_job = |t: &Try| match &t.remedy.acts {
            Acts::Culprit(name) => {
                matches!(t.remedy.action, Action::Pause { .. }) && !e.subject.roles.is_job(name)
            }
            _ => false,
        };
        let root = self.root.map_or(vec![], |root| of(Some(root))).into_iter().take(1);
        let (after, before): (Vec<_>, Vec<_>) = root.partition(pauses_no_job);
        let mut all: Vec<_> = before.into_iter().chain(of(self.cause)).chain(after).collect();
        all.sort_by_key(|offered| offered.remedy.action.risk());
        all.truncate(MOST_REMEDIES);
        all
    }

    /// The remedies of one cause, those of the named culprit first, unless they wait for its next run. Leaves out remedies that slow the victim down for others, and
    /// changes whose gain is neither predicted nor tested.
    fn remedies_of<'a>(&self, e: &'a Explanation, v: &'a Verdict) -> Vec<Try<'a>> {
        let blamed = self.culprit.is_some();
        let victim = self.victims.first();
        let fits = |r: &&Remedy| match &r.acts {
            Acts::Victim => !blamed,
            Acts::Culprit(_) => victim.is_none_or(|v| !slows(e, v, r)),
            Acts::Device | Acts::Host => true,
        };
        let mut all: Vec<_> = v.remedies_of(victim.map_or(0, |v| v.group)).into_iter().filter(fits).collect();
        let named = self.culprit.as_ref().and_then(|c| c.name.as_deref());
        let waits = |r: &Remedy| matches!(r.action, Action::Pause { had_ended: true, .. });
        all.sort_by_key(|r| match &r.acts {
            Acts::Culprit(name) if named == Some(&**name) => u8::from(waits(r)),
            Acts::Culprit(_) if named.is_some() => 2,
            _ => 1,
        });
        let tries = all.into_iter().map(|remedy| Try::of(remedy, v.cause, victim));
        tries.filter(Try::is_founded).collect()
    }

    /// The part of all victims' lost time that has neither a cause nor a culprit, 0 to 1; `None` if `explained` is `None`.
    pub fn unexplained(&self) -> Option<f64> {
        self.explained?;
        let (lost, unknown) = self
            .victims
            .iter()
            .fold((0.0, 0.0), |(l, u), v| (l + v.lost.0 as f64, u + v.unexplained() * v.lost.0 as f64));
        Some(unknown / f64::max(lost, 1.0))
    }
}

/// Whether a remedy slows the victim down, or more than helps it: it acts on the victim's own task or on another thread of its process, or
/// on a server, whose clients wait for it. A server is never paused, and not slowed for a job.
pub fn slows(e: &Explanation, victim: &Sufferer, remedy: &Remedy) -> bool {
    let is_itself =
        |name: &str| name == victim.task || e.facts.operations.process_of_both(&victim.task, name).is_some();
    let pauses = matches!(remedy.action, Action::Pause { .. });
    let is_server = |name: &str| e.subject.roles.server(name).is_some();
    let for_a_job = e.subject.roles.is_job(&victim.task);
    matches!(&remedy.acts, Acts::Culprit(name) if is_itself(name) || (pauses || for_a_job) && is_server(name))
}

/// Moves another victim to the front if no cause of the first one is worth acting on. Preferred: the same task's operations
/// that took more time; then, if the first victim's cause is unknown, a victim on the same device that is no job and noticed its
/// loss, or one that lost at least half as much; then any victim that spent more time.
fn worth_acting_on_first(e: &Explanation, victims: &mut [Sufferer]) {
    let is_worth = |v: &Sufferer| chosen(e, v, victims).is_some_and(|(_, is_worth)| is_worth);
    let Some(first) = victims.first().filter(|first| !is_worth(first)) else { return };
    // A victim whose wait did not end comes before tasks that only wait in their own queue.
    let is_worth = |v: &Sufferer| is_worth(v) && !(first.waits_without_end() && rank::is_queue(e, v));
    let explains = |found: &Verdict| !worth::hardly_explains(e, first, found);
    let is_unknown = !precedence::choose(e, first).is_some_and(explains);
    let other = victims.iter().position(|v| v.task == first.task && v.time > first.time && is_worth(v));
    let beside = |v: &&Sufferer| e.is_same_device(v.group, first.group) && rank::noticed(e, v);
    let beside = || victims.iter().position(|v| beside(&v) && is_worth(v));
    let half =
        || beside().or_else(|| victims.iter().position(|v| 2 * v.lost.0 >= first.lost.0 && is_worth(v)));
    let somebody = || victims.iter().position(|v| v.time > first.time && is_worth(v));
    if let Some(at) = other.or_else(|| half().filter(|_| is_unknown)).or_else(somebody) {
        victims[..=at].rotate_right(1);
    }
}

/// If the first victim waits behind another task's flushes, and that task lost about as much to them itself, moves that task to the
/// front: a device that flushes quickly helps both, and nobody would pause a database for its backup.
fn flushes_first(e: &Explanation, victims: &mut [Sufferer]) {
    let Some((first, others)) = victims.split_first() else { return };
    let Some(by) = precedence::choose(e, first).and_then(|found| culprit(first, Some(found))) else { return };
    let flushes = |v: &Sufferer| precedence::choose(e, v).is_some_and(|found| found.cause == FLUSH_COST);
    let its = |v: &Sufferer| Some(&*v.task) == by.name.as_deref() && e.is_same_device(v.group, first.group);
    let lost = |v: &Sufferer| rank::of_the_clock(e, v, v.lost);
    let as_much = |v: &Sufferer| !rank::is_worth_seeing(lost(first).since(lost(v)), lost(first));
    let is_told = |v: &Sufferer| its(v) && as_much(v) && flushes(v);
    if let Some(at) = others.iter().position(is_told).filter(|_| by.io == Some(Io::Flush)) {
        victims[..=at + 1].rotate_right(1);
    }
}

/// The culprit beside a cause: the one with most of the time that the cause explains (of all lost time, if there is no cause).
fn culprit(v: &Sufferer, verdict: Option<&Verdict>) -> Option<Culprit> {
    let cause = verdict.map(|v| v.cause);
    let its = v.because.iter().filter(|b| cause.is_none() || b.cause == cause);
    let (somebody, nobody): (Vec<&Because>, Vec<_>) = its.partition(|b| b.culprit.is_another_than(&v.task));
    let most = somebody.iter().max_by_key(|b| b.time)?;
    let all: Nanos = somebody.iter().chain(&nobody).map(|b| b.time).sum();
    (most.time.0.saturating_mul(WORTH_NAMING) >= all.0).then(|| most.culprit.clone())
}

#[cfg(test)]
mod tests {
    use super::worth::tests::{flushes, victim};
    use super::*;
    use waits::CulpritKind;

    fn because(kind: CulpritKind, name: &str, ms: u64) -> Because {
        let name = Some(name).filter(|n| !n.is_empty()).map(Into::into);
        Because { culprit: Culprit { name, ..Culprit::of(kind) }, ..flushes(ms) }
    }

    /// The culprit that is named for fio.
    fn named(because: Vec<Because>) -> Option<String> {
        culprit(&Sufferer { because, ..victim(1000, 100, 2000) }, None)
            .map(|c| c.name.unwrap_or_default().into_string())
    }

    /// Named from 1/5 on; neither the device nor the victim's own task counts as a culprit.
    #[test]
    fn somebody_else_with_a_fifth_of_what_was_lost_is_named() {
        let tar = |ms| because(CulpritKind::Task, "tar", ms);
        let device = |ms| because(CulpritKind::Device, "", ms);
        assert_eq!(named(vec![device(80), tar(20)]), Some("tar".into()));
        assert_eq!(named(vec![device(81), tar(19)]), None);
        assert_eq!(
            named(vec![device(10), because(CulpritKind::Task, "fio", 90)]),
            None,
            "its own journal's writes"
        );
        assert_eq!(named(vec![device(100)]), None);
        assert_eq!(named(vec![because(CulpritKind::Task, "?", 90), device(10)]), None, "nobody knows who");
    }

    /// Weighted by lost time: of 400 ms, 300 ms have no culprit.
    #[test]
    fn what_nothing_explains_is_a_part_of_what_all_victims_lost() {
        let of = |kind, ms| {
            let because = vec![Because { cause: None, ..because(kind, "", ms) }];
            Sufferer { because, ..victim(1000, ms, 2000) }
        };
        let answer = |explained| Answer {
            kind: Kind::Unknown,
            cause: None,
            root: None,
            confidence: None,
            culprit: None,
            explained,
            victims: vec![of(CulpritKind::Device, 100), of(CulpritKind::Unknown, 300)],
            bystanders: 0,
            too_little: None,
        };
        assert_eq!(answer(Some(0.5)).unexplained(), Some(0.75));
        assert_eq!(answer(None).unexplained(), None, "of texts");
        assert_eq!(Answer { victims: vec![], ..answer(Some(1.0)) }.unexplained(), Some(0.0));
    }

    #[test]
    fn kinds_of_answers_are_called_as_json_has_them() {
        for kind in [Kind::Cause, Kind::Healthy, Kind::Unknown] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }

    /// A backup behind a database's flushes; the database itself lost the given time to them.
    #[test]
    fn who_flushes_is_told_before_who_waits_for_that_if_it_lost_as_much() {
        let mut e = Explanation::of_texts(crate::texts::Texts::default());
        let found = |cause| Verdict { verdict: Verdicted::Found, ..Verdict::rejected(cause, "-") };
        e.verdicts = vec![found("background-task"), found("flush-cost")];
        let first = |io, lost: u64| {
            let behind = Because { cause: Some("background-task"), ..because(CulpritKind::Task, "db", 100) };
            let behind = Because { culprit: Culprit { io: Some(io), ..behind.culprit.clone() }, ..behind };
            let backup = Sufferer { task: "backup".into(), because: vec![behind], ..victim(1000, 100, 2000) };
            let db = Sufferer { task: "db".into(), because: vec![flushes(lost)], ..victim(1000, lost, 2000) };
            let mut victims = [backup, db];
            flushes_first(&e, &mut victims);
            victims[0].task.clone()
        };
        assert_eq!((first(Io::Flush, 80), first(Io::Flush, 79)), ("db".into(), "backup".into()));
        assert_eq!(first(Io::SyncWrite, 100), "backup");
    }
}
