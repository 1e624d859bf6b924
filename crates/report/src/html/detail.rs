//! How much of a recording a page holds: as much as fits.
//!
//! Pages are attached to tickets, so they have a size that no recording makes them exceed ([`MOST_BYTES`]). A page is
//! made in full first; if it is too large, with half of the detail, and so on. Coarser columns are sums of finer ones,
//! so the numbers stay true.

/// A page is never larger: 2 MB, below the 10 MB that mail servers and trackers commonly take.
pub const MOST_BYTES: usize = 2_000_000;

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Columns of time.
    pub columns: usize,
    /// Cells of each device's picture of places.
    pub cells: usize,
    /// The slowest requests.
    pub requests: usize,
    /// The slowest operations.
    pub operations: usize,
    /// Stretches of which the slowest operation is shown besides.
    pub stretches: usize,
    /// Events of one operation.
    pub events: usize,
    /// Devices.
    pub devices: usize,
    /// Kinds of operations.
    pub kinds: usize,
    /// Rows of long lists: losses, settings, samples, numbers of `explain --json`.
    pub rows: usize,
}

impl Detail {
    /// Everything that was kept.
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

    /// Half of it; something of everything remains.
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
