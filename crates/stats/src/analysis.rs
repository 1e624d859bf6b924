//! One pass over a recording: events in, statistics out, in memory that does not grow with its length.
//!
//! There are two halves, which may run on two threads: the [`Flow`] counts what passes by, the [`Analysis`] follows
//! the lives. Together they are the [`Facts`].

use crate::alignment::unaligned;
use crate::blocks::InOrder;
use crate::cells::Cells;
use crate::device::Device;
use crate::operations::Operations;
use crate::pair::Pair;
use crate::tasks::Tasks;
use crate::traffic::Flow;
use ledger::{Ledger, Reason};
use life::{Bio, ByClass, Class, Names, Plug, Request, Sink, Tally};
use operation::{Account, Follow, History, Known, Listener, Operation, OperationObserver, Outside, SentFor};
use rustc_hash::FxHashMap;
use trace::{Action, Batch, Bytes, DevId, Nanos};

/// A shorter wait for a request is none: the way through the kernel takes as long.
const MIN_TAG_WAIT: Nanos = Nanos(10_000);

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
    /// What passed by, of all devices together.
    pub flow: Flow,
    /// What tasks asked for, where that was recorded.
    pub operations: Operations,
    /// Latencies in their order, if that was asked for.
    pub in_order: Option<InOrder>,
}

impl Facts {
    /// Everything about a recording that is at hand as batches; for tests and small inputs.
    pub fn of(batches: &[Batch]) -> Facts {
        let (mut flow, mut analysis) = (Flow::default(), Analysis::default());
        for batch in batches {
            flow.feed(batch);
            analysis.feed(batch);
        }
        analysis.finish(flow)
    }

    /// Time between the first and the last event.
    pub fn duration(&self) -> Nanos {
        self.flow.span.map_or(Nanos(0), |(a, b)| b.since(a))
    }

    /// A device by number.
    pub fn device(&self, id: DevId) -> Option<&Device> {
        self.devices.iter().find(|d| d.id == id)
    }

    /// How many events had an action.
    pub fn events(&self, action: Action) -> u64 {
        self.flow.events(action)
    }
}

/// The half that follows the lives.
#[derive(Default)]
pub struct Analysis {
    follow: Follow,
    found: Found,
}

impl Analysis {
    /// One that also keeps latencies in their order, for [`Estimate`](crate::Estimate).
    pub fn in_order() -> Analysis {
        let mut analysis = Analysis::default();
        analysis.found.in_order = Some(InOrder::default());
        analysis.found.operations.in_order = Some(InOrder::default());
        analysis
    }

    /// Tells what a recording does not say.
    pub fn knows(&mut self, known: Known) {
        self.follow.knows(known);
    }

    /// Takes in the events of a batch.
    pub fn feed(&mut self, batch: &Batch) {
        self.follow.feed(batch, &mut self.found);
    }

    /// The same, and tells `also` of every life: whoever wants more of it need not follow the events again.
    pub fn feed_with(&mut self, batch: &Batch, also: &mut dyn Listener) {
        self.follow.feed(batch, &mut Pair(&mut self.found, also));
    }

    /// Ends the recording and puts the halves together.
    pub fn finish(mut self, mut flow: Flow) -> Facts {
        let tally = self.follow.finish();
        let Found { mut devices, mut which, cells, tasks, mut operations, mut in_order, .. } = self.found;
        if let Some((all, of_tasks)) = in_order.as_mut().zip(operations.in_order.take()) {
            all.operations = of_tasks.operations;
            all.left_out += of_tasks.left_out;
        }
        operations.freed = self.follow.freed().clone();
        let traffic = flow.take_devices();
        let order: Vec<DevId> = traffic.iter().map(|(id, _)| *id).collect();
        for (id, traffic) in traffic {
            let at = *which.entry(id).or_insert_with(|| {
                devices.push(Device::new(id));
                devices.len() - 1
            });
            devices[at].traffic = traffic;
        }
        for (lower, upper) in self.follow.stacked() {
            if let Some(at) = which.get(&lower) {
                devices[*at].upper = Some(upper);
            }
        }
        for (upper, unclaimed) in self.follow.unclaimed() {
            if let Some(at) = which.get(&upper) {
                devices[*at].unclaimed = unclaimed;
            }
        }
        for ((dev, class), phases) in cells.sum(|k| Some((k.dev, Class::of(k.op, k.flags)))) {
            if let Some(at) = which.get(&dev) {
                devices[*at].requests[class.index()] = phases;
            }
        }
        for ((dev, class), phases) in cells.sum(|k| k.whole.then_some((k.dev, Class::of(k.op, k.flags)))) {
            if let Some(at) = which.get(&dev) {
                devices[*at].bios[class.index()].phases.merge(&phases);
            }
        }
        for device in &mut devices {
            if let Some((_, last)) = device.traffic.span {
                device.depth.finish(last);
            }
        }
        // Plugs of a recording through tracefs name no device; that is none.
        devices.retain(|d| d.id != DevId(0) || d.has_io());
        devices.sort_by_key(|d| order.iter().position(|id| *id == d.id));
        Facts { devices, cells, tasks, tally, flow, operations, in_order }
    }

