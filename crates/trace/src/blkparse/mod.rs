//! Reads blkparse's text back into events.
//!
//! People paste this text into mails and bug reports, so it may be indented, quoted with `>`, a table with
//! `|`, or lack the columns for CPU and number. `line` parses one line, `rwbs` the column of
//! letters, `text` reads a whole file. A line is an event only if all of it is valid: a truncated line
//! is counted, never guessed at.
//!
//! Data that the text does not contain is zero or empty in the event: the sector of a request without data, the length
//! of a split bio, cgroups, the wall clock. See `docs/blkparse.md`.

mod actions;
mod line;
mod own;
mod rwbs;
mod text;

pub use own::{of as own_format, Own};
pub use rwbs::Rwbs;
pub use text::{has_io, looks_like, BlkparseText};
