//! Tasks that hung beside a device's error: a single line of the kernel's log may be of another day, unless the same
//! log says that a task hung at that time.
//!
//! A task waits for a command as long as it is retried, and is reported after two minutes: the error may be logged
//! before the report or after it. **Meanwhile** is from [`TRIED`] before the task began to hang to [`TRIED`] after the
//! report, by the times of both lines; lines without times count as meanwhile, since somebody pasted them together. A task
//! whose name contains the disk (`jbd2/sdb1-8`) hung on that disk; if that was at another time, it is a hint.

use super::thresholds::kernel_errors::TRIED;
use crate::proof::{proof, Proof};
use evidence::whole_disk;
use std::collections::BTreeSet;
use tooltext::{Reading, Spot, ToolOutput};

/// Tasks that hung beside a line of the log.
pub(super) struct Hang {
    /// Whether that was at the same time; else it was only on the same disk.
    pub meanwhile: bool,
    pub said: Proof,
}

/// The tasks that hung beside a line about `device`; `None` if there are none.
pub(super) fn beside(output: &ToolOutput, device: &str, at: Spot) -> Option<Hang> {
    let all: Vec<&Reading> = output.runs.iter().flat_map(|run| run.of("blocked task")).collect();
    let meanwhile: Vec<&Reading> =
        all.iter().filter(|task| is_meanwhile(output, task, at)).copied().collect();
    let on_it = || all.iter().filter(|task| is_on(&task.name, device)).copied().collect();
    let (meanwhile, tasks): (bool, Vec<&Reading>) = match meanwhile.is_empty() {
        false => (true, meanwhile),
        true => (false, on_it()),
    };
    let first = tasks.first()?;
    let names: BTreeSet<&str> = tasks.iter().map(|task| task.name.as_str()).collect();
    let said = proof!(
        "{tasks} {when} (the first at {at})",
        tasks = Counted(names.len() as u64, "task", "tasks"),
        when = if meanwhile { "hung at that time" } else { "hung on this disk, at another time" },
        at = Source(output.at(first.at).to_string())
    );
    Some(Hang { meanwhile, said })
}

fn is_meanwhile(output: &ToolOutput, task: &Reading, at: Spot) -> bool {
    match (output.log_time(at), output.log_time(task.at)) {
        (None, None) => true,
        _ => {
            let blocked = task.rows.first().and_then(|row| row.value("blocked")).unwrap_or(0.0) / 1e9;
            let later = output.log_between(task.at, at);
            later.is_some_and(|later| (-blocked - TRIED..=TRIED).contains(&later))
        }
    }
}

/// Whether a task's name contains the disk of `device`: `jbd2/sdb1-8:412`, `xfsaild/nvme0n1p2:90`.
fn is_on(task: &str, device: &str) -> bool {
    let disk = whole_disk(device);
    let named = |part: &str| {
        // A controller's errors concern its namespaces: nvme0 and nvme0n1.
        let of = whole_disk(part);
        of == disk || disk.starts_with("nvme") && of.strip_prefix(disk).is_some_and(|n| n.starts_with('n'))
    };
    task.split(['/', ':'])
        .any(|part| named(part) || part.rsplit_once('-').is_some_and(|(name, _)| named(name)))
}

#[cfg(test)]
mod tests {
    use super::is_on;

    #[test]
    fn a_task_is_on_the_disk_that_its_name_has() {
        for (task, device) in [
            ("jbd2/sdb1-8:412", "sdb"),
            ("jbd2/sdb-8:412", "sdb1"),
            ("jbd2/dm-0-8:412", "dm-0"),
            ("xfsaild/nvme0n1p2:90", "nvme0n1"),
            ("xfsaild/nvme0n1p2:90", "nvme0"),
            ("jbd2/xvda1-8:1", "xvda"),
        ] {
            assert!(is_on(task, device), "{task} {device}");
        }
        for (task, device) in [
            ("jbd2/sdb1-8:412", "sda"),
            ("jbd2/dm-1-8:412", "dm-0"),
            ("xfsaild/nvme10n1:90", "nvme1"),
            ("mysqld:1733", "sdb"),
        ] {
            assert!(!is_on(task, device), "{task} {device}");
        }
    }
}
