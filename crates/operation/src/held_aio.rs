//! What `io_submit` handed over that its control group holds back: no bio is queued in the call, but later by the throttle's worker, which
//! does not say for whom.
//!
//! The throttle lets go in the order in which things came, so the oldest is meant: of a process of which all was seen. Where one reaps what was
//! not let go (it was in memory, or handed over before the recording began) order says nothing, and the process is followed no more.
//!
//! Example: sixteen calls of one read each, none with a bio in it; a worker queues a bio each 6.7 ms: each is the read of the oldest call.

use crate::open_call::OpenCall;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use trace::{Call, Nanos, Tid};

/// Operations that are remembered at most.
const MAX: usize = 1 << 16;

/// One operation that is held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub tid: Tid,
    process: Tid,
    /// The call that handed it over.
    pub open: OpenCall,
}

/// What a process has handed over.
#[derive(Clone, Copy, Debug, Default)]
struct Out {
    /// And not reaped.
    number: u64,
    /// Of these, what is held.
    held: u64,
    /// Whether not all of it was seen.
    unknown: bool,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct HeldAio {
    held: VecDeque<Held>,
    out: FxHashMap<Tid, Out>,
}

impl HeldAio {
    /// When the oldest began.
    pub fn oldest(&self) -> Option<Nanos> {
        self.held.front().map(|h| h.open.from)
    }

    /// A call of a process ends: it handed over or reaped so many.
    pub fn exit(&mut self, open: &OpenCall, process: Tid, tid: Tid, result: i64) {
        let number = u64::try_from(result).unwrap_or(0).min(MAX as u64);
        match open.call {
            Call::IoSubmit => self.hands_over(open, process, tid, number),
            Call::IoGetevents => self.reaps(process, number),
            _ => {}
        }
    }

    fn hands_over(&mut self, open: &OpenCall, process: Tid, tid: Tid, number: u64) {
        if self.held.len() as u64 + number > MAX as u64 {
            *self = HeldAio::default();
        }
        let out = self.out.entry(process).or_default();
        out.number = out.number.saturating_add(number);
        // What is large has several bios: then fewer are held than this says.
        let held = number.saturating_sub(open.sent);
        if held > 0 && !out.unknown {
            out.held += held;
            self.held.extend((0..held).map(|_| Held { tid, process, open: *open }));
        }
    }

    fn reaps(&mut self, process: Tid, number: u64) {
        if self.out.len() >= MAX {
            *self = HeldAio::default();
        }
        let out = self.out.entry(process).or_default();
        let left = out.number.checked_sub(number).filter(|left| out.held <= *left);
        out.number = left.unwrap_or(0);
        if left.is_none() && !std::mem::replace(&mut out.unknown, true) {
            out.held = 0;
            self.held.retain(|h| h.process != process);
        }
    }

    /// The throttle's worker lets one go.
    pub fn let_go(&mut self) -> Option<Held> {
        let held = self.held.pop_front()?;
        if let Some(out) = self.out.get_mut(&held.process) {
            out.held = out.held.saturating_sub(1);
        }
        Some(held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{DevId, Fs};

    fn call(call: Call, from: u64, sent: u64) -> OpenCall {
        OpenCall {
            call,
            from: Nanos(from),
            fd: None,
            fs: Fs::Unknown,
            dev: DevId(0),
            inode: 0,
            told: false,
            flags: 0,
            created: 0,
            writes_to: None,
            is_storage: false,
            last_sent: None,
            sent,
        }
    }

    #[test]
    fn the_oldest_is_let_go_first() {
        let (mut held, process) = (HeldAio::default(), Tid(7));
        let submit = |held: &mut HeldAio, from, sent| {
            held.exit(&call(Call::IoSubmit, from, sent), process, Tid(9), 1);
        };
        let reap = |held: &mut HeldAio, n| held.exit(&call(Call::IoGetevents, 0, 0), process, Tid(9), n);
        submit(&mut held, 1, 0);
        submit(&mut held, 2, 1);
        submit(&mut held, 3, 0);
        assert_eq!(held.let_go().map(|h| (h.tid, h.open.from)), Some((Tid(9), Nanos(1))));
        reap(&mut held, 1);
        assert_eq!(held.oldest(), Some(Nanos(3)));
        // All is reaped: the read of the third call was in memory. Whose is what comes now?
        reap(&mut held, 2);
        submit(&mut held, 4, 0);
        assert!(held.let_go().is_none());
    }

    #[test]
    fn what_was_handed_over_before_the_recording_is_not_known() {
        let mut held = HeldAio::default();
        held.exit(&call(Call::IoGetevents, 0, 0), Tid(7), Tid(7), 1);
        held.exit(&call(Call::IoSubmit, 1, 0), Tid(7), Tid(7), 1);
        assert!(held.let_go().is_none());
    }

    #[test]
    fn calls_of_other_kinds_change_nothing() {
        let mut held = HeldAio::default();
        held.exit(&call(Call::IoSubmit, 1, 0), Tid(7), Tid(7), 1);
        held.exit(&call(Call::Read, 2, 0), Tid(7), Tid(7), 1 << 20);
        assert_eq!(held.oldest(), Some(Nanos(1)));
    }

    #[test]
    fn a_call_that_fails_hands_nothing_over() {
        let mut held = HeldAio::default();
        held.exit(&call(Call::IoSubmit, 1, 0), Tid(7), Tid(7), -11);
        assert!(held.let_go().is_none());
    }
}
