//! Calls that had begun before the recording did, or were not over when it ended.
//!
//! The beginning of the former was not seen. What is known is the call, by its end or by the stack of a task that sleeps in it, and that it has taken the
//! recording's time so far, at least. One that lasts seconds, a `sync` or the `fsync` of a large file, may have been begun before and end
//! after all that is recorded; without it nobody seems to wait.
//!
//! Example: recorded for two seconds, `ledger` sleeps in `do_fsync`, called by `__x64_sys_fsync`, and no event says that it was called.

use crate::history::History;
use crate::open_call::OpenCall;
use crate::stretch::State;
use trace::{Call, DevId, Fs, Left, Nanos, TextId, Tid};

/// What the kernel's functions for calls are called (`__SYSCALL_DEFINEx`, include/linux/syscalls.h and arch/*/include/asm/syscall_wrapper.h).
const CALLS: [&str; 6] = ["__x64_sys_", "__arm64_sys_", "__se_sys_", "__do_sys_", "SyS_", "ksys_"];

/// What is shorter is one of many that any recording begins in the middle of.
const LONG: Nanos = Nanos(100_000_000);

/// A task sleeps with this stack: if none of its calls was seen to begin or to end, it is in this one.
pub(crate) fn asleep(h: &mut History, tid: Tid, stack: TextId) {
    let (sees_calls, began) = (h.sees_calls, h.began);
    let Some(thread) = h.threads.get_mut(&tid).filter(|t| sees_calls && !t.is_known) else { return };
    if thread.state() != Some(State::Asleep(Left::Uninterruptible)) {
        return;
    }
    thread.is_known = true;
    thread.open = call_of(h.texts.text(stack)).map(|call| OpenCall::begun_before(call, began));
}

/// A call ends that was not seen to begin.
pub(crate) fn ends(h: &mut History, tid: Tid, call: Call) -> Option<OpenCall> {
    let began = h.began;
    let thread = h.threads.get_mut(&tid).filter(|t| !t.is_known)?;
    thread.is_known = true;
    let is_storage = call.is_sync() || thread.slept_uninterruptibly(began, Nanos(u64::MAX));
    (is_storage && call != Call::Other).then(|| OpenCall::begun_before(call, began))
}

/// Whether a task slept for storage for most of such a call, and long: else it is one that any recording begins in the middle of.
pub(crate) fn is_long(h: &History, open: &OpenCall, tid: Tid, to: Nanos) -> bool {
    let asleep = h.thread(tid).map_or(Nanos(0), |t| t.asleep_between(open.from, to));
    let took = to.since(open.from);
    took >= LONG && asleep.0 > took.0 / 2
}

/// What a stack's functions begin with, by file system.
const FILE_SYSTEMS: [(&str, Fs); 3] = [("xfs_", Fs::Xfs), ("ext4_", Fs::Ext4), ("btrfs_", Fs::Btrfs)];

/// Names the place of a call that is not over, if no event has and its task sleeps in a file system: that, and its device if only one has such.
pub(crate) fn placed(h: &History, open: &mut OpenCall, tid: Tid) {
    let stack = || h.thread(tid)?.stretches.back()?.stack;
    let Some(stack) = stack().filter(|_| open.fs == Fs::Unknown && open.dev == DevId(0)) else { return };
    let Some(fs) = fs_of(h.texts.text(stack)) else { return };
    (open.fs, open.dev) = (fs, h.file_systems.only(fs).unwrap_or_default());
}

/// The innermost file system of a stack.
fn fs_of(stack: &str) -> Option<Fs> {
    let of = |function: &str| FILE_SYSTEMS.iter().find(|(prefix, _)| function.starts_with(prefix));
    stack.split('\n').find_map(of).map(|(_, fs)| *fs)
}

/// The call that a stack is in.
fn call_of(stack: &str) -> Option<Call> {
    let named =
        |function: &str| CALLS.iter().find_map(|prefix| function.strip_prefix(prefix)).map(Call::by_name);
    stack.split('\n').rev().find_map(named).filter(|call| *call != Call::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_tells_the_file_system() {
        let of = |inner: &str| fs_of(&format!("schedule\n{inner}\nvfs_create\npath_openat"));
        assert_eq!(
            (of("xfs_create"), of("ext4_create"), of("down_write")),
            (Some(Fs::Xfs), Some(Fs::Ext4), None)
        );
    }

    #[test]
    fn a_stack_tells_the_call() {
        assert_eq!(call_of("schedule\ndo_fsync\n__x64_sys_fsync\ndo_syscall_64"), Some(Call::Fsync));
        assert_eq!(call_of("schedule\nksys_write\nentry_SYSCALL_64_after_hwframe"), Some(Call::Write));
        assert_eq!(call_of("schedule\nkjournald2\nkthread\nret_from_fork"), None);
        assert_eq!(call_of("schedule\n__x64_sys_futex\ndo_syscall_64"), None);
    }
}
