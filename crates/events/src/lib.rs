//! Events as text, the way blkparse prints them.
//!
//! [`Printer`] takes batches and writes lines; `line` knows what a line looks like, `format` the `%` fields,
//! `select` which events are wanted, `track` the time between the steps of a request (`-t`), `tally` and
//! `summary` the counts at the end. What differs from blkparse 1.2.0, and why, is listed in `docs/blkparse.md`.

mod digits;
mod format;
mod line;
mod names;
mod printer;
mod select;
mod summary;
mod tally;
mod track;

pub use format::{Format, FormatError, Formats, OwnFormat};
pub use printer::{Options, Printer};
pub use select::{Mask, SelectError, Window};
