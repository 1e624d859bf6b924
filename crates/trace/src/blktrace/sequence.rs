//! Notices records that are missing: blktrace numbers them per device and CPU, without gaps.
//!
//! Example: after number 7 of CPU 1 comes number 10 of CPU 1; two records were lost in between. Notes are not
//! numbered (`trace_note` in kernel/trace/blktrace.c leaves the field alone).

use crate::event::Event;
use crate::units::{Cpu, DevId};
use rustc_hash::FxHashMap;

/// The numbers seen last.
#[derive(Default)]
pub struct Sequence {
    last: FxHashMap<(DevId, Cpu), u32>,
    recent: Option<((DevId, Cpu), u32)>,
}

impl Sequence {
    /// More devices and CPUs than this in one file are garbage; they are not followed any more.
    const MAX_TRACKED: usize = 1 << 16;

    /// How many records are missing before `event`. A number that goes backwards (a second recording
    /// appended to the first) is no loss.
    #[inline]
    pub fn gap(&mut self, event: &Event) -> u64 {
        let key = (event.dev, event.cpu);
        let last = match &mut self.recent {
            Some((recent, last)) if *recent == key => last,
            _ => return self.gap_after_switch(key, event.sequence),
        };
        let gap = (event.sequence as u64).saturating_sub(*last as u64 + 1);
        *last = event.sequence;
        gap
    }

    fn gap_after_switch(&mut self, key: (DevId, Cpu), sequence: u32) -> u64 {
        if let Some((old, last)) = self.recent.take() {
            if self.last.len() < Self::MAX_TRACKED || self.last.contains_key(&old) {
                self.last.insert(old, last);
            }
        }
        let last = self.last.get(&key).copied();
        self.recent = Some((key, sequence));
        // A stream that does not begin with 1 was cut by hand or overtaken: nothing is known to be lost.
        last.map_or(0, |l| (sequence as u64).saturating_sub(l as u64 + 1))
    }
}
