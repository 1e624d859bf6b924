//! Chooses the cause that is the answer for a victim: the one with the largest part of its lost time, over all of its operations and, with a
//! smaller weight, over the slowest ones if there are more than a few. A general cause, which only says where the time passed, needs twice
//! the part of a cause that says why.

use super::nature::{counts, gone_without, is_limit, GENERAL_COUNTS, HELD_BACK};
use super::thresholds::{MOSTLY, WORTH_SEEING};
use super::victim::Sufferer;
use crate::explanation::Explanation;
use causes::{nature, Answer, Nature, Verdict, MIN_SHARE};
use life::Class;
use stats::{Phases, FEW};
use waits::CulpritKind;

/// The limit of the victim's own cgroup.
const OWN_LIMIT: &str = "cgroup-limit";

/// The victim's own requests queue together in the device.
const QUEUE: &str = "device-saturated";

/// Requests that ended with an error.
pub const ERRORS: &str = "device-errors";

/// Weight of the slowest operations beside all operations: users notice the slowest, but all of them set an application's pace. Chosen
/// without a source: on the 97 recordings of draws 36 to 40, 1/4 gives two more right answers than 0; on draws 13 and 14, 1/2 gives fewer.
const SLOWEST_COUNT: f64 = 0.25;

/// Requests that a thread which waits for each of its reads has in flight.
const WINDOWS: f64 = 2.0;

/// The verdict that is the answer for a victim; `None` if no cause found has a part of its time.
pub(crate) fn choose<'a>(e: &'a Explanation, victim: &Sufferer) -> Option<&'a Verdict> {
    let found = || e.verdicts.iter().filter(|v| v.verdict == Answer::Found && v.cause != "healthy");
    let share = |v: &Verdict| match share_of_slowest(e, victim, v) {
        None => victim.share_of(v.cause),
        Some(of_slowest) => (1.0 - SLOWEST_COUNT) * victim.share_of(v.cause) + SLOWEST_COUNT * of_slowest,
    };
    // A victim that waits for its own limit has reached it: with less of any other cause it would wait longer for the limit.
    let reached = found().find(|v| is_reached(victim, v.cause));
    if reached.is_some() {
        return reached;
    }
    // Data that cannot be read or written matters more than any time.
    if let Some(errors) = errors(e).filter(|_| fails(e, victim)) {
        return Some(errors);
    }
    let contention = found().filter(|v| nature(v.cause) == Nature::Contention).map(share).fold(0.0, f64::max);
    let counts_here = |v: &Verdict| match v.cause {
        "device-stall" if contention < GENERAL_COUNTS * share(v) => 1.0,
        "device-stall" => GENERAL_COUNTS,
        HELD_BACK => 1.0 - (1.0 - gone_without(HELD_BACK, CulpritKind::Own)) * own_part(victim, HELD_BACK),
        cause => counts(cause),
    };
    let weighed = found().map(|v| (counts_here(v) * share(v), v)).filter(|(part, _)| *part > 0.0);
    let first = weighed.max_by(|(a, _), (b, _)| a.total_cmp(b));
    let first = slow_throughout(e, victim, first).or(first.map(|(_, v)| v))?;
    // If a victim queues together with other tasks, its own requests are the answer if they are the larger part.
    let queue = found().find(|v| v.cause == QUEUE);
    let is_larger = |v: &&Verdict| own_part(victim, v.cause) * share(v) > share(first);
    Some(queue.filter(|_| nature(first.cause) == Nature::Contention).filter(is_larger).unwrap_or(first))
}

/// Whether a cause is the limit of the victim's own cgroup and has a visible part of the victim's lost time. Where the wait in the victim's own
/// queue is more than twice as long, the device is saturated and the limit is reached only now and then.
fn is_reached(victim: &Sufferer, cause: &str) -> bool {
    let queue = own_part(victim, QUEUE) * victim.share_of(QUEUE);
    let limit = victim.share_of(cause);
    cause == OWN_LIMIT && limit >= WORTH_SEEING && GENERAL_COUNTS * queue <= limit
}

