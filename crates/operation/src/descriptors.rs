//! Effects of calls on a table of descriptors: `dup` and its variants, `fcntl`, `ioctl`, `close_range`, `exec`.

use crate::files::{Files, OnExec};
use trace::{Call, Nanos, Tid, NO_FLAGS};

/// `O_CLOEXEC` (include/uapi/asm-generic/fcntl.h).
const O_CLOEXEC: u64 = 0o2000000;
/// Commands of `fcntl` (the same file; include/uapi/linux/fcntl.h for the last one).
const F_DUPFD: u64 = 0;
const F_SETFD: u64 = 2;
const F_DUPFD_CLOEXEC: u64 = 1030;
/// `FD_CLOEXEC`.
const FD_CLOEXEC: u64 = 1;
/// Commands of `ioctl` that clear and set it (include/uapi/asm-generic/ioctls.h).
const FIONCLEX: u64 = 0x5450;
const FIOCLEX: u64 = 0x5451;
/// Flags of `close_range` (include/uapi/linux/close_range.h).
const CLOSE_RANGE_CLOEXEC: u64 = 4;

/// A call about descriptors in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DescriptorCall {
    call: Call,
    args: [u64; 4],
}

/// What exec does with a descriptor opened with these flags.
pub(crate) fn on_exec_of_open(flags: u64) -> OnExec {
    if flags == NO_FLAGS {
        OnExec::Unknown
    } else {
        OnExec::closed(flags & O_CLOEXEC != 0)
    }
}

impl DescriptorCall {
    /// The call begins. Descriptors that it closes are closed from now on.
    pub fn begin(files: &mut Files, process: Tid, call: Call, args: [u64; 4], now: Nanos) -> DescriptorCall {
        match call {
            Call::Dup2 | Call::Dup3 if args[0] as i32 != args[1] as i32 => {
                files.closed(process, args[1] as i32, now)
            }
            Call::CloseRange if args[2] & CLOSE_RANGE_CLOEXEC == 0 => {
                files.closed_range(process, args[0] as u32, args[1] as u32, now);
            }
            _ => {}
        }
        DescriptorCall { call, args }
    }

    /// A call ends. If it is this one and did not fail, it has changed the table.
    pub fn end(self, files: &mut Files, process: Tid, call: Call, result: i64, now: Nanos) {
        let args = self.args;
        if self.call != call || result < 0 {
            return;
        }
        let (fd, to) = (args[0] as i32, result as i32);
        match (call, args[1]) {
            (Call::Dup, _) | (Call::Fcntl, F_DUPFD) => files.duplicated(process, fd, to, OnExec::Kept, now),
            (Call::Fcntl, F_DUPFD_CLOEXEC) => files.duplicated(process, fd, to, OnExec::Closed, now),
            (Call::Dup2, _) if fd != to => files.duplicated(process, fd, to, OnExec::Kept, now),
            (Call::Dup3, _) => {
                let on_exec = OnExec::closed(args[2] & O_CLOEXEC != 0);
                files.duplicated(process, fd, to, on_exec, now);
            }
            (Call::Fcntl, F_SETFD) => {
                let on_exec = OnExec::closed(args[2] & FD_CLOEXEC != 0);
                files.set_on_exec(process, fd as u32, fd as u32, on_exec);
            }
            (Call::Ioctl, FIOCLEX) => files.set_on_exec(process, fd as u32, fd as u32, OnExec::Closed),
            (Call::Ioctl, FIONCLEX) => files.set_on_exec(process, fd as u32, fd as u32, OnExec::Kept),
            (Call::CloseRange, _) if args[2] & CLOSE_RANGE_CLOEXEC != 0 => {
                files.set_on_exec(process, args[0] as u32, args[1] as u32, OnExec::Closed);
            }
            (Call::Exec, _) => files.exec(process, now),
            _ => {}
        }
    }
}
