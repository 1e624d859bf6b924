//! blkparse's text, read back as events.
//!
//! People paste this text into mails and bug reports, so it comes indented, quoted with `>`, as a table with
//! `|`, or without the columns for CPU and number. `line` knows what one line says, `rwbs` the column of
//! letters, `text` walks through a file. A line is an event only if all of it makes sense: a line cut off in
//! the middle is counted, never guessed at.
//!
//! What the text does not keep is zero or empty in the event: the sector of a request without data, the length
//! of a split bio, cgroups, the wall clock. See `docs/blkparse.md`.

mod actions;
mod line;
mod own;
mod rwbs;
mod text;

pub use own::{of as own_format, Own};
pub use rwbs::Rwbs;
pub use text::{has_io, looks_like, BlkparseText};
