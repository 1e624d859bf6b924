//! What `io_submit` handed over that its control group holds back: no bio is queued in the call, but later by the throttle's worker, which
//! does not say for whom.
//!
//! Its place tells: where its file lies on the device is known of direct I/O that was not held ([`Extents`]). Else its order does: the
//! throttle lets bios go in the order in which they came, so the oldest call is meant, as long as nobody else can be: of one process
//! something is held, on one device, in one direction, and all its calls were seen. Where one reaps what was not let go (it was in
//! memory, or handed over before the recording began), or others are throttled beside it, order says nothing from then on.
//!
//! Example: sixteen calls of one read each, none with a bio in it; a worker queues a bio each 6.7 ms: each is the read of the oldest call.

use crate::extents::{Direct, Extents};
use crate::open_call::OpenCall;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use trace::{Call, DevId, Event, Flags, Tid};

/// Calls that are remembered at most, of one process.
const MAX: usize = 1 << 16;

/// Processes that are remembered.
const MAX_PROCESSES: usize = 1024;

/// Held calls that are looked at for a bio's place: a queue of libaio is seldom deeper (fio's `iodepth`, InnoDB's 256 for each thread).
const MOST_SEARCHED: usize = 4096;

/// Direct I/O of one call that is remembered (`libaio` hands over 1024 at most, unless told otherwise).
const MAX_BEGUN: usize = 1024;

/// A call of which something is held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub tid: Tid,
    /// The call that handed it over.
    pub open: OpenCall,
    /// Where in its file, if that was recorded.
    direct: Option<Direct>,
    /// How many operations of it are held.
    left: u64,
}

/// What one process has handed over.
#[derive(Debug, Default)]
struct Out {
    /// And not reaped.
    number: u64,
    /// Of these, what is held.
    held: u64,
    calls: VecDeque<Held>,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct HeldAio {
    /// By process.
    out: FxHashMap<Tid, Out>,
    /// How many operations of all are held.
    held: u64,
    /// The direct I/O of each open call that sent no bio, and whether the last has sent one.
    begun: FxHashMap<Tid, (Vec<Direct>, bool)>,
    extents: Extents,
    /// Where bios are let go, and whether they are writes.
    lets_go: Option<(DevId, bool)>,
    /// Whether order says nothing.
    is_out_of_order: bool,
}

impl HeldAio {
    /// Whether a bio of a throttle's worker may be one that is held.
    pub fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// Direct I/O begins in a call of `io_submit`.
    pub fn begins(&mut self, tid: Tid, io: Direct) {
        if self.begun.len() >= MAX_PROCESSES {
            self.begun.clear();
        }
        let (begun, has_sent) = self.begun.entry(tid).or_default();
        if std::mem::take(has_sent) {
            begun.pop();
        }
        if begun.len() < MAX_BEGUN {
            begun.push(io);
        }
    }

    /// A bio is queued in the call.
    pub fn sends(&mut self, tid: Tid, e: &Event) {
        let Some((begun, has_sent)) = self.begun.get_mut(&tid) else { return };
        if let Some(io) = begun.last().filter(|_| !*has_sent) {
            self.extents.learn(io, e.dev, e.sector);
        }
        *has_sent = true;
    }

    /// A call of a process ends: it handed over or reaped so many.
    pub fn exit(&mut self, open: &OpenCall, process: Tid, tid: Tid, result: i64) {
        let begun = match open.call {
            Call::IoSubmit => self.begun.remove(&tid),
            _ => None,
        };
        let number = u64::try_from(result).unwrap_or(0);
        if number == 0 {
            return;
        }
        if open.call == Call::IoSubmit {
            let begun = begun.map_or(vec![], |(mut begun, has_sent)| {
                if has_sent {
                    begun.pop();
                }
                begun
            });
            self.hands_over(open, (process, tid), number, &begun);
        } else {
            self.reaps(process, number);
        }
    }

    fn hands_over(&mut self, open: &OpenCall, (process, tid): (Tid, Tid), number: u64, begun: &[Direct]) {
        if self.out.len() >= MAX_PROCESSES && !self.out.contains_key(&process) {
            self.forget();
        }
        let out = self.out.entry(process).or_default();
        // What is large has several bios: then fewer are held than this says.
        let held = number.saturating_sub(open.sent);
        if out.calls.len() >= MAX {
            return self.forget();
        }
        out.number = out.number.saturating_add(number);
        let known = begun.len() as u64;
        let places = begun.iter().map(|io| (Some(*io), 1));
        let others = held.checked_sub(known).filter(|left| *left > 0).map(|left| (None, left));
        for (direct, left) in places.chain(others) {
            out.held = out.held.saturating_add(left);
            self.held = self.held.saturating_add(left);
            out.calls.push_back(Held { tid, open: *open, direct, left });
        }
    }

