//! Converts the tracepoints of the scheduler, system calls, work queues, file systems and journals to task events.
//!
//! Which tracepoints a recording has depends on the kernel and the recorder; each that exists becomes one
//! [`TaskEvent`]. File systems have hundreds of tracepoints. For most, only the file that the task works on
//! is needed, so any of them with `dev` and `ino` gives that.

use super::cursor::{Record, Step};
use super::format::Formats;
use super::kallsyms::{Stacks, Symbols};
use super::plans::Plans;
use super::task_plan::Plan;
use crate::event::{Batch, Detail};
use crate::syscall::{Call, Calls};
use crate::task_event::{Context, Left, TaskEvent, TextId, What, NO_FLAGS};
use rustc_hash::FxHashMap;
use units::{Bytes, DevId, Nanos, Tid};

/// Limit on different stacks and functions: a kernel has some thousand places to sleep. Beyond the limit all are
/// [`UNKNOWN`].
const MAX_TEXTS: usize = 1 << 16;

/// `CLONE_THREAD` (include/uapi/linux/sched.h).
const CLONE_THREAD: u64 = 0x10000;
/// Number of the block softirq (include/linux/interrupt.h).
const BLOCK_SOFTIRQ: u64 = 4;
/// `CLONE_FILES` (include/uapi/linux/sched.h).
const CLONE_FILES: u64 = 0x400;

/// The id of a text beyond the limit.
const UNKNOWN: TextId = TextId(u32::MAX);

/// Converts records to task events.
#[derive(Debug)]
pub struct Tasks {
    plans: Plans<Plan>,
    reader: Reader,
    stacks: Option<Stacks>,
    /// For each event, the tracing instance that it is read from.
    owner: Vec<Option<u16>>,
    /// The time of each processor's last event.
    last: Vec<Nanos>,
}

/// Parses records, and assigns ids to the functions, stacks and paths in them.
#[derive(Debug)]
struct Reader {
    calls: Calls,
    /// Size in bytes of the kernel's `long`.
    long: usize,
    /// Whether `sched_waking` occurred: `sched_wakeup` is then redundant.
    wakings: bool,
    /// Loaded when the first function name is needed.
    symbols: Option<Symbols>,
    functions: FxHashMap<u64, TextId>,
    /// Ids of cgroup paths.
    paths: FxHashMap<Box<[u8]>, TextId>,
    /// Ids of stacks, by their addresses.
    known_stacks: FxHashMap<Box<[u64]>, TextId>,
    addresses: Vec<u64>,
    texts: u32,
}

impl Tasks {
    /// `machine`: output of `uname -m`, if known; otherwise x86-64.
    pub fn new(formats: &Formats, long: usize, machine: Option<&str>) -> Tasks {
        let calls = Calls::of_machine(machine.unwrap_or("x86_64")).unwrap_or(Calls::NONE);
        Tasks {
            plans: Plans::new(formats.events().len(), Plan::of),
            reader: Reader {
                calls,
                long,
                wakings: false,
                symbols: None,
                functions: FxHashMap::default(),
                paths: FxHashMap::default(),
                known_stacks: FxHashMap::default(),
                addresses: Vec::new(),
                texts: 0,
            },
            stacks: Stacks::of(formats, long),
            owner: vec![None; formats.events().len()],
            last: Vec::new(),
        }
    }

    /// Whether this record needs the symbols and they are not loaded yet.
    #[inline]
    pub fn needs_symbols(&mut self, step: &Step) -> bool {
        let Step::Record(r) = step else { return false };
        self.reader.symbols.is_none()
            && (self.stacks.is_some_and(|s| s.index == r.index)
                || matches!(self.plans.of(r), Some(Plan::WorkQueued { .. } | Plan::WorkStart { .. })))
    }

    /// Sets the symbols.
    pub fn set_symbols(&mut self, symbols: Symbols) {
        self.reader.symbols = Some(symbols);
    }

