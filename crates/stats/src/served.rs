//! Statistics of devices, and waits of bios, counted from tapes.
//!
//! The [`Analysis`](crate::Analysis) notes each completed request, each bio and each change of a device's depth on a [`Tape`]. Counting them
//! takes about as long as following them does and needs nothing else, so it can run on another thread, tape by tape.

use crate::cells::Cells;
use crate::device::{Device, Second};
use crate::note::Note;
use crate::tape::{Change, Tape};
use life::{Bio, Class, Names};
use rustc_hash::FxHashMap;
use trace::{Bytes, DevId, Nanos};
use waits::{Bios, Table, Those};

/// The counters.
#[derive(Debug)]
pub struct Served {
    pub(crate) devices: Devices,
    pub(crate) cells: Cells,
    /// Bios in a table of waits.
    pub(crate) waits: Table,
    bios: Bios,
    names: Names,
}

impl Default for Served {
    fn default() -> Served {
        Served {
            devices: Devices::default(),
            cells: Cells::default(),
            waits: Table::default(),
            bios: Bios::default(),
            names: Names::of_news(),
        }
    }
}

impl Served {
    /// Counts everything on a tape, and empties it.
    pub fn count(&mut self, tape: &mut Tape) {
        let mut changes = tape.changes.iter().peekable();
        for (number, note) in tape.requests.iter().enumerate() {
            while let Some(change) = changes.next_if(|c| c.after as usize <= number) {
                self.change(change);
            }
            self.request(note);
        }
        changes.for_each(|change| self.change(change));
        self.names.hear(&mut tape.news);
        self.bios.add(&mut self.waits, &tape.bios, &self.names);
        tape.clear();
    }

    /// Also follows what the waits would be without `those`.
    pub(crate) fn follow(&mut self, those: Those) {
        self.waits.follow(those);
    }

    fn change(&mut self, c: &Change) {
        let device = self.devices.of(c.dev);
        device.depth.set(c.now, c.depth);
        device.pace.set(c.now, c.depth);
    }

    fn request(&mut self, n: &Note) {
        let cell = self.cells.of(n);
        cell.record_request(n);
        let class = n.class().index();
        let device = self.devices.of(n.dev);
        if let Some(d2c) = n.d2c() {
            device.contention[class].record(n, d2c);
            device.pace.record(n, d2c);
            device.alignment.record(n, d2c);
            if n.class() == Class::Read {
                device.readers.entry(n.task).or_default().record(n);
                device.reread.record(n.start, n.bytes);
            }
            device.completed_on.record(n.complete_cpu, n.late.min(d2c));
        }
        device.series.at(n.completed).did(class, n.bytes, n.total());
    }
}

/// Devices by number. The last one found is cached.
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

    /// These devices, with the counts of the same devices in `served`.
    pub fn merge(mut self, served: Devices) -> (Vec<Device>, FxHashMap<DevId, usize>) {
        for theirs in served.all {
            let device = self.of(theirs.id);
            device.contention = theirs.contention;
            device.depth = theirs.depth;
            device.pace = theirs.pace;
            device.alignment = theirs.alignment;
            device.readers = theirs.readers;
            device.reread = theirs.reread;
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

    /// Not inlined: a new device takes 50 KB of stack, which is touched on entry.
    #[cold]
    #[inline(never)]
    fn add(&mut self, id: DevId) -> usize {
        self.all.push(Device::new(id));
        self.which.insert(id, self.all.len() - 1);
        self.all.len() - 1
    }
}

impl Second {
    /// Counts a completed request in this step of time.
    #[inline]
    fn did(&mut self, class: usize, bytes: Bytes, time: Nanos) {
        self.completed[class] += 1;
        self.bytes[class] += bytes;
        self.time[class] += time;
    }
}

impl Device {
    /// Counts a bio of a device without requests in the step of time in which it completed.
    pub(crate) fn did(&mut self, b: &Bio) {
        self.series.at(b.time.completed).did(b.class().index(), b.bytes, b.time.total());
    }
}
