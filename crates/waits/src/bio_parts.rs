//! Splits the time of each bio into parts with phase and culprit, without the culprits' numbers in a table.
//!
//! One thread can track bios while another one keeps the table: a bio is passed on as a head and 16 bytes per part.

use crate::chain::Link;
use crate::culprit::CulpritKind;
use crate::links::is_ragged;
use crate::phase::Phase;
use crate::victim::Asked;
use crate::who::flush_of;
use device::{largest_remainder, Holder};
use ledger::{Ledger, Reason};
use life::{Bio, Class, Io, Op, TaskName};
use smallvec::smallvec;
use trace::{Bytes, DevId, Flags, Nanos};

/// The culprit of a part.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Because {
    /// A culprit without a name.
    Of(CulpritKind, Option<Io>),
    /// A task or kernel thread with requests in the device.
    Holder(Holder),
    /// Holders that are not distinguished.
    Others,
}

/// A part of a bio's time. With time 0: a holder that was in the device at the same time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BioPart {
    pub time: Nanos,
    pub phase: Phase,
    pub because: Because,
    /// Whether the bio waited for a flush in this part.
    pub in_flush: bool,
}

/// A bio and its number of parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub task: TaskName,
    pub dev: DevId,
    pub asked: Asked,
    pub link: Link,
    pub end: Nanos,
    pub total: Nanos,
    pub bytes: Bytes,
    pub pieces: u32,
    pub parts: u32,
    /// Its time in the device.
    pub in_device: Nanos,
    /// The part of `in_device` for which the usual service time is unknown.
    pub unknown: Nanos,
}

/// Ended bios, in the order in which they ended.
#[derive(Clone, Debug, Default)]
pub struct BioParts {
    heads: Vec<Head>,
    parts: Vec<BioPart>,
}

impl BioParts {
    /// Whether there are no bios.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// Removes all bios.
    pub fn clear(&mut self) {
        self.heads.clear();
        self.parts.clear();
    }

    /// Each bio with its parts.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&Head, &[BioPart])> {
        let mut rest = self.parts.as_slice();
        self.heads.iter().map(move |head| {
            let (parts, others) = rest.split_at(head.parts as usize);
            rest = others;
            (head, parts)
        })
    }

    /// Adds a bio with its ledger.
    ///
    /// `no_tag`: the part of its wait for a request in which all tags were taken.
    pub fn add(&mut self, b: &Bio, ledger: &Ledger, no_tag: Nanos) {
        let before = self.parts.len();
        let (mut in_device, mut unknown) = (Nanos(0), Nanos(0));
        for segment in &ledger.segments {
            let time = segment.length();
            match segment.reason {
                Reason::Device => {
                    in_device += time;
                    unknown += self.in_device(b, time);
                }
                Reason::GetRequest => {
                    let full = no_tag.min(time);
                    self.held_up(b, Phase::NoTag, full);
                    self.held_up(b, Phase::Reason(segment.reason), time.since(full));
                }
                Reason::Scheduler => {
                    let refused = b.contention.refused.min(time);
                    self.put(Phase::Refused, Because::Of(CulpritKind::Device, None), refused);
                    self.held_up(b, Phase::Reason(segment.reason), time.since(refused));
                }
                Reason::Preflush | Reason::Postflush | Reason::FlushQueue => {
                    self.flush(b, segment.reason, time);
                }
                reason => {
                    let kind = match reason {
                        Reason::Prepare | Reason::Completion => CulpritKind::Own,
                        Reason::Unexplained => CulpritKind::Unknown,
                        _ => CulpritKind::Kernel,
                    };
                    self.put(Phase::Reason(reason), Because::Of(kind, None), time);
                }
            }
        }
        let ragged = b.op == Op::Write && is_ragged(b.start, b.bytes);
        let is_ahead = b.flags.has(Flags::AHEAD) && !b.awaited;
        self.heads.push(Head {
            task: b.task,
            dev: b.dev,
            asked: if is_ahead { Asked::Ahead } else { Asked::Bio(b.class()) },
            link: Link::Request(b.op, b.pieces > 1, ragged),
            end: b.time.completed,
            total: ledger.total(),
            bytes: b.bytes,
            pieces: b.pieces,
            parts: (self.parts.len() - before) as u32,
            in_device,
            unknown,
        });
    }

    #[inline]
    fn put(&mut self, phase: Phase, because: Because, time: Nanos) {
        if time.0 > 0 {
            self.parts.push(BioPart { time, phase, because, in_flush: false });
        }
    }

    /// The time of a flush before or after the data, split as the flush's own request was in the device.
    fn flush(&mut self, b: &Bio, reason: Reason, time: Nanos) {
        let flushed = flush_of(Some(&b.time), reason, time);
        let before = self.parts.len();
        self.put(Phase::Paused, Because::Of(CulpritKind::Device, None), flushed.paused);
        for behind in flushed.behind {
            self.put(Phase::Behind, Because::Holder(behind.holder), behind.time);
        }
        self.put(Phase::Behind, Because::Others, flushed.others);
        self.put(Phase::Flush, Because::Of(CulpritKind::Device, Some(Io::Flush)), flushed.own);
        self.parts[before..].iter_mut().for_each(|part| part.in_flush = true);
    }

    /// Adds the parts of its time in the device; returns the part for which the usual service time is unknown.
    fn in_device(&mut self, b: &Bio, time: Nanos) -> Nanos {
        let late = b.contention.late.min(time);
        let split = b.contention.split.last(time.since(late));
        let device = Because::Of(CulpritKind::Device, None);
        let (served, by) = match b.op {
            Op::Flush => (Phase::Flush, device),
            _ => (Phase::Service, Because::Of(CulpritKind::Own, None)),
        };
        self.put(Phase::Late, Because::Of(CulpritKind::Cpu, None), late);
        self.put(served, by, split.own);
        for (phase, time) in Phase::alone(&split, b.op == Op::Flush) {
            self.put(phase, device, time);
        }
        for behind in &split.behind {
            self.put(Phase::Behind, Because::Holder(behind.holder), behind.time);
            if behind.time.0 == 0 && behind.holder != Holder(0) {
                let because = Because::Holder(behind.holder);
                self.parts.push(BioPart { time: Nanos(0), phase: Phase::Behind, because, in_flush: false });
            }
        }
        self.put(Phase::Behind, Because::Others, split.others);
        if split.known {
            Nanos(0)
        } else {
            split.total()
        }
    }

    /// A wait in front of the device is charged to the holders that were in the device beside the bio.
    fn held_up(&mut self, b: &Bio, phase: Phase, time: Nanos) {
        if time.0 == 0 {
            return;
        }
        let behind = &b.contention.split.behind;
        let parts = match behind.map(|b| b.time.0) {
            [0, 0, 0] => {
                return self.put(phase, Because::Of(CulpritKind::Unknown, overtaker(b, phase)), time)
            }
            [_, 0, 0] => smallvec![time],
            weights => largest_remainder(time, &weights),
        };
        for (holder, part) in behind.iter().zip(parts) {
            self.put(phase, Because::Holder(holder.holder), part);
        }
    }
}

