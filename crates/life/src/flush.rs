//! Flushes of a device's cache, and which writes wait for them.
//!
//! The kernel turns a write with a preflush on a device without FUA into three steps (block/blk-flush.c): flush,
//! write, flush. An empty flush bio becomes one flush. A flush is a request of its own without a sector. All writes
//! that need one share it, and the trace does not name them. But the order does: the flush before a write's data is
//! the last one completed before that data was issued, and the flush after the data is the last one completed before
//! the write's end.
//!
//! Each hardware queue has flushes of its own, and flushes of two queues end in any order. The queues are mapped to
//! CPUs, so among several flushes the one on the same CPU is meant. Example: CPU 0 issues a flush, CPU 1 issues
//! another, and a completion comes in on CPU 1: it belongs to the second.

use crate::task_name::TaskName;
use crate::timeline::FlushWait;
use device::{Behind, Holder};
use std::collections::VecDeque;
use trace::{Cpu, Nanos};

/// The last completed flushes of one device.
#[derive(Debug, Default)]
pub(crate) struct Flushes {
    completed: VecDeque<(Cpu, FlushWait)>,
    /// The last completed data of writes with flushes. While it is in the device, no other flush begins
    /// (`flush_data_in_flight`, block/blk-flush.c).
    data: VecDeque<Data>,
    /// The task that asked for a flush last. The next flush is for this task, perhaps among others.
    pub asked: Option<TaskName>,
}

/// The data of a write with flushes, in the device.
#[derive(Debug)]
struct Data {
    holder: Holder,
    issued: Nanos,
    completed: Nanos,
}

impl Flushes {
    /// Number kept: one for each hardware queue that flushes at the same time (tasks that call fsync at once).
    const MAX: usize = 16;

    /// Notes a completed flush.
    pub fn complete(&mut self, flush: FlushWait, cpu: Cpu) {
        if self.completed.len() >= Self::MAX {
            self.completed.pop_front();
        }
        self.completed.push_back((cpu, flush));
    }

    /// Notes the completed data of a write with flushes.
    pub fn complete_data(&mut self, holder: Holder, issued: Nanos, completed: Nanos) {
        if self.data.len() >= Self::MAX {
            self.data.pop_front();
        }
        self.data.push_back(Data { holder, issued, completed });
    }

    /// The last flush issued and completed after `from`: on this CPU if there is one, or else on any.
    pub fn since(&self, from: Nanos, cpu: Cpu) -> Option<FlushWait> {
        let after = || self.completed.iter().rev().filter(|(_, f)| f.issued >= from);
        let here = after().find(|(c, _)| *c == cpu);
        let flush = here.or_else(|| after().next()).map(|(_, f)| *f)?;
        let in_turn = self.data.iter().rev().find(|d| d.completed > from && d.completed <= flush.issued);
        let queued =
            in_turn.map(|d| Behind { holder: d.holder, time: d.completed.since(d.issued.max(from)) });
        Some(FlushWait { queued: queued.unwrap_or_default(), ..flush })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One task's data is in the device from 10 to 40; another asks at 20, and its flush is issued at 41.
    #[test]
    fn a_flush_waits_for_the_data_between_two_others() {
        let at = |issued: u64| FlushWait {
            issued: Nanos(issued),
            completed: Nanos(issued + 9),
            ..FlushWait::default()
        };
        let since = |from: u64, data: &[(u64, u64)]| {
            let mut flushes = Flushes::default();
            for (n, (issued, completed)) in data.iter().enumerate() {
                flushes.complete_data(Holder(n as u16 + 1), Nanos(*issued), Nanos(*completed));
            }
            flushes.complete(at(41), Cpu(0));
            let queued = flushes.since(Nanos(from), Cpu(0)).unwrap().queued;
            (queued.holder, queued.time.0)
        };
        assert_eq!(since(20, &[(10, 40)]), (Holder(1), 20));
        assert_eq!(since(5, &[(10, 40)]), (Holder(1), 30));
        assert_eq!(since(20, &[(1, 19)]), (Holder(0), 0), "before it asked");
        assert_eq!(since(20, &[(10, 30), (42, 60)]), (Holder(1), 10), "after the flush");
    }
}
