//! What `io_submit` handed over that its control group holds back: no bio is queued in the call, but later by the throttle's worker, which
//! does not say for whom.
//!
//! The throttle lets bios go in the order in which they came, so the oldest call is meant, as long as nobody else can be: one process, one
//! device, one direction, and all its calls were seen. Where one reaps what was not let go (it was in memory, or handed over before the
//! recording began), or others are throttled beside it, order says nothing: from then on none is followed.
//!
//! Example: sixteen calls of one read each, none with a bio in it; a worker queues a bio each 6.7 ms: each is the read of the oldest call.

use crate::open_call::OpenCall;
use std::collections::VecDeque;
use trace::{Call, DevId, Event, Flags, Tid};

/// Calls that are remembered at most.
const MAX: usize = 1 << 16;

/// A call of which something is held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub tid: Tid,
    /// The call that handed it over.
    pub open: OpenCall,
    /// How many operations of it are held.
    left: u64,
}

/// What one process has handed over.
#[derive(Debug)]
struct Out {
    process: Tid,
    /// And not reaped.
    number: u64,
    /// Of these, what is held.
    held: u64,
    calls: VecDeque<Held>,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct HeldAio {
    /// Of the only process that hands over.
    out: Option<Out>,
    /// Where bios are let go, and whether they are writes.
    lets_go: Option<(DevId, bool)>,
    /// Whether order says nothing.
    given_up: bool,
}

impl HeldAio {
    /// Whether a bio of a throttle's worker may be one that is held.
    pub fn is_empty(&self) -> bool {
        self.out.as_ref().is_none_or(|out| out.held == 0)
    }

    /// A call of a process ends: it handed over or reaped so many.
    pub fn exit(&mut self, open: &OpenCall, process: Tid, tid: Tid, result: i64) {
        let number = u64::try_from(result).unwrap_or(0);
        if number == 0 || self.given_up {
            return;
        }
        if open.call == Call::IoSubmit {
            self.hands_over(open, process, tid, number);
        } else {
            self.reaps(process, number);
        }
    }

    fn hands_over(&mut self, open: &OpenCall, process: Tid, tid: Tid, number: u64) {
        let out = self.out.get_or_insert_with(|| Out { process, number: 0, held: 0, calls: VecDeque::new() });
        // What is large has several bios: then fewer are held than this says.
        let held = number.saturating_sub(open.sent);
        if out.process != process {
            return self.give_up();
        }
        if out.calls.len() >= MAX {
            return self.give_up();
        }
        out.number = out.number.saturating_add(number);
        if held > 0 {
            out.held = out.held.saturating_add(held);
            out.calls.push_back(Held { tid, open: *open, left: held });
        }
    }

    fn reaps(&mut self, process: Tid, number: u64) {
        let Some(out) = self.out.as_mut().filter(|out| out.process == process) else {
            // It has handed over before the recording began, and may be held.
            return self.give_up();
        };
        match out.number.checked_sub(number).filter(|left| out.held <= *left) {
            Some(left) => out.number = left,
            None => self.give_up(),
        }
    }

    /// The throttle's worker queues a bio; `beside`: another task may wait for it as well.
    pub fn let_go(&mut self, e: &Event, beside: bool) -> Option<Held> {
        let is = (e.dev, e.flags.has(Flags::WRITE));
        if beside || *self.lets_go.get_or_insert(is) != is {
            self.give_up();
        }
        let out = self.out.as_mut()?;
        let first = out.calls.front_mut()?;
        (first.left, out.held) = (first.left.saturating_sub(1), out.held.saturating_sub(1));
        let held = *first;
        if held.left == 0 {
            out.calls.pop_front();
        }
        Some(held)
    }

    fn give_up(&mut self) {
        *self = HeldAio { given_up: true, ..HeldAio::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{Fs, Nanos};

    const FIO: Tid = Tid(7);

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
            sent_to: DevId(0),
        }
    }

    fn submit(held: &mut HeldAio, process: Tid, from: u64, number: i64, sent: u64) {
        held.exit(&call(Call::IoSubmit, from, sent), process, Tid(9), number);
    }

    fn reap(held: &mut HeldAio, process: Tid, number: i64) {
        held.exit(&call(Call::IoGetevents, 0, 0), process, Tid(9), number);
    }

    fn bio(dev: u32, flags: Flags) -> Event {
        Event { dev: DevId(dev), flags, ..Event::default() }
    }

    fn let_go(held: &mut HeldAio) -> Option<u64> {
        held.let_go(&bio(1, Flags(0)), false).map(|h| h.open.from.0)
    }

    #[test]
    fn the_oldest_is_let_go_first() {
        let mut held = HeldAio::default();
        submit(&mut held, FIO, 1, 3, 1);
        submit(&mut held, FIO, 2, 1, 1);
        submit(&mut held, FIO, 3, 1, 0);
        assert_eq!([let_go(&mut held), let_go(&mut held)], [Some(1), Some(1)]);
        reap(&mut held, FIO, 4);
        assert_eq!(let_go(&mut held), Some(3));
        assert!(held.is_empty() && let_go(&mut held).is_none());
    }

    #[test]
    fn what_is_reaped_before_it_is_let_go_was_in_memory() {
        let mut held = HeldAio::default();
        submit(&mut held, FIO, 1, 1, 0);
        reap(&mut held, FIO, 1);
        submit(&mut held, FIO, 2, 1, 0);
        assert_eq!(let_go(&mut held), None);
    }

    #[test]
    fn what_was_handed_over_before_the_recording_is_not_known() {
        let mut held = HeldAio::default();
        reap(&mut held, FIO, 1);
        submit(&mut held, FIO, 1, 1, 0);
        assert_eq!(let_go(&mut held), None);
    }

    #[test]
    fn nobody_is_meant_where_several_may_be() {
        let of = |other: &dyn Fn(&mut HeldAio)| {
            let mut held = HeldAio::default();
            submit(&mut held, FIO, 1, 2, 0);
            assert_eq!(let_go(&mut held), Some(1));
            other(&mut held);
            let_go(&mut held)
        };
        assert_eq!(of(&|_| {}), Some(1));
        assert_eq!(of(&|held| submit(held, Tid(8), 5, 1, 0)), None, "another process");
        assert_eq!(
            of(&|held| assert!(held.let_go(&bio(2, Flags(0)), false).is_none())),
            None,
            "another device"
        );
        assert_eq!(of(&|held| assert!(held.let_go(&bio(1, Flags::WRITE), false).is_none())), None, "a write");
        assert_eq!(
            of(&|held| assert!(held.let_go(&bio(1, Flags(0)), true).is_none())),
            None,
            "somebody waits"
        );
    }

    #[test]
    fn a_call_that_fails_hands_nothing_over() {
        let mut held = HeldAio::default();
        submit(&mut held, FIO, 1, -11, 0);
        assert_eq!(let_go(&mut held), None);
    }
}
