//! Observers of operations, and of requests as well.

use crate::account::Account;
use crate::history::History;
use crate::operation::Operation;
use crate::writers::SentFor;
use life::{IoObserver, Names, Request};
use trace::{Bytes, Nanos, Tid};

/// The time between two operations of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outside {
    /// The task of both operations.
    pub tid: Tid,
    /// When the first operation ended.
    pub from: Nanos,
    /// When the second operation began.
    pub to: Nanos,
    /// Part of it in which the task waited for a CPU.
    pub wait_cpu: Nanos,
}

/// Receives every operation as it ends.
pub trait OperationObserver {
    /// An operation has ended. `history` still has everything that its account refers to. If it has nothing to do with
    /// storage, its account is unexplained.
    fn operation(&mut self, o: &Operation, account: Account, names: &Names, history: &History);
    /// A request was completed that carried `_bytes` sent by one task for others: a file's data, a journal's blocks.
    fn sent_for(&mut self, _request: &Request, _sent: &SentFor, _bytes: Bytes, _names: &Names) {}
    /// A task was between two operations.
    fn outside(&mut self, _outside: &Outside) {}
}

/// Receives requests as well as operations. It is used as a trait object, so that the trackers are compiled once for
/// all observers; there are two or three calls per request.
///
/// The methods convert to the two supertraits, which Rust does by itself only from 1.86 on.
pub trait Observer: IoObserver + OperationObserver {
    /// The observer as an observer of requests.
    fn ios(&mut self) -> &mut dyn IoObserver;
    /// The observer as an observer of operations.
    fn operations(&mut self) -> &mut dyn OperationObserver;
}

impl<T: IoObserver + OperationObserver> Observer for T {
    fn ios(&mut self) -> &mut dyn IoObserver {
        self
    }

    fn operations(&mut self) -> &mut dyn OperationObserver {
        self
    }
}
