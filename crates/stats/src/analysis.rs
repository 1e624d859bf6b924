//! One pass over a recording: events in, statistics out, in memory that does not grow with its length.

use crate::cells::Cells;
use crate::device::Device;
use crate::tasks::Tasks;
use ledger::{Ledger, Reason};
use life::{Bio, ByClass, Class, Lives, Names, Op, Plug, Request, Sink, Tally, FLOOD_DEPTH};
use rustc_hash::FxHashMap;
use trace::{Action, Batch, Detail, DevId, Event, Nanos};

/// Everything that one pass finds out.
#[derive(Default)]
pub struct Analysis {
    lives: Lives,
    facts: Facts,
    which: FxHashMap<DevId, usize>,
    recent: Option<(DevId, usize)>,
}

/// What was found out. Causes judge by this, reports show it.
#[derive(Default)]
pub struct Facts {
    /// The devices, in the order in which they appear.
    pub devices: Vec<Device>,
    /// Requests by device, operation, flags, size and task.
    pub cells: Cells,
    /// The tasks of `cells`.
    pub tasks: Tasks,
    /// What found no place.
    pub tally: Tally,
    /// First and last event.
    pub span: Option<(Nanos, Nanos)>,
    /// The wall clock (seconds and nanoseconds since 1970) and the trace's time at one moment.
    pub wall: Option<(u32, u32, Nanos)>,
    /// Events by action.
    pub actions: std::collections::BTreeMap<Action, u64>,
}

/// As in [`Lives`]: more devices than hosts have are damage.
const MAX_DEVICES: usize = 1024;

impl Analysis {
    /// Takes in the events of a batch.
    pub fn feed(&mut self, batch: &Batch) {
        for event in &batch.events {
            self.facts.note(event, batch, &mut self.which, &mut self.recent);
            let mut sink = Recorder { facts: &mut self.facts, which: &self.which, recent: &mut self.recent };
            self.lives.step(event, batch, &mut sink);
        }
    }

    /// Ends the recording.
    pub fn finish(mut self) -> Facts {
        self.facts.tally = self.lives.finish();
        for (lower, upper) in self.lives.stacked() {
            if let Some(d) = self.which.get(&lower) {
                self.facts.devices[*d].upper = Some(upper);
            }
        }
        let by_class = self.facts.cells.sum(|k| Some((k.dev, Class::of(k.op, k.flags))));
        for ((dev, class), phases) in by_class {
            if let Some(d) = self.which.get(&dev) {
                self.facts.devices[*d].requests[class.index()] = phases;
            }
        }
        for device in &mut self.facts.devices {
            if let Some((_, last)) = device.span {
                device.depth.finish(last);
            }
        }
        self.facts
    }

    /// Pieces in flight now.
    pub fn in_flight(&self) -> usize {
        self.lives.in_flight()
    }
}

impl Facts {
    /// Time between the first and the last event.
    pub fn duration(&self) -> Nanos {
        self.span.map_or(Nanos(0), |(a, b)| b.since(a))
    }

    /// A device by number.
    pub fn device(&self, id: DevId) -> Option<&Device> {
        self.devices.iter().find(|d| d.id == id)
    }

    fn note(
        &mut self,
        e: &Event,
        batch: &Batch,
        which: &mut FxHashMap<DevId, usize>,
        recent: &mut Option<(DevId, usize)>,
    ) {
        *self.actions.entry(e.action).or_default() += 1;
        if let (Action::WallClock, Detail::Wall { seconds, nanos }) = (e.action, e.detail) {
            self.wall.get_or_insert((seconds, nanos, e.time));
        }
        if e.action.is_note() && e.action != Action::Message {
            return;
        }
        let at = match *recent {
            Some((id, at)) if id == e.dev => at,
            _ => {
                let at = match which.get(&e.dev) {
                    Some(at) => *at,
                    None if self.devices.len() >= MAX_DEVICES => return,
                    None => {
                        self.devices.push(Device::new(e.dev));
                        which.insert(e.dev, self.devices.len() - 1);
                        self.devices.len() - 1
                    }
                };
                *recent = Some((e.dev, at));
                at
            }
        };
        extend(&mut self.span, e.time);
        let device = &mut self.devices[at];
        extend(&mut device.span, e.time);
        match e.action {
            Action::Queue => device.queued(e),
            Action::Issue => device.issued(e),
            Action::Split => device.splits += 1,
            Action::Message => device.messages.record(batch.text(e)),
            _ => {}
        }
    }
}

