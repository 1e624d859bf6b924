//! Exports the files of btt with the same names and columns, so that its plots and scripts work; correct where
//! btt is wrong (flushes, splits, requeues, several I/Os on one sector, majors 9, 253 and 254). docs/btt.md lists every
//! file and every difference.
//!
//! Rows are written as I/Os end. Data that a file needs at its end (histograms, activity ranges) is bounded.
//! Times count from the first event of the trace, as in blkparse.

mod counts;
mod folder;
mod latency;
mod load;
mod position;
mod ranges;
mod seconds;
mod sequences;

use counts::{Sizes, Unplugs};
use folder::{Dat, Folder};
use latency::Latency;
use life::{Bio, ByClass, IoObserver, IoTracker, Names, Remapped, Request, Share, TaskName};
use load::{Depth, Live, Rates};
use position::{Blocks, Seeks};
use ranges::Activity;
use sequences::{PerIo, Stamp, Trees};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use trace::{Action, Batch, Bytes, Detail, DevId, Event, Flags, Nanos};

/// Options of the export, named as in btt.
#[derive(Clone, Copy, Debug)]
pub struct BttOptions {
    /// `-L`: the period over which latencies are averaged, in seconds.
    pub period: f64,
    /// `-d`: a pause of at least this length ends a range of activity, in seconds.
    pub gap: f64,
    /// `-a`: whether seek distances count from the end of the last I/O instead of its nearer end.
    pub absolute: bool,
}

impl Default for BttOptions {
    /// The defaults of btt; for `-L`, which has none, one second.
    fn default() -> BttOptions {
        BttOptions { period: 1.0, gap: 0.1, absolute: false }
    }
}

/// Maximal number of devices with files, about thirty each.
const MAX_DEVICES: usize = 1024;
/// Maximal number of tasks with their own ranges of activity.
const MAX_TASKS: usize = 512;

/// An export that is being written.
pub struct BttExport {
    tracker: IoTracker,
    files: Files,
}

/// All files and the state that is needed to write them: the tracker's [`IoObserver`].
struct Files {
    folder: Folder,
    options: BttOptions,
    /// Time zero: the first event.
    zero: Option<Nanos>,
    end: Nanos,
    devices: Vec<Device>,
    which: HashMap<DevId, usize>,
    per_io: PerIo,
    ranges: Dat,
    messages: Dat,
    live: Live,
    in_flight: u64,
    next_base: f64,
    rates: Rates,
    activity: Activity,
    tasks: HashMap<TaskName, Activity>,
    names: BTreeMap<String, TaskName>,
}

struct Device {
    id: DevId,
    d2c: Latency,
    q2c: Latency,
    q2d: Latency,
    q2q_seeks: Seeks,
    d2d_seeks: Seeks,
    blocks: Blocks,
    depth: Depth,
    live: Live,
    rates: Rates,
    trees: Trees,
    unplugs: Unplugs,
    queued: Sizes,
    issued: Sizes,
    activity: Activity,
    has_requests: bool,
    is_below: bool,
}

impl BttExport {
    /// Starts an export into a folder, which is created unless it exists.
    pub fn create(folder: &Path, options: BttOptions) -> Result<BttExport, (PathBuf, io::Error)> {
        let mut folder = Folder::create(folder)?;
        let files = Files {
            per_io: PerIo::new(&mut folder),
            ranges: folder.file("out.dat".into()),
            messages: folder.file("out.msg".into()),
            live: Live::new(&mut folder, "sys", Some(0.0)),
            rates: Rates::new(&mut folder, "sys"),
            activity: Activity::new(options.gap),
            folder,
            options,
            zero: None,
            end: Nanos(0),
            devices: vec![],
            which: HashMap::new(),
            in_flight: 0,
            next_base: 1.0,
            tasks: HashMap::new(),
            names: BTreeMap::new(),
        };
        Ok(BttExport { tracker: IoTracker::default(), files })
    }

    /// Writes the rows of a batch.
    pub fn feed(&mut self, batch: &Batch) {
        for event in &batch.events {
            self.files.event(event, batch, self.tracker.names());
            self.tracker.step(event, batch, &mut self.files);
        }
    }

    /// Finishes the export. Returns the name and number of lines of each file.
    pub fn finish(self) -> Result<Vec<(String, u64)>, (PathBuf, io::Error)> {
        self.files.finish()
    }
}

