//! Reads recordings of the kernel's ring buffer: trace.dat versions 6 and 7, and raw `trace_pipe_raw` pages.
//!
//! ```text
//! file (v6, v7) or raw  ->  page, stream  ->  cursor  ->  block  ->  Event
//!   what the recording       one CPU's         all CPUs     block tracepoints
//!   says about itself        records           by time      as blktrace has them
//! ```
//!
//! [`Cursor`] yields every record of every event, with fields located by the recording's own `format`
//! texts. [`Blocks`] converts records of the block layer to events, [`Tasks`] those of tasks. [`TraceDat`] combines
//! these as a [`Source`](crate::Source).
//! Memory: one block of pages per CPU, the formats, and bounded tables, independent of the length of the trace.

mod block;
mod bytes;
mod clock;
mod compress;
mod contents;
mod cursor;
mod file;
mod folder;
mod format;
mod kallsyms;
mod names;
mod page;
mod parts;
mod plans;
mod raw;
mod rwbs;
mod section;
mod stream;
mod strings;
mod task;
mod task_plan;
mod trace_dat;
mod v6;
mod v7;

pub(crate) use block::action_of;
pub use block::Blocks;
pub use bytes::Order;
pub use contents::Facts;
pub(crate) use contents::{Contents, SymbolText};
pub use cursor::{Cursor, Record, Step};
pub(crate) use file::read_texts;
pub use file::MAGIC;
pub use folder::{open_raw, raw_cpu, CAPTURE, HEAD};
pub use format::{EventFormat, Field, Formats, Kind, Slot};
pub use kallsyms::{Stacks, Symbols};
pub use page::{Lost, Next, PageCursor, PageLayout, PageStart};
pub use raw::Raw;
pub(crate) use rwbs::flags as rwbs_flags;
pub(crate) use section::{DatFile, Section};
pub use strings::Strings;
pub use task::Tasks;
pub(crate) use task::{waiting_part, without_suffix};
pub use trace_dat::TraceDat;

use crate::error::Error;
use std::path::Path;

/// Opens a trace.dat. Reads everything except events and symbols.
pub fn open(path: &Path) -> Result<TraceDat, Error> {
    TraceDat::new(file::read(path)?)
}

/// Whether a file with this start is a trace.dat.
pub fn looks_like(start: &[u8]) -> bool {
    start.starts_with(MAGIC)
}
