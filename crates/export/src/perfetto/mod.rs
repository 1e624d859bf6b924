//! Perfetto traces for ui.perfetto.dev and trace_processor: requests of devices and operations of tasks as slices.
//!
//! ```text
//! vda                            a track of its own for each device
//!   reads                        as many lanes as there were reads at once
//!     [ read 4 KiB             ]   a request: its ledger's span
//!     [tag][in the device      ]   its segments, which cover it; arrows lead to it from who was in its way there
//!   reads in the device          counter
//!   reads, bytes a second        counter, a value for each tenth of a second
//! fio 683                        a track for each thread
//!   [ fsync                    ]   an operation; arrows lead to the requests it waited for
//!   [ waiting for ...          ]   its account, as a tree
//! ```
//!
//! **Invariant**: the slices of a request are its ledger, those of an operation its account, to the nanosecond.

mod in_the_way;
mod lanes;
mod packets;
mod rates;
mod wire;

use crate::device_names::DeviceNames;
use crate::output::{Failure, Folder};
use in_the_way::InTheWay;
use lanes::{Lanes, Place};
use ledger::Ledger;
use life::{Bio, ByClass, Class, IoObserver, Names, Op, Request, Timeline};
use operation::{Account, Done, Entry, History, Node, Operation, OperationObserver, Outside, Part};
use packets::{Note, Packets, Track, Unit};
use rates::Rate;
use rustc_hash::{FxHashMap, FxHasher};
use stats::class_words;
use std::hash::Hasher;
use trace::{Batch, Bytes, DevId, Nanos, Sector, Tid};

/// The file's name; its extension is that of Perfetto's own tools.
const FILE: &str = "iowhy.perfetto-trace";
/// Maximal number of threads with tracks; by default, a kernel has at most 32,768 at the same time.
const MOST_THREADS: usize = 1 << 16;
/// Maximal number of devices with tracks.
const MOST_DEVICES: usize = 1024;
/// Of an account with more parts, only the outermost are drawn: more are unreadable, and a long commit has 100,000.
const MOST_PARTS: usize = 1000;
/// Maximal number of arrows of one operation.
const MOST_FLOWS: usize = 64;

/// A trace that is being written.
pub struct Perfetto {
    follow: operation::Follow,
    tracks: Tracks,
}

struct Tracks {
    packets: Packets,
    name: DeviceNames,
    devices: FxHashMap<DevId, Device>,
    threads: FxHashMap<Tid, Thread>,
    in_the_way: InTheWay,
    left_out: u64,
}

struct Device {
    track: Track,
    lanes: [Lanes; Class::COUNT],
    depth: [Option<Track>; Class::COUNT],
    in_flight: ByClass<u32>,
    rates: [Option<(Track, Rate)>; Class::COUNT],
}

struct Thread {
    track: Track,
    lanes: Lanes,
}

/// The facts about a request or a bio that are drawn.
struct Drawn<'a> {
    dev: DevId,
    op: Op,
    class: Class,
    start: Sector,
    bytes: Bytes,
    tid: Tid,
    task: &'a str,
    time: &'a Timeline,
    ledger: Ledger,
}

impl Perfetto {
    /// Starts a trace in a folder.
    pub fn create(folder: &Folder, name: DeviceNames) -> Result<Perfetto, Failure> {
        let packets = Packets::create(folder, FILE)?;
        let (devices, threads, in_the_way) = Default::default();
        let tracks = Tracks { packets, name, devices, threads, in_the_way, left_out: 0 };
        Ok(Perfetto { follow: operation::Follow::default(), tracks })
    }

    /// Uses a tracker with known facts about the machine and with the filter: only selected operations are written.
    pub fn follows(self, follow: operation::Follow) -> Self {
        Self { follow, ..self }
    }

    /// Writes the requests and operations that ended in a batch.
    pub fn feed(&mut self, batch: &Batch) {
        self.follow.feed(batch, &mut self.tracks);
    }

