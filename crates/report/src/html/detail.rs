//! Limits how much of a recording a page holds.
//!
//! Pages are attached to tickets, so their size is limited whatever the recording ([`MOST_BYTES`]). A page is first
//! made in full; if it is too large, with half of the detail, and so on. Coarser columns are sums of finer ones, so
//! the numbers stay true.

/// The largest size of a page: 2 MB, below the 10 MB that mail servers and trackers commonly accept.
pub const MOST_BYTES: usize = 2_000_000;

/// Maximal numbers of the items on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Columns of a time axis.
    pub columns: usize,
    /// Cells in the picture of places, per device.
    pub cells: usize,
    /// Requests among the slowest.
    pub requests: usize,
    /// Operations among the slowest.
    pub operations: usize,
    /// Stretches of time, each of which adds its slowest operation.
    pub stretches: usize,
    /// Events per operation.
    pub events: usize,
    /// Devices that are drawn.
    pub devices: usize,
    /// Kinds of operations that are drawn.
    pub kinds: usize,
    /// Rows of long lists: losses, settings, samples, lists of `explain --json`.
    pub rows: usize,
}

impl Detail {
    /// The detail of the first attempt.
    pub const FULL: Detail = Detail {
        columns: stats::MOST_COLUMNS,
        cells: 24_000,
        requests: 600,
        operations: 40,
        stretches: stats::STRETCHES,
        events: 200,
        devices: 12,
        kinds: 24,
        rows: 2000,
    };

    /// Half of the detail; a minimum of everything remains.
    pub fn halved(self) -> Detail {
        Detail {
            columns: (self.columns / 2).max(32),
            cells: (self.cells / 2).max(64),
            requests: (self.requests / 2).max(8),
            operations: (self.operations / 2).max(2),
            stretches: (self.stretches / 2).max(2),
            events: (self.events / 2).max(8),
            devices: (self.devices / 2).max(1),
            kinds: (self.kinds / 2).max(2),
            rows: (self.rows / 2).max(16),
        }
    }
}
