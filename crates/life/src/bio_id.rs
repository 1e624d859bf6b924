//! How a bio is identified: while it is in flight, and within a recording.

/// Identifies a bio within a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BioNumber(pub u64);

/// Index of a bio in flight. Indexes are reused; the generation distinguishes the uses, so that a late child does not
/// reach the wrong parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BioId {
    pub index: u32,
    pub generation: u32,
}

impl BioId {
    /// The same as one number, for use outside of this crate.
    pub fn number(self) -> BioNumber {
        BioNumber(u64::from(self.generation) << 32 | u64::from(self.index))
    }
}
