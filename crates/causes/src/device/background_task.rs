//! `background-task`: another task fills the device: a backup, `updatedb`, a scrub.
//!
//! The device is busy, and with whose requests is known: while a slow operation was in the device, it completed others. If most of
//! those are of one task that is not the one that waits, and that task moves most of what the device moves, then the device is not
//! too slow for its work: the other task is what could wait. Claimed is the part of the time in the device that its requests took
//! while slow operations of others stood behind them. Refuted if they are the waiting task's own, of many, written back (a flusher's:
//! that is `writeback-flood`) or md's (`raid-resync`), or if the device takes as long with few others as with many.
//!
//! Example: while a read of 40 ms by `postgres` was in the device, it completed three of 256 KiB by `tar`: 30 of the 40 ms are tar's.

use crate::case::{Case, MIN_SHARE};
use crate::met::{self, turns};
use crate::paths;
use crate::proof::proof;
use crate::raid::raid_resync::{is_of_md, is_sync_thread};
use crate::remedy::Acts;
use crate::slow::Slow;
use crate::thresholds::background_task::MOSTLY;
use crate::verdict::{Confidence, Verdict};
use crate::words::{shell, size};
use crate::Cause;
use ledger::Reason;
use life::Class;
use std::collections::BTreeMap;
use trace::{Bytes, DevId, Nanos};

/// Kernel threads that work for whoever asked, and names that say nothing. `ext4lazyinit` is not among them: nobody asked.
const FOR_OTHERS: [&str; 9] = [
    "kworker",
    "jbd2/",
    "xfsaild/",
    "btrfs-transacti",
    "dmcrypt_write",
    "kswapd",
    "swapper",
    "ksoftirqd/",
    "?",
];

/// Whether a task of this name works for whoever asked, or nobody knows its name: what it moves is not its own. md's
/// synchronising is nobody else's; the thread of a loop device (`loop0`, before Linux 5.15) is.
pub fn works_for_others(task: &str) -> bool {
    let of_a_loop = task.strip_prefix("loop").is_some_and(|n| n.parse::<u32>().is_ok());
    let of_md = is_of_md(task) && !is_sync_thread(task);
    of_a_loop || of_md || FOR_OTHERS.iter().any(|helper| task.starts_with(helper))
}

/// What the slow operations met in the device of one task.
#[derive(Clone, Copy, Default)]
struct Met {
    /// Its part of their time there, by turns.
    time: Nanos,
    requests: u64,
    bytes: Bytes,
    /// By how many slow operations.
    by: u64,
}

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "background-task",
    title: "another task keeps the device busy, and what is slow waits behind its requests",
    page: include_str!("../../../../docs/causes/background-task.md"),
    judge,
};

fn judge(case: &mut Case) -> Verdict {
    if case.facts.operations.is_empty() {
        return paths::unrecorded(CAUSE.name);
    }
    let mut verdict: Option<Verdict> = None;
    let (mut against, mut busy) = (None, Vec::<(String, DevId)>::new());
    for slow in case.slow() {
        let left = case.unclaimed(&slow, Reason::Device);
        if slow.share(left) < MIN_SHARE {
            continue;
        }
        let (all, in_device) = met(case, &slow);
        let Some((task, most)) = all.iter().max_by_key(|(_, m)| m.time) else { continue };
        let name = case.name(slow.on.id);
        let part = most.time.0 as f64 / in_device.0.max(1) as f64;
        let wanted = Nanos((left.0 as f64 * part) as u64).min(slow.behind());
        if slow.share(wanted) < MIN_SHARE {
            against = Some(proof!("the slowest {what} stood behind requests of {task}, of other tasks the one they met most, for {wanted} of their time", what = Text(slow.words().to_string()), task = Text(task.to_string()), wanted = Share(slow.share(wanted))));
            continue;
        }
        let (moved, whole) = moved(case, &slow, task);
        let of_all = moved.0 as f64 / whole.0.max(1) as f64;
        let of_met = most.time.0 as f64 / all.values().map(|m| m.time.0).sum::<u64>().max(1) as f64;
        if of_all < MOSTLY || of_met < MOSTLY {
            against = Some(proof!("{task} moved {of_all} of the bytes of {name}: no task besides the waiting ones did most of it", task = Text(task.to_string()), of_all = Share(of_all), name = Text(name.to_string())));
            continue;
        }
        if let Some(unhindered) = met::unhindered(&slow, &name) {
            against = Some(unhindered);
            continue;
        }
        let claimed = case.claim(&slow, Reason::Device, wanted);
        let proof = verdict.take().unwrap_or_else(|| Verdict::begin(CAUSE.name));
        let v = proof
            .plus(claimed, Confidence::Medium)
            .because(proof!("{name} completed {most} of {task} ({most2}) while it had {by} of others: {claimed} of the time of the slowest {what}", name = Text(name.to_string()), most = Counted(most.requests, "request", "requests"), task = Text(task.to_string()), most2 = Size(most.bytes), by = Counted(most.by, "slow operation", "slow operations"), claimed = Share(slow.share(claimed)), what = Text(slow.words().to_string())))
            .because(proof!("{task} moved {of_all} of all that {name} moved ({moved} of {whole})", task = Text(task.to_string()), of_all = Share(of_all), name = Text(name.to_string()), moved = Size(moved), whole = Size(whole)));
        verdict = Some(remedies(v, case, &slow, task, moved));
        let who = (task.to_string(), slow.on.id);
        if !busy.contains(&who) {
            busy.push(who);
        }
    }
    // Its own operations stand behind its own requests: whoever finds these slow need not look further.
    for (task, dev) in busy {
        for slow in case.slow().into_iter().filter(|s| s.on.id == dev) {
            let part = own(case, &slow, &task);
            let left = case.unclaimed(&slow, Reason::Device);
            let wanted = Nanos((left.0.min(slow.behind().0) as f64 * part) as u64);
            if slow.share(wanted) < MIN_SHARE {
                continue;
            }
            let claimed = case.claim(&slow, Reason::Device, wanted);
            verdict = verdict.map(|v| {
                v.plus(claimed, Confidence::Medium).because(proof!("{part} of the time of the slowest {what} in the device is {task}'s own, behind its own requests", part = Share(part), what = Text(slow.words().to_string()), task = Text(task.to_string())))
            });
        }
    }
    match (verdict, against) {
        (Some(v), _) => v.unless("operations as slow while that task does nothing"),
        (None, Some(against)) => Verdict::rejected(CAUSE.name, against),
        (None, None) => Verdict::out_of_the_question(
            CAUSE.name,
            "while what was slow was in a device, that served no other task's requests",
        ),
    }
}

