//! Finds the root behind a found cause: the place of a wait is not always the reason for it.
//!
//! Example: reads wait for a tag (`tag-exhaustion`) because each is cut into 32 pieces that fill the tags (`request-size`).

use crate::block::writeback_throttle;
use crate::case::{Case, MIN_SHARE};
use crate::claimable::FLUSHING;
use crate::device::{background_task, device_saturated, device_stall, flush_cost, rate_limit};
use crate::interfering::mostly_behind;
use crate::journal::{inode_lock, log_force};
use crate::memory::writeback_flood;
use crate::scheduler::scheduler_throttle;
use crate::thresholds::device_saturated::FASTEST;
use crate::verdict::{Answer, Claim, Verdict};
use ledger::Reason;
use life::Io;
use operation::Wait;
use stats::Device;
use std::collections::{BTreeMap, BTreeSet};
use trace::{DevId, Nanos};
use waits::{CulpritId, CulpritKind, Phase, Selection};

/// Causes that fill a device and every queue in front of it.
const FILLS: [&str; 5] =
    ["rate-limit", "device-stall", "background-task", "writeback-flood", "discard-stall"];

/// The causes that can be the root of this one; empty if none can.
fn behind(cause: &str) -> &'static [&'static str] {
    match cause {
        // Tasks that wait for processors also handle completions late.
        "completion-cpu" => &["cpu-wait"],
        "tag-exhaustion" => {
            &["request-size", "rate-limit", "device-stall", "background-task", "writeback-flood"]
        }
        "writeback-throttle" | "scheduler-throttle" | "inode-lock" | "journal-space" | "log-space" => &FILLS,
        _ => &[],
    }
}

/// Causes that say which requests others queue behind: their root is what fills the queue.
const QUEUES: [&str; 2] = ["background-task", "device-saturated"];

/// A found cause, with the time that it claims and the devices of the groups concerned.
struct Found {
    cause: &'static str,
    /// Claimed time, each with its group as an index into `Focus::groups`.
    claims: Vec<(usize, Nanos)>,
    devices: BTreeSet<DevId>,
}

impl Found {
    fn of(case: &Case, v: &Verdict) -> Found {
        let claims: Vec<(usize, Nanos)> = v.claims.iter().map(|c| (c.group, c.time)).collect();
        let groups = v.claims.iter().map(|c| c.group).chain(v.throughout.iter().map(|(group, _)| *group));
        let devices = groups.filter_map(|g| Some(case.focus.groups.get(g)?.dev)).collect();
        Found { cause: v.cause, claims, devices }
    }
}

/// Sets the root of each found cause: of the causes in `behind`, the one with the most time in the groups in which this cause was
/// found, if that is at least [`MIN_SHARE`] of their tails. The root of a queue is what the time behind others is due to.
pub(crate) fn name_roots(case: &Case, verdicts: &mut [Verdict]) {
    let is_found = |v: &&Verdict| v.verdict == Answer::Found;
    let found: Vec<Found> = verdicts.iter().filter(is_found).map(|v| Found::of(case, v)).collect();
    for v in verdicts.iter_mut().filter(|v| v.verdict == Answer::Found) {
        v.root = match v.cause {
            cause if QUEUES.contains(&cause) => root_of_queue(case, v, &found),
            cause if cause == log_force::CAUSE.name => {
                flushes_of_log(case, v).or_else(|| others_of_log(case, v, &found))
            }
            cause if cause == inode_lock::CAUSE.name => {
                flushes_of_holder(case, v).or_else(|| heaviest(case, v, &found))
            }
            cause if cause == writeback_throttle::CAUSE.name => heaviest(case, v, &found)
                .or_else(|| queue_of_own(case, v))
                .or_else(|| flood_of_another(case, v)),
            cause if cause == scheduler_throttle::CAUSE.name => {
                heaviest(case, v, &found).or_else(|| served_instead(case, v))
            }
            _ => heaviest(case, v, &found),
        };
        // Of writeback in front of everything, more tags let in more. Measured with 32 and 128: reads of 97 and 172 ms.
        if v.root == Some(writeback_flood::CAUSE.name) {
            v.remedies.retain(|remedy| !remedy.action.sets("queue/nr_requests"));
        }
    }
}

/// A task that is throttled behind its own writes, on a device that serves one request at a time, waits for the device.
fn queue_of_own(case: &Case, v: &Verdict) -> Option<&'static str> {
    let is_own = |group| writeback_throttle::stands_in_its_own_line(case, group);
    is_mostly_of(v, is_own).then_some(device_saturated::CAUSE.name)
}

