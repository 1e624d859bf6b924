//! Notices records that are missing, and clocks that step back: blktrace numbers the records of each device and CPU
//! without gaps, and they are in order of time.
//!
//! Example: after number 7 of CPU 1 comes number 10 of CPU 1; two records were lost in between. Notes are not
//! numbered (`trace_note` in kernel/trace/blktrace.c leaves the field alone). Two CPUs that take turns in a mixed
//! stream are two sequences: what is earlier on the one than on the other is no step.

use rustc_hash::FxHashMap;
use units::{Cpu, DevId, Nanos};

/// The records seen last.
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

/// What lies between a record and the one before it on its device and CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Between {
    /// How many records are missing.
    pub missing: u64,
    /// How far the clock stepped back.
    pub back: Nanos,
}

impl Sequence {
    /// More devices and CPUs than this in one file are garbage; they are not followed any more.
    const MAX_TRACKED: usize = 1 << 16;

    /// What lies before record `number` of a device and CPU. A number that goes backwards (a second recording appended
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
        // A stream that does not begin with 1 was cut by hand or overtaken: nothing is known to be lost.
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
