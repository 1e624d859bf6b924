//! Detects missing records and backward clock steps: blktrace numbers the records of each device and CPU
//! without gaps and in time order.
//!
//! Example: number 7 of CPU 1 is followed by number 10 of CPU 1: two records were lost in between. Notes are not
//! numbered (`trace_note` in kernel/trace/blktrace.c leaves the field unset). Two CPUs that alternate in a mixed
//! stream are two sequences, so a time difference between them is no clock step.

use rustc_hash::FxHashMap;
use units::{Cpu, DevId, Nanos};

/// The last record of each device and CPU.
#[derive(Default)]
pub struct Sequence {
    last: FxHashMap<(DevId, Cpu), Last>,
    recent: Option<((DevId, Cpu), Last)>,
}

#[derive(Clone, Copy)]
struct Last {
    number: u32,
    time: Nanos,
}

/// The gap between a record and the previous one on its device and CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Between {
    /// Number of missing records.
    pub missing: u64,
    /// How far the clock stepped back; 0 if it did not.
    pub back: Nanos,
}

impl Sequence {
    /// Limit on tracked devices and CPUs; a file with more is garbage.
    const MAX_TRACKED: usize = 1 << 16;

    /// The gap before record `number` of a device and CPU. A number that goes backwards (a second recording appended
    /// to the first) is no loss.
    #[inline]
    pub fn follow(&mut self, key: (DevId, Cpu), number: u32, time: Nanos) -> Between {
        let this = Last { number, time };
        match &mut self.recent {
            Some((recent, last)) if *recent == key => last.follow(this),
            _ => self.follow_after_switch(key, this),
        }
    }

    fn follow_after_switch(&mut self, key: (DevId, Cpu), first: Last) -> Between {
        if let Some((old, last)) = self.recent.take() {
            if self.last.len() < Self::MAX_TRACKED || self.last.contains_key(&old) {
                self.last.insert(old, last);
            }
        }
        // A stream that does not begin with 1 was cut by hand or its start was overwritten: no loss is known.
        let mut last = self.last.get(&key).copied();
        let between = last.as_mut().map_or(Between::default(), |l| l.follow(first));
        self.recent = Some((key, last.unwrap_or(first)));
        between
    }
}

impl Last {
    #[inline]
    fn follow(&mut self, next: Last) -> Between {
        let missing = (next.number as u64).saturating_sub(self.number as u64 + 1);
        let back = self.time.since(next.time);
        *self = next;
        Between { missing, back }
    }
}
