//! Operations that are submitted in one call and completed later: io_uring and libaio.

use crate::account::Account;
use crate::held_aio::HeldAio;
use crate::history::History;
use crate::open_call::OpenCall;
use crate::operation::{Kind, Operation};
use crate::processes::Processes;
use crate::served::Entry;
use crate::stretch::Wake;
use crate::untaken::{AioContext, Completed, Untaken};
use crate::walk::Walk;
use life::{Bio, Names, Op};
use rustc_hash::FxHashMap;
use trace::{Call, DevId, Event, Fs, Nanos, Sector, TaskEvent, Tid};

/// Largest number of io_uring operations remembered, and of libaio bios.
const MAX: usize = 1 << 16;

/// `IORING_OP_CLOSE` (include/uapi/linux/io_uring.h). The event does not name the descriptor.
pub(crate) const RING_CLOSE: u8 = 19;

/// An operation in io_uring.
#[derive(Clone, Copy, Debug)]
struct Ring {
    from: Nanos,
    tid: Tid,
    kind: Kind,
}

/// A bio that `io_submit` sent.
#[derive(Clone, Copy, Debug)]
struct Aio {
    /// When its turn within the call began.
    from: Nanos,
    fd: Option<i32>,
    fs: Fs,
    dev: DevId,
    inode: u64,
    /// The task that submitted it, if a throttle's worker queued the bio.
    by: Option<Tid>,
    context: AioContext,
}

/// Operations in flight that run outside of any task's call.
#[derive(Debug, Default)]
pub(crate) struct AsyncIo {
    /// io_uring operations by address of the kernel's request.
    rings: FxHashMap<u64, Ring>,
    aios: FxHashMap<(DevId, Sector), Aio>,
    /// libaio operations without a bio yet.
    pub held: HeldAio,
    /// Those that are completed.
    untaken: Untaken,
}

impl AsyncIo {
    /// When the oldest io_uring or libaio operation in flight began, or the oldest that nobody has taken was completed.
    pub fn oldest(&self) -> Option<Nanos> {
        let rings = self.rings.values().map(|r| r.from);
        rings.chain(self.aios.values().map(|a| a.from)).chain(self.untaken.oldest()).min()
    }

    /// An io_uring operation is submitted.
    pub fn submit(&mut self, request: u64, opcode: u8, tid: Tid, from: Nanos) {
        if self.rings.len() >= MAX {
            self.rings.clear();
        }
        self.rings.insert(request, Ring { from, tid, kind: Kind::of_ring(opcode) });
    }

    /// An io_uring operation is completed.
    pub fn complete(
        &mut self,
        h: &History,
        request: u64,
        result: i64,
        wake: &Wake,
        names: &Names,
    ) -> Option<(Operation, Account)> {
        let Ring { from, tid, kind } = self.rings.remove(&request)?;
        let to = wake.time.max(from);
        let operation = Operation { result, ..Operation::of(kind, tid, names.of(tid), from, to) };
        Some((operation, Walk::of_ring(h, wake, &operation, names)))
    }

    /// A bio is queued within an open call.
    pub fn sent(&mut self, open: &mut OpenCall, e: &Event, processes: &Processes) {
        if open.call != Call::IoSubmit {
            return;
        }
        self.held.sends(e.tid, e);
        let from = open.last_sent.replace(e.time).unwrap_or(open.from);
        if open.sent == 0 {
            open.sent_to = e.dev;
        }
        open.sent += u64::from(e.dev == open.sent_to);
        self.put(e, open, from, (processes.of(e.tid), None));
    }

    /// A throttle's worker queued a bio that the throttle had held.
    pub fn let_go(&mut self, e: &Event, beside: bool, processes: &Processes) {
        if let Some(held) = self.held.let_go(e, beside) {
            self.put(e, &held.open, held.open.from, (processes.of(held.tid), Some(held.tid)));
        }
    }

    fn put(&mut self, e: &Event, open: &OpenCall, from: Nanos, (process, by): (Tid, Option<Tid>)) {
        let OpenCall { fd, fs, dev, inode, context: address, .. } = *open;
        let context = AioContext { process, address };
        if self.aios.len() >= MAX {
            self.aios.clear();
        }
        self.aios.insert((e.dev, e.sector), Aio { from, fd, fs, dev, inode, by, context });
    }

    /// Whether `io_submit` sent a bio at this device and sector.
    pub fn has_sent(&self, b: &Bio) -> bool {
        self.aios.contains_key(&(b.dev, b.start))
    }

    /// A bio is completed. If `io_submit` sent it, so is an operation, which is over unless a call is to take it. Bios that a stacked device
    /// sent for it are no operations.
    pub fn bio(&mut self, h: &History, b: &Bio, entry: &Entry, names: &Names) -> Option<Completed> {
        let Aio { from, fd, fs, dev, inode, by, context } =
            self.aios.remove(&(b.dev, b.start)).filter(|_| !b.is_child())?;
        let account = match by {
            None => Walk::of_bio(h, b, entry, from),
            Some(_) => Walk::of_held_bio(h, b, entry, from),
        };
        let tid = by.unwrap_or(b.tid);
        let kind = if b.op == Op::Read { Kind::AioRead } else { Kind::AioWrite };
        let operation = Operation {
            fd,
            fs,
            dev,
            inode,
            result: b.bytes.0 as i64,
            ..Operation::of(kind, tid, names.of(tid), account.from, account.to)
        };
        self.untaken.completed(context, (operation, account))
    }

    /// A task of `process` begins to ask for completed operations.
    pub fn asked(&mut self, open: &OpenCall, process: Tid) {
        self.untaken.asked(AioContext { process, address: open.context });
    }

    /// A call of libaio ends. The operations that it took are over, and added to `over`.
    pub fn exits(
        &mut self,
        h: &History,
        open: &OpenCall,
        process: Tid,
        e: &TaskEvent,
        result: i64,
        over: &mut Vec<Completed>,
    ) {
        self.held.exit(open, process, e.tid, result);
        let number = u64::try_from(result).unwrap_or(0);
        if open.call != Call::IoGetevents || number == 0 {
            return;
        }
        // It returned fewer than it was asked for, or the process waits for no more: there were no others.
        let are_all = number < open.most || self.held.outstanding(process) == Some(0);
        let context = AioContext { process, address: open.context };
        let number = usize::try_from(number).ok().filter(|_| !are_all);
        over.extend(self.untaken.taken(context, number).map(|(mut operation, account)| {
            let account = Walk::until_taken(h, account, operation.tid, e.tid, e.time);
            operation.to = account.to;
            (operation, account)
        }));
    }

    /// Completed operations that nobody takes any more: of a process that exits, or of all.
    pub fn left_by(&mut self, process: Option<Tid>) -> Vec<Completed> {
        self.untaken.left_by(process)
    }
}
