//! How far a trace can be trusted: what was lost, truncated, out of order or not understood.
//!
//! No loss is silent: every event that a reader cannot use is counted here by kind, and
//! `events` counts the events that were delivered.

use std::collections::BTreeMap;
use units::{Cpu, DevId, Nanos};

/// Counts over a whole trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quality {
    /// Events delivered, notes included.
    pub events: u64,
    /// Events known to be missing, per device, CPU and second of the trace's clock.
    pub lost: BTreeMap<LossAt, u64>,
    /// Number of times that a CPU's clock went backwards.
    pub clock_steps: u64,
    /// Events delivered late, because the stream was more disordered than the reorder buffer can correct.
    pub out_of_order: u64,
    /// Bytes that belong to no record and were skipped.
    pub damaged_bytes: u64,
    /// Records truncated at the end of a file.
    pub cut_records: u64,
    /// Records with an action or note that this program does not know.
    pub unknown: u64,
    /// Whether per-CPU files are missing; their events are then missing, too.
    pub files_missing: bool,
    /// End of the selected part on the trace's clock, if the recording continues after it, or of the recording, if the recorder noted it.
    pub until: Option<Nanos>,
    /// The reader's remarks in words, with file and offset; at most `MAX_NOTES`.
    pub notes: Vec<String>,
}

/// The place and time that a loss is counted under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LossAt {
    /// The device whose events are missing.
    pub dev: DevId,
    /// The CPU that would have recorded them.
    pub cpu: Cpu,
    /// The second of the trace's clock in which the gap was noticed.
    pub second: u64,
}

impl Quality {
    /// Limit on remarks; further ones are dropped.
    const MAX_NOTES: usize = 50;
    /// Limit on separately counted places of loss; further losses are added up under place 0.
    const MAX_LOSS_PLACES: usize = 100_000;

    /// Total number of events known to be missing.
    pub fn lost_total(&self) -> u64 {
        self.lost.values().sum()
    }

    /// Counts `count` lost events, noticed at time `at`.
    pub fn lose(&mut self, dev: DevId, cpu: Cpu, at: Nanos, count: u64) {
        let mut place = LossAt { dev, cpu, second: at.0 / Nanos::SECOND.0 };
        if self.lost.len() >= Self::MAX_LOSS_PLACES && !self.lost.contains_key(&place) {
            place = LossAt { dev: DevId(0), cpu: Cpu(0), second: 0 };
        }
        *self.lost.entry(place).or_default() += count;
    }

    /// Adds a remark unless it is already there or the limit is reached.
    pub fn note(&mut self, words: String) {
        if self.notes.len() < Self::MAX_NOTES && !self.notes.contains(&words) {
            self.notes.push(words);
        }
    }

    /// Adds the counts of another stream of the same trace; `until` stays.
    pub fn add(&mut self, other: &Quality) {
        self.events += other.events;
        for (place, n) in &other.lost {
            *self.lost.entry(*place).or_default() += n;
        }
        self.clock_steps += other.clock_steps;
        self.out_of_order += other.out_of_order;
        self.damaged_bytes += other.damaged_bytes;
        self.cut_records += other.cut_records;
        self.unknown += other.unknown;
        self.files_missing |= other.files_missing;
        for n in &other.notes {
            self.note(n.clone());
        }
    }
}
