//! `healthy`: nothing was slow for such a device.
//!
//! Found if no other cause was, and if the slowest operations are within what the kernel itself expects of such a device. It claims no time, because
//! there is none to gain. If all operations are within what is expected even of flash, and nothing held them back for a part worth acting on, it is
//! found whatever else was: nothing was slow ([`nothing_slow`]); a wait for a processor between operations is reported beside it.

use crate::case::{Case, MIN_SHARE};
use crate::cause::{Cause, Judge, Nature};
use crate::cpu::outside_io;
use crate::device::expected::{expected, is_guests, rotational, EXPECTED_FLASH};
use crate::device::{device_saturated, rate_limit};
use crate::proof::{proof, Proof};

use crate::thresholds::healthy::{NOT_ITS_OWN, OUTLIER};
use crate::verdict::{Confidence, Verdict};
use ledger::Reason;
use operation::Wait;
use stats::{Group, TailRow};
use trace::Nanos;
use waits::{CulpritKind, Phase, Selection};

/// Whether no group lost time worth acting on, whatever else is seen: all that matter are within what Linux expects
/// even of a device that does not rotate, and no other task and no limit held them back for a part worth acting on.
/// (Virtual disks often report that they rotate, so what is expected of a disk proves nothing here.)
pub(crate) fn nothing_slow(case: &Case) -> bool {
    let mut groups = case.groups().map(|(_, g)| g).peekable();
    groups.peek().is_some()
        // What a timer admits is slower than it need be, however quick.
        && !case.was_found(rate_limit::CAUSE.name)
        && groups.all(|g| {
            g.tail.p99 <= EXPECTED_FLASH
                && g.longest.0 <= OUTLIER * EXPECTED_FLASH.0
                && held_back(case, g) < NOT_ITS_OWN
                && !device_saturated::waits_for_itself(case, g)
        })
}

/// The part of a group's time in which another task or a limit held it back, 0 to 1: others' requests, tags, a
/// scheduler, a lock, a page that must not change.
fn held_back(case: &Case, group: &Group) -> f64 {
    let table = &case.facts.waits;
    let by_somebody = |row: &&TailRow| {
        let culprit = table.culprit_of(row.culprit);
        // The journal also writes the victim's own changes.
        let somebody = culprit.is_another_than(&group.task);
        let place = match row.phase {
            Phase::NoTag | Phase::Refused => true,
            Phase::Reason(reason) => HOLDS_BACK.contains(&reason),
            _ => false,
        };
        let held = HELD_IN.into_iter().any(|wait| row.waits.has(wait));
        place || held || somebody || culprit.kind == CulpritKind::Limit
    };
    let rows = group.rows(table, Selection::default());
    let held: Nanos = rows.iter().filter(by_somebody).map(|r| r.time).sum();
    held.0 as f64 / group.all.time.total.0.max(1) as f64
}

/// Waits for something that another task holds, whichever task ends them.
const HELD_IN: [Wait; 6] = [
    Wait::StablePage,
    Wait::InodeLock,
    Wait::FilePosition,
    Wait::Lock,
    Wait::JournalHandle,
    Wait::JournalBuffer,
];

/// Reasons that are due to a task or a limit, not to the device's own pace.
const HOLDS_BACK: [Reason; 9] = [
    Reason::Scheduler,
    Reason::Requeue,
    Reason::Lock,
    Reason::DirtyThrottle,
    Reason::WritebackThrottle,
    Reason::CgroupLimit,
    Reason::Reclaim,
    Reason::QueueFreeze,
    Reason::Stacking,
];

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "healthy",
    title: "nothing was slow for such a device",
    nature: Nature::Rare,
    page: include_str!("../../pages/healthy.md"),
    judge: Judge::Whole(judge),
};

