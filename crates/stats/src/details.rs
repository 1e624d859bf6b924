//! Statistics that only the tables of `report` need: counted separately, so that `explain` does not pay for them.

use crate::activity::Activity;
use crate::distribution::Distribution;
use crate::seek::Seeks;
use crate::tasks::{Tasks, OTHERS};
use life::{Bio, ByClass, IoObserver, IoTracker, Names, Op, Remapped};
use rustc_hash::FxHashMap;
use trace::{Action, Batch, Bytes, DevId, Event, Nanos, Sector};

/// Upper ends of the steps in which btt counts Q2D, in milliseconds (btt(1), "Q2D Histogram"). One more step holds the
/// rest.
pub const Q2D_STEPS_MS: [u64; 9] = [5, 10, 25, 50, 75, 100, 250, 500, 1000];

/// Additional statistics of one device.
#[derive(Debug, Default)]
pub struct DeviceDetails {
    /// Distances between queued bios, from the nearer ends.
    pub q2q_seeks: Seeks,
    /// Distances between issued requests, from the nearer ends.
    pub d2d_seeks: Seeks,
    /// `Q2Q`: time between queued bios.
    pub q2q: Distribution,
    /// `Q2A`: time from a bio's queueing here until it was sent to a device below.
    pub q2a: Distribution,
    /// `S2G`: time asleep until a request was free (reported by kernels before 5.12).
    pub s2g: Distribution,
    /// `M2D`: time from a bio's merge to the issue of the request it joined.
    pub m2d: Distribution,
    /// `Q2D` of bios.
    pub q2d: Distribution,
    /// `Q2D` of bios in btt's steps.
    pub q2d_steps: [u64; Q2D_STEPS_MS.len() + 1],
    /// Number of bios and requests waiting for issue, each time a bio was queued.
    pub waiting_at_queue: Distribution,
    /// Active and idle periods.
    pub activity: Activity,
    waiting: u64,
    last_queue: Option<Nanos>,
    in_flight: u64,
    is_below: bool,
    asleep: FxHashMap<Sector, Nanos>,
}

/// Statistics of one task's bios.
#[derive(Debug, Default)]
pub struct TaskDetails {
    /// Number of completed bios.
    pub bios: u64,
    /// Bytes of these bios.
    pub bytes: Bytes,
    /// `Q2Q`: time between two of them, on any device.
    pub q2q: Distribution,
    /// `Q2A`: time until sent to a device below.
    pub q2a: Distribution,
    /// `Q2M`: time until merged.
    pub q2m: Distribution,
    /// `M2D`: time from merge to issue.
    pub m2d: Distribution,
    /// `Q2C` of bios on the uppermost device.
    pub q2c: Distribution,
    last_queue: Option<Nanos>,
}

/// Additional statistics of a recording.
#[derive(Default)]
pub struct Details {
    tracker: IoTracker,
    found: Found,
}

/// The statistics, filled by the tracker.
#[derive(Default)]
struct Found {
    devices: FxHashMap<DevId, DeviceDetails>,
    tasks: Vec<TaskDetails>,
    names: Tasks,
    q2q: Distribution,
    activity: Activity,
    last_queue: Option<Nanos>,
    in_flight: u64,
    last: Nanos,
}

/// Largest number of sleepers remembered for a device.
const MAX_ASLEEP: usize = 4096;

/// Largest number of tasks whose bios are counted separately (about 10 KB each).
const MAX_TASKS: usize = 256;

impl Details {
    /// Takes in the events of a batch.
    pub fn feed(&mut self, batch: &Batch) {
        for event in &batch.events {
            self.found.event(event, self.tracker.names());
            self.tracker.step(event, batch, &mut self.found);
        }
    }

    /// Ends the recording: closes the active periods.
    pub fn finish(&mut self) {
        let now = self.found.last;
        self.found.devices.values_mut().for_each(|d| d.activity.finish(now));
        self.found.activity.finish(now);
    }

    /// Statistics of a device; `None` if it was not seen.
    pub fn device(&self, id: DevId) -> Option<&DeviceDetails> {
        self.found.devices.get(&id)
    }

    /// The bios of each task that completed any, by name.
    pub fn tasks(&self) -> impl Iterator<Item = (&str, &TaskDetails)> {
        let named = |(n, t)| (self.found.names.name(n as u32), t);
        self.found.tasks.iter().enumerate().filter(|(_, t)| t.bios > 0).map(named)
    }

    /// Time between two bios queued on top-level devices.
    pub fn q2q(&self) -> &Distribution {
        &self.found.q2q
    }

