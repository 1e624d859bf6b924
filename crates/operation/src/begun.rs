//! Calls that began before the recording.
//!
//! Their beginning was not seen. Such a call is known from its end, or from the stack of a task that sleeps in it, and
//! it has taken at least the recording's time so far. A call of seconds, such as a `sync` or the `fsync` of a large
//! file, may begin before and end after everything recorded; without it no task would seem to wait.
//!
//! A task that sleeps from before the recording to its end leaves no event: the recorder notes which tasks sleep when it begins, and where.
//!
//! Example: in a recording of two seconds `ledger` sleeps in `do_fsync`, called by `__x64_sys_fsync`, and no event shows the call.

use crate::files::OnFile;
use crate::history::History;
use crate::known::KnownSleep;
use crate::open_call::{OpenCall, LONG};
use crate::stretch::{State, Work};
use crate::thread::Thread;
use crate::writers::WritingBack;
use life::Names;
use trace::{Call, Cpu, DevId, Left, Nanos, TextId, Tid};

/// Prefixes of the kernel's functions for calls (`__SYSCALL_DEFINEx`, include/linux/syscalls.h and arch/*/include/asm/syscall_wrapper.h).
const CALLS: [&str; 6] = ["__x64_sys_", "__arm64_sys_", "__se_sys_", "__do_sys_", "SyS_", "ksys_"];

/// Functions by which system calls enter the kernel (arch/x86/entry, arch/arm64/kernel/syscall.c, arch/riscv/kernel/traps.c).
const ENTRIES: [&str; 5] = [
    "do_syscall_64",
    "entry_SYSCALL_64_after_hwframe",
    "invoke_syscall",
    "el0_svc_common",
    "do_trap_ecall_u",
];

/// Inner functions, with the call's name, of calls whose own functions only jump there and so are in no stack
/// (fs/read_write.c, sync.c, open.c, namei.c, splice.c, stat.c, readdir.c, xattr.c). `do_fsync` also serves fdatasync.
const WITHIN: [(&str, &str); 23] = [
    ("do_fchmodat", "fchmodat"),
    ("do_fchownat", "fchownat"),
    ("do_fsync", "fsync"),
    ("do_linkat", "linkat"),
    ("do_mkdirat", "mkdirat"),
    ("do_preadv", "preadv"),
    ("do_pwritev", "pwritev"),
    ("do_readv", "readv"),
    ("do_renameat2", "renameat2"),
    ("do_rmdir", "rmdir"),
    ("do_sendfile", "sendfile64"),
    ("do_symlinkat", "symlinkat"),
    ("do_sys_ftruncate", "ftruncate"),
    ("do_sys_open", "open"),
    ("do_sys_openat2", "openat2"),
    ("do_sys_truncate", "truncate"),
    ("do_unlinkat", "unlinkat"),
    ("do_writev", "writev"),
    ("iterate_dir", "getdents64"),
    ("path_setxattr", "setxattr"),
    ("vfs_fallocate", "fallocate"),
    ("vfs_fstatat", "newfstatat"),
    ("vfs_statx", "statx"),
];

/// The function in which a flusher writes back a file (fs/fs-writeback.c).
const WRITES_BACK: &str = "__writeback_single_inode";

/// A task without any known call sleeps with this stack. If the stack is within a call, the task is in that call.
pub(crate) fn asleep(h: &mut History, tid: Tid, stack: TextId) {
    let first_event = h.first_event;
    let Some(thread) = h.threads.get_mut(&tid).filter(|_| h.sees_calls) else { return };
    thread.is_known = true;
    thread.open = call_of(h.texts.text(stack)).map(|call| OpenCall::begun_before(call, first_event));
}

/// A task slept when recording began, and sleeps until it is seen to wake. `file` gives the file of a descriptor of its process.
pub(crate) fn slept(h: &mut History, slept: &KnownSleep, file: impl Fn(i32) -> OnFile) {
    let (first_event, stack) = (h.first_event, h.texts.add(&slept.stack));
    let work = work_of(&slept.stack).map(|function| h.texts.add(function));
    // A recorder that notes sleeping tasks also records calls, even if none is made.
    h.sees_calls = true;
    let Some(thread) = h.thread_mut(slept.tid) else { return };
    thread.becomes(first_event, State::Asleep(Left::Uninterruptible), Cpu(0));
    thread.stood_at(stack, first_event);
    if let Some(function) = work {
        thread.begins(Work { from: first_event, to: None, function, queued: None });
    }
    thread.is_known = true;
    thread.open = call_of(&slept.stack).map(|call| {
        let fd = slept.argument.filter(|_| call.has_fd()).map(|fd| fd as i32);
        let OnFile { fs, dev, inode, told } = fd.map(file).unwrap_or_default();
        OpenCall { fd, fs, dev, inode, told, ..OpenCall::begun_before(call, first_event) }
    });
}

