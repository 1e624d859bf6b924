//! `healthy`: nothing was slow for such a device.
//!
//! Asked last: found only if no other cause was, and if the slowest are within what the kernel itself expects of such
//! a device. It claims no time: there is none to be won.

use crate::case::{Case, MIN_SHARE};
use crate::proof::proof;
use crate::thresholds::healthy::OUTLIER;
pub use crate::thresholds::healthy::{EXPECTED_DISK, EXPECTED_FLASH};
use crate::verdict::{Confidence, Verdict};
use crate::Cause;
use evidence::Fact;
use ledger::Reason;
use trace::{DevId, Nanos};

/// Whether a device turns, if that is known.
pub(crate) fn rotational(case: &Case, dev: DevId) -> Option<Fact<bool>> {
    case.settings(dev).and_then(|s| s.rotational())
}

/// What Linux expects of a device, and what kind that is.
pub(crate) fn expected(rotational: &Option<Fact<bool>>) -> (Nanos, String) {
    match rotational {
        Some(r) if r.value => (EXPECTED_DISK, format!("a disk that turns (rotational is 1, {})", r.at)),
        Some(r) => (EXPECTED_FLASH, format!("a device that does not turn (rotational is 0, {})", r.at)),
        None => (EXPECTED_FLASH, "a device that does not turn".into()),
    }
}

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "healthy",
    title: "nothing was slow for such a device",
    page: include_str!("../../../../docs/causes/healthy.md"),
    judge,
};

fn judge(case: &mut Case) -> Verdict {
    if let Some((other, explains)) = case.main_finding() {
        let share = explains.0 as f64 / case.total().0.max(1) as f64;
        return Verdict::out_of_the_question(
            CAUSE.name,
            proof!(
                "{other} explains {share} of what was slow",
                other = Text(other.to_string()),
                share = Share(share)
            ),
        );
    }
    let mut v = Verdict::found(CAUSE.name, Nanos(0), Confidence::High);
    for (_, group) in case.groups() {
        let name = case.name(group.dev);
        let rotational = rotational(case, group.dev);
        let (expected, kind) = expected(&rotational);
        let from = group.tail.threshold;
        let of_operations = group.op.and_then(|op| case.facts.operations.groups.get(&op)).map(|s| &s.latency);
        let of_bios = || case.facts.device(group.dev).map(|d| &d.bios[group.class.index()].phases.q2c);
        let Some(latency) = of_operations.or_else(of_bios) else { continue };
        let (worst, outlier) = (latency.max(), latency.quantile(0.999));
        if from > expected {
            return Verdict::rejected(
                CAUSE.name,
                proof!("the slowest 1 % of {what} on {name} took {from} or more; Linux expects {expected} of {kind}", what = Text(group.words().to_string()), name = Text(name.to_string()), from = Time(from), expected = Time(expected), kind = Text(kind.to_string())),
            );
        }
        if outlier > OUTLIER * expected.0 {
            return Verdict::rejected(
                CAUSE.name,
                proof!("one in a thousand {what} on {name} took {outlier} or more, over {outlier2} times the {expected} that Linux expects of {kind}", what = Text(group.words().to_string()), name = Text(name.to_string()), outlier = Time(Nanos(outlier)), outlier2 = Text(OUTLIER.to_string()), expected = Time(expected), kind = Text(kind.to_string())),
            );
        }
        v = v.because(proof!("the slowest 1 % of {what} on {name} took from {from} to {worst}; Linux expects {expected} of {kind}", what = Text(group.words().to_string()), name = Text(name.to_string()), from = Time(from), worst = Time(Nanos(worst)), expected = Time(expected), kind = Text(kind.to_string())));
        let sum = &group.tail.sum.time;
        let before = sum.share(Reason::GetRequest) + sum.share(Reason::Prepare);
        if before >= 1.0 - sum.share(Reason::Device) - MIN_SHARE && before >= 0.5 {
            v = v.because(proof!("{before} of their time passed before the device had them (Q2G, G2I), {device} in the device: that is processors at work", before = Share(before), device = Share(sum.share(Reason::Device))));
        }
        if rotational.is_none() {
            v.confidence = v.confidence.map(|_| Confidence::Medium);
            v = v.without(proof!("what kind of device {name} is: /sys/block/{name}/queue/rotational was not recorded; it was taken for flash", name = Text(name.to_string())));
        }
    }
    v.unless("somebody who waits longer above the block layer: record the operations too (trace-cmd, iowhy record)")
}