    /// Active and idle periods of all devices together.
    pub fn activity(&self) -> &Activity {
        &self.found.activity
    }
}

impl Found {
    /// The statistics of a device. Devices beyond the limit are from damage and share device 0.
    #[inline]
    fn device(&mut self, id: DevId) -> &mut DeviceDetails {
        let full = self.devices.len() >= life::MAX_DEVICES && !self.devices.contains_key(&id);
        self.devices.entry(if full { DevId(0) } else { id }).or_default()
    }

    fn task(&mut self, number: u32) -> &mut TaskDetails {
        let at = if (number as usize) < MAX_TASKS { number } else { OTHERS } as usize;
        if self.tasks.len() <= at {
            self.tasks.resize_with(at + 1, TaskDetails::default);
        }
        &mut self.tasks[at]
    }

    fn event(&mut self, e: &Event, names: &Names) {
        if e.action.is_note() {
            return;
        }
        self.last = self.last.max(e.time);
        let has_data = e.bytes.0 > 0;
        let device = self.device(e.dev);
        match e.action {
            Action::Queue => {
                if let Some(last) = device.last_queue.replace(e.time) {
                    device.q2q.record(e.time.since(last).0);
                }
                device.q2q_seeks.record(e.sector, e.bytes);
                if has_data {
                    device.waiting_at_queue.record(device.waiting);
                    device.waiting += 1;
                }
                if !device.is_below {
                    if let Some(last) = self.last_queue.replace(e.time) {
                        self.q2q.record(e.time.since(last).0);
                    }
                }
                let number = self.names.number(names.of(e.tid), names);
                let task = self.task(number);
                if let Some(last) = task.last_queue.replace(e.time) {
                    task.q2q.record(e.time.since(last).0);
                }
            }
            Action::Split | Action::Requeue if has_data => device.waiting += 1,
            Action::BackMerge | Action::FrontMerge | Action::Issue if has_data => {
                device.waiting = device.waiting.saturating_sub(1);
                if e.action == Action::Issue && Op::of(e) != Op::Flush {
                    device.d2d_seeks.record(e.sector, e.bytes);
                }
            }
            Action::SleepForRequest if device.asleep.len() < MAX_ASLEEP => {
                device.asleep.insert(e.sector, e.time);
            }
            Action::Get if !device.asleep.is_empty() => {
                if let Some(since) = device.asleep.remove(&e.sector) {
                    device.s2g.record(e.time.since(since).0);
                }
            }
            _ => {}
        }
    }
}

impl IoObserver for Found {
    fn bio(&mut self, b: &Bio, names: &Names) {
        let m2d = b.time.first_issued.zip(b.time.got).map(|(d, m)| d.since(m)).filter(|_| b.merged);
        let q2m = b.time.q2g().filter(|_| b.merged);
        let q2d = b.time.first_issued.zip(b.time.queued).map(|(d, q)| d.since(q));
        let device = self.device(b.dev);
        if let Some(m2d) = m2d {
            device.m2d.record(m2d.0);
        }
        if let Some(q2d) = q2d.filter(|_| b.op != Op::Flush) {
            device.q2d.record(q2d.0);
            let ms = q2d.0 / 1_000_000;
            device.q2d_steps[Q2D_STEPS_MS.partition_point(|upper| *upper <= ms)] += 1;
        }
        let number = self.names.number(b.task, names);
        let task = self.task(number);
        task.bios += 1;
        task.bytes += b.bytes;
        for (to, time) in [(&mut task.q2m, q2m), (&mut task.m2d, m2d)] {
            if let Some(time) = time {
                to.record(time.0);
            }
        }
        if let Some(q2c) = b.time.q2c().filter(|_| !b.is_child()) {
            task.q2c.record(q2c.0);
        }
    }

    fn remapped(&mut self, child: &Remapped, names: &Names) {
        self.device(child.lower).is_below = true;
        if let Some(waited) = child.waited {
            self.device(child.upper).q2a.record(waited.0);
            let number = self.names.number(child.task, names);
            self.task(number).q2a.record(waited.0);
        }
    }

    fn in_flight(&mut self, dev: DevId, now: Nanos, in_flight: &ByClass<u32>) {
        let depth = in_flight.iter().map(|n| *n as u64).sum();
        let device = self.device(dev);
        let before = std::mem::replace(&mut device.in_flight, depth);
        device.activity.set(now, depth > 0);
        self.in_flight = (self.in_flight + depth).saturating_sub(before);
        self.activity.set(now, self.in_flight > 0);
    }
}
