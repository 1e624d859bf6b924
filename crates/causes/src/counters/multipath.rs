//! Paths that failed, by multipath -ll: `link-reset`.
//!
//! I/O to a device whose paths all failed waits or fails, by its setting; while single paths fail, what was sent on them waits for a
//! timeout and is sent again on another.

use super::place::{readings, In};
use crate::proof::{proof, Proof};
use crate::remedy::Action;
use crate::verdict::{Confidence, Verdict};
use tooltext::{Number, Reading, ToolOutput};
use trace::Nanos;

/// The most devices that are reported.
const MOST: usize = 4;

/// A device with paths that failed, or without any.
struct Device<'a> {
    place: In<'a>,
    reading: &'a Reading,
    name: &'a str,
    paths: Number,
    failed: u64,
}

pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let devices = readings(outputs, "multipath").flat_map(|(place, reading)| {
        reading.rows.iter().filter_map(move |row| {
            let (paths, failed) = (row.get("paths")?, row.value("failed paths")? as u64);
            Some(Device { place, reading, name: &row.of, paths, failed })
        })
    });
    let mut all: Vec<Device> = devices.filter(|d| d.failed > 0 || d.left() == 0).collect();
    all.sort_by_key(Device::left);
    if all.is_empty() {
        return None;
    }
    let told = all.iter().take(MOST).map(Device::told);
    let v = told.fold(Verdict::found("link-reset", Nanos(0), Confidence::Medium), Verdict::because);
    Some(
        v.unless("the same paths active a moment later")
            .without("when they failed, and why: dmesg -T of that time")
            .try_this(
                "see what failed paths have in common (a port, a switch, a controller), and when they failed",
                Action::look("multipath -ll; dmesg -T | grep -iE 'multipath|path|rport|offline|timeout'"),
            ),
    )
}

impl Device<'_> {
    /// Paths that did not fail.
    fn left(&self) -> u64 {
        (self.paths.value as u64).saturating_sub(self.failed)
    }

    fn told(&self) -> Proof {
        let (device, at) = (self.name, self.place.at(self.paths));
        if self.failed == 0 {
            return proof!("{device} has no path ({at})", device, at = Source(at));
        }
        let of_it = format!("failed {device}");
        let disks = self.reading.settings.iter().filter(|s| s.name == of_it).map(|s| s.value.as_str());
        proof!(
            "{failed} of {paths} of {device} failed: {disks} ({at})",
            failed = Count(self.failed),
            paths = Counted(self.paths.value as u64, "path", "paths"),
            device,
            disks = disks.take(MOST).collect::<Vec<_>>().join(", "),
            at = Source(at)
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use tooltext::ToolOutput;

    fn said(states: &[&str]) -> Vec<String> {
        let paths: String = states
            .iter()
            .enumerate()
            .map(|(i, state)| format!("  |- {i}:0:1:1 sd{} 8:{} {state}\n", ['b', 'c', 'd'][i], 16 * (i + 1)))
            .collect();
        let text = format!(
            "3600a dm-6 DGC,VRAID\nsize=10G features='0' hwhandler='1 alua' wp=rw\n`-+- policy='service-time 0' prio=50 status=active\n{paths}"
        );
        let all = judge_counters(&[ToolOutput::read("paths", text.as_bytes())]);
        all.iter().filter(|v| v.cause == "link-reset").map(|v| v.evidence[0].sentence()).collect()
    }

    #[test]
    fn failed_paths_and_devices_without_one_are_told() {
        let (good, bad) = ("active ready running", "failed faulty running");
        assert_eq!(said(&[good, bad, good]), ["1 of 3 paths of dm-6 failed: sdc (paths:1)"]);
        assert_eq!(said(&[]), ["dm-6 has no path (paths:1)"]);
        assert!(said(&[good, good]).is_empty());
    }
}
