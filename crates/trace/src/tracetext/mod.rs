//! Tracepoints as text: the kernel's own `trace` file, `trace-cmd report` and `perf script`, read back as events.
//!
//! All three say the same in nearly the same words; what differs is what stands before an event's name:
//!
//! ```text
//!              fio-683   [001] d..1.  2074.528189: block_rq_issue: 7,0 WS 4096 () 1048576 + 8 [fio]     trace
//!              fio-683   [001]  2074.528189: block_rq_issue:       7,0 WS 4096 () 1048576 + 8 [fio]     trace-cmd report
//! fio   683/684 [001]  2074.528189:   block:block_rq_issue: 7,0 WS 4096 () 1048576 + 8 0x2,0,4 [fio]    perf script
//! ```
//!
//! LTTng's, as babeltrace prints it, has other words for the same events: `lttng` puts a line into the kernel's.
//!
//! `header` takes that apart, `block` reads the events of the block layer, `task` those of the scheduler, of system calls, work
//! queues, journals and file systems, `text` walks through a file. The events are those that `trace.dat` gives
//! (`tracedat/block.rs`, `tracedat/task_plan.rs`), as far as text has them: times are whole microseconds in most.
//!
//! **Invariant**: a line is an event only if all of it that is needed makes sense; others are counted, never guessed at.

mod block;
mod fields;
mod header;
mod lttng;
mod task;
mod text;

pub use text::{format_of, looks_like, TraceText};
