//! Reads every recording format and yields one stream of events in time order.
//!
//! [`open`] opens a recording. The result holds a [`Source`], which fills [`Batch`]es of [`Event`]s.
//! Readers never trust their input: any bytes yield events, counted damage ([`Quality`]) or an [`Error`] with file and
//! offset. Memory depends on the number of CPUs, not on the length of the trace.

pub mod blkparse;
mod blktrace;
mod error;
mod event;
mod folder;
mod input;
mod inside;
mod kernel_thread;
mod lines;
mod merge;
mod moved;
mod open;
mod packed;
mod part;
mod per_cpu;
pub mod perfdata;
mod place;
mod program;
mod quality;
mod recording;
mod reorder;
mod runs;
mod similar;
mod source;
mod span;
mod spool;
mod syscall;
mod task_event;
mod task_names;
pub mod tracedat;
pub mod tracetext;
mod unnamed;

pub use error::Error;
pub use event::{Action, Batch, Detail, Event, Flags};
pub use folder::holds_trace;
pub use input::Input;
pub use kernel_thread::{
    is_bound_worker, is_flusher, is_journal, is_kernel_thread, is_md, is_md_sync, works_for_others,
    works_in_ring_of,
};
pub use open::{is_there, open, open_standard_input, LONGEST_LETTER};
pub use part::Part;
pub use per_cpu::whole_of;
pub use place::Place;
pub use program::{is_supervisor, program, program_and_process, starts_all_kinds};
pub use quality::{LossAt, Quality};
pub use recording::Recording;
pub use similar::{similar, similar_words};
pub use source::Source;
pub use span::Span;
pub use syscall::{Call, Calls};
pub use task_event::{CommitPhase, Completions, Context, Fs, Left, TaskEvent, TextId, What, NO_FLAGS};
pub use units::{Bytes, Cpu, DevId, Nanos, Sector, Tid, SECTOR_BYTES};
