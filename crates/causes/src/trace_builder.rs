//! Builds recordings by hand, for tests of causes: a few I/Os with their times, as the events that a kernel writes.
//!
//! Times are in microseconds; an I/O's sector follows from its number, so that no two are adjacent. `DISK` is sda; with
//! [`TraceBuilder::raid_write`], `ARRAY` is md0 on it.

mod failures;
mod stacked;

use crate::case::Case;
use crate::verdict::Verdict;
use evidence::System;
use stats::{Analysis, Facts, Flow, Focus};
use trace::{Action, Batch, Bytes, Cpu, Detail, DevId, Event, Flags, Nanos, Quality, Sector, Tid};

const DISK: DevId = DevId(8 << 20);
const ARRAY: DevId = DevId(9 << 20);
const LOOP: DevId = DevId(7 << 20);
const MAPPED: DevId = DevId(253 << 20);
const READER: Tid = Tid(100);
const FLUSHER: Tid = Tid(200);

/// The distance between I/Os, in sectors.
const APART: u64 = 1 << 20;

/// A recording of block events that is being built.
#[derive(Debug, Default)]
pub struct TraceBuilder {
    events: Vec<(Event, Vec<u8>)>,
    ios: u64,
    read_on_by: u64,
    array_on_by: u64,
    other_on_by: u64,
    beside: u64,
    system: System,
    lost: u64,
    disk: Option<&'static str>,
    of_any_kind: bool,
}

/// An extent, with the kind and the sender of its I/O.
#[derive(Clone, Copy)]
struct Extent {
    dev: DevId,
    sector: u64,
    bytes: u64,
    flags: Flags,
    tid: Tid,
}

impl TraceBuilder {
    /// A read of 4 KiB: queued, issued and completed at these times.
    pub fn read(&mut self, queued: u64, issued: u64, done: u64) -> &mut TraceBuilder {
        let x = self.extent(DISK, 4, Flags::READ, READER);
        self.request(x, queued, None, issued, done)
    }

    /// The same at the place of this number.
    pub fn read_place(&mut self, place: u64, at: u64, done: u64) -> &mut TraceBuilder {
        let x = Extent { sector: place * APART, ..self.extent(DISK, 4, Flags::READ, READER) };
        self.request(x, at, None, at, done)
    }

    /// The same by the task that is otherwise the flusher.
    pub fn read_by_another(&mut self, queued: u64, issued: u64, done: u64) -> &mut TraceBuilder {
        let x = self.extent(DISK, 4, Flags::READ, FLUSHER);
        self.request(x, queued, None, issued, done)
    }

    /// A read of `kib` KiB by another task, adjacent to its last one.
    pub fn read_on_by_another(&mut self, queued: u64, done: u64, kib: u64) -> &mut TraceBuilder {
        self.other_on_by += 1;
        let sector = (1 << 30) + 2 * kib * self.other_on_by;
        let x = Extent { sector, ..self.extent(DISK, kib, Flags::READ, FLUSHER) };
        self.request(x, queued, None, queued, done)
    }

    /// A read of `kib` KiB that is issued at once.
    pub fn large_read(&mut self, queued: u64, done: u64, kib: u64) -> &mut TraceBuilder {
        let x = self.extent(DISK, kib, Flags::READ, READER);
        self.request(x, queued, None, queued, done)
    }

    /// A read of 4 KiB through a scheduler, which has it from queueing to issue.
    pub fn scheduled_read(&mut self, queued: u64, issued: u64, done: u64) -> &mut TraceBuilder {
        let x = self.extent(DISK, 4, Flags::READ, READER);
        self.request(x, queued, Some(queued), issued, done)
    }

    /// The same for a write that a task waits for.
    pub fn scheduled_write(&mut self, queued: u64, issued: u64, done: u64) -> &mut TraceBuilder {
        let x = self.extent(DISK, 4, Flags::WRITE.with(Flags::SYNC), READER);
        self.request(x, queued, Some(queued), issued, done)
    }

    /// A read of 4 KiB whose reader first waits for a request: queued, got and issued, completed.
    pub fn read_without_tag(&mut self, queued: u64, got: u64, done: u64) -> &mut TraceBuilder {
        let x = self.extent(DISK, 4, Flags::READ, READER);
        self.late_request(x, queued, got, done)
    }

