//! Parses the text of task events: the scheduler, system calls, work queues, journals, file systems, writeback.
//!
//! ```text
//! sched_switch: prev_comm=fio prev_pid=1 prev_prio=120 prev_state=D ==> next_comm=dd next_pid=2 next_prio=120
//! sched_switch: fio:1 [120] D ==> dd:2 [120]                                  trace-cmd report's own words
//! sys_enter:    NR 18 (3, 55d333c93910, 40000, 1a100000, 0, 1e30a2c4e18)      raw system calls
//! sys_enter_fsync: fd: 0x00000003                                             a tracepoint for each call
//! ```

use super::fields::{after, device, number, value};
use super::header::Header;
use crate::syscall::{Call, Calls};
use crate::task_event::{is_of_completion, CommitPhase, Completions, Fs, Left, What, NO_FLAGS};
use units::{DevId, Tid};

/// The meaning of an event; functions and paths are given by name, since they have no id yet.
pub enum Said<'a> {
    What(What),
    /// A task is moved to a cgroup: the task, the hierarchy, the path.
    CgroupAttach(Tid, u32, &'a str),
    /// A work item is queued (`false`) or started (`true`): its address and its function.
    Work(bool, u64, &'a str),
}

/// The call numbers of the machine, and whether `sched_waking` was seen, which makes `sched_wakeup` redundant.
pub struct Known {
    pub calls: Calls,
    pub wakings: bool,
}

/// Clone flags (include/uapi/linux/sched.h).
const CLONE_THREAD: u64 = 0x10000;
const CLONE_FILES: u64 = 0x400;
/// Number of the block softirq (include/linux/interrupt.h).
const BLOCK_SOFTIRQ: &str = "4";

/// Parses an event's text; `None` if it is not used or invalid.
pub fn task<'a>(h: &Header<'a>, known: &mut Known) -> Option<Said<'a>> {
    let rest = h.rest;
    let ino = || after(rest, "ino").or_else(|| value(rest, "ino")).and_then(number);
    let dev = || after(rest, "dev").and_then(device);
    let bdi = || after(rest, "bdi").and_then(device).unwrap_or_default();
    let vector = || value(rest, "vec") == Some(BLOCK_SOFTIRQ);
    Some(Said::What(match h.event {
        "sched_switch" => switch(rest)?,
        "sched_waking" | "sched_wakeup" | "sched_wakeup_new" => {
            known.wakings |= h.event == "sched_waking";
            if known.wakings && h.event != "sched_waking" {
                return None;
            }
            What::Wake(woken(rest)?)
        }
        "sched_process_exit" => What::Gone,
        "sched_process_exec" => What::Exec,
        "task_newtask" => {
            let flags = u64::from_str_radix(value(rest, "clone_flags")?, 16).ok()?;
            What::Born {
                tid: Tid(value(rest, "pid")?.parse().ok()?),
                thread: flags & CLONE_THREAD != 0,
                shares_files: flags & CLONE_FILES != 0,
            }
        }
        "cgroup_attach_task" => {
            let number = |name| value(rest, name).and_then(|n| n.parse().ok());
            let path = rest.split_once("dst_path=")?.1.rsplit_once(" pid=")?.0;
            return Some(Said::CgroupAttach(Tid(number("pid")?), number("dst_root")?, path));
        }
        "sys_enter" => enter(rest, known.calls)?,
        "sys_exit" => {
            let (nr, result) = rest.strip_prefix("NR ")?.split_once(" = ")?;
            What::Exit {
                call: known.calls.call(nr.trim().parse().ok()?),
                result: result.trim().parse().ok()?,
            }
        }
        "workqueue_queue_work" | "workqueue_execute_start" => {
            let work = work(rest)?;
            let function = value(rest, "function").or_else(|| after(rest, "function"))?;
            return Some(Said::Work(h.event == "workqueue_execute_start", work, function));
        }
        "workqueue_execute_end" => What::WorkEnd,
        "softirq_raise" if vector() => What::Completions(Completions::Wanted),
        "softirq_entry" if vector() => What::Completions(Completions::Begin),
        "softirq_exit" if vector() => What::Completions(Completions::End),
        "jbd2_start_commit" => What::Commit { dev: dev()?, phase: CommitPhase::Start },
        "jbd2_commit_locking" => What::Commit { dev: dev()?, phase: CommitPhase::Locking },
        "jbd2_commit_flushing" => What::Commit { dev: dev()?, phase: CommitPhase::Flushing },
        "jbd2_commit_logging" => What::Commit { dev: dev()?, phase: CommitPhase::Logging },
        "jbd2_end_commit" => What::Commit { dev: dev()?, phase: CommitPhase::End },
        "jbd2_handle_stats" | "xfs_log_reserve" | "xfs_log_regrant" => changes(h.event, rest, dev()?),
        "folio_wait_writeback" | "wait_on_page_writeback" => What::WaitPage { inode: ino()? },
        "writeback_single_inode_start" => {
            let cgroup = value(rest, "cgroup_ino").and_then(number).unwrap_or(0);
            What::Writeback { dev: bdi(), inode: ino()?, cgroup }
        }
        "writeback_single_inode" => What::WritebackEnd,
        "writeback_dirty_inode" => What::DirtiedFile { disk: bdi(), inode: ino()? },
        "balance_dirty_pages" => What::Dirtied { dev: bdi() },
        "io_uring_submit_req" | "io_uring_submit_sqe" => {
            What::RingSubmit { request: address(rest, "req")?, opcode: opcode(rest)? }
        }
        "io_uring_complete" => What::RingComplete {
            request: address(rest, "req")?,
            result: after(rest, "result")?.parse().ok()?,
        },
        "ext4_allocate_inode" => What::Created { dev: dev()?, inode: ino()? },
        "ext4_free_inode" | "xfs_inode_inactivating" | "f2fs_evict_inode" => {
            What::Freed { dev: dev()?, inode: ino()? }
        }
        name => match named_call(name) {
            Some((call, true)) => What::Enter { call, args: named_args(rest, call) },
            Some((call, false)) => What::Exit { call, result: number(rest.split(' ').next()?)? as i64 },
            None if is_of_completion(name) => return None,
            None => file(name, dev(), ino())?,
        },
    }))
}