    /// Converts a step of the cursor and adds the result to `batch`.
    #[inline]
    pub fn take(&mut self, step: &Step, batch: &mut Batch) {
        match step {
            Step::Record(record) => {
                let what = match self.plans.of(record) {
                    Some(plan) => self.reader.what(plan, record, batch),
                    None => {
                        let stacks = self.stacks.filter(|s| s.index == record.index);
                        stacks.map(|stacks| {
                            What::Stack(self.reader.stack(stacks.addresses(record), record, batch))
                        })
                    }
                };
                let Some(what) = what else { return self.seen(record.cpu.0, record.time) };
                let owner = self.owner[record.index].get_or_insert(record.buffer);
                if *owner == record.buffer {
                    push(record, what, batch);
                }
                self.seen(record.cpu.0, record.time);
            }
            &Step::Lost { time, cpu, .. } => {
                let since = self.last.get(cpu.0 as usize).copied().unwrap_or_default();
                let after = batch.events.len() as u32;
                let what = What::Lost { since };
                let context = Context::default();
                batch.tasks.push(TaskEvent { time, after, tid: Tid(0), cpu, context, what });
            }
        }
    }

    /// Adds the stack that the last taken record itself has; nothing without symbols.
    pub fn take_stack(&mut self, record: &Record, addresses: &[u64], batch: &mut Batch) {
        if self.reader.symbols.is_some() && !addresses.is_empty() {
            let what = What::Stack(self.reader.stack(addresses.iter().copied(), record, batch));
            push(record, what, batch);
        }
    }

    fn seen(&mut self, cpu: u32, time: Nanos) {
        let at = cpu as usize;
        if at >= self.last.len() {
            if at >= 1 << 16 {
                return;
            }
            self.last.resize(at + 1, Nanos(0));
        }
        self.last[at] = time;
    }
}

impl Reader {
    #[inline]
    fn what(&mut self, plan: &Plan, r: &Record, batch: &mut Batch) -> Option<What> {
        Some(match *plan {
            Plan::Enter { id, args } => {
                let number = r.int(id);
                let call = self.calls.call(number);
                let words = r.bytes(args);
                let word = |n: usize| r.order.uint(words, n * self.long, self.long).unwrap_or(0);
                let last = match call {
                    Call::Open => self.calls.open_flags(number).map_or(NO_FLAGS, word),
                    _ => word(3),
                };
                What::Enter { call, args: [word(0), word(1), word(2), last] }
            }
            Plan::Exit { id, result } => {
                What::Exit { call: self.calls.call(r.int(id)), result: r.int(result) as i64 }
            }
            Plan::Switch { state, next } => {
                What::Switch { left: left(r.int(state)), next: Tid(r.int(next) as u32) }
            }
            Plan::Wake { tid, first } => {
                self.wakings |= first;
                if self.wakings && !first {
                    return None;
                }
                What::Wake(Tid(r.int(tid) as u32))
            }
            Plan::WorkQueued { work, function } => {
                What::WorkQueued { work: r.int(work), function: self.function(r, r.int(function), batch) }
            }
            Plan::WorkStart { work, function } => {
                What::WorkStart { work: r.int(work), function: self.function(r, r.int(function), batch) }
            }
            Plan::WorkEnd => What::WorkEnd,
            Plan::SoftIrq { vector, step } => match r.int(vector) {
                BLOCK_SOFTIRQ => What::Completions(step),
                _ => return None,
            },
            Plan::File { fs, dev, inode } => {
                What::File { fs, dev: DevId(r.int(dev) as u32), inode: r.int(inode) }
            }
            Plan::Direct { dev, inode, at, bytes } => What::Direct {
                dev: DevId(r.int(dev) as u32),
                inode: r.int(inode),
                at: Bytes(r.int(at)),
                bytes: Bytes(r.int(bytes)),
            },
            Plan::Changes { fs, dev, blocks } => {
                let blocks = if blocks.present { r.int(blocks) as i32 } else { 0 };
                What::Changes { fs, dev: DevId(r.int(dev) as u32), blocks }
            }
            Plan::Commit { dev, phase } => What::Commit { dev: DevId(r.int(dev) as u32), phase },
            Plan::WaitPage { inode } => What::WaitPage { inode: r.int(inode) },
            Plan::Writeback { name, inode, cgroup } => What::Writeback {
                dev: device_of(r.text(name)),
                inode: r.int(inode),
                cgroup: if cgroup.present { r.int(cgroup) } else { 0 },
            },
            Plan::DirtiedFile { name, inode } => {
                What::DirtiedFile { disk: device_of(r.text(name)), inode: r.int(inode) }
            }
            Plan::Created { dev, inode } => {
                What::Created { dev: DevId(r.int(dev) as u32), inode: r.int(inode) }
            }
            Plan::Freed { dev, inode } => What::Freed { dev: DevId(r.int(dev) as u32), inode: r.int(inode) },
            Plan::WritebackEnd => What::WritebackEnd,
            Plan::Dirtied { name } => What::Dirtied { dev: device_of(r.text(name)) },
            Plan::RingSubmit { request, opcode } => {
                What::RingSubmit { request: r.int(request), opcode: r.int(opcode) as u8 }
            }
            Plan::RingComplete { request, result } => {
                What::RingComplete { request: r.int(request), result: r.int(result) as i32 as i64 }
            }
            Plan::Born { tid, flags } => born(Tid(r.int(tid) as u32), r.int(flags)),
            Plan::CgroupAttach { tid, hierarchy, path } => {
                let path = self.path(r, r.text(path), batch);
                What::CgroupAttach { tid: Tid(r.int(tid) as u32), hierarchy: r.int(hierarchy) as u32, path }
            }
            Plan::Exec => What::Exec,
            Plan::Gone => What::Gone,
        })
    }