    /// The same for a write that a task waits for.
    pub fn write_without_tag(&mut self, queued: u64, got: u64, done: u64) -> &mut TraceBuilder {
        let x = self.extent(DISK, 4, Flags::WRITE.with(Flags::SYNC), READER);
        self.late_request(x, queued, got, done)
    }

    fn late_request(&mut self, x: Extent, queued: u64, got: u64, done: u64) -> &mut TraceBuilder {
        self.tell(queued, Action::Queue, x, Detail::None);
        self.tell(got, Action::Get, x, Detail::None);
        self.tell(got, Action::Issue, x, Detail::None);
        self.tell(done, Action::Complete, x, Detail::None);
        self
    }

    /// Writeback of `kib` KiB of dirty data.
    pub fn writeback(&mut self, queued: u64, issued: u64, done: u64, kib: u64) -> &mut TraceBuilder {
        let x = self.extent(DISK, kib, Flags::WRITE, FLUSHER);
        self.request(x, queued, Some(queued), issued, done)
    }

    /// Names the reader and the flusher, from the beginning on.
    pub fn called(&mut self, reader: &str, flusher: &str) -> &mut TraceBuilder {
        for (tid, name) in [(READER, reader), (FLUSHER, flusher)] {
            let x = Extent { dev: DevId(0), sector: 0, bytes: 0, flags: Flags::NOTE, tid };
            self.tell(0, Action::TaskName, x, Detail::None);
            self.events.last_mut().unwrap().1 = name.as_bytes().to_vec();
        }
        self
    }

    /// A synchronous write of `bytes` bytes that begins `behind` bytes after the start of a block of 4 KiB.
    pub fn write_at(&mut self, queued: u64, done: u64, behind: u64, bytes: u64) -> &mut TraceBuilder {
        let mut x = self.extent(DISK, 4, Flags::WRITE.with(Flags::SYNC), READER);
        (x.sector, x.bytes) = (x.sector + behind / 512, bytes);
        self.request(x, queued, None, queued, done)
    }

    /// The same, each adjacent to the one before.
    pub fn write_behind(&mut self, queued: u64, done: u64, bytes: u64) -> &mut TraceBuilder {
        let mut x = self.extent(DISK, 4, Flags::WRITE.with(Flags::SYNC), READER);
        (x.sector, x.bytes) = (self.ios * bytes / 512, bytes);
        self.request(x, queued, None, queued, done)
    }

    /// A read of loop0 that takes 0.1 ms.
    pub fn also_loop(&mut self) -> &mut TraceBuilder {
        let x = self.extent(LOOP, 4, Flags::READ, READER);
        self.request(x, 0, None, 0, 100)
    }

    /// A read of 4 KiB, adjacent to the last one of these.
    pub fn read_on(&mut self, queued: u64, issued: u64, done: u64) -> &mut TraceBuilder {
        self.read_on_by += 1;
        let x =
            Extent { dev: DISK, sector: 8 * self.read_on_by, bytes: 4096, flags: Flags::READ, tid: READER };
        self.request(x, queued, None, issued, done)
    }

    /// A read of `kib` KiB, adjacent to the last one of these; another 4 KiB were merged into it, or not.
    pub fn read_beside(
        &mut self,
        queued: u64,
        issued: u64,
        done: u64,
        kib: u64,
        joined: bool,
    ) -> &mut TraceBuilder {
        let mut x =
            Extent { dev: DISK, sector: self.beside, bytes: kib << 10, flags: Flags::READ, tid: READER };
        if joined {
            self.tell(queued, Action::Queue, x, Detail::None);
            self.tell(queued, Action::Get, x, Detail::None);
            let more = Extent { sector: x.sector + 2 * kib, bytes: 4096, ..x };
            self.tell(queued, Action::Queue, more, Detail::None);
            self.tell(queued, Action::BackMerge, more, Detail::None);
            x.bytes += 4096;
            self.tell(issued, Action::Issue, x, Detail::None);
            self.tell(done, Action::Complete, x, Detail::None);
        } else {
            self.request(x, queued, None, issued, done);
        }
        self.beside = x.sector + x.bytes / 512;
        self
    }

    /// A read-ahead of `kib` KiB, adjacent to the last one of these (`on`), or elsewhere.
    pub fn read_ahead(&mut self, queued: u64, done: u64, kib: u64, on: bool) -> &mut TraceBuilder {
        let flags = Flags::READ.with(Flags::AHEAD);
        let mut x = self.extent(DISK, kib, flags, READER);
        if on {
            x.sector = 2 * kib * self.read_on_by;
            self.read_on_by += 1;
        }
        self.request(x, queued, None, queued, done)
    }