    /// Pieces in flight now.
    pub fn in_flight(&self) -> usize {
        self.follow.in_flight()
    }
}

/// What the lives told so far.
#[derive(Default)]
pub(crate) struct Found {
    devices: Vec<Device>,
    which: FxHashMap<DevId, usize>,
    recent: Option<(DevId, usize)>,
    cells: Cells,
    tasks: Tasks,
    operations: Operations,
    in_order: Option<InOrder>,
}

impl Found {
    #[inline]
    fn device(&mut self, id: DevId) -> &mut Device {
        let at = match self.recent {
            Some((recent, at)) if recent == id => at,
            _ => self.switch(id),
        };
        &mut self.devices[at]
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
        self.devices.push(Device::new(id));
        self.which.insert(id, self.devices.len() - 1);
        self.devices.len() - 1
    }
}

impl Sink for Found {
    fn request(&mut self, r: &Request, names: &Names) {
        let task = self.tasks.number(r.task, names);
        let cell = self.cells.of(r, task);
        cell.record(r.bytes, &r.time);
        cell.merges += r.merges as u64;
        cell.errors += (r.error != 0) as u64;
        let class = r.class().index();
        let device = self.device(r.dev);
        if let Some(d2c) = r.time.d2c() {
            device.company[class].record(r, d2c);
            device.pace.record(r, d2c);
            device.alignment.record(r, d2c);
            device.completed_on.record(r.complete_cpu, r.company.late.min(d2c));
        }
        let second = device.series.at(r.time.completed);
        second.completed[class] += 1;
        second.bytes[class] += r.bytes;
        second.time[class] += r.time.total();
    }

    fn bio(&mut self, b: &Bio, _names: &Names) {
        if let Some(in_order) = &mut self.in_order {
            in_order.bio(b);
        }
        let device = self.device(b.dev);
        let class = b.class().index();
        let stats = &mut device.bios[class];
        stats.record(b);
        let ledger = Ledger::of_bio(b);
        let place = stats.tail.record(&ledger);
        let in_device = ledger.of_reason(Reason::Device);
        place.flooded += b.company.flooded.min(in_device);
        place.behind += b.company.queued_behind(in_device);
        place.late += b.company.late.min(in_device);
        place.served += b.company.served();
        place.refused += b.company.refused.min(ledger.of_reason(Reason::Scheduler));
        if unaligned(b.op, b.start, b.bytes) {
            place.unaligned += in_device;
        }
        let overtakers = b.company.overtaken_by[Class::Background.index()];
        if overtakers > 0 {
            place.overtaken += ledger.of_reason(Reason::Scheduler);
            place.overtakers += overtakers as u64;
        }
        let waited = ledger.of_reason(Reason::GetRequest);
        if waited >= MIN_TAG_WAIT && !b.merged {
            let span = b.time.queued.zip(b.time.got);
            if let Some(wait) = span.and_then(|(queued, got)| device.tags.wait(queued, got)) {
                place.tagless += waited;
                place.full += wait.full.min(waited);
                place.no_tag += 1;
            }
        }
        if b.pieces > 1 {
            place.split_device += in_device;
            place.split += 1;
            place.pieces += b.pieces as u64;
            place.split_bytes += b.bytes;
        }
        if !b.by_request {
            let second = device.series.at(b.time.completed);
            second.completed[class] += 1;
            second.bytes[class] += b.bytes;
            second.time[class] += b.time.total();
        }
    }

    fn plug(&mut self, plug: &Plug, names: &Names) {
        let task = self.tasks.number(names.of(plug.tid), names);
        self.device(plug.dev).plugs.entry(task).or_default().record(plug);
    }

    fn in_flight(&mut self, dev: DevId, now: Nanos, in_flight: &ByClass<u32>) {
        let depth = in_flight.iter().map(|n| *n as u64).sum();
        let device = self.device(dev);
        device.depth.set(now, depth);
        device.tags.set(now, depth);
        device.pace.set(now, depth);
    }
}

impl OperationObserver for Found {
    fn operation(&mut self, o: &Operation, account: Account, names: &Names, history: &History) {
        self.operations.operation(o, account, names, history);
    }

    fn sent_for(&mut self, request: &Request, sent: &SentFor, bytes: Bytes, names: &Names) {
        self.operations.sent_for(request, sent, bytes, names);
    }

    fn outside(&mut self, outside: &Outside) {
        self.operations.outside(outside);
    }
}
