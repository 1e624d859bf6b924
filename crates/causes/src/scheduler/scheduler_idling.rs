//! `scheduler-idling`: requests wait in the scheduler although the device is idle.
//!
//! BFQ keeps the device for one task for some milliseconds after its request, in the hope that the task's next one
//! comes at once; others wait (`slice_idle`, `strict_guarantees`, block/bfq-iosched.c). CFQ did the same until Linux
//! 4.20. Proof: one of these is the device's scheduler, and there was time in which the device was idle and a request
//! was in the scheduler. Refuted if the device was at work while they waited, or if another scheduler or none holds
//! them: then they do not wait for a task's next request, but, for example, for the worker that sends them to run.

use crate::case::{Case, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::proof::proof;
use crate::remedy::Action;
use crate::slow::Slow;
use crate::verdict::{Confidence, Verdict};
use ledger::Reason;
use trace::Nanos;
use units::words::count;

/// Schedulers that keep a device idle to wait for a task's next request.
const IDLING: [&str; 2] = ["bfq", "cfq"];

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "scheduler-idling",
    title: "the I/O scheduler keeps the device idle while requests wait in it",
    nature: Nature::Everyday,
    page: include_str!("../../pages/scheduler-idling.md"),
    judge: Judge::Each(Each {
        of,
        unless: "requests just as slow with slice_idle 0, or with another scheduler",
        otherwise: Otherwise::Never("no slow operation waited in the scheduler"),
        above: false,
    }),
};

fn of(case: &mut Case, slow: &Slow, v: Verdict) -> Said {
    let left = case.unclaimed(slow, Reason::Scheduler);
    if slow.share(left) < MIN_SHARE {
        return Said::Nothing;
    }
    let (name, class) = (case.name(slow.on.id), slow.class.index());
    let (held, all) = (slow.on.pace.held[class], slow.on.pace.scheduled[class]);
    let part = held.time.0 as f64 / all.0.max(1) as f64;
    let wanted = Nanos((left.0 as f64 * part) as u64);
    if slow.share(wanted) < MIN_SHARE {
        return Said::Not(proof!(
            "{name} was idle for {part} of the time in which {what} waited in the scheduler",
            name,
            part = Share(part),
            what = slow.words()
        ));
    }
    let Some((scheduler, says)) = scheduler(case, slow.on) else {
        return Said::Unsure(proof!("{name} was idle for {part} of the time in which {what} waited before it, but which scheduler held them is not known: \
             /sys/block/{name}/queue/scheduler was not recorded", name, part = Share(part), what = slow.words()));
    };
    if !IDLING.contains(&scheduler.as_str()) {
        return Said::Not(proof!("{says}, which never waits for a task's next request", says));
    }
    let claimed = case.claim(slow, Reason::Scheduler, wanted);
    let mut v = v.plus(claimed, Confidence::Medium).because(proof!(
        "{held} {what} waited in the scheduler while {name} was idle, {held2} each: {part} of all their time there",
        held = Count(held.count),
        what = slow.words(),
        name,
        held2 = Nanos(held.time.0 / held.count.max(1)),
        part = Share(part)
    ));
    v = v.because(says);
    let strict = case.settings(slow.on.id).and_then(|s| s.number("queue/iosched/strict_guarantees"));
    if let Some(strict) = strict.filter(|s| s.value > 0) {
        v = v.try_this(
                format!(
                    "strict_guarantees {} -> 0 ({}): with it BFQ waits whatever slice_idle is, and has one request in the device at \
                     a time; weights of cgroups are kept less exactly",
                    strict.value, strict.at
                ),
                Action::set(&name, "queue/iosched/strict_guarantees", 0),
            );
    }
    v = v
        .try_this(
            "do not idle for the next request of the same task: more throughput in all, less for single \
                 readers",
            Action::set(&name, "queue/iosched/slice_idle", 0),
        )
        .try_this(
            "no preference for tasks that seem interactive",
            Action::set(&name, "queue/iosched/low_latency", 0),
        );
    v = v.try_this(
        "another scheduler, if cgroup weights (io.bfq.weight) are not needed",
        Action::set(&name, "queue/scheduler", "mq-deadline"),
    );
    Said::Found(v)
}

/// The scheduler of a device, and how it is known: by a setting, or by the scheduler's messages in the trace.
fn scheduler(case: &Case, device: &stats::Device) -> Option<(String, String)> {
    let name = case.name(device.id);
    if let Some(s) = case.settings(device.id).and_then(|s| s.scheduler()) {
        let says = format!("the scheduler of {name} is {} ({})", s.value, s.at);
        return Some((s.value, says));
    }
    IDLING.iter().find_map(|s| {
        let notes = device.traffic.messages.beginning(s);
        let says =
            || format!("the scheduler of {name} is {s}: {} of its messages are in the trace", count(notes));
        (notes > 0).then(|| (s.to_string(), says()))
    })
}