/// The verdict on failed requests, if any failed.
pub(super) fn errors(e: &Explanation) -> Option<&Verdict> {
    e.verdicts.iter().find(|v| v.verdict == Answer::Found && v.cause == ERRORS)
}

/// Whether requests of the victim's class failed on its device, so that its data is lost or so many that others fail, too.
pub(super) fn fails(e: &Explanation, victim: &Sufferer) -> bool {
    let group = e.focus.groups.get(victim.group);
    group.is_some_and(|g| {
        e.facts.device(g.dev).is_some_and(|d| is_failure(g.class, &d.requests[g.class.index()]))
    })
}

/// Whether errors matter more than any time. A write that failed is data that was lost. A read that failed is sent again, or was read ahead
/// and is dropped (mm/readahead.c): one in many thousands says nothing about why the others were slow.
fn is_failure(class: Class, requests: &Phases) -> bool {
    let least = if class == Class::Read { MIN_SHARE * requests.count as f64 } else { 0.0 };
    requests.errors > 0 && requests.errors as f64 >= least
}

/// A cause that slows every operation, if the best other cause would save the victim a smaller part of all its time.
fn slow_throughout<'a>(
    e: &'a Explanation,
    victim: &Sufferer,
    best: Option<(f64, &Verdict)>,
) -> Option<&'a Verdict> {
    let part =
        |v: &Verdict| v.throughout.iter().find(|(group, _)| *group == victim.group).map(|(_, part)| *part);
    let with_slowest = |of_all: f64, v: &Verdict| match share_of_slowest(e, victim, v) {
        None => of_all,
        Some(of_slowest) => (1.0 - SLOWEST_COUNT) * of_all + SLOWEST_COUNT * of_slowest,
    };
    let throughout = || e.verdicts.iter().filter_map(|v| Some((v, part(v)?)));
    let (own, of_all) = throughout().find(|(v, _)| is_limit(v.cause)).or_else(|| throughout().next())?;
    let Some((_, best)) = best else { return Some(own) };
    if best.cause == QUEUE && of_all >= MOSTLY && reads_on_by_itself(e, victim) {
        return Some(own);
    }
    // Time that a limit holds back before requests are visible is not in the victim's time: only the rest is.
    let is_unseen = is_limit(own.cause) && victim.lost_to(own.cause).0 == 0;
    let seen = if is_unseen { 1.0 - of_all } else { 1.0 };
    let spared = seen * victim.lost.0 as f64 / victim.time.0.max(1) as f64 * victim.share_of(best.cause);
    if is_limit(best.cause) || spared >= WORTH_SEEING {
        return None;
    }
    let spared = counts(best.cause) * with_slowest(spared, best);
    (GENERAL_COUNTS * with_slowest(of_all, own) > spared).then_some(own)
}

/// Whether a victim that is no server mostly waits behind its own requests, two at a time, on a device that serves one after the other: it would
/// not be done sooner with one at a time. (A reader has the window that it reads and the one ahead in flight, mm/readahead.c.)
fn reads_on_by_itself(e: &Explanation, victim: &Sufferer) -> bool {
    let device = e.focus.groups.get(victim.group).and_then(|group| e.facts.device(group.dev));
    let in_turn = device.is_some_and(|d| d.model.in_turn && d.model.depth().round() <= WINDOWS);
    in_turn && victim.role.is_none() && own_part(victim, QUEUE) >= MOSTLY
}

/// Of the victim's lost time that a cause explains, the part behind the victim's own requests, 0 to 1.
fn own_part(victim: &Sufferer, cause: &str) -> f64 {
    let of = |own: bool| -> u64 {
        let rows = victim.because.iter().filter(|b| b.cause == Some(cause));
        rows.filter(|b| !own || b.culprit.kind == CulpritKind::Own).map(|b| b.time.0).sum()
    };
    of(true) as f64 / of(false).max(1) as f64
}

