//! Events as text, in the form in which blkparse prints them.
//!
//! [`Printer`] takes batches and writes lines; `line` lays out a line, `format` parses the `%` fields,
//! `select` filters events, `track` measures the time between the steps of a request (`-t`), `tally` and
//! `summary` make the counts at the end. `docs/blkparse.md` lists the differences from blkparse 1.2.0, and why.

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
