//! Operations that are handed over and completed later: io_uring and libaio.

use crate::operation::{Kind, Open, Operation};
use crate::over::Over;
use crate::served::Entry;
use crate::walk::Walk;
use crate::watch::{Watch, MAX_PENDING};
use life::{Bio, Names, Op};
use trace::{Call, DevId, Event, Fs, Nanos, TaskEvent, Tid};

/// An operation in io_uring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ring {
    pub from: Nanos,
    pub tid: Tid,
    pub kind: Kind,
}

/// A bio that `io_submit` sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aio {
    /// When its turn in the call came.
    pub from: Nanos,
    pub fd: Option<i32>,
    pub fs: Fs,
    pub dev: DevId,
    pub inode: u64,
}

impl Watch {
    /// A bio was queued within an open call.
    pub(crate) fn sent(&mut self, e: &Event) {
        let Some(open) = self.history.threads.get_mut(&e.tid).and_then(|t| t.open.as_mut()) else { return };
        if open.call == Call::IoSubmit {
            let Open { fd, fs, dev, inode, .. } = *open;
            let aio = Aio { from: open.last_sent.replace(e.time).unwrap_or(open.from), fd, fs, dev, inode };
            if self.aios.len() >= MAX_PENDING {
                self.aios.clear();
            }
            self.aios.insert((e.dev, e.sector), aio);
        }
    }

    /// A bio is over; where `io_submit` had sent it, so is an operation.
    /// What a stacked device sent on for it is no operation of its own.
    pub(crate) fn aio_complete(&mut self, b: &Bio, entry: &Entry, names: &Names, over: &mut dyn Over) {
        if let Some(aio) = self.aios.remove(&(b.dev, b.start)).filter(|_| !b.is_child()) {
            let account = Walk::of_bio(&self.history, b, entry, aio.from);
            let operation = Operation {
                fd: aio.fd,
                fs: aio.fs,
                dev: aio.dev,
                inode: aio.inode,
                result: b.bytes.0 as i64,
                ..Operation::of(
                    if b.op == Op::Read { Kind::AioRead } else { Kind::AioWrite },
                    b.tid,
                    names.of(b.tid),
                    account.from,
                    account.to,
                )
            };
            self.tell(operation, account, names, over);
        }
    }

    pub(crate) fn ring_complete(
        &mut self,
        e: &TaskEvent,
        request: u64,
        result: i64,
        names: &Names,
        over: &mut dyn Over,
    ) {
        let Some(ring) = self.rings.remove(&request) else { return };
        let wake = self.wake(e);
        let account = Walk::of_event(&self.history, &wake, ring.tid, ring.from);
        let operation = Operation {
            result,
            ..Operation::of(ring.kind, ring.tid, names.of(ring.tid), ring.from, account.to)
        };
        self.tell(operation, account, names, over);
    }
}