/// Whose requests the slow operations of other tasks met, and the time of all slow operations in the device.
fn met<'a>(case: &Case<'a>, slow: &Slow) -> (BTreeMap<&'a str, Met>, Nanos) {
    let (mut all, mut in_device) = (BTreeMap::<&str, Met>::new(), Nanos(0));
    for stay in met::stays(case, slow) {
        in_device += stay.time;
        let mut seen: Vec<&str> = vec![];
        let of_others = |m: &&stats::Met| {
            let written_back = m.class == Class::Background;
            !written_back && m.task != stay.operation.task && !is_of_md(&m.task) && !works_for_others(&m.task)
        };
        for m in stay.met.iter().filter(of_others) {
            let mine = all.entry(&m.task).or_default();
            mine.time += stay.of(turns(m));
            mine.requests += m.requests;
            mine.bytes += m.bytes;
            if !seen.contains(&m.task.as_str()) {
                seen.push(&m.task);
                mine.by += 1;
            }
        }
    }
    (all, in_device)
}

/// The part of the slow operations' time in the device that is this task's.
fn own(case: &Case, slow: &Slow, task: &str) -> f64 {
    let (mut its, mut all) = (Nanos(0), Nanos(0));
    let stats = slow.group.op.and_then(|op| case.facts.operations.groups.get(&op));
    for k in stats.into_iter().flat_map(|s| s.slowest.all()) {
        let in_device = k.account.of(Reason::Device);
        all += in_device;
        if k.task == task {
            its += in_device;
        }
    }
    its.0 as f64 / all.0.max(1) as f64
}

/// What a task moved on the device, and what all did.
fn moved(case: &Case, slow: &Slow, task: &str) -> (Bytes, Bytes) {
    let (mut its, mut all) = (Bytes(0), Bytes(0));
    for (key, phases) in case.facts.cells.iter().filter(|(k, _)| k.dev == slow.on.id) {
        all += phases.bytes;
        if case.facts.tasks.name(key.task) == task {
            its += phases.bytes;
        }
    }
    (its, all)
}

fn remedies(v: Verdict, case: &Case, slow: &Slow, task: &str, moved: Bytes) -> Verdict {
    if !v.remedies.is_empty() {
        return v;
    }
    let top = case.name(slow.group.dev);
    let scheduler = case.settings(slow.on.id).and_then(|s| s.scheduler());
    let orders = scheduler.as_ref().is_some_and(|s| s.value == "bfq" || s.value == "mq-deadline");
    let name = case.name(slow.on.id);
    let first = match orders {
        true => String::new(),
        false => format!("echo bfq > /sys/block/{name}/queue/scheduler; "),
    };
    let half = moved.0 as f64 / slow.on.duration().seconds().max(f64::MIN_POSITIVE) / 2.0;
    v.try_on(
Acts::Culprit(task.into()),

        format!("pause {task} until nobody minds (kill -CONT goes on); what it does is late by so much"),
        format!("kill -STOP $(pgrep -x '{task}')"),
    )
    .try_on(
Acts::Culprit(task.into()),

        format!(
            "{task} only when nobody else has anything to do: needs a scheduler that knows priorities (bfq, mq-deadline){}; it takes \
             longer",
            match &scheduler {
                Some(s) if !orders => format!(", {name} has {} ({})", s.value, s.at),
                _ => String::new(),
            }
        ),
        format!("{first}ionice -c 3 -p $(pgrep -x {})", shell(task)),
    )
    .try_on(
Acts::Culprit(task.into()),

        format!("holds its unit SERVICE to half of the {} a second that it moved here", size(Bytes(2 * half as u64))),
        format!(
            "systemctl set-property --runtime SERVICE IOReadBandwidthMax=\"/dev/{top} {0}\" IOWriteBandwidthMax=\"/dev/{top} {0}\"",
            (half as u64).max(1)
        ),
    )
    .try_this("another hour, if a timer or cron started it", "systemctl list-timers --all; grep -r . /etc/cron.d /etc/crontab")
}
