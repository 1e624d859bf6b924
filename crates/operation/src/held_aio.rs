//! libaio operations held back by a control group's limit: `io_submit` queues no bio. The throttle's worker queues it
//! later, and the event does not say for which task.
//!
//! The call is found by place: direct I/O that was not held shows where a file lies on the device ([`Extents`]). Otherwise it is found by
//! order: the throttle releases bios in order, so a bio belongs to the oldest call. That holds only if no other task can be meant:
//! operations of one process are held, on one device, in one direction, and all its calls were seen. If a process reaps what was not
//! released (it was in memory, or submitted before the recording began), or others are throttled as well, order is not used from then on.
//!
//! Example: sixteen calls of one read each without a bio; a worker queues a bio every 6.7 ms: each belongs to the oldest call.

use crate::extents::{Direct, Extents};
use crate::open_call::OpenCall;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use trace::{Call, DevId, Event, Flags, Tid};

/// Largest number of calls remembered for one process.
const MAX: usize = 1 << 16;

/// Largest number of processes remembered.
const MAX_PROCESSES: usize = 1024;

/// Largest number of held calls searched for a bio: libaio queues are seldom deeper (fio's `iodepth`, InnoDB's 256 for each thread).
const MOST_SEARCHED: usize = 4096;

/// Largest number of direct I/Os remembered for one call (`libaio` submits 1024 at most by default).
const MAX_BEGUN: usize = 1024;

/// A call of which operations are held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub tid: Tid,
    /// The call that submitted them.
    pub open: OpenCall,
    /// Place in the file, if that was recorded.
    direct: Option<Direct>,
    /// Number of its operations that are held.
    left: u64,
}

/// What one process has submitted.
#[derive(Debug, Default)]
struct Out {
    /// Number of operations submitted and not reaped.
    number: u64,
    /// Number of these that are held.
    held: u64,
    calls: VecDeque<Held>,
}

/// Held operations of all processes.
#[derive(Debug, Default)]
pub(crate) struct HeldAio {
    /// Submitted operations by process.
    out: FxHashMap<Tid, Out>,
    /// Number of operations held over all processes.
    held: u64,
    /// For each open call, the direct I/O that sent no bio, and whether the last of them has sent one.
    begun: FxHashMap<Tid, (Vec<Direct>, bool)>,
    extents: Extents,
    /// Device of released bios, and whether they are writes.
    lets_go: Option<(DevId, bool)>,
    /// Whether order can no longer be used.
    is_out_of_order: bool,
}

impl HeldAio {
    /// Whether nothing is held, so that no bio of a throttle's worker needs to be matched.
    pub fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// Number of operations that a process has submitted and not taken; `None` if not known.
    pub fn outstanding(&self, process: Tid) -> Option<u64> {
        self.out.get(&process).map(|out| out.number)
    }

    /// A direct I/O begins in a call of `io_submit`.
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

    /// A bio is queued within the call.
    pub fn sends(&mut self, tid: Tid, e: &Event) {
        let Some((begun, has_sent)) = self.begun.get_mut(&tid) else { return };
        if let Some(io) = begun.last().filter(|_| !*has_sent) {
            self.extents.learn(io, e.dev, e.sector);
        }
        *has_sent = true;
    }

    /// A call of a process ends: it submitted or reaped `result` operations.
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
        // A large operation has several bios: then fewer operations are held than this number.
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
            // It submitted before the recording began, and these may be held.
            self.is_out_of_order = true;
            return;
        };
        let left = out.number.checked_sub(number);
        self.is_out_of_order |= left.is_none_or(|left| out.held > left);
        out.number = left.unwrap_or(0);
        while out.held > out.number {
            // The oldest operation was released, or never held.
            let Some(first) = out.calls.front_mut() else { break };
            (first.left, out.held, self.held) = (first.left - 1, out.held - 1, self.held.saturating_sub(1));
            if first.left == 0 {
                out.calls.pop_front();
            }
        }
    }

    /// The throttle's worker queues a bio. `beside`: another task may be waiting for it as well. Returns the held call that it belongs to.
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

    /// The held call whose file lies where the bio begins.
    fn by_place(&self, e: &Event) -> Option<(Tid, usize)> {
        let is = |held: &Held| held.direct.is_some_and(|io| self.extents.is_of(&io, e.dev, e.sector));
        let find = |out: &Out| out.calls.iter().take(MOST_SEARCHED).position(is);
        self.out.iter().find_map(|(process, out)| Some((*process, find(out)?)))
    }

    /// The only process with held operations, as long as order can be used.
    fn by_order(&mut self, e: &Event, beside: bool) -> Option<Tid> {
        let is = (e.dev, e.flags.has(Flags::WRITE));
        let mut held = self.out.iter().filter(|(_, out)| out.held > 0);
        let (first, second) = (held.next(), held.next());
        self.is_out_of_order |= beside || second.is_some() || *self.lets_go.get_or_insert(is) != is;
        // A file known to be elsewhere on the device cannot be meant.
        let lies_elsewhere = |call: &Held| call.direct.is_some_and(|io| self.extents.knows(&io));
        let (process, out) = first.filter(|_| !self.is_out_of_order)?;
        out.calls.front().filter(|call| !lies_elsewhere(call)).map(|_| *process)
    }

    /// Too much to remember: starts anew, without order.
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

    /// Two processes, another waiting task, and no order: the places of unheld I/O show where each file lies.
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