fn judge(case: &mut Case) -> Verdict {
    if let Some((other, explains)) = case.main_finding().filter(|_| !nothing_slow(case)) {
        let share = explains.0 as f64 / case.total().0.max(1) as f64;
        return Verdict::out_of_the_question(
            CAUSE.name,
            proof!("{other} explains {share} of what was slow", other, share = Share(share)),
        );
    }
    if case.slow_throughout() {
        return Verdict::out_of_the_question(
            CAUSE.name,
            "the device, or a limit, sets the pace of every operation",
        );
    }
    if case.was_found(outside_io::CAUSE.name) && !nothing_slow(case) {
        return Verdict::out_of_the_question(CAUSE.name, "the slow time was outside the operations");
    }
    let mut v = Verdict::found(CAUSE.name, Nanos(0), Confidence::High);
    for (_, group) in case.groups() {
        match was_quick(case, group) {
            Quick::Yes(proof) => v = also(v.because(proof), case, group),
            Quick::No(proof) => return Verdict::rejected(CAUSE.name, proof),
        }
    }
    if v.evidence.is_empty() {
        // Few operations of each kind, and none of them long by itself.
        let groups = &case.focus.groups;
        let longest = groups.iter().map(|g| g.longest).max().unwrap_or_default();
        v = v.because(proof!(
            "{all} operations were waited for, the longest took {longest}",
            all = Count(groups.iter().map(|g| g.operations).sum()),
            longest
        ));
    }
    v.unless("a longer wait above the block layer: record the operations too (trace-cmd, iowhy record)")
}

/// Whether a group was as quick as Linux expects of such a device, each with its evidence.
enum Quick {
    Yes(Proof),
    No(Proof),
}

fn was_quick(case: &Case, group: &Group) -> Quick {
    let (name, what) = (case.name(group.dev), group.words());
    let (expected, kind) = expected(&rotational(case, group.dev));
    let from = group.tail.p99;
    let (worst, waits) = (group.longest, &case.facts.waits);
    let outlier = group.victims.iter().map(|v| waits.of(*v).1.quantile(0.999)).max().unwrap_or(worst);
    if from > expected {
        return Quick::No(proof!(
            "the slowest 1 % of {what} on {name} took {from} or more; Linux expects {expected} of {kind}",
            what,
            name,
            from,
            expected,
            kind
        ));
    }
    if outlier.0 > expected.0.saturating_mul(OUTLIER) {
        return Quick::No(proof!(
            "one in a thousand {what} on {name} took {outlier} or more, over {times} times the {expected} that \
             Linux expects of {kind}",
            what,
            name,
            outlier,
            times = Text(OUTLIER.to_string()),
            expected,
            kind
        ));
    }
    Quick::Yes(proof!(
        "the slowest 1 % of {what} on {name} took from {from} to {worst}; Linux expects {expected} of {kind}",
        what,
        name,
        from,
        worst,
        expected,
        kind
    ))
}

/// Adds what else there is to say about a group that was quick.
fn also(mut v: Verdict, case: &Case, group: &Group) -> Verdict {
    let sum = &group.tail.sum.time;
    let before = sum.share(Reason::GetRequest) + sum.share(Reason::Prepare);
    if before >= 1.0 - sum.share(Reason::Device) - MIN_SHARE && before >= 0.5 {
        v = v.because(proof!(
            "{before} of their time passed before the device had them (Q2G, G2I), {device} in the device: that \
             is processor time",
            before = Share(before),
            device = Share(sum.share(Reason::Device))
        ));
    }
    if rotational(case, group.dev).is_none() {
        v.confidence = v.confidence.map(|_| Confidence::Medium);
        let name = case.name(group.dev);
        v = v.without(match is_guests(case, group.dev) {
            true => proof!("on what {name}, a virtual disk, lies: it was taken for flash", name),
            false => proof!(
                "what kind of device {name} is: /sys/block/{name}/queue/rotational was not recorded; it was taken \
                 for flash",
                name
            ),
        });
    }
    v
}
