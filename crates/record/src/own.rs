//! Excludes exactly the recorder's own activity from its recording.
//!
//! The kernel's mechanism for this, `set_event_notrace_pid`, drops all events *while* such a thread runs:
//! also a completion whose interrupt happens to arrive then, and no counter shows the loss (5 of 12
//! recordings lacked one or two completions). Therefore the threads are named in the filters of single events
//! instead, and only of events that a thread itself causes:
//!
//! - system calls: `common_pid != 77`;
//! - events that may also occur in an interrupt: `common_pid != 77 || common_flags & 24`, where the flags show
//!   that an interrupt found the thread running;
//! - block events, softirqs, forks and task switches: all are kept. A request that
//!   the recorder causes loads the disk like any other, and the switch away from the recorder starts the next task.
//!
//! Threads with consecutive ids are one range: `common_pid < 77 || common_pid > 79`.

use capture::Chosen;
use rustix::process::Pid;
use std::path::Path;

/// `TRACE_FLAG_HARDIRQ | TRACE_FLAG_SOFTIRQ` (include/linux/trace_events.h).
const IN_INTERRUPT: u8 = 0x08 | 0x10;
/// The initial pid namespace's inode (`PROC_PID_INIT_INO`, include/linux/proc_ns.h). Events have pids of this namespace.
const INITIAL_NAMESPACE: u64 = 0xEFFF_FFFC;

/// The recorder's threads as ranges of ids, ends included, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own(Vec<(i32, i32)>);

impl Own {
    /// From the ids of the threads.
    pub fn new(threads: impl IntoIterator<Item = Pid>) -> Own {
        let mut all: Vec<i32> = threads.into_iter().map(Pid::as_raw_pid).collect();
        all.sort_unstable();
        let mut ranges: Vec<(i32, i32)> = Vec::new();
        for id in all {
            match ranges.last_mut() {
                Some(last) if id <= last.1.saturating_add(1) => last.1 = id,
                _ => ranges.push((id, id)),
            }
        }
        Own(ranges)
    }

    /// Whether thread ids here are those in events. In a container they
    /// differ, and a filter with them would drop events of other tasks.
    pub fn known(proc_root: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(proc_root.join("self/ns/pid")).is_ok_and(|m| m.ino() == INITIAL_NAMESPACE)
    }

    /// A filter expression that is true for all other tasks; `None` without threads.
    fn others(&self) -> Option<String> {
        let term = |&(first, last): &(i32, i32)| match first == last {
            true => format!("common_pid != {first}"),
            false => format!("(common_pid < {first} || common_pid > {last})"),
        };
        (!self.0.is_empty()).then(|| self.0.iter().map(term).collect::<Vec<_>>().join(" && "))
    }

    /// Extends an event's filter to drop the activity of these threads.
    pub fn leave_out(&self, event: &mut Chosen) {
        let Some(others) = self.others() else { return };
        let term = match (event.system.as_str(), event.name.as_str()) {
            ("block" | "irq" | "task", _) => return,
            ("sched", name) if name != "sched_waking" => return,
            ("raw_syscalls", _) => others,
            _ => format!("{others} || common_flags & {IN_INTERRUPT}"),
        };
        event.filter = Some(match event.filter.take() {
            Some(f) => format!("({f}) && ({term})"),
            None => term,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(own: &[i32], name: &str, filter: Option<&str>) -> Option<String> {
        let (system, name) = name.split_once(':').unwrap();
        let mut event = Chosen {
            system: system.into(),
            name: name.into(),
            filter: filter.map(str::to_string),
            trigger: None,
        };
        Own::new(own.iter().filter_map(|&n| Pid::from_raw(n))).leave_out(&mut event);
        event.filter
    }

    #[test]
    fn successive_threads_are_one_range() {
        assert_eq!(Own::new([5, 3, 4, 9].into_iter().filter_map(Pid::from_raw)), Own(vec![(3, 5), (9, 9)]));
        assert_eq!(
            filtered(&[3, 4, 9], "raw_syscalls:sys_exit", Some("id == 1 || id == 2")).unwrap(),
            "(id == 1 || id == 2) && ((common_pid < 3 || common_pid > 4) && common_pid != 9)"
        );
    }

    #[test]
    fn what_an_interrupt_does_is_kept() {
        assert_eq!(
            filtered(&[3], "sched:sched_waking", None).unwrap(),
            "common_pid != 3 || common_flags & 24"
        );
        for name in ["block:block_rq_complete", "irq:softirq_entry", "sched:sched_switch"] {
            assert_eq!(filtered(&[3], name, None), None, "{name}");
        }
    }

    #[test]
    fn nobody_to_leave_out() {
        assert_eq!(filtered(&[], "raw_syscalls:sys_exit", Some("id == 1")).unwrap(), "id == 1");
    }
}
