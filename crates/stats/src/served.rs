//! What devices did, counted from completed requests.
//!
//! The [`Analysis`](crate::Analysis) notes each completed request and each change of a device's depth on a [`Tape`]; the
//! [`Flow`](crate::Flow) counts them, on another thread if it likes, tape after tape. The thread that follows lives has more to do than the one that
//! reads; so the one that reads counts.

use crate::cells::Cells;
use crate::device::{Device, Second};
use life::{Bio, ByClass, Class, Company, Op, Request, Timeline};
use rustc_hash::FxHashMap;
use trace::{Bytes, Cpu, DevId, Flags, Nanos, Sector};

/// A device's depth from a moment on.
#[derive(Clone, Copy, Debug)]
struct Change {
    /// So many requests of the tape were completed before it.
    after: u32,
    dev: DevId,
    now: Nanos,
    depth: u64,
}

/// A completed request, as small as can be: what is passed from one processor to another is expensive by the byte.
#[derive(Clone, Copy, Debug)]
struct Note {
    start: Sector,
    bytes: Bytes,
    /// The stamps of its [`Timeline`] up to the data's completion, [`NEVER`] where one was not seen.
    stamps: [u64; 6],
    completed: Nanos,
    beside_bytes: Bytes,
    late: Nanos,
    dev: DevId,
    flags: Flags,
    task: u32,
    complete_cpu: Cpu,
    merges: u32,
    requeues: u32,
    given_up: u32,
    beside: ByClass<u32>,
    /// Background writes issued while it was in the scheduler.
    overtaken: u32,
    error: u16,
    op: Op,
    /// Whether it carried exactly one bio, and all of it.
    whole: bool,
    into_flood: bool,
    /// Whether discards and the like were completed while it was in the device.
    met_other: bool,
}

/// A stamp that was not seen.
const NEVER: u64 = u64::MAX;

impl Note {
    #[inline]
    fn of(r: &Request, task: u32) -> Note {
        let t = &r.time;
        let stamps = [t.queued, t.got, t.inserted, t.first_issued, t.issued, t.data_completed];
        Note {
            start: r.start,
            bytes: r.bytes,
            stamps: stamps.map(|stamp| stamp.map_or(NEVER, |at| at.0)),
            completed: t.completed,
            beside_bytes: r.company.beside_bytes,
            late: r.company.late,
            dev: r.dev,
            flags: r.flags,
            task,
            complete_cpu: r.complete_cpu,
            merges: r.merges,
            requeues: t.requeues,
            given_up: t.given_up,
            beside: r.company.beside,
            overtaken: r.company.overtaken_by[Class::Background.index()],
            error: r.error,
            op: r.op,
            whole: r.bios == 1 && !r.split,
            into_flood: r.company.into_flood,
            met_other: r.company.served[Class::Other.index()] > 0,
        }
    }

    /// The request, as far as it is counted here.
    #[inline]
    fn request(&self) -> Request {
        let [queued, got, inserted, first_issued, issued, data_completed] =
            self.stamps.map(|at| (at != NEVER).then_some(Nanos(at)));
        let (completed, requeues, given_up) = (self.completed, self.requeues, self.given_up);
        let time = Timeline {
            queued,
            got,
            inserted,
            first_issued,
            issued,
            data_completed,
            completed,
            requeues,
            given_up,
            ..Timeline::default()
        };
        let mut company = Company {
            beside: self.beside,
            beside_bytes: self.beside_bytes,
            into_flood: self.into_flood,
            late: self.late,
            ..Company::default()
        };
        company.overtaken_by[Class::Background.index()] = self.overtaken;
        company.served[Class::Other.index()] = u32::from(self.met_other);
        Request {
            dev: self.dev,
            op: self.op,
            flags: self.flags,
            start: self.start,
            bytes: self.bytes,
            complete_cpu: self.complete_cpu,
            bios: u32::from(self.whole),
            merges: self.merges,
            error: self.error,
            time,
            company,
            ..Request::default()
        }
    }
}

/// Completed requests and changes of depth, in their order.
#[derive(Debug, Default)]
pub struct Tape {
    requests: Vec<Note>,
    changes: Vec<Change>,
}

impl Tape {
    /// Whether nothing is on it.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.changes.is_empty()
    }

    /// Notes a request of a task.
    #[inline]
    pub(crate) fn request(&mut self, r: &Request, task: u32) {
        self.requests.push(Note::of(r, task));
    }

    /// Notes how many requests are in a device from now on.
    #[inline]
    pub(crate) fn depth(&mut self, dev: DevId, now: Nanos, depth: u64) {
        let after = self.requests.len() as u32;
        self.changes.push(Change { after, dev, now, depth });
    }
}

