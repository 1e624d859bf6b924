//! Packets of Perfetto's TrackEvents (protos/perfetto/trace/track_event in the Perfetto sources). Field numbers are
//! those of the published schema; a test reads the output with that schema.
//!
//! A name that is repeated is sent once and then referred to by number. Packets need not be in order of time: Perfetto
//! sorts them, and keeps the order of packets with the same time.

use super::wire::Message;
use crate::output::{Failure, Folder, Output};
use rustc_hash::FxHashMap;
use std::io::Write;
use trace::Nanos;

/// All packets are one sequence; numbers of names are valid within it.
const SEQUENCE: u64 = 1;
/// `TracePacket.SequenceFlags`.
const CLEARED: u64 = 1;
const NEEDS_NAMES: u64 = 2;
/// `TrackEvent.Type`.
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;
/// `CounterDescriptor.Unit`.
const UNIT_COUNT: u64 = 2;
const UNIT_BYTES: u64 = 3;
/// Maximal number of names that get a number.
const MOST_NAMES: usize = 4096;

/// The value of an annotation of a slice.
#[derive(Clone, Copy, Debug)]
pub enum Note<'a> {
    /// A number.
    Number(i64),
    /// A text.
    Text(&'a str),
}

/// The unit of a counter.
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// A number of requests.
    Requests,
    /// A rate in bytes per second.
    BytesASecond,
}

/// A track, by its number in packets.
pub type Track = u64;

/// The file of packets, with the names and tracks sent so far.
#[derive(Debug)]
pub struct Packets {
    out: Output,
    tracks: Track,
    names: FxHashMap<String, u64>,
    packet: Message,
    event: Message,
    part: Message,
}

impl Packets {
    /// Creates a file without packets.
    pub fn create(folder: &Folder, name: &str) -> Result<Packets, Failure> {
        let (names, [packet, event, part]) = (FxHashMap::default(), Default::default());
        Ok(Packets { out: folder.file(name)?, tracks: 0, names, packet, event, part })
    }

    /// Adds a track with a name, within another one if there is a parent.
    pub fn track(&mut self, parent: Option<Track>, name: &str) -> Track {
        self.describe(parent, |track, _| track.text(2, name))
    }

    /// Adds the track of a thread.
    pub fn thread(&mut self, process: u32, thread: u32, name: &str) -> Track {
        self.describe(None, |track, part| {
            part.number(1, u64::from(process));
            part.number(2, u64::from(thread));
            part.text(5, name);
            track.message(4, part);
        })
    }

    /// Adds the track of a counter.
    pub fn counter_track(&mut self, parent: Track, name: &str, unit: Unit) -> Track {
        self.describe(Some(parent), |track, part| {
            track.text(2, name);
            match unit {
                Unit::Requests => part.number(3, UNIT_COUNT),
                Unit::BytesASecond => {
                    part.number(3, UNIT_BYTES);
                    part.text(6, "bytes/s");
                }
            }
            track.message(8, part);
        })
    }

    fn describe(&mut self, parent: Option<Track>, fill: impl FnOnce(&mut Message, &mut Message)) -> Track {
        self.tracks += 1;
        self.event.clear();
        self.part.clear();
        self.event.number(1, self.tracks);
        if let Some(parent) = parent {
            self.event.number(5, parent);
        }
        fill(&mut self.event, &mut self.part);
        self.packet.clear();
        self.packet.message(60, &self.event);
        self.send();
        self.tracks
    }

    /// Begins a slice; `flows` are the ids of its arrows.
    pub fn begin(&mut self, track: Track, at: Nanos, name: &str, flows: &[u64], notes: &[(&str, Note)]) {
        self.event(BEGIN, track, at, name, flows, notes);
    }

    /// Adds an instant event, which is one end of an arrow.
    pub fn instant(&mut self, track: Track, at: Nanos, name: &str, flow: u64, notes: &[(&str, Note)]) {
        self.event(INSTANT, track, at, name, &[flow], notes);
    }

    fn event(
        &mut self,
        kind: u64,
        track: Track,
        at: Nanos,
        name: &str,
        flows: &[u64],
        notes: &[(&str, Note)],
    ) {
        let number = self.number(name);
        self.start(kind, track);
        match number {
            Some(number) => self.event.number(10, number),
            None => self.event.text(23, name),
        }
        flows.iter().for_each(|flow| self.event.fixed(47, *flow));
        for (name, note) in notes {
            self.part.clear();
            self.part.text(10, name);
            match note {
                Note::Number(n) => self.part.number(4, *n as u64),
                Note::Text(text) => self.part.text(6, text),
            }
            self.event.message(4, &self.part);
        }
        self.close(at);
    }

    /// Ends the innermost open slice of a track.
    pub fn end(&mut self, track: Track, at: Nanos) {
        self.start(END, track);
        self.close(at);
    }

    /// Sets the value of a counter from `at` on.
    pub fn count(&mut self, track: Track, at: Nanos, value: u64) {
        self.start(COUNTER, track);
        self.event.number(30, value);
        self.close(at);
    }

    /// Finishes the file. Returns its name and its number of packets.
    pub fn finish(self) -> Result<(String, u64), Failure> {
        self.out.finish()
    }

    fn start(&mut self, kind: u64, track: Track) {
        self.event.clear();
        self.event.number(9, kind);
        self.event.number(11, track);
    }

    fn close(&mut self, at: Nanos) {
        self.packet.clear();
        self.packet.number(8, at.0);
        self.packet.message(11, &self.event);
        self.send();
    }

    /// The number of a name; a new name is sent first. `None` if there are too many names.
    fn number(&mut self, name: &str) -> Option<u64> {
        if let Some(number) = self.names.get(name) {
            return Some(*number);
        }
        if self.names.len() >= MOST_NAMES {
            return None;
        }
        let number = self.names.len() as u64 + 1;
        self.names.insert(name.to_string(), number);
        self.part.clear();
        self.part.number(1, number);
        self.part.text(2, name);
        self.event.clear();
        self.event.message(2, &self.part);
        self.packet.clear();
        self.packet.message(12, &self.event);
        self.send();
        Some(number)
    }

    fn send(&mut self) {
        self.packet.number(10, SEQUENCE);
        let flags = if self.out.entries == 0 { CLEARED | NEEDS_NAMES } else { NEEDS_NAMES };
        self.packet.number(13, flags);
        self.part.clear();
        // `Trace.packet`
        self.part.message(1, &self.packet);
        // An output reports failures only in `finish`.
        let _ = self.out.write_all(self.part.bytes());
        self.out.entries += 1;
    }
}
