//! Which cause lies behind another: the place of a wait is not always its root.
//!
//! Example: reads wait for a tag (`tag-exhaustion`) because each is cut into 32 pieces that fill the tags (`request-size`).

use crate::block::writeback_throttle;
use crate::case::{Case, MIN_SHARE};
use crate::device::flush_cost::FLUSHING;
use crate::device::{background_task, device_saturated, device_stall, flush_cost, rate_limit};
use crate::journal::{inode_lock, log_force};
use crate::memory::writeback_flood;
use crate::thresholds::device_saturated::FASTEST;
use crate::verdict::{Answer, Claim, Verdict};
use ledger::Reason;
use life::Io;
use operation::Wait;
use stats::Device;
use std::collections::{BTreeMap, BTreeSet};
use trace::{DevId, Nanos};
use waits::{CulpritId, CulpritKind, Phase, Selection};

/// What fills a device, and with it every queue in front of it.
const FILLS: [&str; 5] =
    ["rate-limit", "device-stall", "background-task", "writeback-flood", "discard-stall"];

/// Causes that can lie behind one.
fn behind(cause: &str) -> &'static [&'static str] {
    match cause {
        // Completions are late where tasks wait for processors, too.
        "completion-cpu" => &["cpu-wait"],
        "tag-exhaustion" => {
            &["request-size", "rate-limit", "device-stall", "background-task", "writeback-flood"]
        }
        "writeback-throttle" | "scheduler-throttle" | "inode-lock" | "journal-space" | "log-space" => &FILLS,
        _ => &[],
    }
}

/// Causes that say whose requests others stand in line behind.
const QUEUES: [&str; 2] = ["background-task", "device-saturated"];

/// A cause that was found.
struct Found {
    cause: &'static str,
    /// What it claims of which group.
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

/// Names the root of each cause found: of those that can lie behind it the one with the most time, if it has a visible part of the
/// slowest operations of a group in which this one was found. Of a queue it is what the time behind others is due to.
pub(crate) fn name_roots(case: &Case, verdicts: &mut [Verdict]) {
    let is_found = |v: &&Verdict| v.verdict == Answer::Found;
    let found: Vec<Found> = verdicts.iter().filter(is_found).map(|v| Found::of(case, v)).collect();
    for v in verdicts.iter_mut().filter(|v| v.verdict == Answer::Found) {
        v.root = match v.cause {
            cause if QUEUES.contains(&cause) => root_of_queue(case, v, &found),
            cause if cause == log_force::CAUSE.name => flushes_of_log(case, v),
            cause if cause == inode_lock::CAUSE.name => {
                flushes_of_holder(case, v).or_else(|| heaviest(case, v, &found))
            }
            cause if cause == writeback_throttle::CAUSE.name => heaviest(case, v, &found)
                .or_else(|| queue_of_own(case, v))
                .or_else(|| flood_of_another(case, v)),
            _ => heaviest(case, v, &found),
        };
    }
}

/// Who is held back behind its own writes on a device that serves one after the other waits for the device.
fn queue_of_own(case: &Case, v: &Verdict) -> Option<&'static str> {
    let is_own = |group| writeback_throttle::stands_in_its_own_line(case, group);
    is_mostly_of(v, is_own).then_some(device_saturated::CAUSE.name)
}

/// Who is held back behind what is written back for another task waits for that, wherever it is.
fn flood_of_another(case: &Case, v: &Verdict) -> Option<&'static str> {
    let is_behind = |group| writeback_throttle::behind_writeback_of(case, group).is_some();
    is_mostly_of(v, is_behind).then_some(writeback_flood::CAUSE.name)
}

/// Whether most of what a cause claims is of such groups.
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

/// What fills a queue: a limit that lets so many through, whosever they are; stalls; another task's flushes.
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

/// A log is on disk when its blocks are written and the device has emptied its cache: what of that is mostly flushes lies behind it.
fn flushes_of_log(case: &Case, v: &Verdict) -> Option<&'static str> {
    let groups: BTreeSet<usize> = v.claims.iter().map(|c| c.group).collect();
    let rows = |group: &usize| case.focus.groups[*group].rows(&case.facts.waits, Selection::default());
    let of_log = groups.iter().flat_map(rows).filter(|row| row.waits.has(Wait::LogForce));
    let (flushes, all) = of_log.fold((0, 0), |(flushes, all), row| {
        (flushes + if passes_in_flush(row.reason, row.phase) { row.time.0 } else { 0 }, all + row.time.0)
    });
    (2 * flushes > all).then_some(flush_cost::CAUSE.name)
}

/// Who holds a file's lock while the device empties its cache holds it for as long as that takes: so most of what the holder lost. What the
/// device takes for its requests it did not lose.
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

/// Whether devices mostly stall: else what waits in front of them waits for what they do between stalls as well.
fn stalls(case: &Case, devices: &BTreeSet<DevId>) -> bool {
    devices.iter().filter_map(|dev| case.facts.device(*dev)).all(spends_most_in_stalls)
}

/// Whether a device spends more time in stalls than it needs for all of its requests: whoever is behind others there is behind the stalls. What it
/// needs is what it was busy with, where it serves one after the other; else what the fastest take, each.
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

/// Whether most of what was claimed of each victim is time behind flushes: whose they are is one half of it, what a flush takes the other.
/// Where a commit is behind a neighbour's reads, and the neighbour behind the commit's flush, the flush is not why the commit waits.
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