impl Device {
    fn new(folder: &mut Folder, id: DevId, options: &BttOptions) -> Device {
        let name = id.to_string();
        Device {
            id,
            d2c: Latency::new(folder, id, "d2c"),
            q2c: Latency::new(folder, id, "q2c"),
            q2d: Latency::new(folder, id, "q2d"),
            q2q_seeks: Seeks::new(folder, id, "q2q", format!("sps_{id}.dat")),
            d2d_seeks: Seeks::new(folder, id, "d2d", format!("sps_{id}_d2d.dat")),
            blocks: Blocks::new(folder, id),
            depth: Depth::new(folder, &name),
            live: Live::new(folder, &name, None),
            rates: Rates::new(folder, &name),
            trees: Trees::new(folder, id),
            unplugs: Unplugs::default(),
            queued: Sizes::default(),
            issued: Sizes::default(),
            activity: Activity::new(options.gap),
            has_requests: false,
            is_below: false,
        }
    }
}

impl Files {
    fn place(&mut self, id: DevId) -> Option<usize> {
        if let Some(at) = self.which.get(&id) {
            return Some(*at);
        }
        if self.devices.len() >= MAX_DEVICES {
            return None;
        }
        self.devices.push(Device::new(&mut self.folder, id, &self.options));
        self.which.insert(id, self.devices.len() - 1);
        Some(self.devices.len() - 1)
    }

    fn zero(&self) -> Nanos {
        self.zero.unwrap_or_default()
    }

    fn event(&mut self, e: &Event, batch: &Batch, names: &Names) {
        if e.action.is_note() && e.action != Action::Message {
            return;
        }
        // blkparse drops messages with a cgroup's id; they do not start its clock.
        let zero = match e.action {
            Action::Message if e.cgroup != 0 => self.zero.unwrap_or(e.time),
            _ => *self.zero.get_or_insert(e.time),
        };
        self.end = self.end.max(e.time.since(zero));
        let now = e.time.since(zero);
        let Some(at) = self.place(e.dev) else { return };
        let device = &mut self.devices[at];
        let has_data = e.bytes.0 > 0 && !e.flags.has(Flags::PASSTHROUGH);
        match (e.action, e.detail) {
            (Action::Queue, _) => {
                if has_data {
                    device.q2q_seeks.record(&mut self.folder, e, now, self.options.absolute);
                    device.queued.record(e.bytes);
                }
                device.activity.queued(now);
                self.activity.queued(now);
                if let Some(task) = self.task(names.of(e.tid), names) {
                    task.queued(now);
                }
            }
            (Action::Issue, _) => {
                device.has_requests = true;
                if has_data {
                    device.d2d_seeks.record(&mut self.folder, e, now, self.options.absolute);
                    device.blocks.record(&mut self.folder, e, now);
                    device.issued.record(e.bytes);
                }
            }
            (Action::Unplug, Detail::Requests(n)) => device.unplugs.record(n),
            (Action::Message, _) => {
                let (major, minor) = (e.dev.major(), e.dev.minor());
                let text = String::from_utf8_lossy(batch.text(e));
                let text = text.trim_end_matches(['\0', '\n']);
                let stamp = Stamp(now).to_string();
                self.folder.line(self.messages, format_args!("({major:3},{minor:3}) {stamp:>15} {text}"));
            }
            _ => {}
        }
    }

    /// The activity of a task; `None` if there are too many tasks.
    fn task(&mut self, task: TaskName, names: &Names) -> Option<&mut Activity> {
        if !self.tasks.contains_key(&task) {
            if self.tasks.len() >= MAX_TASKS {
                return None;
            }
            self.names.insert(names.text(task).to_string(), task);
        }
        Some(self.tasks.entry(task).or_insert_with(|| Activity::new(self.options.gap)))
    }

    /// Counts a completed request, or a completed bio of a bio-based device.
    fn completed(&mut self, at: usize, now: Nanos, bytes: Bytes, task: TaskName, names: &Names) {
        let device = &mut self.devices[at];
        device.rates.record(&mut self.folder, now, bytes);
        device.activity.completed(now);
        if !device.is_below {
            self.rates.record(&mut self.folder, now, bytes);
        }
        self.activity.completed(now);
        if let Some(task) = self.task(task, names) {
            task.completed(now);
        }
    }