    /// Finishes the trace. Returns the file's name and number of packets, and the number of requests and operations that
    /// were left out because there were too many at once.
    pub fn finish(mut self) -> Result<((String, u64), u64), Failure> {
        let mut devices: Vec<_> = self.tracks.devices.into_iter().collect();
        devices.sort_by_key(|(id, _)| *id);
        for (track, rate) in devices.iter_mut().flat_map(|(_, d)| &mut d.rates).flatten() {
            rate.finish(|at, value| self.tracks.packets.count(*track, at, value));
        }
        Ok((self.tracks.packets.finish()?, self.tracks.left_out))
    }
}

/// The id of the arrow between an operation and one of its requests.
fn flow(dev: DevId, start: Sector, completed: Nanos) -> u64 {
    let mut hash = FxHasher::default();
    hash.write_u32(dev.0);
    hash.write_u64(start.0);
    hash.write_u64(completed.0);
    hash.finish().max(1)
}

impl Tracks {
    fn device(&mut self, id: DevId) -> Option<&mut Device> {
        if !self.devices.contains_key(&id) {
            if self.devices.len() >= MOST_DEVICES {
                return None;
            }
            let track = self.packets.track(None, &(self.name)(id));
            let (lanes, depth, in_flight, rates) = Default::default();
            self.devices.insert(id, Device { track, lanes, depth, in_flight, rates });
        }
        self.devices.get_mut(&id)
    }

    /// Draws a request or a bio; returns its track, or `None` if there are too many.
    fn completed(&mut self, r: &Drawn) -> Option<Track> {
        let (from, to) = (r.ledger.from, r.ledger.to);
        if self.device(r.dev).is_none() {
            self.left_out += 1;
            return None;
        }
        let (packets, device) = (&mut self.packets, self.devices.get_mut(&r.dev));
        let device = device?;
        let class = r.class.index();
        let track = match device.lanes[class].place(from, to) {
            Place::Old(track) => track,
            Place::New => {
                let track = packets.track(Some(device.track), class_words(r.class));
                device.lanes[class].add(to, track);
                track
            }
            Place::None => {
                self.left_out += 1;
                return None;
            }
        };
        let notes = [
            ("sector", Note::Number(r.start.0 as i64)),
            ("bytes", Note::Number(r.bytes.0 as i64)),
            ("task", Note::Text(r.task)),
            ("tid", Note::Number(i64::from(r.tid.0))),
        ];
        packets.begin(track, from, r.op.name(), &[flow(r.dev, r.start, r.time.completed)], &notes);
        for segment in &r.ledger.segments {
            packets.begin(track, segment.from, segment.reason.words(), &[], &[]);
            packets.end(track, segment.to);
        }
        packets.end(track, to);
        if r.bytes.0 > 0 {
            let parent = device.track;
            let (track, rate) = device.rates[class].get_or_insert_with(|| {
                let name = format!("{}, bytes a second", class_words(r.class));
                (packets.counter_track(parent, &name, Unit::BytesASecond), Rate::default())
            });
            rate.add(to, r.bytes, |at, value| packets.count(*track, at, value));
        }
        Some(track)
    }

    fn thread(&mut self, o: &Operation, task: &str) -> Option<Track> {
        if !self.threads.contains_key(&o.tid) {
            if self.threads.len() >= MOST_THREADS {
                return None;
            }
            let track = self.packets.thread(o.process.unwrap_or(o.tid).0, o.tid.0, task);
            self.threads.insert(o.tid, Thread { track, lanes: Lanes::default() });
        }
        let thread = self.threads.get_mut(&o.tid)?;
        match thread.lanes.place(o.from, o.to) {
            Place::Old(track) => Some(track),
            Place::New => {
                let track = match thread.lanes.is_empty() {
                    true => thread.track,
                    false => self.packets.track(Some(thread.track), task),
                };
                thread.lanes.add(o.to, track);
                Some(track)
            }
            Place::None => None,
        }
    }

