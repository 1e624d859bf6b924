//! What calls do to descriptors: `dup` and its kin, `fcntl`, `ioctl`, `close_range`; `fork` and `exec`.

use crate::files::OnExec;
use crate::watch::Watch;
use trace::{Call, Nanos, Tid, NO_FLAGS};

/// `O_CLOEXEC` (include/uapi/asm-generic/fcntl.h).
const O_CLOEXEC: u64 = 0o2000000;
/// Commands of `fcntl` (the same file; include/uapi/linux/fcntl.h for the last one).
const F_DUPFD: u64 = 0;
const F_SETFD: u64 = 2;
const F_DUPFD_CLOEXEC: u64 = 1030;
/// `FD_CLOEXEC`.
const FD_CLOEXEC: u64 = 1;
/// Commands of `ioctl` that set and clear it (include/uapi/asm-generic/ioctls.h).
const FIONCLEX: u64 = 0x5450;
const FIOCLEX: u64 = 0x5451;
/// Flags of `close_range` (include/uapi/linux/close_range.h).
const CLOSE_RANGE_CLOEXEC: u64 = 4;
/// `IORING_OP_CLOSE` (include/uapi/linux/io_uring.h): the event does not say which descriptor.
pub(crate) const RING_CLOSE: u8 = 19;

/// A call about descriptors that is not over yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfDescriptors {
    call: Call,
    args: [u64; 4],
}

/// What the flags of an `open` say of `exec`.
pub(crate) fn on_exec_of_open(flags: u64) -> OnExec {
    if flags == NO_FLAGS {
        OnExec::Unknown
    } else {
        OnExec::closed(flags & O_CLOEXEC != 0)
    }
}

impl Watch {
    /// A call about descriptors begins: what it closes is closed from now on.
    pub(crate) fn enter_of_descriptors(&mut self, tid: Tid, call: Call, args: [u64; 4], now: Nanos) {
        let process = self.process_of(tid);
        match call {
            Call::Dup2 | Call::Dup3 if args[0] as i32 != args[1] as i32 => {
                self.files.closed(process, args[1] as i32, now)
            }
            Call::CloseRange if args[2] & CLOSE_RANGE_CLOEXEC == 0 => {
                self.files.closed_range(process, args[0] as u32, args[1] as u32, now);
            }
            _ => {}
        }
        if let Some(thread) = self.history.thread_mut(tid) {
            (thread.open, thread.left_io) = (None, None);
            thread.of_descriptors = Some(OfDescriptors { call, args });
        }
    }

    /// It is over.
    pub(crate) fn exit_of_descriptors(&mut self, tid: Tid, call: Call, result: i64, now: Nanos) {
        let Some(begun) = self.history.thread_mut(tid).and_then(|t| t.of_descriptors.take()) else { return };
        let args = begun.args;
        if begun.call != call || result < 0 {
            return;
        }
        let process = self.process_of(tid);
        let (fd, to) = (args[0] as i32, result as i32);
        match (call, args[1]) {
            (Call::Dup, _) | (Call::Fcntl, F_DUPFD) => self.duplicated(process, fd, to, OnExec::Kept, now),
            (Call::Fcntl, F_DUPFD_CLOEXEC) => self.duplicated(process, fd, to, OnExec::Closed, now),
            (Call::Dup2, _) if fd != to => self.duplicated(process, fd, to, OnExec::Kept, now),
            (Call::Dup3, _) => {
                let on_exec = OnExec::closed(args[2] & O_CLOEXEC != 0);
                self.duplicated(process, fd, to, on_exec, now);
            }
            (Call::Fcntl, F_SETFD) => {
                let on_exec = OnExec::closed(args[2] & FD_CLOEXEC != 0);
                self.files.set_on_exec(process, fd as u32, fd as u32, on_exec);
            }
            (Call::Ioctl, FIOCLEX) => {
                self.files.set_on_exec(process, fd as u32, fd as u32, OnExec::Closed);
            }
            (Call::Ioctl, FIONCLEX) => {
                self.files.set_on_exec(process, fd as u32, fd as u32, OnExec::Kept);
            }
            (Call::CloseRange, _) if args[2] & CLOSE_RANGE_CLOEXEC != 0 => {
                self.files.set_on_exec(process, args[0] as u32, args[1] as u32, OnExec::Closed);
            }
            (Call::Exec, _) => self.files.exec(process, now),
            _ => {}
        }
    }

    fn duplicated(&mut self, process: Tid, from: i32, to: i32, on_exec: OnExec, now: Nanos) {
        let file = self.files.get(process, from);
        self.files.opened(process, to, file, on_exec, now);
    }
}
