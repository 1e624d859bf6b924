//! Decides which of a task's operations come first: those that have most of the cause with the largest part of the task's time.
//!
//! Lost time to a cause counts, for operations with a visible part of all that the task lost to it. If that is less than a fifth of the time
//! that the operations took, the device's own time per operation counts too, for operations for which that is the reported cause.
//!
//! Example: commits of 21 ms took 1.4 s, page faults of 5 ms 0.7 s, each the device's latency alone: the commits come first.

use super::chosen::chosen;
use super::nature;
use super::rank;
use super::thresholds::WORTH_SEEING;
use super::victim::Sufferer;
use crate::explanation::Explanation;
use causes::Verdict;
use trace::{Call, Nanos};

/// If another cause than that of the first victim's operations has more of all the time that its task spent in operations on that device,
/// moves the operations that have most of this cause to the front.
pub(super) fn move_to_front(e: &Explanation, victims: &mut [Sufferer]) {
    let Some(first) = victims.first() else { return };
    // A task that starts writeback ahead (sync_file_range(2): a checkpoint) waits neither for that writeback nor for what it keeps in flight.
    let asks_ahead = |v: &Sufferer| {
        let op = e.focus.groups.get(v.group).and_then(|g| g.op);
        op.is_some_and(|op| op.kind == operation::Kind::Call(Call::SyncFileRange))
    };
    let is_waited_for = |v: &Sufferer| !asks_ahead(v) && (rank::is_queue(e, first) || !rank::is_queue(e, v));
    let is_its = |v: &Sufferer| {
        let is_first = v.group == first.group;
        v.task == first.task && e.is_same_device(v.group, first.group) && (is_first || is_waited_for(v))
    };
    let chosen = |at: usize, v: &Sufferer| {
        let (found, is_worth) = chosen(e, v, victims)?;
        (at == 0 || is_worth).then_some(Chosen { cause: found.cause, pace: pace(v, found) })
    };
    let its = victims.iter().enumerate().filter(|(_, v)| is_its(v));
    let its: Vec<_> = its.map(|(at, v)| Of { at, victim: v, chosen: chosen(at, v) }).collect();
    if let Some(at) = outweighed(&its, |v, time| rank::of_the_clock(e, v, time)) {
        victims[..=at].rotate_right(1);
    }
}

/// One kind of operation of a task, its index among the victims, and the cause that is reported for it.
struct Of<'a> {
    at: usize,
    victim: &'a Sufferer,
    chosen: Option<Chosen>,
}

/// A cause, and the time that it adds to all operations (`throughout`).
#[derive(Clone, Copy)]
struct Chosen {
    cause: &'static str,
    pace: Nanos,
}

fn pace(v: &Sufferer, found: &Verdict) -> Nanos {
    // Operations that a limit lets through take the same time alone: almost none of it appears as lost.
    if nature::is_limit(found.cause) && found.throughout.is_empty() {
        return if v.lost_little() { v.time } else { Nanos(0) };
    }
    let part = found.throughout.iter().find(|(group, _)| *group == v.group).map_or(0.0, |(_, part)| *part);
    Nanos((part * v.time.0 as f64) as u64)
}

/// The index of the operations with most of the cause that outweighs the cause of the first operations; `None` if none does.
fn outweighed(its: &[Of], by_the_clock: impl Fn(&Sufferer, Nanos) -> Nanos) -> Option<usize> {
    let lost_to = |of: &Of, cause| by_the_clock(of.victim, of.victim.lost_to(cause));
    let sum = |time: &dyn Fn(&Of) -> Nanos| its.iter().map(time).sum::<Nanos>().0 as f64;
    let first = its.first()?.chosen?.cause;
    let all = sum(&|of| by_the_clock(of.victim, of.victim.time));
    let is_little = sum(&|of| lost_to(of, first)) < WORTH_SEEING * all;
    let spent_on = |of: &Of, cause| {
        let pace = of.chosen.filter(|chosen| is_little && chosen.cause == cause).map(|chosen| chosen.pace);
        lost_to(of, cause).max(by_the_clock(of.victim, pace.unwrap_or_default()))
    };
    let all_on = |cause| sum(&|of| spent_on(of, cause));
    let has = |cause| nature::counts(cause) * all_on(cause);
    let (of_first, own) = (has(first), spent_on(its.first()?, first));
    let more = its.iter().filter_map(|of| {
        let cause = of.chosen?.cause;
        let is_larger = is_little && cause == first && spent_on(of, cause) > own;
        let (time, its) = (has(cause), spent_on(of, cause));
        let is_first = is_larger || time > of_first && its.0 as f64 >= WORTH_SEEING * all_on(cause);
        is_first.then_some((time, its, of.at))
    });
    more.max_by(|(a, own, _), (b, other, _)| a.total_cmp(b).then(own.cmp(other))).map(|(.., at)| at)
}