    fn reaps(&mut self, process: Tid, number: u64) {
        let Some(out) = self.out.get_mut(&process) else {
            // It has handed over before the recording began, and may be held.
            self.is_out_of_order = true;
            return;
        };
        let left = out.number.checked_sub(number);
        self.is_out_of_order |= left.is_none_or(|left| out.held > left);
        out.number = left.unwrap_or(0);
        while out.held > out.number {
            // The oldest of them was let go, or never held.
            let Some(first) = out.calls.front_mut() else { break };
            (first.left, out.held, self.held) = (first.left - 1, out.held - 1, self.held.saturating_sub(1));
            if first.left == 0 {
                out.calls.pop_front();
            }
        }
    }

    /// The throttle's worker queues a bio; `beside`: another task may wait for it as well.
    pub fn let_go(&mut self, e: &Event, beside: bool) -> Option<Held> {
        let (process, at) = match self.by_place(e) {
            Some(found) => found,
            None => (self.by_order(e, beside)?, 0),
        };
        let out = self.out.get_mut(&process)?;
        let call = out.calls.get_mut(at)?;
        if let Some(rest) = call.direct.as_mut().and_then(|io| io.rest(e.bytes)) {
            let held = *call;
            call.direct = Some(rest);
            return Some(held);
        }
        (call.left, out.held) = (call.left.saturating_sub(1), out.held.saturating_sub(1));
        self.held = self.held.saturating_sub(1);
        let held = *call;
        if held.left == 0 {
            out.calls.remove(at);
        }
        Some(held)
    }

    /// Whose file lies where the bio begins.
    fn by_place(&self, e: &Event) -> Option<(Tid, usize)> {
        let is = |held: &Held| held.direct.is_some_and(|io| self.extents.is_of(&io, e.dev, e.sector));
        let find = |out: &Out| out.calls.iter().take(MOST_SEARCHED).position(is);
        self.out.iter().find_map(|(process, out)| Some((*process, find(out)?)))
    }

    /// The only process of which something is held, while order says something.
    fn by_order(&mut self, e: &Event, beside: bool) -> Option<Tid> {
        let is = (e.dev, e.flags.has(Flags::WRITE));
        let mut held = self.out.iter().filter(|(_, out)| out.held > 0);
        let (first, second) = (held.next(), held.next());
        self.is_out_of_order |= beside || second.is_some() || *self.lets_go.get_or_insert(is) != is;
        // What lies elsewhere is not meant.
        let lies_elsewhere = |call: &Held| call.direct.is_some_and(|io| self.extents.knows(&io));
        let (process, out) = first.filter(|_| !self.is_out_of_order)?;
        out.calls.front().filter(|call| !lies_elsewhere(call)).map(|_| *process)
    }

    /// Too much to remember.
    fn forget(&mut self) {
        *self = HeldAio {
            is_out_of_order: true,
            extents: std::mem::take(&mut self.extents),
            ..HeldAio::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{Bytes, Nanos, Sector};

    const FIO: Tid = Tid(7);

    fn call(call: Call, from: u64, sent: u64) -> OpenCall {
        OpenCall { sent, ..OpenCall::new(call, Nanos(from)) }
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
            submit(&mut held, FIO, 1, 3, 0);
            assert_eq!(let_go(&mut held), Some(1));
            other(&mut held);
            let_go(&mut held)
        };
        assert_eq!(of(&|_| {}), Some(1));
        assert_eq!(
            of(&|held| submit(held, Tid(8), 5, 1, 1)),
            Some(1),
            "another process, of which nothing is held"
        );
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

    /// Two processes, another task that waits, and no order: the places of what was not held show where each file lies.
    #[test]
    fn a_place_tells_whose_it_is() {
        let mut held = HeldAio::default();
        let io = |inode, kib: u64| Direct { dev: DevId(1), inode, at: Bytes(kib << 10), bytes: Bytes(4096) };
        let at = |sector| Event { sector: Sector(sector), bytes: Bytes(4096), ..bio(1, Flags(0)) };
        let (mine, other) = (Tid(9), Tid(10));
        for (tid, inode, sector) in [(mine, 12, 2048), (other, 13, 65_536)] {
            held.begins(tid, io(inode, 0));
            held.sends(tid, &at(sector));
            held.begins(tid, io(inode, 64));
            held.begins(tid, io(inode, 128));
            held.exit(&call(Call::IoSubmit, inode, 1), Tid(inode as u32), tid, 3);
        }
        let mut whose = |sector| held.let_go(&at(sector), true).map(|h| (h.tid, h.open.from.0));
        assert_eq!(whose(65_536 + 256), Some((other, 13)));
        assert_eq!(whose(2048 + 256), Some((mine, 12)));
        assert_eq!(whose(2048 + 128), Some((mine, 12)));
        assert_eq!(whose(2048 + 128), None, "it was let go");
        assert_eq!(whose(65_536 + 128), Some((other, 13)));
        assert!(held.is_empty());
    }

    #[test]
    fn a_call_that_fails_hands_nothing_over() {
        let mut held = HeldAio::default();
        submit(&mut held, FIO, 1, -11, 0);
        assert_eq!(let_go(&mut held), None);
    }
}
