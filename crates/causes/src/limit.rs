//! Limits on the I/O of a systemd unit (`io.max` of its control group, version 2): half of the rate in the recording.

use crate::case::Case;
use crate::remedy::Acts;
use crate::slow::Slow;
use crate::target::service;
use crate::thresholds::device_saturated::ALONE;
use crate::verdict::Verdict;
use life::Class;
use trace::{works_for_others, Bytes};
use units::words::{percent, shell, size};

/// The command that limits a unit's reads and writes a second on a device; 0 sets no limit.
pub(crate) fn of_operations(unit: &str, dev: &str, [reads, writes]: [u64; 2]) -> String {
    let of = |property: &str, n: u64| match n {
        0 => String::new(),
        n => format!(" {property}=\"/dev/{dev} {n}\""),
    };
    format!(
        "systemctl set-property --runtime {unit}{}{}",
        of("IOReadIOPSMax", reads),
        of("IOWriteIOPSMax", writes)
    )
}

/// Adds a remedy that limits a task's unit to `half` bytes a second, each for reads and writes: half of what the task moved.
pub(crate) fn of_bytes(v: Verdict, task: &str, unit: &str, dev: &str, half: f64) -> Verdict {
    v.try_on(
        Acts::Culprit(task.into()),
        format!(
            "limit its unit {unit} to half of the {} a second that it moved here (cgroup v2)",
            size(Bytes((2.0 * half) as u64))
        ),
        format!(
            "systemctl set-property --runtime {unit} IOReadBandwidthMax=\"/dev/{dev} {0}\" \
                 IOWriteBandwidthMax=\"/dev/{dev} {0}\"",
            (half as u64).max(1)
        ),
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
    let unit =
        sender.and_then(|(task, _)| service(case, task, &slow.group.task)).map_or("SERVICE".into(), shell);
    let (who, whose) = match sender {
        Some((task, share)) => (format!(" ({task} sent {} of the requests here)", percent(share)), task),
        None => (String::new(), "all"),
    };
    v.try_on(
        Acts::Culprit(sender.map_or("SERVICE", |(task, _)| task).into()),
        format!(
            "limit those that can wait{who}: the unit {unit} gets half of what {whose} did here; it becomes slower, the others faster"
        ),
        of_operations(&unit, &case.name(slow.group.dev), each),
    )
}

#[cfg(test)]
#[test]
fn a_limit_is_of_what_is_done() {
    let told = of_operations("a.service", "sda", [20, 0]);
    assert_eq!(told, "systemctl set-property --runtime a.service IOReadIOPSMax=\"/dev/sda 20\"");
    assert!(
        of_operations("a.service", "sda", [20, 5]).ends_with("\"/dev/sda 20\" IOWriteIOPSMax=\"/dev/sda 5\"")
    );
}
