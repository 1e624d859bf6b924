//! libaio operations that are completed and not taken yet: their application sees them when `io_getevents` returns them.
//!
//! The call returns completed operations in the order of their completion, as many as it was asked for or as there are
//! (`aio_read_events_ring`, fs/aio.c). Until then the application may wait for a processor, or be busy. One that reads the ring in its own
//! memory makes no such call; its operations end when they are completed.
//!
//! Example: 32 reads are completed within 1 ms while a busy loop has the processor for 8 ms: each took as much longer.

use crate::account::Account;
use crate::operation::Operation;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use trace::{Nanos, Tid};

/// Largest number of contexts remembered; a database has one for each of its I/O threads.
const MAX_CONTEXTS: usize = 1024;

/// Largest number of operations kept, over all contexts: a few KB each.
const MAX: usize = 4096;

/// A context of libaio: its process, and the address that `io_setup` returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct AioContext {
    pub process: Tid,
    pub address: u64,
}

/// A completed operation with its account until then.
pub(crate) type Completed = (Operation, Account);

/// Completed operations by the context that they will be taken from.
#[derive(Debug, Default)]
pub(crate) struct Untaken {
    /// All contexts that somebody takes operations from with a call.
    contexts: FxHashMap<AioContext, VecDeque<Completed>>,
    number: usize,
}

impl Untaken {
    /// A task asks for completed operations of a context.
    pub fn asked(&mut self, of: AioContext) {
        if self.contexts.len() < MAX_CONTEXTS {
            self.contexts.entry(of).or_default();
        }
    }

    /// An operation is completed. It is returned if nobody takes operations of its context with a call.
    pub fn completed(&mut self, of: AioContext, over: Completed) -> Option<Completed> {
        let has_room = self.number < MAX;
        match self.contexts.get_mut(&of).filter(|_| has_room) {
            Some(waiting) => {
                waiting.push_back(over);
                self.number += 1;
                None
            }
            None => Some(over),
        }
    }

    /// A call returned the oldest `number` operations of a context, or all: those.
    pub fn taken(&mut self, of: AioContext, number: Option<usize>) -> impl Iterator<Item = Completed> + '_ {
        let waiting = self.contexts.get_mut(&of);
        let all = waiting.as_ref().map_or(0, |waiting| waiting.len());
        let number = number.map_or(all, |number| number.min(all));
        self.number -= number;
        waiting.into_iter().flat_map(move |waiting| waiting.drain(..number))
    }

    /// Those that a process which exits has not taken; of all processes, without `process`.
    pub fn left_by(&mut self, process: Option<Tid>) -> Vec<Completed> {
        let is_its = |context: &AioContext| process.is_none_or(|process| context.process == process);
        let mut left: Vec<Completed> = Vec::new();
        self.contexts.retain(|context, waiting| {
            let goes = is_its(context);
            if goes {
                left.extend(waiting.drain(..));
            }
            !goes
        });
        self.number -= left.len();
        left.sort_by_key(|(o, _)| (o.to, o.from, o.tid));
        left
    }

    /// When the oldest of them was completed.
    pub fn oldest(&self) -> Option<Nanos> {
        let first = self.contexts.values().filter_map(|waiting| waiting.front());
        first.map(|(o, _)| o.to).min()
    }
}