fn extend(span: &mut Option<(Nanos, Nanos)>, t: Nanos) {
    match span {
        Some((from, to)) => {
            *from = t.min(*from);
            *to = t.max(*to);
        }
        None => *span = Some((t, t)),
    }
}

impl Device {
    fn queued(&mut self, e: &Event) {
        if let Some(last) = self.last_queue.replace(e.time) {
            self.q2q.record(e.time.since(last).0);
        }
        self.q2q_seeks.record(e.sector, e.bytes);
    }

    fn issued(&mut self, e: &Event) {
        let op = Op::of(e);
        let class = Class::of(op, e.flags).index();
        if op != Op::Flush {
            self.d2d_seeks.record(e.sector, e.bytes);
            self.issue_sizes[class].record(e.bytes.0);
            self.issues[class] += 1;
            if self.last_end[class].replace(e.sector.after(e.bytes)) == Some(e.sector) {
                self.contiguous[class] += 1;
            }
        }
    }
}

/// Writes what [`Lives`] tells into the facts.
struct Recorder<'a> {
    facts: &'a mut Facts,
    which: &'a FxHashMap<DevId, usize>,
    recent: &'a mut Option<(DevId, usize)>,
}

impl Recorder<'_> {
    #[inline]
    fn index(&mut self, id: DevId) -> Option<usize> {
        match *self.recent {
            Some((recent, at)) if recent == id => Some(at),
            _ => self.which.get(&id).copied(),
        }
    }
}

impl Sink for Recorder<'_> {
    fn request(&mut self, r: &Request, names: &Names) {
        let Some(at) = self.index(r.dev) else { return };
        let task = self.facts.tasks.number(r.task, names);
        let cell = self.facts.cells.of(r, task);
        cell.record(r.bytes, &r.time);
        cell.merges += r.merges as u64;
        cell.errors += (r.error != 0) as u64;
        let class = r.class().index();
        let device = &mut self.facts.devices[at];
        if let Some(d2c) = r.time.d2c() {
            let company = &mut device.company[class];
            let background = r.company.beside[Class::Background.index()];
            company.background.record(background as u64);
            company.depth.record(r.company.beside.iter().map(|n| *n as u64).sum());
            if background >= FLOOD_DEPTH {
                company.flooded.record(d2c.0);
            } else if background == 0 {
                company.clear.record(d2c.0);
            }
            let overtakers = r.company.overtaken_by[Class::Background.index()];
            if let Some(i2d) = r.time.i2d().filter(|_| overtakers > 0) {
                company.overtaken.record(i2d.0);
                company.overtakers.record(overtakers as u64);
            }
        }
        let second = device.series.at(r.time.completed);
        second.completed[class] += 1;
        second.bytes[class] += r.bytes;
        second.time[class] += r.time.total();
    }

    fn bio(&mut self, b: &Bio, _names: &Names) {
        let Some(at) = self.index(b.dev) else { return };
        let device = &mut self.facts.devices[at];
        let class = b.class().index();
        let stats = &mut device.bios[class];
        stats.phases.record(b.bytes, &b.time);
        stats.merged += b.merged as u64;
        stats.split += (b.pieces > 1) as u64;
        stats.largest = stats.largest.max(b.bytes);
        if b.merged {
            if let Some(q2m) = b.time.q2g() {
                stats.q2m.record(q2m.0);
            }
        }
        let ledger = Ledger::of_bio(b);
        let place = stats.tail.record(&ledger);
        let in_device = ledger.of_reason(Reason::Device);
        place.flooded += b.company.flooded.min(in_device);
        place.served += b.company.served.iter().map(|n| *n as u64).sum::<u64>();
        let overtakers = b.company.overtaken_by[Class::Background.index()];
        if overtakers > 0 {
            place.overtaken += ledger.of_reason(Reason::Scheduler);
            place.overtakers += overtakers as u64;
        }
        if b.pieces > 1 {
            place.split_device += in_device;
        }
        if !b.by_request {
            let second = device.series.at(b.time.completed);
            second.completed[class] += 1;
            second.bytes[class] += b.bytes;
            second.time[class] += b.time.total();
        }
    }

    fn plug(&mut self, plug: &Plug, names: &Names) {
        let Some(at) = self.index(plug.dev) else { return };
        let task = self.facts.tasks.number(names.of(plug.tid), names);
        self.facts.devices[at].plugs.entry(task).or_default().record(plug);
    }

    fn in_flight(&mut self, dev: DevId, now: Nanos, in_flight: &ByClass<u32>) {
        let Some(at) = self.index(dev) else { return };
        let depth = in_flight.iter().map(|n| *n as u64).sum();
        self.facts.devices[at].depth.set(now, depth);
    }
}