    fn function(&mut self, r: &Record, address: u64, batch: &mut Batch) -> TextId {
        if let Some(id) = self.functions.get(&address) {
            return *id;
        }
        let name = self.symbols.as_ref().and_then(|s| s.find(address)).map_or("?", |(name, _)| name);
        let id = define(&mut self.texts, without_suffix(name), r, batch);
        self.functions.insert(address, id);
        id
    }

    fn path(&mut self, r: &Record, path: &[u8], batch: &mut Batch) -> TextId {
        if let Some(id) = self.paths.get(path) {
            return *id;
        }
        let id = define(&mut self.texts, &String::from_utf8_lossy(path), r, batch);
        if self.paths.len() < MAX_TEXTS {
            self.paths.insert(path.into(), id);
        }
        id
    }

    fn stack(&mut self, addresses: impl Iterator<Item = u64>, r: &Record, batch: &mut Batch) -> TextId {
        self.addresses.clear();
        self.addresses.extend(addresses);
        if let Some(id) = self.known_stacks.get(self.addresses.as_slice()) {
            return *id;
        }
        let empty = Symbols::default();
        let symbols = self.symbols.as_ref().unwrap_or(&empty);
        let names = self.addresses.iter().map(|a| symbols.find(*a).map_or("?", |(name, _)| name));
        let text = waiting_part(names.map(without_suffix).collect());
        let id = define(&mut self.texts, &text, r, batch);
        if self.known_stacks.len() < MAX_TEXTS {
            self.known_stacks.insert(self.addresses.as_slice().into(), id);
        }
        id
    }
}

/// Converts the `clone_flags` of a new task.
fn born(tid: Tid, flags: u64) -> What {
    What::Born { tid, thread: flags & CLONE_THREAD != 0, shares_files: flags & CLONE_FILES != 0 }
}

/// Why a task left, from `prev_state` (include/trace/events/sched.h, `__trace_sched_switch_state`): 0 and 0x100 for
/// a runnable task (0x100 since Linux 4.14), bit 0 interruptible, bit 1 uninterruptible; 0x80 for an idle task
/// (`TASK_REPORT_IDLE`, include/linux/sched.h).
fn left(state: u64) -> Left {
    match state {
        s if s & 0xff == 0 => Left::Preempted,
        s if s & 2 != 0 => Left::Uninterruptible,
        s if s & 1 != 0 => Left::Interruptible,
        s if s & 0x80 != 0 => Left::Idle,
        _ => Left::Stopped,
    }
}