/// Devices, by what they did.
#[derive(Debug, Default)]
pub(crate) struct Served {
    pub devices: Devices,
    pub cells: Cells,
}

impl Served {
    /// Counts what is on a tape, and empties it.
    pub fn count(&mut self, tape: &mut Tape) {
        let mut changes = tape.changes.iter().peekable();
        for (number, note) in tape.requests.iter().enumerate() {
            while let Some(change) = changes.next_if(|c| c.after as usize <= number) {
                self.change(change);
            }
            self.request(&note.request(), note.task);
        }
        changes.for_each(|change| self.change(change));
        tape.requests.clear();
        tape.changes.clear();
    }

    fn change(&mut self, c: &Change) {
        let device = self.devices.of(c.dev);
        device.depth.set(c.now, c.depth);
        device.pace.set(c.now, c.depth);
    }

    fn request(&mut self, r: &Request, task: u32) {
        let cell = self.cells.of(r, task);
        cell.record(r.bytes, &r.time);
        cell.merges += r.merges as u64;
        cell.errors += (r.error != 0) as u64;
        let class = r.class().index();
        let device = self.devices.of(r.dev);
        if let Some(d2c) = r.time.d2c() {
            device.company[class].record(r, d2c);
            device.pace.record(r, d2c);
            device.alignment.record(r, d2c);
            if r.class() == Class::Read {
                device.readers.entry(task).or_default().record(r);
            }
            device.completed_on.record(r.complete_cpu, r.company.late.min(d2c));
        }
        device.series.at(r.time.completed).did(class, r.bytes, &r.time);
    }
}

/// Devices by number; the one found last is found again at once.
#[derive(Debug, Default)]
pub(crate) struct Devices {
    pub all: Vec<Device>,
    which: FxHashMap<DevId, usize>,
    recent: Option<(DevId, usize)>,
}

impl Devices {
    #[inline]
    pub fn of(&mut self, id: DevId) -> &mut Device {
        let at = match self.recent {
            Some((recent, at)) if recent == id => at,
            _ => self.switch(id),
        };
        &mut self.all[at]
    }

    /// These, with what others say that they did.
    pub fn merge(mut self, served: Devices) -> (Vec<Device>, FxHashMap<DevId, usize>) {
        for theirs in served.all {
            let device = self.of(theirs.id);
            device.company = theirs.company;
            device.depth = theirs.depth;
            device.pace = theirs.pace;
            device.alignment = theirs.alignment;
            device.readers = theirs.readers;
            device.completed_on = theirs.completed_on;
            device.series.merge(&theirs.series);
        }
        (self.all, self.which)
    }

    #[inline(never)]
    fn switch(&mut self, id: DevId) -> usize {
        let at = match self.which.get(&id) {
            Some(at) => *at,
            None => self.add(id),
        };
        self.recent = Some((id, at));
        at
    }

    /// Kept out of line: a new device takes 50 KB of stack, which is touched on entry.
    #[cold]
    #[inline(never)]
    fn add(&mut self, id: DevId) -> usize {
        self.all.push(Device::new(id));
        self.which.insert(id, self.all.len() - 1);
        self.all.len() - 1
    }
}

impl Second {
    /// Counts what was completed in it.
    #[inline]
    fn did(&mut self, class: usize, bytes: Bytes, time: &Timeline) {
        self.completed[class] += 1;
        self.bytes[class] += bytes;
        self.time[class] += time.total();
    }
}

impl Device {
    /// Counts a bio of a device without requests as what it did in that second.
    pub(crate) fn did(&mut self, b: &Bio) {
        self.series.at(b.time.completed).did(b.class().index(), b.bytes, &b.time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_a_third_of_a_request() {
        assert!(3 * size_of::<Note>() <= size_of::<Request>());
    }

    #[test]
    fn what_is_counted_of_a_request_is_in_its_note() {
        let mut r = Request { bios: 1, merges: 2, error: 5, ..Request::default() };
        (r.time.queued, r.time.issued, r.time.data_completed) =
            (Some(Nanos(3)), Some(Nanos(0)), Some(Nanos(9)));
        (r.time.completed, r.time.requeues) = (Nanos(11), 1);
        (r.company.beside, r.company.late) = ([1, 2, 3, 4, 5], Nanos(2));
        assert_eq!(Note::of(&r, 7).request(), r);
        assert_eq!(Note::of(&r, 7).task, 7);
    }
}
