//! Devices stacked on sda: an array, a mapped device, and the kernel's messages about them.

use super::{Extent, TraceBuilder, APART, ARRAY, DISK, FLUSHER, MAPPED, READER};
use trace::{Action, Detail, DevId, Flags, Sector, Tid};

impl TraceBuilder {
    /// A synchronous write to md0: it waits in md for `waiting`, then old data is read from sda, then it is written.
    pub fn raid_write(&mut self, queued: u64, waiting: u64, reading: u64, writing: u64) -> &mut TraceBuilder {
        self.array_on_by = 0;
        self.raid_write_at(0, queued, waiting, reading, writing)
    }

    /// The same, `on` sectors after the last write that was adjacent to none.
    fn raid_write_at(
        &mut self,
        on: u64,
        queued: u64,
        waiting: u64,
        reading: u64,
        writing: u64,
    ) -> &mut TraceBuilder {
        self.ios += u64::from(on == 0);
        let x = Extent {
            dev: ARRAY,
            sector: self.ios * APART + on,
            bytes: 4096,
            flags: Flags::WRITE.with(Flags::SYNC),
            tid: READER,
        };
        self.tell(queued, Action::Queue, x, Detail::None);
        let mut at = queued + waiting;
        for (flags, time) in [(Flags::READ, reading), (x.flags, writing)] {
            if time > 0 {
                let child = Extent { dev: DISK, flags, ..x };
                let from = Detail::Remap { dev: ARRAY, sector: Sector(x.sector) };
                self.tell(at, Action::Remap, child, from);
                self.request(child, at, None, at, at + time);
            }
            at += time;
        }
        self.tell(at, Action::Complete, x, Detail::None);
        self
    }

    /// The same, adjacent to the last write on md0.
    pub fn raid_write_on(
        &mut self,
        queued: u64,
        waiting: u64,
        reading: u64,
        writing: u64,
    ) -> &mut TraceBuilder {
        self.array_on_by += 8;
        let on = self.array_on_by;
        self.raid_write_at(on, queued, waiting, reading, writing)
    }

    /// A read by md0 from sda, for an unknown task.
    pub fn raid_read(&mut self, queued: u64, done: u64) -> &mut TraceBuilder {
        let x = self.extent(DISK, 4, Flags::READ, Tid(0));
        self.tell(queued, Action::Remap, x, Detail::Remap { dev: ARRAY, sector: Sector(x.sector) });
        self.request(x, queued, None, queued, done)
    }

    /// A write of md0's bitmap to sda: with preflush and FUA, and no request above asked for it.
    pub fn bitmap_write(&mut self, queued: u64, done: u64) -> &mut TraceBuilder {
        let flags = Flags::WRITE.with(Flags::SYNC).with(Flags::FLUSH).with(Flags::FUA);
        let x = self.extent(DISK, 4, flags, Tid(0));
        self.request(x, queued, None, queued, done)
    }

    /// A read of 4 KiB on dm-0, and below it on sda.
    pub fn stacked_read(&mut self, queued: u64, done: u64) -> &mut TraceBuilder {
        self.read_on_top(MAPPED, queued, done)
    }

    /// The same on md0.
    pub fn array_read(&mut self, queued: u64, done: u64) -> &mut TraceBuilder {
        self.read_on_top(ARRAY, queued, done)
    }

    /// The flusher, or a task of that name, reads 4 KiB from sda.
    pub fn own_read(&mut self, queued: u64, done: u64) -> &mut TraceBuilder {
        let x = self.extent(DISK, 4, Flags::READ, FLUSHER);
        self.request(x, queued, None, queued, done)
    }

    fn read_on_top(&mut self, top: DevId, queued: u64, done: u64) -> &mut TraceBuilder {
        let x = self.extent(top, 4, Flags::READ, READER);
        self.tell(queued, Action::Queue, x, Detail::None);
        let child = Extent { dev: DISK, ..x };
        self.tell(queued, Action::Remap, child, Detail::Remap { dev: top, sector: Sector(x.sector) });
        self.request(child, queued, None, queued, done);
        self.tell(done, Action::Complete, x, Detail::None);
        self
    }

    /// The kernel logs a message about md0.
    pub fn note(&mut self, at: u64, text: &str) -> &mut TraceBuilder {
        self.note_on(ARRAY, at, text)
    }

    /// The kernel logs a message about sda.
    pub fn note_on_disk(&mut self, at: u64, text: &str) -> &mut TraceBuilder {
        self.note_on(DISK, at, text)
    }

    fn note_on(&mut self, dev: DevId, at: u64, text: &str) -> &mut TraceBuilder {
        let x = Extent { dev, sector: 0, bytes: 0, flags: Flags::NOTE, tid: READER };
        self.tell(at, Action::Message, x, Detail::None);
        self.events.last_mut().unwrap().1 = text.as_bytes().to_vec();
        self
    }
}
