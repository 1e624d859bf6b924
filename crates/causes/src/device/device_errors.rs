//! `device-errors`: the device reports errors for reads or writes.
//!
//! A bad sector, a broken cable, a lost path: the request is retried for seconds, then given up, and the error is returned to the
//! caller. Or the device loses a command: the kernel waits until the command times out, aborts it and sends it again, and all that
//! is seen is how long that took. Proof: requests that were completed with an error, or requeued by the driver after they had been
//! in the device for long. Claims what they took; fast errors take no time and are reported all the same.

use crate::case::Case;
use crate::cause::{Cause, Judge, Nature};
use crate::hardware::Hardware;
use crate::proof::proof;
use crate::remedy::Action;
use crate::verdict::{Confidence, Verdict};
use ledger::Reason;
use life::{Class, GIVEN_UP};
use operation::{Done, Part};
use trace::Nanos;

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "device-errors",
    title: "the device reports errors",
    nature: Nature::Rare,
    page: include_str!("../../pages/device-errors.md"),
    judge: Judge::Whole(judge),
};

fn judge(case: &mut Case) -> Verdict {
    let mut verdict: Option<Verdict> = None;
    // Discards and commands that a device does not support are refused as errors, which harms nobody.
    let classes = [Class::Read, Class::SyncWrite, Class::Background, Class::Flush];
    for device in &case.facts.devices {
        let of = |pick: fn(&stats::Phases) -> u64| -> u64 {
            classes.iter().map(|c| pick(&device.requests[c.index()])).sum()
        };
        let (errors, lost, all) = (of(|p| p.errors), of(|p| p.given_up), of(|p| p.count));
        if errors + lost == 0 {
            continue;
        }
        let name = case.name(device.id);
        let mut proof =
            verdict.take().unwrap_or_else(|| Verdict::begin(CAUSE.name)).plus(Nanos(0), Confidence::High);
        if errors > 0 {
            proof = proof.because(proof!(
                "{errors} of {all} requests on {name} ended with an error",
                errors = Count(errors),
                all = Count(all),
                name
            ));
        }
        if lost > 0 {
            proof = proof.because(proof!("{lost} had been in {name} for {given_up} or more when its driver requeued them, of {all} requests: it did not answer in time, and the \
                 kernel aborted and sent them again", lost = Counted(lost, "command", "commands"), name, given_up = GIVEN_UP, all = Count(all)));
        }
        verdict = Some(remedies(proof, &name));
    }
    let Some(mut v) = verdict else {
        return Verdict::out_of_the_question(CAUSE.name, "no request failed, and none was aborted");
    };
    for slow in case.slow() {
        let part = part_of_failed(case, &slow);
        let of = |reason| Nanos((slow.time(reason).0 as f64 * part) as u64);
        let claimed = case.claim(&slow, Reason::Device, of(Reason::Device))
            + case.claim(&slow, Reason::Requeue, of(Reason::Requeue));
        if claimed > Nanos(0) {
            v = v.plus(claimed, Confidence::High).because(proof!(
                "{part} of the time that the slowest {what} sampled spent in the device was in requests that \
                 failed or were aborted",
                part = Share(part),
                what = slow.words()
            ));
        }
    }
    v.unless("the same requests without an error on another device")
}

/// Adds what to look at, and how to save the data, by the kind of device.
fn remedies(v: Verdict, name: &str) -> Verdict {
    let replace = match Hardware::of(name) {
        Hardware::Scsi => "replace it, its cable or its path",
        Hardware::Nvme | Hardware::Card => "replace it",
        _ => "replace what it lies on",
    };
    let v = v.try_this("see what the kernel and the device report", Action::look(reports(name))).try_this(
        format!("copy its data while it can be read, then {replace}"),
        Action::look(format!("ddrescue -d /dev/{name} IMAGE MAPFILE")),
    );
    // Other devices have no setting for how long a command may take, or hardly anybody changes it.
    if Hardware::of(name) != Hardware::Scsi {
        return v;
    }
    v.try_this(
        "see how long a command may take before it is aborted (30 s by default); lower it only where another path takes over",
        Action::look(format!("cat /sys/block/{name}/device/timeout")),
    )
}

/// The command that shows a device's errors.
fn reports(name: &str) -> String {
    let (_, own) = Hardware::check(name);
    let kernel = match Hardware::pattern(name) {
        Some(name) => format!("dmesg | grep -i {name}"),
        None => "dmesg | grep -iE 'error|timeout|reset|abort'".into(),
    };
    match Hardware::of(name) {
        Hardware::Scsi => format!("{kernel}; smartctl -a /dev/{name}; smartctl -l error /dev/{name}"),
        Hardware::Nvme => format!("{kernel}; nvme smart-log /dev/{name}; nvme error-log /dev/{name}"),
        _ => format!("{kernel}; {}", own.command()),
    }
}

/// The part of the device time of a group's sampled operations in requests that failed or were given up, 0 to 1.
fn part_of_failed(case: &Case, slow: &crate::slow::Slow) -> f64 {
    let kept = case.sampled_of_tail(slow.group);
    let (mut failed, mut all) = (0u64, 0u64);
    for node in kept.flat_map(|k| &k.account.nodes) {
        if let Part::Request(entry) = &node.part {
            if let Done::Request(r) = &entry.done {
                all += node.length().0;
                failed += if r.failed() || r.time.given_up > 0 { node.length().0 } else { 0 };
            }
        }
    }
    failed as f64 / all.max(1) as f64
}
