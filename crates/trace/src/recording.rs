//! A recording that is open.

use crate::place::Place;
use crate::source::Source;
use units::DevId;

/// An opened recording.
pub struct Recording {
    /// Yields the events in time order.
    pub source: Box<dyn Source>,
    /// The format, as `explain` prints it: `blktrace`, `trace.dat`, `blkparse`.
    pub format: &'static str,
    /// The path to open the recording again and to find files beside the trace (settings, what the load printed).
    /// Keep it as long as these files are needed. `None` for a pipe that cannot be read twice.
    pub place: Option<Place>,
    /// The release of the kernel that recorded it; `None` if the trace does not say.
    pub kernel: Option<String>,
    /// Device names taken from file names: `vda` from `vda.blktrace.0`.
    pub names: Vec<(DevId, String)>,
}