/// Journaled metadata is changed: ext4's event has the number of blocks, that of XFS does not.
fn changes(event: &str, rest: &str, dev: DevId) -> What {
    let fs = if event == "jbd2_handle_stats" { Fs::Ext4 } else { Fs::Xfs };
    let blocks = after(rest, "dirtied_blocks").and_then(|n| n.parse().ok()).unwrap_or(0);
    What::Changes { fs, dev, blocks }
}

/// Any event of a file system with a device or an inode shows what the task works on.
fn file(name: &str, dev: Option<DevId>, inode: Option<u64>) -> Option<What> {
    let fs = match name.split('_').next()? {
        "ext4" | "jbd2" => Fs::Ext4,
        "xfs" => Fs::Xfs,
        "btrfs" => Fs::Btrfs,
        "f2fs" => Fs::F2fs,
        _ => return None,
    };
    Some(What::File { fs, dev: dev?, inode: inode.unwrap_or(0) })
}

fn switch(rest: &str) -> Option<What> {
    let (before, after) = rest.split_once(" ==> ")?;
    let (state, next) = match value(before, "prev_state") {
        Some(state) => (state, value(after, "next_pid")?),
        // `fio:1 [120] D ==> dd:2 [120]`
        None => {
            let state = before.split(' ').next_back()?;
            let name = after.rsplit_once(" [").map_or(after, |(name, _)| name);
            (state, name.rsplit_once(':')?.1)
        }
    };
    let left = match state.trim_end_matches('+') {
        "R" => Left::Preempted,
        s if s.starts_with('D') => Left::Uninterruptible,
        s if s.starts_with('S') => Left::Interruptible,
        s if s.starts_with('I') => Left::Idle,
        _ => Left::Stopped,
    };
    Some(What::Switch { left, next: Tid(next.parse().ok()?) })
}