    /// Draws the parts of an account down to a depth, each nested in its parent.
    fn parts(&mut self, nodes: &[Node], track: Track, most_depth: u8, names: &Names) {
        let mut open: Vec<&Node> = vec![];
        for node in nodes.iter().filter(|n| n.depth <= most_depth) {
            while open.last().is_some_and(|o| o.depth >= node.depth) {
                open.pop().into_iter().for_each(|over| self.packets.end(track, over.to));
            }
            let request = match &node.part {
                Part::Request(entry) => Some(entry),
                _ => None,
            };
            let name = words(&node.part, names);
            let place = |e: &Entry| {
                let sector = Note::Number(e.done.start().0 as i64);
                [("sector", sector), ("bytes", Note::Number(e.done.bytes().0 as i64))]
            };
            let notes = request.map(|e| place(e));
            self.packets.begin(track, node.from, &name, &[], notes.as_ref().map_or(&[], |n| n));
            open.push(node);
        }
        while let Some(over) = open.pop() {
            self.packets.end(track, over.to);
        }
    }
}

/// The name of a part's slice.
fn words(part: &Part, names: &Names) -> String {
    match part {
        Part::Leaf(reason) => reason.words().into(),
        Part::Wait { wait, .. } => wait.words().into(),
        Part::Request(entry) => match &entry.done {
            Done::Request(r) => r.op.name().into(),
            Done::Bio(b) => b.op.name().into(),
        },
        Part::Task(tid) => format!("task {}", names.text(names.of(*tid))),
        Part::Work { worker, .. } => format!("work item in {}", names.text(names.of(*worker))),
        Part::Commit(phase) => explain::names::commit(*phase).into(),
    }
}

impl IoObserver for Tracks {
    fn request(&mut self, r: &Request, names: &Names) {
        let (dev, op, class, start, bytes, tid) = (r.dev, r.op, r.class(), r.start, r.bytes, r.tid);
        let (task, time, ledger) = (names.text(r.task), &r.time, Ledger::of(&r.time));
        let track = self.completed(&Drawn { dev, op, class, start, bytes, tid, task, time, ledger });
        if let Some(track) = track {
            self.in_the_way.drawn(r, track, names, &mut self.packets);
        }
    }

    fn bio(&mut self, b: &Bio, names: &Names) {
        if b.by_request {
            return;
        }
        let (dev, op, class, start, bytes, tid) = (b.dev, b.op, b.class(), b.start, b.bytes, b.tid);
        let (task, time, ledger) = (names.text(b.task), &b.time, Ledger::of_bio(b));
        self.completed(&Drawn { dev, op, class, start, bytes, tid, task, time, ledger });
    }

    fn in_flight(&mut self, dev: DevId, now: Nanos, in_flight: &ByClass<u32>) {
        if self.device(dev).is_none() {
            return;
        }
        let Some(device) = self.devices.get_mut(&dev) else { return };
        for class in Class::ALL {
            let (at, depth) = (class.index(), in_flight[class.index()]);
            if device.in_flight[at] == depth {
                continue;
            }
            let parent = device.track;
            let track = *device.depth[at].get_or_insert_with(|| {
                let name = format!("{} in the device", class_words(class));
                self.packets.counter_track(parent, &name, Unit::Requests)
            });
            self.packets.count(track, now, u64::from(depth));
        }
        device.in_flight = *in_flight;
    }
}

impl OperationObserver for Tracks {
    fn operation(&mut self, o: &Operation, account: Account, names: &Names, _: &History) {
        if !o.is_storage {
            return;
        }
        let task = names.text(o.task);
        let Some(track) = self.thread(o, task) else {
            self.left_out += 1;
            return;
        };
        let mut flows: Vec<u64> = vec![];
        for node in &account.nodes {
            if let Part::Request(entry) = &node.part {
                let id = flow(entry.done.dev(), entry.done.start(), entry.done.completed());
                if flows.len() < MOST_FLOWS && !flows.contains(&id) {
                    flows.push(id);
                }
            }
        }
        let on = (self.name)(o.dev);
        let mut notes = vec![("result", Note::Number(o.result)), ("task", Note::Text(task))];
        if o.dev != DevId(0) {
            notes.push(("device", Note::Text(&on)));
        }
        if o.inode != 0 {
            notes.push(("inode", Note::Number(o.inode as i64)));
        }
        self.packets.begin(track, o.from, o.kind.name(), &flows, &notes);
        let most_depth = if account.nodes.len() > MOST_PARTS { 0 } else { u8::MAX };
        self.parts(&account.nodes, track, most_depth, names);
        self.packets.end(track, o.to);
    }

    fn outside(&mut self, _: &Outside) {}
}