/// Who wrote to which file when recording began, of all that slept: tasks in calls that write. A flusher that was writing back a file
/// on a disk to which only one file was being written has that one.
pub(crate) fn writers(h: &mut History, asleep: &[KnownSleep], names: &Names) {
    let written = |tid: Tid| h.thread(tid).and_then(|t| t.open?.writes()).filter(|(_, inode)| *inode != 0);
    let written: Vec<(Tid, (DevId, u64))> =
        asleep.iter().filter_map(|s| Some((s.tid, written(s.tid)?))).collect();
    for (tid, (dev, inode)) in &written {
        h.wrote(*dev, *inode, names.of(*tid));
    }
    for slept in asleep.iter().filter(|s| s.stack.split('\n').any(|function| function == WRITES_BACK)) {
        let Some(disk) = flushed(&slept.task) else { continue };
        let mut here =
            written.iter().filter(|(_, (dev, _))| h.file_systems.disk(*dev) == disk).map(|w| w.1 .1);
        let one = here.next().filter(|first| here.all(|inode| inode == *first));
        let from = h.first_event;
        if let Some(thread) = h.thread_mut(slept.tid) {
            let inode = one.unwrap_or_default();
            thread.writing_back = Some(WritingBack { disk, inode, cgroup: 0, from });
        }
    }
}

/// The disk that a flusher's name tells: `kworker/u8:4+flush-7:0`.
fn flushed(name: &str) -> Option<DevId> {
    let (major, minor) = name.split_once("flush-")?.1.split_once(':')?;
    Some(DevId::new(major.parse().ok()?, minor.parse().ok()?))
}

/// A call of a thread ends. Returns it if its beginning was not seen: it began before the first event.
pub(crate) fn ends(thread: &mut Thread, call: Call, first_event: Nanos) -> Option<OpenCall> {
    if std::mem::replace(&mut thread.is_known, true) {
        return None;
    }
    let is_storage = call.is_sync() || thread.slept_uninterruptibly(first_event, Nanos(u64::MAX));
    (is_storage && call != Call::Other).then(|| OpenCall::begun_before(call, first_event))
}

/// Whether a task slept for storage during most of the call, and the call was long. Any recording begins in the middle of shorter ones.
pub(crate) fn is_long(h: &History, open: &OpenCall, tid: Tid, to: Nanos) -> bool {
    let asleep = h.thread(tid).map_or(Nanos(0), |t| t.asleep_between(open.from, to));
    let took = to.since(open.from);
    took >= LONG && asleep.0 > took.0 / 2
}

/// The function of the work item that a worker's stack is in: called by `process_one_work` (kernel/workqueue.c).
fn work_of(stack: &str) -> Option<&str> {
    let (within, _) = stack.split_once("\nprocess_one_work\n")?;
    within.rsplit('\n').next()
}

/// The system call that a stack is in; `None` if it is in none.
fn call_of(stack: &str) -> Option<Call> {
    let within = |function: &str| WITHIN.iter().find(|(known, _)| *known == function).map(|(_, call)| *call);
    // Kernel threads that work for other tasks use the same functions without a call.
    let is_called = stack.split('\n').any(|function| ENTRIES.contains(&function));
    let call = |function| CALLS.iter().find_map(|prefix| str::strip_prefix(function, prefix));
    let named =
        |function| call(function).or_else(|| within(function).filter(|_| is_called)).map(Call::by_name);
    stack.split('\n').rev().find_map(named).filter(|call| *call != Call::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workers_stack_tells_its_work() {
        let flusher = "rq_qos_wait\nwb_writeback\nwb_workfn\nprocess_one_work\nworker_thread\nkthread";
        assert_eq!((work_of(flusher), work_of("kjournald2\nkthread")), (Some("wb_workfn"), None));
    }

    #[test]
    fn a_stack_tells_the_call() {
        let unknown: Vec<_> = WITHIN.iter().filter(|(_, call)| Call::by_name(call) == Call::Other).collect();
        assert_eq!(unknown, [&("", ""); 0]);
        assert_eq!(call_of("schedule\ndo_fsync\n__x64_sys_fsync\ndo_syscall_64"), Some(Call::Fsync));
        assert_eq!(call_of("schedule\nksys_write\nentry_SYSCALL_64_after_hwframe"), Some(Call::Write));
        assert_eq!(call_of("schedule\nkjournald2\nkthread\nret_from_fork"), None);
        assert_eq!(call_of("schedule\n__x64_sys_futex\ndo_syscall_64"), None);
        let tail_called = "__iomap_dio_rw\next4_file_read_iter\nvfs_readv\ndo_preadv\ndo_syscall_64";
        assert_eq!(call_of(tail_called), Some(Call::Read));
        assert_eq!(call_of("down_write\ndo_unlinkat\nio_issue_sqe\nio_wq_worker\nret_from_fork"), None);
    }
}