/// A task that is throttled behind writeback for another task waits for that writeback, wherever it is.
fn flood_of_another(case: &Case, v: &Verdict) -> Option<&'static str> {
    let is_behind = |group| writeback_throttle::behind_writeback_of(case, group).is_some();
    is_mostly_of(v, is_behind).then_some(writeback_flood::CAUSE.name)
}

/// What the device serves while a scheduler holds a task's requests back: another task's.
fn served_instead(case: &Case, v: &Verdict) -> Option<&'static str> {
    let behind = |is: fn(Io) -> bool| {
        is_mostly_of(v, |group| mostly_behind(case, group, Reason::Scheduler, is).is_some())
    };
    match behind(|io| io == Io::BackgroundWrite) {
        true => Some(writeback_flood::CAUSE.name),
        false => behind(|_| true).then_some(background_task::CAUSE.name),
    }
}

/// Whether more than half of the time that a cause claims is in groups for which `is` holds.
fn is_mostly_of(v: &Verdict, is: impl Fn(usize) -> bool) -> bool {
    let (its, all) = v
        .claims
        .iter()
        .fold((0, 0), |(its, all), c| (its + if is(c.group) { c.time.0 } else { 0 }, all + c.time.0));
    2 * its > all
}

fn heaviest(case: &Case, v: &Verdict, found: &[Found]) -> Option<&'static str> {
    let its = |group: usize| v.claims.iter().any(|c| c.group == group);
    let time = |other: &Found| -> Nanos {
        other.claims.iter().filter(|(group, _)| its(*group)).map(|(_, time)| *time).sum()
    };
    let mut groups: Vec<usize> = v.claims.iter().map(|c| c.group).collect();
    groups.sort_unstable();
    groups.dedup();
    let whole: Nanos = groups.iter().map(|g| case.focus.groups[*g].tail.sum.time.total).sum();
    let can_be = |other: &Found| other.cause != device_stall::CAUSE.name || stalls(case, &other.devices);
    let roots = found.iter().filter(|other| behind(v.cause).contains(&other.cause) && can_be(other));
    let heaviest = roots.map(|other| (other.cause, time(other))).max_by_key(|(_, time)| *time);
    heaviest.filter(|(_, time)| time.0 as f64 >= MIN_SHARE * whole.0 as f64).map(|(cause, _)| cause)
}

/// What fills a queue: a rate limit, which counts all requests alike; stalls; another task's flushes.
fn root_of_queue(case: &Case, v: &Verdict, found: &[Found]) -> Option<&'static str> {
    let devices = Found::of(case, v).devices;
    let there = |cause: &'static str| {
        let is_there = |other: &Found| other.cause == cause && devices.is_subset(&other.devices);
        (!devices.is_empty() && found.iter().any(is_there)).then_some(cause)
    };
    let flushes = || v.cause == background_task::CAUSE.name && is_mostly_flushes(case, v);
    there(rate_limit::CAUSE.name)
        .or_else(|| there(device_stall::CAUSE.name).filter(|_| stalls(case, &devices)))
        .or_else(|| flushes().then_some(flush_cost::CAUSE.name))
}

/// A log is on disk once its blocks are written and the device's cache is flushed: flushes are the root if they take most of that time.
fn flushes_of_log(case: &Case, v: &Verdict) -> Option<&'static str> {
    let groups: BTreeSet<usize> = v.claims.iter().map(|c| c.group).collect();
    let rows = |group: &usize| case.focus.groups[*group].rows(&case.facts.waits, Selection::default());
    let of_log = groups.iter().flat_map(rows).filter(|row| row.waits.has(Wait::LogForce));
    let (flushes, all) = of_log.fold((0, 0), |(flushes, all), row| {
        (flushes + if passes_in_flush(row.reason, row.phase) { row.time.0 } else { 0 }, all + row.time.0)
    });
    (2 * flushes > all).then_some(flush_cost::CAUSE.name)
}

/// Who waits for a log stands behind another task if requests of such have more of the time that was lost than its own: these would be there
/// without anybody else, too.
fn others_of_log(case: &Case, v: &Verdict, found: &[Found]) -> Option<&'static str> {
    let waits = &case.facts.waits;
    let groups: BTreeSet<usize> = v.claims.iter().map(|c| c.group).collect();
    let is_behind = |other: &Found| {
        other.cause == background_task::CAUSE.name
            && other.claims.iter().any(|(group, _)| groups.contains(group))
    };
    let (mut others, mut own) = (Nanos(0), Nanos(0));
    for group in groups.iter().map(|group| &case.focus.groups[*group]) {
        let rows = group.rows(waits, Selection::default());
        for row in rows.iter().filter(|row| !waits.is_own(row.chain, row.culprit)) {
            match waits.culprit_of(row.culprit) {
                by if by.is_another_than(&group.task) => others += row.time,
                by if by.kind == CulpritKind::Own => own += row.time,
                _ => {}
            }
        }
    }
    (others > own && found.iter().any(is_behind)).then_some(background_task::CAUSE.name)
}