    fn finish(mut self) -> Result<Vec<(String, u64)>, (PathBuf, io::Error)> {
        self.devices.retain(|d| d.has_requests || d.queued.any());
        self.write_ranges();
        let (folder, end) = (&mut self.folder, self.end);
        let any_requests = self.devices.iter().any(|d| d.has_requests);
        let (mut queued, mut issued) = (Sizes::default(), Sizes::default());
        for device in self.devices {
            // A bio-based device's bios are counted again on the devices below it.
            if device.has_requests || !any_requests {
                queued.add(&device.queued);
                issued.add(&device.issued);
            }
            device.unplugs.write(folder, device.id);
            device.d2c.finish(folder);
            device.q2c.finish(folder);
            device.q2d.finish(folder);
            device.q2q_seeks.finish(folder);
            device.d2d_seeks.finish(folder);
            device.live.finish(folder, end);
            device.rates.finish(folder);
        }
        queued.write(folder, 'Q');
        issued.write(folder, 'D');
        self.live.finish(folder, end);
        self.rates.finish(folder);
        self.folder.finish()
    }

    fn write_ranges(&mut self) {
        let (folder, to) = (&mut self.folder, self.ranges);
        let mut base = 0.0;
        folder.line(to, format_args!("# Total System"));
        base += self.activity.write(folder, to, "Total System", base) as u8 as f64;
        if self.devices.len() > 1 {
            folder.line(to, format_args!("# Per device"));
            for device in &self.devices {
                base += device.activity.write(folder, to, &device.id.to_string(), base) as u8 as f64;
            }
        }
        folder.line(to, format_args!("# Per process"));
        for (name, task) in &self.names {
            if let Some(activity) = self.tasks.get(task) {
                base += activity.write(folder, to, name, base) as u8 as f64;
            }
        }
    }
}

impl IoObserver for Files {
    fn shares(&self) -> bool {
        true
    }

    fn issued(&mut self, dev: DevId, now: Nanos, shares: &[Share]) {
        let (zero, Some(at)) = (self.zero(), self.place(dev)) else { return };
        for share in shares {
            let waited = now.since(share.queued);
            self.devices[at].q2d.record(&mut self.folder, now.since(zero), waited, self.options.period);
        }
    }

    fn carried(&mut self, r: &Request, shares: &[Share], names: &Names) {
        let (zero, Some(at)) = (self.zero(), self.place(r.dev)) else { return };
        let device = &mut self.devices[at];
        if let (Some(done), Some(d2c)) = (r.time.data_completed, r.time.d2c()) {
            for _ in 0..shares.len().max(1) {
                device.d2c.record(&mut self.folder, done.since(zero), d2c, self.options.period);
            }
        }
        device.trees.record(&mut self.folder, r, shares, zero);
        if !shares.is_empty() {
            self.per_io.request(&mut self.folder, r, shares, zero);
        }
        self.completed(at, r.time.completed.since(zero), r.bytes, r.task, names);
    }

    fn bio(&mut self, b: &Bio, names: &Names) {
        let (zero, Some(at)) = (self.zero(), self.place(b.dev)) else { return };
        if let (Some(queued), Some(q2c)) = (b.time.queued, b.time.q2c()) {
            let device = &mut self.devices[at];
            device.q2c.record(&mut self.folder, queued.since(zero), q2c, self.options.period);
        }
        if b.bytes.0 == 0 || !b.by_request {
            self.per_io.bio(&mut self.folder, b, zero);
        }
        if !b.by_request {
            self.completed(at, b.time.completed.since(zero), b.bytes, b.task, names);
        }
    }

    fn remapped(&mut self, child: &Remapped, _names: &Names) {
        if let Some(at) = self.place(child.lower) {
            self.devices[at].is_below = true;
        }
    }

    fn in_flight(&mut self, dev: DevId, now: Nanos, in_flight: &ByClass<u32>) {
        let (now, Some(at)) = (now.since(self.zero()), self.place(dev)) else { return };
        let depth = in_flight.iter().map(|n| *n as u64).sum();
        let device = &mut self.devices[at];
        let before = device.depth.set(&mut self.folder, now, depth);
        device.live.set(&mut self.folder, now, depth > 0, &mut self.next_base);
        self.in_flight = (self.in_flight + depth).saturating_sub(before);
        self.live.set(&mut self.folder, now, self.in_flight > 0, &mut self.next_base);
    }
}