fn push(r: &Record, what: What, batch: &mut Batch) {
    let after = batch.events.len() as u32;
    let (tid, cpu) = (r.tid, r.cpu);
    batch.tasks.push(TaskEvent { time: r.time, after, tid, cpu, context: Context(r.flags), what });
}

/// Assigns a new id to a text and adds the event that defines it.
#[cold]
fn define(texts: &mut u32, text: &str, r: &Record, batch: &mut Batch) -> TextId {
    if *texts as usize >= MAX_TEXTS {
        return UNKNOWN;
    }
    let id = TextId(*texts);
    *texts += 1;
    if let Detail::Text(span) = batch.store(text.as_bytes()) {
        push(r, What::Text { id, text: span }, batch);
    }
    id
}

/// Removes suffixes that compilers add to modified functions: `xlog_cil_push_now.isra.0`.
pub(crate) fn without_suffix(name: &str) -> &str {
    name.split('.').next().filter(|n| !n.is_empty()).unwrap_or(name)
}

/// The functions that show what the task waits for: without those of tracing and of the scheduler.
///
/// Example: for `trace_event_raw_event_sched_switch __schedule schedule io_schedule blk_mq_get_tag ...` the result begins with
/// `blk_mq_get_tag`.
pub(crate) fn waiting_part(names: Vec<&str>) -> String {
    const SCHEDULER: &[&str] =
        &["schedule", "schedule_idle", "schedule_preempt_disabled", "schedule_timeout", "io_schedule"];
    let is_scheduler = |n: &&str| {
        SCHEDULER.contains(n)
            || matches!(*n, "__schedule" | "io_schedule_timeout" | "schedule_hrtimeout_range")
    };
    let begin = names.iter().take(12).rposition(is_scheduler).map_or(0, |at| at + 1);
    names[begin..].join("\n")
}

/// The device in the name of its backing device info: `253:0`. Other names (`btrfs-1`, `0:45`) are no block devices.
fn device_of(name: &[u8]) -> DevId {
    let parse = || {
        let (major, minor) = std::str::from_utf8(name).ok()?.split_once(':')?;
        Some(DevId::new(major.parse().ok()?, minor.parse().ok()?))
    };
    parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_begins_where_the_task_decided_to_wait() {
        let names =
            vec!["__traceiter_sched_switch", "__schedule", "schedule", "io_schedule", "rq_qos_wait", "x"];
        assert_eq!(waiting_part(names), "rq_qos_wait\nx");
        assert_eq!(
            waiting_part(vec!["jbd2_log_wait_commit", "ext4_sync_file"]),
            "jbd2_log_wait_commit\next4_sync_file"
        );
        assert_eq!(waiting_part(vec![]), "");
        assert_eq!(without_suffix("xlog_cil_push_now.isra.0"), "xlog_cil_push_now");
    }

    #[test]
    fn states_of_all_kernels() {
        assert_eq!(left(0), Left::Preempted);
        assert_eq!(left(0x100), Left::Preempted);
        assert_eq!(left(1), Left::Interruptible);
        assert_eq!(left(2), Left::Uninterruptible);
        assert_eq!(left(0x402), Left::Uninterruptible);
        assert_eq!((left(0x80), left(0x40)), (Left::Idle, Left::Stopped));
    }

    #[test]
    fn only_block_devices_have_numbers() {
        assert_eq!(device_of(b"253:1"), DevId::new(253, 1));
        assert_eq!(device_of(b"btrfs-1"), DevId::default());
    }

    #[test]
    fn a_call_without_a_number_is_other() {
        assert_eq!(Calls::NONE.call(0), Call::Other);
    }
}
