//! The observer of operations, and of requests besides.

use crate::account::Account;
use crate::history::History;
use crate::operation::Operation;
use crate::writers::SentFor;
use life::{IoObserver, Names, Request};
use trace::{Bytes, Nanos, Tid};

/// The time between two operations of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outside {
    /// The task of both.
    pub tid: Tid,
    /// When the first of the two ended.
    pub from: Nanos,
    /// When the second began.
    pub to: Nanos,
    /// The part of it in which the task waited for a processor.
    pub wait_cpu: Nanos,
}

/// Gets every operation as it ends.
pub trait OperationObserver {
    /// An operation is over; `history` still has all that its account refers to. Of one that has nothing to do with storage the
    /// account explains nothing.
    fn operation(&mut self, o: &Operation, account: Account, names: &Names, history: &History);
    /// A request was completed of which one task had sent so much for others: a file's data, a journal's
    /// blocks.
    fn sent_for(&mut self, _request: &Request, _sent: &SentFor, _bytes: Bytes, _names: &Names) {}
    /// A task was between two operations.
    fn outside(&mut self, _outside: &Outside) {}
}

/// An observer of requests too. One version of the machinery serves all of them: it is called twice or
/// three times a request.
///
/// That a listener is either of the two by itself says Rust only from 1.86 on.
pub trait Observer: IoObserver + OperationObserver {
    /// Itself, as one who hears of requests.
    fn ios(&mut self) -> &mut dyn IoObserver;
    /// Itself, as one who hears of operations.
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
