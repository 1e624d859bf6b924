//! Reads tracepoints from text: the kernel's own `trace` file, `trace-cmd report` and `perf script`.
//!
//! All three have nearly the same text for an event; they differ in what precedes an event's name:
//!
//! ```text
//!              fio-683   [001] d..1.  2074.528189: block_rq_issue: 7,0 WS 4096 () 1048576 + 8 [fio]     trace
//!              fio-683   [001]  2074.528189: block_rq_issue:       7,0 WS 4096 () 1048576 + 8 [fio]     trace-cmd report
//! fio   683/684 [001]  2074.528189:   block:block_rq_issue: 7,0 WS 4096 () 1048576 + 8 0x2,0,4 [fio]    perf script
//! ```
//!
//! LTTng's text, as babeltrace prints it, has a different format for the same events: `lttng` converts a line to the kernel's.
//!
//! `header` parses the part before the text, `block` the events of the block layer, `task` those of the scheduler, of system calls, work
//! queues, journals and file systems; `text` reads a whole file. The events are those of `trace.dat`
//! (`tracedat/block.rs`, `tracedat/task_plan.rs`), as far as the text has them: most texts have times in whole microseconds.
//!
//! **Invariant**: a line is an event only if all required parts are valid; other lines are counted, never guessed at.

mod block;
mod fields;
mod header;
mod lttng;
mod task;
mod text;

pub use text::{format_of, looks_like, TraceText};