/// The kind of I/O that was issued most while a bio waited in the scheduler; `None` for other phases.
fn overtaker(b: &Bio, phase: Phase) -> Option<Io> {
    let by = &b.contention.overtaken_by;
    let most = Class::ALL.into_iter().max_by_key(|c| by[c.index()])?;
    (phase == Phase::Reason(Reason::Scheduler) && by[most.index()] > 0).then(|| Io::of(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> Ledger {
        Ledger { from: Nanos(0), to: Nanos(0), segments: Default::default() }
    }

    fn head(bio: &Bio) -> Head {
        let mut parts = BioParts::default();
        parts.add(bio, &empty(), Nanos(0));
        let (head, _) = parts.each().next().expect("one was added");
        *head
    }

    /// No task waits for read-ahead until it is used.
    #[test]
    fn read_ahead_is_a_read_once_its_task_waits_for_it() {
        let ahead = |awaited| {
            let flags = Flags::READ.with(Flags::AHEAD);
            head(&Bio { op: Op::Read, flags, awaited, ..Bio::default() }).asked
        };
        assert_eq!((ahead(false), ahead(true)), (Asked::Ahead, Asked::Bio(Class::Read)));
        let read = head(&Bio { op: Op::Read, flags: Flags::READ, ..Bio::default() });
        assert_eq!(read.asked, Asked::Bio(Class::Read));
    }

    /// Only bios that were cut into several requests count as cut.
    #[test]
    fn only_what_was_cut_into_several_is_counted_as_cut() {
        let mut parts = BioParts::default();
        for pieces in [1, 1, 3, 2] {
            let bio =
                Bio { op: Op::Read, flags: Flags::READ, bytes: Bytes(1 << 20), pieces, ..Bio::default() };
            parts.add(&bio, &empty(), Nanos(0));
        }
        let (mut table, mut bios) = (crate::table::Table::default(), crate::bios::Bios::default());
        bios.add(&mut table, &parts, &life::Names::default());
        let cut = table.victims().next().expect("one task").2.cut;
        assert_eq!((cut.ops, cut.pieces, cut.bytes), (2, 5, 2 << 20));
    }
}
