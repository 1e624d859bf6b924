//! The parts of one operation's time, on their way into the table.

use crate::chain::ChainId;
use crate::culprit::CulpritId;
use crate::phase::Phase;
use crate::table::{Part, Table, Waiting};
use ledger::Reason;
use trace::Nanos;

/// The parts of one operation, and what of them was lost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    parts: Vec<Part>,
    lost: Nanos,
    /// In the device, and not known what is usual there.
    pub unknown: Nanos,
    /// Whether any of it was in a device.
    pub in_device: bool,
}

impl Parts {
    /// Begins with another operation.
    pub fn clear(&mut self) {
        self.parts.clear();
        (self.lost, self.unknown, self.in_device) = (Nanos(0), Nanos(0), false);
    }

    /// So long it was in this phase, because of them.
    #[inline(always)]
    pub fn put(&mut self, table: &mut Table, chain: ChainId, phase: Phase, culprit: CulpritId, time: Nanos) {
        if time.0 > 0 {
            // Of most it is known at compile time.
            let index = phase.index() as u8;
            let chain = table.leaf(chain, phase, index);
            self.push(table, chain, phase, culprit, time);
        }
    }

    /// So long it was behind them in the device; of no time, they were there as well.
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