    /// A read of 128 KiB of the next of so many files, each of which is read in order. One in three is not ahead.
    pub fn read_in_turn(&mut self, queued: u64, done: u64, files: u64) -> &mut TraceBuilder {
        let ahead =
            if self.read_on_by.is_multiple_of(3) { Flags::READ } else { Flags::READ.with(Flags::AHEAD) };
        let mut x = self.extent(DISK, 128, ahead, READER);
        x.sector = self.read_on_by % files * 10_000_000 + self.read_on_by / files * 256;
        self.read_on_by += 1;
        self.request(x, queued, None, queued, done)
    }

    /// A discard of 1 MiB.
    pub fn discard(&mut self, issued: u64, done: u64) -> &mut TraceBuilder {
        self.discard_of(1024, issued, done)
    }

    /// A discard of `kib` KiB.
    pub fn discard_of(&mut self, kib: u64, issued: u64, done: u64) -> &mut TraceBuilder {
        let x = self.extent(DISK, kib, Flags::DISCARD.with(Flags::WRITE), FLUSHER);
        self.request(x, issued, None, issued, done)
    }

    /// A synchronous write of 4 KiB.
    pub fn sync_write(&mut self, queued: u64, issued: u64, done: u64) -> &mut TraceBuilder {
        let x = self.extent(DISK, 4, Flags::WRITE.with(Flags::SYNC), READER);
        self.request(x, queued, None, issued, done)
    }

    /// A synchronous write by the flusher, as a journal's thread sends them.
    pub fn commit(&mut self, queued: u64, done: u64) -> &mut TraceBuilder {
        let x = self.extent(DISK, 4, Flags::WRITE.with(Flags::SYNC), FLUSHER);
        self.request(x, queued, None, queued, done)
    }

    /// A synchronous write that is split into pieces, which are issued at once and completed one after the other.
    pub fn cut_write(&mut self, queued: u64, done: u64, kib: u64, piece_kib: u64) -> &mut TraceBuilder {
        let x = self.extent(DISK, kib, Flags::WRITE.with(Flags::SYNC), READER);
        self.tell(queued, Action::Queue, x, Detail::None);
        let pieces = kib / piece_kib;
        let piece = |i: u64| Extent { sector: x.sector + i * piece_kib * 2, bytes: piece_kib << 10, ..x };
        for i in 0..pieces {
            if i + 1 < pieces {
                let rest = Extent { bytes: x.bytes - i * (piece_kib << 10), ..piece(i) };
                self.tell(queued, Action::Split, rest, Detail::Split(Sector(piece(i + 1).sector)));
            }
            self.tell(queued, Action::Get, piece(i), Detail::None);
        }
        for i in 0..pieces {
            self.tell(queued, Action::Issue, piece(i), Detail::None);
            self.tell(queued + (done - queued) * (i + 1) / pieces, Action::Complete, piece(i), Detail::None);
        }
        self
    }

    /// A synchronous write with a flush before it and one after it, each of `flush` microseconds.
    pub fn flushed_write(&mut self, queued: u64, flush: u64, data: u64) -> &mut TraceBuilder {
        let x =
            self.extent(DISK, 4, Flags::WRITE.with(Flags::SYNC).with(Flags::FLUSH).with(Flags::FUA), READER);
        let plain = Extent { flags: Flags::WRITE.with(Flags::SYNC), ..x };
        self.tell(queued, Action::Queue, x, Detail::None);
        self.tell(queued, Action::Get, x, Detail::None);
        self.flush(queued, queued + flush);
        self.tell(queued + flush, Action::Issue, plain, Detail::None);
        self.tell(queued + flush + data, Action::Complete, plain, Detail::None);
        self.flush(queued + flush + data, queued + 2 * flush + data);
        self.tell(queued + 2 * flush + data, Action::Complete, Extent { bytes: 0, ..plain }, Detail::None);
        self
    }

    /// A flush of sda.
    pub fn flush(&mut self, issued: u64, done: u64) {
        let flush = Extent { dev: DISK, sector: 0, bytes: 0, flags: Flags::FLUSH, tid: Tid(0) };
        self.tell(issued, Action::Issue, flush, Detail::None);
        self.tell(done, Action::Complete, flush, Detail::None);
    }