/// The hexadecimal address after the word `name`, with or without `0x`.
fn address(rest: &str, name: &str) -> Option<u64> {
    u64::from_str_radix(after(rest, name)?.trim_start_matches("0x"), 16).ok()
}

/// The operation of a ring request: `op 22` until Linux 5.18, `opcode READ` later.
fn opcode(rest: &str) -> Option<u8> {
    if let Some(number) = after(rest, "op") {
        return number.parse().ok();
    }
    let name = after(rest, "opcode")?;
    OPCODES.iter().position(|known| *known == name).map_or(Some(OTHER_OPCODE), |at| u8::try_from(at).ok())
}

/// Names of `io_uring_get_opcode`, in the order of `enum io_uring_op` (include/uapi/linux/io_uring.h).
const OPCODES: [&str; 24] = [
    "NOP",
    "READV",
    "WRITEV",
    "FSYNC",
    "READ_FIXED",
    "WRITE_FIXED",
    "POLL_ADD",
    "POLL_REMOVE",
    "SYNC_FILE_RANGE",
    "SENDMSG",
    "RECVMSG",
    "TIMEOUT",
    "TIMEOUT_REMOVE",
    "ACCEPT",
    "ASYNC_CANCEL",
    "LINK_TIMEOUT",
    "CONNECT",
    "FALLOCATE",
    "OPENAT",
    "CLOSE",
    "FILES_UPDATE",
    "STATX",
    "READ",
    "WRITE",
];
/// Stands for all later operations, which move no file data.
const OTHER_OPCODE: u8 = u8::MAX;

/// The woken task: `comm=fio pid=12 prio=120 target_cpu=001`, `fio:12 [120] success=1 CPU:001`, `fio:12 [120]<CPU:001>`.
fn woken(rest: &str) -> Option<Tid> {
    if let Some(pid) = value(rest, "pid") {
        return pid.parse().ok().map(Tid);
    }
    let name = rest.split(" [").next()?;
    name.rsplit_once(':')?.1.parse().ok().map(Tid)
}

/// Parses `NR 18 (3, 55d3, 40000, ...)`: arguments in hexadecimal.
fn enter(rest: &str, calls: Calls) -> Option<What> {
    let (nr, arguments) = rest.strip_prefix("NR ")?.split_once('(')?;
    let nr: u64 = nr.trim().parse().ok()?;
    let mut args = [0; 6];
    for (to, text) in args.iter_mut().zip(arguments.trim_end_matches(')').split(',')) {
        *to = u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()?;
    }
    let call = calls.call(nr);
    let last = match call {
        Call::Open => calls.open_flags(nr).and_then(|i| args.get(i).copied()).unwrap_or(NO_FLAGS),
        _ => args[3],
    };
    Some(What::Enter { call, args: [args[0], args[1], args[2], last] })
}

/// The address in `work struct=0xffff8881024339f0 function=wb_workfn` or `work struct 0xffff8881024339f0: function wb_workfn`.
fn work(rest: &str) -> Option<u64> {
    let text = value(rest, "struct").or_else(|| after(rest, "struct"))?;
    u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()
}

/// The call in the name of its own tracepoint, and whether it is the entry: `sys_enter_fsync`.
fn named_call(name: &str) -> Option<(Call, bool)> {
    let (name, begins) = match name.strip_prefix("sys_enter_") {
        Some(name) => (name, true),
        None => (name.strip_prefix("sys_exit_")?, false),
    };
    Some((Call::by_name(name), begins))
}

/// Parses `fd: 0x00000003, buf: 0x7ffe, count: 0x1000`: values in hexadecimal, in the order of the call's arguments.
fn named_args(rest: &str, call: Call) -> [u64; 4] {
    let all = || rest.split(", ").filter_map(|field| field.split_once(": "));
    let value = |(_, text): (&str, &str)| {
        let text = text.split(' ').next().unwrap_or("");
        u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or(0)
    };
    let mut args = [0; 4];
    for (to, field) in args.iter_mut().zip(all()) {
        *to = value(field);
    }
    if call == Call::Open {
        args[3] = all().find(|(name, _)| *name == "flags").map_or(NO_FLAGS, value);
    }
    args
}
