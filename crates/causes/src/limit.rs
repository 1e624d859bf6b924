//! Limits on the I/O of a task (`io.max` of its control group, version 2): half of its rate in the recording.

use crate::case::Case;
use crate::io_max::Limit;
use crate::remedy::Acts;
use crate::slow::Slow;
use crate::thresholds::device_saturated::ALONE;
use crate::unit::Unit;
use crate::verdict::Verdict;
use life::Class;
use trace::{works_for_others, Bytes};
use units::words::{percent, size};

/// Adds a remedy that limits a task's unit to `half` bytes a second, each for reads and writes: half of what the task moved. Of what it did
/// not move itself there is no half.
pub(crate) fn of_bytes(v: Verdict, task: &str, unit: &Unit, dev: &str, half: f64) -> Verdict {
    if half < 1.0 {
        return v;
    }
    let moved = size(Bytes((2.0 * half) as u64));
    let half = half as u64;
    v.try_on(
        Acts::Culprit(task.into()),
        format!("{} to half of the {moved} a second that it moved here (cgroup v2)", unit.limited(task)),
        unit.set(&Limit::Bytes([half, half]), dev, task),
    )
}

/// Adds a remedy that halves the rate of the task that sent the most requests to the device that did the work. A victim
/// that only waits for itself gains nothing by that, and kernel threads are in no unit.
pub(crate) fn half(v: Verdict, case: &Case, slow: &Slow) -> Verdict {
    let sender = case.main_task(slow.on, &Class::ALL).filter(|_| !slow.is_below());
    let alone = |task: &str, share: f64| task == &*slow.group.task && share >= ALONE;
    if sender.is_some_and(|(task, share)| works_for_others(task) || alone(task, share)) {
        return v;
    }
    let seconds = slow.on.depth.observed().seconds().max(f64::MIN_POSITIVE);
    let each = [&[Class::Read][..], &[Class::SyncWrite, Class::Background]].map(|classes| {
        let by_task = case.requests_by_task(slow.on.id, classes);
        let its: u64 = by_task
            .iter()
            .filter(|(of, _)| sender.is_none_or(|(task, _)| **of == task))
            .map(|(_, n)| n)
            .sum();
        if its == 0 {
            0
        } else {
            ((its as f64 / 2.0 / seconds) as u64).max(1)
        }
    });
    if each == [0, 0] {
        return v;
    }
    let unit = sender.map_or_else(Unit::unknown, |(task, _)| Unit::of(case, task, &slow.group.task));
    let (task, whose) = sender.map_or(("SERVICE", "all"), |(task, _)| (task, task));
    let share = sender.map_or(String::new(), |(_, share)| {
        format!(" ({task} sent {} of the requests here)", percent(share))
    });
    v.try_on(
        Acts::Culprit(task.into()),
        format!(
            "limit those that can wait{share}: {} to half of what {whose} did here; it becomes slower, the others faster",
            unit.limited(task)
        ),
        unit.set(&Limit::Operations(each), &case.name(slow.group.dev), task),
    )
}
