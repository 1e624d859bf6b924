//! The maximal sizes of a table.

/// Maximal sizes of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Rows; 131,072 are 3 MB.
    pub rows: usize,
    /// Rows of one victim and bucket: they are searched for each operation.
    pub rows_of_cell: usize,
    /// Distinct victims; in addition, there is one per kind of operation for the others.
    pub victims: usize,
    /// Links of chains, and functions.
    pub chains: usize,
    /// Distinct culprits.
    pub culprits: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { rows: 1 << 17, rows_of_cell: 1 << 10, victims: 1 << 10, chains: 1 << 14, culprits: 1 << 12 }
    }
}