#[cfg(test)]
mod tests {
    use super::super::because::Because;
    use super::super::worth::tests::{flushes, victim};
    use super::*;
    use waits::{Culprit, CulpritKind};

    fn told(its: [(&Sufferer, Option<Chosen>); 2]) -> Option<usize> {
        let [first, other] = its;
        let of = |at, (victim, chosen)| Of { at, victim, chosen };
        outweighed(&[of(0, first), of(3, other)], |_, time| time)
    }

    fn chosen(cause: &'static str, pace_ms: u64) -> Option<Chosen> {
        Some(Chosen { cause, pace: Nanos(pace_ms * 1_000_000) })
    }

    /// A task's reads lost 150 ms to its own queue, which has weight 1/2, and 60 ms to flushes; its syncs lost the given ms to flushes.
    #[test]
    fn the_cause_with_most_of_what_a_task_lost_is_told() {
        let queue = Because {
            cause: Some("device-saturated"),
            culprit: Culprit::of(CulpritKind::Own),
            ..flushes(150)
        };
        let reads = Sufferer { because: vec![queue, flushes(60)], ..victim(250, 210, 2000) };
        let of = |flushed: u64, chosen_of_syncs| {
            let syncs = Sufferer { because: vec![flushes(flushed)], ..victim(flushed, flushed, 2000) };
            told([(&reads, chosen("device-saturated", 0)), (&syncs, chosen_of_syncs)])
        };
        let flushes = chosen("flush-cost", 0);
        assert_eq!((of(16, flushes), of(15, flushes)), (Some(3), None));
        assert_eq!(of(100, None), None, "not worth acting on");
    }

    /// Syncs lost 150 ms to their own queue, which is told of them, and the given ms to flushes; reads lost 50 ms to flushes and nothing else.
    #[test]
    fn who_lost_hardly_any_of_the_cause_is_not_told_for_it() {
        let queue = Because {
            cause: Some("device-saturated"),
            culprit: Culprit::of(CulpritKind::Own),
            ..flushes(150)
        };
        let of = |flushed| {
            let syncs = Sufferer { because: vec![queue.clone(), flushes(flushed)], ..victim(400, 350, 2000) };
            let reads = Sufferer { because: vec![flushes(50)], ..victim(60, 50, 2000) };
            told([(&syncs, chosen("device-saturated", 0)), (&reads, chosen("flush-cost", 0))])
        };
        assert_eq!((of(200), of(201)), (Some(3), None));
    }

    /// Syncs of 1 s in all lost the given ms to flushes. Writes took the given ms, nearly all of it the device's own time per operation, which
    /// has weight 1/2.
    #[test]
    fn the_devices_own_pace_is_told_of_the_operations_that_have_most_of_it() {
        let of = |lost: u64, taken: u64, cause| {
            let syncs = Sufferer { because: vec![flushes(lost)], ..victim(1000, lost, 2000) };
            let writes = Sufferer { because: vec![], ..victim(taken, 0, 2000) };
            told([(&syncs, cause), (&writes, chosen("slow-device", taken))])
        };
        let flushes = chosen("flush-cost", 0);
        assert_eq!((of(300, 700, flushes), of(300, 590, flushes)), (Some(3), None));
        assert_eq!(of(500, 1100, flushes), None, "a part worth seeing was lost");
        assert_eq!(of(10, 1100, chosen("slow-device", 900)), Some(3), "of one cause the larger part");
        assert_eq!(of(10, 800, chosen("slow-device", 900)), None);
    }

    /// Writes that a limit lets through: almost nothing appears as lost, or half.
    #[test]
    fn a_limit_has_all_that_it_lets_through() {
        let limit = Verdict::rejected("rate-limit", "-");
        let of = |lost| pace(&victim(1000, lost, 2000), &limit).0 / 1_000_000;
        assert_eq!((of(10), of(500)), (1000, 0));
        let flushes = Verdict::rejected("flush-cost", "-");
        assert_eq!(pace(&victim(1000, 10, 2000), &flushes), Nanos(0));
    }
}