/// The part of the victim's slowest operations' time that a verdict claims, 0 to 1; `None` if they are only a few.
pub fn share_of_slowest(e: &Explanation, victim: &Sufferer, v: &Verdict) -> Option<f64> {
    let group = e.focus.groups.get(victim.group).filter(|g| g.tail.sum.time.operations >= FEW)?;
    let claimed: u64 = v.claims.iter().filter(|c| c.group == victim.group).map(|c| c.time.0).sum();
    Some(claimed as f64 / group.tail.sum.time.total.0.max(1) as f64)
}

/// The cause with more than half of the time of a victim's slowest operations, and that part, if it is neither the reported cause nor its root.
pub fn most_of_slowest<'a>(
    e: &'a Explanation,
    victim: &Sufferer,
    told: &Verdict,
) -> Option<(&'a Verdict, f64)> {
    let is_other =
        |v: &&Verdict| v.verdict == Answer::Found && v.cause != told.cause && Some(v.cause) != told.root;
    let others = e.verdicts.iter().filter(is_other);
    let parts = others.filter_map(|v| Some((v, share_of_slowest(e, victim, v)?)));
    parts.max_by(|(_, a), (_, b)| a.total_cmp(b)).filter(|(_, part)| *part > MOSTLY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::because::Because;
    use crate::answer::nature::is_everyday;
    use crate::answer::worth::tests::{flushes, victim};
    use waits::Culprit;

    #[test]
    fn any_write_that_failed_matters_and_a_read_only_with_others() {
        let of = |class, count, errors| is_failure(class, &Phases { count, errors, ..Phases::default() });
        assert!(of(Class::SyncWrite, 1_000_000, 1) && of(Class::Flush, 1000, 1));
        assert!(!of(Class::Read, 1_000_000, 1) && !of(Class::SyncWrite, 1000, 0));
        let least = (MIN_SHARE * 1000.0) as u64;
        assert!(of(Class::Read, 1000, least) && !of(Class::Read, 1000, least - 1) && of(Class::Read, 1, 1));
    }

    #[test]
    fn a_setting_matters_by_how_much_it_takes_and_a_stall_by_being_there() {
        assert!(is_everyday("read-ahead-short") && is_everyday("flush-cost") && is_everyday("cold-reads"));
        assert!(!is_everyday("device-stall") && !is_everyday("inode-lock") && !is_everyday("rate-limit"));
    }

    #[test]
    fn an_own_limit_is_reached_from_a_fifth_of_what_was_lost() {
        let with = |limit: u64| {
            let mut v = victim(1000, 100, 2000);
            v.because = vec![flushes(100 - limit), Because { cause: Some(OWN_LIMIT), ..flushes(limit) }];
            v
        };
        assert!(is_reached(&with(20), OWN_LIMIT) && !is_reached(&with(19), OWN_LIMIT));
        assert!(!is_reached(&with(20), "flush-cost"));
        let beside_queue = |queue: u64| {
            let mut v = with(20);
            let own = Culprit::of(CulpritKind::Own);
            v.because[0] = Because { cause: Some(QUEUE), culprit: own, ..flushes(queue) };
            is_reached(&v, OWN_LIMIT)
        };
        assert!(beside_queue(40) && !beside_queue(41));
    }

    /// Each operation takes a little long, for 15 % of its time; the best other cause would save a tenth.
    #[test]
    fn what_all_operations_take_comes_before_a_cause_that_says_no_more_and_not_before_one_that_says_why() {
        let mut e = Explanation::of_texts(crate::texts::Texts::default());
        let throughout =
            |cause, part| Verdict { throughout: vec![(0, part)], ..Verdict::rejected(cause, "-") };
        e.verdicts = vec![throughout("slow-device", 0.15)];
        let beside = |cause: &'static str| {
            let mut v = victim(1000, 100, 2000);
            v.because = vec![Because { cause: Some(cause), ..flushes(100) }];
            let best = Verdict::rejected(cause, "-");
            slow_throughout(&e, &v, Some((0.5, &best))).map(|own| own.cause)
        };
        assert_eq!(beside("cold-reads"), Some("slow-device"));
        assert_eq!(beside("flush-cost"), None);
        // A limit that sets the pace of all operations is reported itself.
        assert_eq!(beside("rate-limit"), None);
    }
}