/// The holder of a file's lock keeps it while the device flushes its cache: flushes are the root if they are most of
/// the time that the holder lost. Time in which the device serves the holder's own requests is not lost.
fn flushes_of_holder(case: &Case, v: &Verdict) -> Option<&'static str> {
    let rows = v.claims.iter().filter_map(|c| Some((c.time.0, case.rows(c.group).get(c.row)?)));
    let (flushes, lost) = rows.fold((0, 0), |(flushes, lost), (time, row)| {
        let is_flush = passes_in_flush(row.reason, row.phase) || is_behind_flush(case, row.culprit);
        let by = case.facts.waits.culprit_of(row.culprit);
        let is_served = row.phase == Phase::Behind && by.kind == CulpritKind::Own && !is_flush;
        let is_own = is_served || row.phase.is_own(by.kind);
        (flushes + if is_flush { time } else { 0 }, lost + if is_own { 0 } else { time })
    });
    (2 * flushes > lost).then_some(flush_cost::CAUSE.name)
}

fn passes_in_flush(reason: Reason, phase: Phase) -> bool {
    phase == Phase::Flush || FLUSHING.contains(&reason)
}

/// Whether all of these devices mostly stall. If not, what waits in front of them also waits for the service between stalls.
fn stalls(case: &Case, devices: &BTreeSet<DevId>) -> bool {
    devices.iter().filter_map(|dev| case.facts.device(*dev)).all(spends_most_in_stalls)
}

/// Whether a device spends more time in stalls than it needs for all of its requests: requests behind others there are then behind the stalls. A
/// device that serves one request at a time needs its busy time without the stalls; any other, the device time of the fastest ([`FASTEST`]) for each.
fn spends_most_in_stalls(d: &Device) -> bool {
    let busy = d.depth.busy() * d.depth.observed().0 as f64;
    let needs = match d.model.in_turn {
        true => Nanos(busy as u64).since(d.model.stalled),
        false => {
            d.requests.iter().map(|r| Nanos(r.d2c.count().saturating_mul(r.d2c.quantile(FASTEST)))).sum()
        }
    };
    d.model.stalled > needs
}

/// Whether most of the time claimed of each victim is behind flushes: their sender is one half of the reason, the cost of a flush the other. If a
/// commit waits behind a neighbour's reads, and the neighbour behind the commit's flush, the flush is not why the commit waits.
fn is_mostly_flushes(case: &Case, v: &Verdict) -> bool {
    let is_flush =
        |c: &Claim| case.rows(c.group).get(c.row).is_some_and(|row| is_behind_flush(case, row.culprit));
    let mut of_groups = BTreeMap::<usize, (u64, u64)>::new();
    for claim in &v.claims {
        let (flushes, all) = of_groups.entry(claim.group).or_default();
        *flushes += if is_flush(claim) { claim.time.0 } else { 0 };
        *all += claim.time.0;
    }
    !of_groups.is_empty() && of_groups.values().all(|(flushes, all)| 2 * flushes > *all)
}

fn is_behind_flush(case: &Case, culprit: CulpritId) -> bool {
    case.facts.waits.culprit_of(culprit).io == Some(Io::Flush)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Claim;
    use ledger::Reason;

    #[test]
    fn half_of_what_a_cause_claims_is_not_most_of_it() {
        let claim = |group, ns| Claim { group, row: 0, reason: Reason::Device, time: Nanos(ns) };
        let is_mostly = |ns: [u64; 2]| {
            let claims = vec![claim(0, ns[0]), claim(1, ns[1])];
            is_mostly_of(&Verdict { claims, ..Verdict::begin("background-task") }, |group| group == 0)
        };
        assert_eq!([[50, 50], [51, 50], [50, 51], [80, 0]].map(is_mostly), [false, true, false, true]);
    }

    /// A hundred reads of 1 ms.
    #[test]
    fn a_device_may_spend_more_in_stalls_than_all_its_requests_need() {
        let with = |stalled_ms: u64| {
            let mut device = Device::new(DevId(8 << 20));
            device.requests[0].d2c.record_n(1_000_000, 100);
            device.model.stalled = Nanos(stalled_ms * 1_000_000);
            spends_most_in_stalls(&device)
        };
        assert!(with(120) && !with(80));
    }
}
