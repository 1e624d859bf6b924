//! What the recorder itself does is left out of its recording, and nothing else is.
//!
//! The kernel's own means, `set_event_notrace_pid`, leaves out whatever happens *while* such a thread runs:
//! also a completion whose interrupt happens to arrive then, and no counter says that it is missing (5 of 12
//! recordings lacked one or two completions). So the threads are named in the filters of single events
//! instead, and only in those that a thread causes by its own doing:
//!
//! - system calls: `common_pid != 77`;
//! - what may happen in an interrupt as well: `common_pid != 77 || common_flags & 24`, where the flags say
//!   that an interrupt happened to find the thread running;
//! - block events, softirqs, forks and the switch from one task to another: everything is kept. A request that
//!   the recorder causes loads the disk like any other, and the switch away from it is the next task's start.
//!
//! Threads with successive numbers are one range: `common_pid < 77 || common_pid > 79`.

use capture::Chosen;
use rustix::process::Pid;
use std::path::Path;

/// `TRACE_FLAG_HARDIRQ | TRACE_FLAG_SOFTIRQ` (include/linux/trace_events.h).
const IN_INTERRUPT: u8 = 0x08 | 0x10;
/// The initial pid namespace's inode (`PROC_PID_INIT_INO`, include/linux/proc_ns.h). Events say pids of this one.
const INITIAL_NAMESPACE: u64 = 0xEFFF_FFFC;

/// The recorder's threads as ranges of numbers, ends included, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own(Vec<(i32, i32)>);

impl Own {
    /// These threads.
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

    /// Whether the numbers that threads have here are those that events say. Inside a container they are
    /// others, and a filter with them would leave out someone else's events.
    pub fn known(proc_root: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(proc_root.join("self/ns/pid")).is_ok_and(|m| m.ino() == INITIAL_NAMESPACE)
    }

    /// True for every other task, in the kernel's filter language.
    fn others(&self) -> Option<String> {
        let term = |&(first, last): &(i32, i32)| match first == last {
            true => format!("common_pid != {first}"),
            false => format!("(common_pid < {first} || common_pid > {last})"),
        };
        (!self.0.is_empty()).then(|| self.0.iter().map(term).collect::<Vec<_>>().join(" && "))
    }

    /// Adds to an event's filter what leaves these threads' own doings out.
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
