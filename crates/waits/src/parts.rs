//! Collects the parts of one operation's time before they are added to the table.

use crate::chain::ChainId;
use crate::culprit::CulpritId;
use crate::phase::Phase;
use crate::table::{Part, Table, Waiting};
use ledger::Reason;
use trace::Nanos;

/// The parts of one operation and its lost time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    parts: Vec<Part>,
    lost: Nanos,
    /// Time in the device for which the usual service time is unknown.
    pub unknown: Nanos,
    /// Whether the operation was in a device.
    pub in_device: bool,
}

impl Parts {
    /// Starts another operation.
    pub fn clear(&mut self) {
        self.parts.clear();
        (self.lost, self.unknown, self.in_device) = (Nanos(0), Nanos(0), false);
    }

    /// Adds time in a phase because of a culprit; nothing if the time is 0.
    #[inline(always)]
    pub fn put(&mut self, table: &mut Table, chain: ChainId, phase: Phase, culprit: CulpritId, time: Nanos) {
        if time.0 > 0 {
            // In most calls the phase is known at compile time.
            let index = phase.index() as u8;
            let chain = table.leaf(chain, phase, index);
            self.push(table, chain, phase, culprit, time);
        }
    }

    /// Adds time in the device behind a culprit. With time 0, notes that the culprit was in the device at the same time.
    pub fn behind(&mut self, table: &mut Table, chain: ChainId, culprit: CulpritId, time: Nanos) {
        match time {
            Nanos(0) => self.parts.push(Part { chain: ChainId(0), culprit, time }),
            _ => self.put(table, chain, Phase::Behind, culprit, time),
        }
    }

    fn push(&mut self, table: &Table, chain: ChainId, phase: Phase, culprit: CulpritId, time: Nanos) {
        if !phase.is_own(table.culprit_of(culprit).kind) {
            self.lost += time;
        }
        self.in_device |= phase.reason() == Reason::Device;
        self.parts.push(Part { chain, culprit, time });
    }

    /// Adds the operation to the table.
    pub fn add(&self, table: &mut Table, waiting: Waiting) {
        table.add(waiting, &self.parts, self.lost, self.unknown);
    }
}