    /// Adds a file with settings of sda beside the recording.
    pub fn settings(&mut self, lines: &str) -> &mut TraceBuilder {
        self.of_any_kind |= lines.contains("rotational");
        self.document("queue-sda.txt", lines)
    }

    /// A recording that does not say whether sda rotates. Any other says that it does, unless its
    /// [`settings`](Self::settings) say something: even completions in a built recording are a disk's pace.
    pub fn of_any_kind() -> TraceBuilder {
        TraceBuilder { of_any_kind: true, ..TraceBuilder::default() }
    }

    fn system(&self) -> System {
        let mut system = self.system.clone();
        if !self.of_any_kind {
            assert!(system.add_document("turns.txt", b"sda/queue/rotational: 1\n"));
        }
        system
    }

    /// Adds a file beside the recording.
    pub fn document(&mut self, name: &str, lines: &str) -> &mut TraceBuilder {
        assert!(self.system.add_document(name, lines.as_bytes()));
        self
    }

    /// Sets the name of sda.
    pub fn on(&mut self, disk: &'static str) -> &mut TraceBuilder {
        self.disk = Some(disk);
        self
    }

    /// Counts this many events as lost.
    pub fn lost(&mut self, events: u64) -> &mut TraceBuilder {
        self.lost = events;
        self
    }

    /// The number of events.
    pub fn len(&self) -> u64 {
        self.events.len() as u64
    }

    fn extent(&mut self, dev: DevId, kib: u64, flags: Flags, tid: Tid) -> Extent {
        self.ios += 1;
        Extent { dev, sector: self.ios * APART, bytes: kib << 10, flags, tid }
    }

    fn request(
        &mut self,
        x: Extent,
        queued: u64,
        inserted: Option<u64>,
        issued: u64,
        done: u64,
    ) -> &mut TraceBuilder {
        self.tell(queued, Action::Queue, x, Detail::None);
        self.tell(queued, Action::Get, x, Detail::None);
        if let Some(inserted) = inserted {
            self.tell(inserted, Action::Insert, x, Detail::None);
        }
        self.tell(issued, Action::Issue, x, Detail::None);
        self.tell(done, Action::Complete, x, Detail::None);
        self
    }

    fn tell(&mut self, at: u64, action: Action, x: Extent, detail: Detail) {
        let event = Event {
            time: Nanos(at * 1000),
            sector: Sector(x.sector),
            bytes: Bytes(x.bytes),
            dev: x.dev,
            tid: x.tid,
            flags: x.flags,
            action,
            detail,
            ..Event::default()
        };
        self.events.push((event, vec![]));
    }

    /// The verdicts of all causes.
    pub fn verdicts(&mut self) -> Vec<Verdict> {
        let (facts, quality) = self.facts();
        let focus = Focus::of(&facts);
        let names = |dev: DevId| match dev {
            DISK => self.disk.unwrap_or("sda").to_string(),
            MAPPED => "dm-0".to_string(),
            _ => "md0".to_string(),
        };
        crate::driver::judge(&mut Case::new(&facts, &focus, &self.system(), &quality, &names))
    }

    /// The verdict of one cause.
    pub fn verdict(&mut self, cause: &str) -> Verdict {
        self.verdicts().into_iter().find(|v| v.cause == cause).expect("a known cause")
    }

    /// The facts and settings, for operations that are built beside them.
    pub fn parts(&mut self) -> (Facts, System) {
        (self.facts().0, self.system())
    }

    fn facts(&mut self) -> (Facts, Quality) {
        // A stable sort: events of one moment keep their order.
        self.events.sort_by_key(|(e, _)| e.time);
        let mut batch = Batch::default();
        for (event, text) in &self.events {
            let mut event = *event;
            if !text.is_empty() {
                event.detail = batch.store(text);
            }
            batch.events.push(event);
        }
        let mut quality = Quality { events: batch.events.len() as u64, ..Quality::default() };
        if self.lost > 0 {
            quality.lose(DISK, Cpu(0), Nanos(0), self.lost);
        }
        let (mut flow, mut analysis) = (Flow::default(), Analysis::default());
        flow.feed(&batch);
        analysis.feed(&batch);
        (analysis.finish(flow), quality)
    }
}
