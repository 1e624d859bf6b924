//! Counts for the summary: per device and CPU, per device, and per task.

use super::track::{Elapsed, Wait};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use trace::{Action, Bytes, Cpu, Detail, DevId, Event, Flags, Nanos, Tid};

/// Maximal number of pairs of device and CPU; hostile input could name 2^32. Further ones are counted under
/// [`OTHERS`], and tasks beyond [`MAX_TASKS`] under the last task.
const MAX_PLACES: usize = 1 << 14;

/// Stands for all devices beyond [`MAX_PLACES`]; no device has this number.
pub const OTHERS: DevId = DevId(u32::MAX);

const MAX_TASKS: usize = 1 << 16;

/// A count and an amount of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Number of I/Os.
    pub count: u64,
    /// Their bytes.
    pub bytes: Bytes,
}

impl Amount {
    fn add(&mut self, bytes: Bytes) {
        self.count += 1;
        self.bytes += bytes;
    }

    fn merge(&mut self, o: &Amount) {
        self.count += o.count;
        self.bytes += o.bytes;
    }
}

/// Counts of the steps of reads, or of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// `Q`.
    pub queued: Amount,
    /// `D`; the bytes of requeued requests are subtracted.
    pub issued: Amount,
    /// `R`.
    pub requeued: u64,
    /// `C`.
    pub completed: Amount,
    /// The part of the completed bytes that exceeds each I/O's last whole KiB.
    odd: Bytes,
    /// `M` and `F`.
    pub merged: Amount,
}

impl Side {
    /// KiB completed per second as blkparse computes it: a byte beyond a whole KiB counts as a thousandth of one.
    pub fn kib_per_second(&self, milliseconds: u64) -> u64 {
        let whole = (self.completed.bytes - self.odd).0 / 1024;
        whole.saturating_mul(1000).saturating_add(self.odd.0).checked_div(milliseconds).unwrap_or(0)
    }

    fn merge(&mut self, o: &Side) {
        self.queued.merge(&o.queued);
        self.issued.merge(&o.issued);
        self.requeued += o.requeued;
        self.completed.merge(&o.completed);
        self.odd += o.odd;
        self.merged.merge(&o.merged);
    }
}

/// All counts of one place or task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Reads and writes of file systems.
    pub file: [Side; 2],
    /// Reads and writes that are passed through.
    pub passthrough: [Side; 2],
    /// `U`.
    pub unplugs: u64,
    /// `UT`.
    pub implicit_unplugs: u64,
    /// The longest waits for allocation, dispatch and completion; each of reads and of writes.
    pub longest: [[Nanos; 2]; 3],
}

/// The index in a pair: 0 for reads, 1 for writes.
fn direction(flags: Flags) -> usize {
    usize::from(flags.has(Flags::WRITE))
}

impl Tally {
    fn count(&mut self, e: &Event) {
        let passed = e.flags.has(Flags::PASSTHROUGH);
        let sides = if passed { &mut self.passthrough } else { &mut self.file };
        let side = &mut sides[direction(e.flags)];
        match e.action {
            Action::Queue => side.queued.add(e.bytes),
            Action::Issue => side.issued.add(e.bytes),
            Action::Requeue => {
                side.requeued += 1;
                side.issued.bytes = side.issued.bytes - e.bytes;
            }
            Action::Complete => {
                side.completed.add(e.bytes);
                side.odd += Bytes(e.bytes.0 % 1024);
            }
            Action::BackMerge | Action::FrontMerge => side.merged.add(e.bytes),
            Action::Unplug => self.unplugs += 1,
            Action::UnplugImplicit => self.implicit_unplugs += 1,
            _ => {}
        }
    }

    fn wait(&mut self, elapsed: &Elapsed, flags: Flags) {
        let which = match elapsed.wait {
            Wait::Allocation => 0,
            Wait::Dispatch => 1,
            Wait::Completion => 2,
        };
        let longest = &mut self.longest[which][direction(flags)];
        *longest = (*longest).max(elapsed.time);
    }

    /// Adds the counts of another place or task.
    pub fn merge(&mut self, o: &Tally) {
        for d in 0..2 {
            self.file[d].merge(&o.file[d]);
            self.passthrough[d].merge(&o.passthrough[d]);
            for (mine, theirs) in self.longest.iter_mut().zip(&o.longest) {
                mine[d] = mine[d].max(theirs[d]);
            }
        }
        self.unplugs += o.unplugs;
        self.implicit_unplugs += o.implicit_unplugs;
    }

    /// Whether it counted anything that is passed through.
    pub fn has_passthrough(&self) -> bool {
        self.passthrough != <[Side; 2]>::default()
    }
}

/// The counts of a device.
#[derive(Clone, Debug, Default)]
pub struct Device {
    /// The index of each CPU's tally in [`Places::tallies`].
    pub cpus: BTreeMap<Cpu, usize>,
    /// Reads and writes in the driver: now, and the maximum so far.
    depth: [(u64, u64); 2],
    /// Number of events that were counted.
    pub events: u64,
    /// Number of gaps in the numbering of events.
    pub gaps: u64,
    /// Number of events that are missing in the gaps.
    pub lost: u64,
    /// The time of the first event that was counted; `None` if there is none.
    pub first: Option<Nanos>,
    /// The time of the last event, counted or not.
    pub last: Nanos,
}

impl Device {
    /// The largest number of reads (0) or writes (1) that were in the driver at the same time.
    pub fn depth(&self, direction: usize) -> u64 {
        self.depth[direction].1
    }

    fn follow_depth(&mut self, e: &Event) {
        let (now, most) = &mut self.depth[direction(e.flags)];
        match e.action {
            Action::Issue => {
                *now += 1;
                *most = (*most).max(*now);
            }
            Action::Complete | Action::Requeue => *now = now.saturating_sub(1),
            _ => {}
        }
    }
}

/// Tallies by device and CPU.
#[derive(Default)]
pub struct Places {
    /// The counts of each device.
    pub devices: BTreeMap<DevId, Device>,
    /// The tallies that [`Device::cpus`] points into.
    pub tallies: Vec<Tally>,
    /// Device, CPU and index of the tally of the last event.
    recent: Option<(DevId, Cpu, usize)>,
}

impl Places {
    /// Makes sure that this device and CPU have a tally; returns its device (maybe [`OTHERS`]) and its index.
    pub fn see(&mut self, e: &Event) -> (DevId, usize) {
        match self.recent {
            Some((dev, cpu, at)) if dev == e.dev && cpu == e.cpu => (dev, at),
            _ => self.find(e.dev, e.cpu),
        }
    }

    /// Counts an event. `wanted`: it is shown; otherwise it only updates the device's last time.
    pub fn count(&mut self, e: &Event, wanted: bool) {
        let (dev, at) = self.see(e);
        let device = self.devices.entry(dev).or_default();
        device.last = device.last.max(e.time);
        if let Detail::Lost(n) = e.detail {
            device.gaps += 1;
            device.lost = device.lost.saturating_add(n);
        } else if wanted {
            device.first.get_or_insert(e.time);
            device.events += 1;
            device.follow_depth(e);
            self.tallies[at].count(e);
        }
    }

    fn find(&mut self, mut dev: DevId, mut cpu: Cpu) -> (DevId, usize) {
        let known = self.devices.get(&dev).is_some_and(|d| d.cpus.contains_key(&cpu));
        if !known && self.tallies.len() >= MAX_PLACES {
            (dev, cpu) = (OTHERS, Cpu(0));
        }
        let tallies = &mut self.tallies;
        let at = *self.devices.entry(dev).or_default().cpus.entry(cpu).or_insert_with(|| {
            tallies.push(Tally::default());
            tallies.len() - 1
        });
        self.recent = Some((dev, cpu, at));
        (dev, at)
    }
}

/// A task with its counts.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// Its name; empty if no note named it.
    pub name: Vec<u8>,
    /// Its number; for several tasks with one name, the first one's.
    pub tid: Tid,
    /// Whether it stands for several tasks.
    pub several: bool,
    /// Its counts.
    pub tally: Tally,
}

/// Tallies by task. If a number is reused under another name, that is another task.
#[derive(Default)]
pub struct Tasks {
    tasks: Vec<Task>,
    which: FxHashMap<Tid, usize>,
}

impl Tasks {
    /// A task gets a name. The idle tasks of all CPUs share the number 0; they are counted as one, under the name of
    /// the first CPU.
    pub fn rename(&mut self, tid: Tid, name: &[u8]) {
        let Some(&at) = self.which.get(&tid) else { return };
        let known = &mut self.tasks[at].name;
        if known.is_empty() || (tid == Tid(0) && name < known.as_slice()) {
            *known = name.to_vec();
        } else if tid != Tid(0) && known != name {
            self.which.remove(&tid);
        }
    }

    /// Counts an event of a task with this name.
    pub fn count(&mut self, e: &Event, name: Option<&[u8]>) {
        let at = self.find(e.tid, name);
        self.tasks[at].tally.count(e);
    }

    /// Counts a wait for the task that got the request.
    pub fn wait(&mut self, elapsed: &Elapsed, flags: Flags, name: Option<&[u8]>) {
        let at = self.find(elapsed.owner, name);
        self.tasks[at].tally.wait(elapsed, flags);
    }

    fn find(&mut self, tid: Tid, name: Option<&[u8]>) -> usize {
        if let Some(&at) = self.which.get(&tid) {
            return at;
        }
        if self.tasks.len() < MAX_TASKS {
            self.tasks.push(Task { name: name.unwrap_or_default().to_vec(), tid, ..Task::default() });
        }
        if self.which.len() < MAX_TASKS {
            self.which.insert(tid, self.tasks.len() - 1);
        }
        self.tasks.len() - 1
    }

    /// All tasks by name, then number; with `by_name`, those with the same name are merged.
    pub fn sorted(&self, by_name: bool) -> Vec<Task> {
        let mut together: Vec<Task> = Vec::new();
        let mut known: FxHashMap<&[u8], usize> = FxHashMap::default();
        for task in &self.tasks {
            match known.get(task.name.as_slice()) {
                Some(&at) if by_name && !task.name.is_empty() => {
                    together[at].tally.merge(&task.tally);
                    together[at].several |= together[at].tid != task.tid;
                }
                _ => {
                    known.insert(&task.name, together.len());
                    together.push(task.clone());
                }
            }
        }
        together.sort_by(|a, b| (a.shown_name(), a.tid).cmp(&(b.shown_name(), b.tid)));
        together
    }
}

impl Task {
    /// The name, or `unknown`.
    pub fn shown_name(&self) -> &[u8] {
        if self.name.is_empty() {
            b"unknown"
        } else {
            &self.name
        }
    }
}
