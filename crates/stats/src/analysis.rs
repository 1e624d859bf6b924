//! One pass over a recording: events in, statistics out, in memory that does not grow with its length.
//!
//! There are three parts, which may run on two threads. The [`Analysis`] follows bios, requests and operations; [`Served`] counts what the
//! analysis notes on a [`Tape`]; the [`Flow`] counts events. Together they become the [`Facts`].

use crate::blocks::InOrder;
use crate::cells::Cells;
use crate::device::Device;
use crate::found::Found;
use crate::operations::Operations;
use crate::pair::Pair;
use crate::served::Served;
use crate::tail::Slowest;
use crate::tape::Tape;
use crate::tasks::Tasks;
use crate::traffic::Flow;
use life::{Class, NamesSeen, Tally};
use operation::{Follow, Observer, Scope, Unrecorded};
use std::collections::{BTreeMap, BTreeSet};
use trace::{is_kernel_thread, Action, Batch, DevId, Nanos};
use waits::{Asked, Table, Those, Victim};

/// The result of an analysis. Causes judge by it, reports show it.
#[derive(Default)]
pub struct Facts {
    /// The devices, in the order in which they appear in the recording.
    pub devices: Vec<Device>,
    /// Requests by device, operation, flags, size and task.
    pub cells: Cells,
    /// The tasks of `cells`.
    pub tasks: Tasks,
    /// Number of threads with each name, as of the last event; in a recording of block events only, those that did I/O.
    pub threads: BTreeMap<String, u64>,
    /// Counts of bios and requests, including what could not be matched.
    pub tally: Tally,
    /// Event counts and time spans, of all devices together.
    pub flow: Flow,
    /// Operations of tasks, and the time between them, if they were recorded.
    pub operations: Operations,
    /// What kind of task event is missing, if that hides what operations wait for; then bios stand for operations.
    pub unrecorded: Option<Unrecorded>,
    /// The table of waits: victims, what they waited for, because of whom. It is of operations, or of bios if none were recorded.
    pub waits: Table,
    /// The table of waits of all bios, if `waits` is about operations.
    bio_waits: Option<Table>,
    /// Whether `operations` has only some tasks', or some kinds; the devices' numbers are those of all.
    pub narrow: bool,
    /// Latencies in their order, if [`Analysis::in_order`] was used.
    pub in_order: Option<InOrder>,
}

impl Facts {
    /// The facts of a recording that is already in batches; for tests and small inputs.
    pub fn of(batches: &[Batch]) -> Facts {
        let (mut flow, mut analysis) = (Flow::default(), Analysis::default());
        for batch in batches {
            flow.feed(batch);
            analysis.feed(batch);
            analysis.count();
        }
        analysis.finish(flow)
    }

    /// Time between the first and the last block event; if there are none, between those of tasks.
    pub fn duration(&self) -> Nanos {
        self.flow.span.or(self.flow.tasks).map_or(Nanos(0), |(a, b)| b.since(a))
    }

    /// Time between the first and the last event of any kind. If a cache answers, tasks are busy long before and after a device is.
    pub fn recorded(&self) -> Nanos {
        let spans = || [self.flow.span, self.flow.tasks].into_iter().flatten();
        let first = spans().map(|(from, _)| from).min().unwrap_or_default();
        spans().map(|(_, to)| to).max().unwrap_or_default().since(first)
    }

    /// Sets the operations. From then on the table of waits is about them, and that of bios is kept beside it.
    pub fn put_operations(&mut self, mut operations: Operations) {
        let waits = std::mem::take(&mut operations.waits);
        match &self.bio_waits {
            _ if waits.is_empty() => {}
            Some(_) => self.waits = waits,
            None => self.bio_waits = Some(std::mem::replace(&mut self.waits, waits)),
        }
        self.operations = operations;
    }

    /// Adds read bios of tasks without recorded calls. Such a task may wait for pages of a mapped file; without stacks
    /// only its reads show that. Kernel threads are left out: they read for other tasks.
    fn put_readers_without_calls(&mut self) {
        let Some(bios) = &self.bio_waits else { return };
        let asks = |v: &Victim| matches!(v.asked, Asked::Operation(_)).then(|| v.task.clone());
        let who_call: BTreeSet<_> = self.waits.victims().filter_map(|(_, v, _)| asks(v)).collect();
        let is_read = |v: &Victim| v.asked == Asked::Bio(Class::Read) && !is_kernel_thread(&v.task);
        self.waits.merge_some(bios, |v| is_read(v) && !who_call.contains(&v.task));
    }

    /// The slowest bios of a class on a device, read-ahead included.
    pub fn slowest_bios(&self, dev: DevId, class: Class) -> Slowest {
        let table = self.bio_waits.as_ref().unwrap_or(&self.waits);
        let is = |v: &Victim| {
            v.dev == dev && v.asked.class() == class && matches!(v.asked, Asked::Bio(_) | Asked::Ahead)
        };
        let victims: Vec<_> = table.victims().filter(|(_, v, _)| is(v)).map(|(id, ..)| id).collect();
        match victims.is_empty() {
            true => Slowest::default(),
            false => Slowest::of(table, &victims),
        }
    }

    /// The device with this number; `None` if it was not seen.
    pub fn device(&self, id: DevId) -> Option<&Device> {
        self.devices.iter().find(|d| d.id == id)
    }

    /// Number of events with this action.
    pub fn events(&self, action: Action) -> u64 {
        self.flow.events(action)
    }
}

/// The part of the analysis that follows bios, requests and operations.
#[derive(Default)]
pub struct Analysis {
    follow: Follow,
    found: Found,
    /// The names that the counting thread already has.
    names_seen: NamesSeen,
    served: Served,
    /// End of the recording, if it is later than the last event.
    until: Option<Nanos>,
}

impl Analysis {
    /// An analysis that also keeps latencies in their order, for [`Estimate`](crate::Estimate).
    pub fn in_order() -> Analysis {
        let mut analysis = Analysis::default();
        analysis.found.in_order = Some(InOrder::default());
        analysis.found.operations.in_order = Some(InOrder::default());
        analysis
    }

    /// Who follows the recording, to add facts that its events do not contain.
    pub fn follow(&mut self) -> &mut Follow {
        &mut self.follow
    }

    /// Sets devices that had requests all the time and completed none.
    pub fn hangs(&mut self, devices: &[DevId]) {
        devices.iter().for_each(|dev| self.found.devices.of(*dev).hangs = true);
    }

    /// Sets the end of the recording, if it is later than its last event.
    pub fn goes_on(&mut self, until: Option<Nanos>) {
        self.until = until;
    }

    /// Sets a filter: only what it selects counts as a wait; for devices everything counts.
    pub fn asks(&mut self, scope: Option<Scope>) {
        self.found.narrow = scope.as_ref().is_some_and(|scope| !scope.asking().is_of_devices());
        self.follow.asks(scope);
    }

    /// Also follows what the waits would be without `those`.
    pub fn follows(&mut self, those: Those) {
        self.found.operations.waits.follow(those.clone());
        self.served.follow(those);
    }

    /// Takes in the events of a batch.
    pub fn feed(&mut self, batch: &Batch) {
        self.follow.feed(batch, &mut self.found);
        self.found.tape.names(self.follow.names(), &mut self.names_seen);
    }

    /// The same, and passes everything to `also` as well, so that the events are followed only once.
    pub fn feed_with(&mut self, batch: &Batch, also: &mut dyn Observer) {
        self.follow.feed(batch, &mut Pair(&mut self.found, also));
        self.found.tape.names(self.follow.names(), &mut self.names_seen);
    }

    /// Counts what was noted since the last call.
    pub fn count(&mut self) {
        self.served.count(&mut self.found.tape);
    }

    /// The tape of what was noted but not counted; it grows until [`Analysis::counts`] counts it.
    pub fn tape(&mut self) -> &mut Tape {
        &mut self.found.tape
    }

    /// The counters, so that another thread can count tapes.
    pub fn counts(&mut self) -> &mut Served {
        &mut self.served
    }

    /// Ends the recording and puts the parts together.
    pub fn finish(mut self, mut flow: Flow) -> Facts {
        self.count();
        let tally = self.follow.finish(self.until, &mut self.found);
        let threads = self.follow.names().threads();
        let Found { devices, tasks, mut operations, mut in_order, narrow, .. } = self.found;
        let unrecorded = self.follow.unrecorded();
        let of_tasks = operations.in_order.take().filter(|_| unrecorded.is_none());
        if let Some((all, of_tasks)) = in_order.as_mut().zip(of_tasks) {
            all.operations = of_tasks.operations;
            all.left_out += of_tasks.left_out;
        }
        operations.freed = self.follow.freed().clone();
        operations.note_parents(self.follow.process_tree(), self.follow.names());
        let traffic = flow.take_devices();
        let Served { devices: served, cells, waits, .. } = self.served;
        let (mut devices, mut which) = devices.merge(served);
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
        for (dev, model) in self.follow.models() {
            if let Some(at) = which.get(&dev) {
                devices[*at].model = model;
            }
        }
        for (upper, unclaimed) in self.follow.unclaimed() {
            if let Some(at) = which.get(&upper) {
                devices[*at].unclaimed = unclaimed;
            }
        }
        for (dev, class, one) in self.follow.unfinished() {
            if let Some(at) = which.get(&dev) {
                devices[*at].unfinished[class.index()].add(one);
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
        // A recording through tracefs has plugs without a device. Device 0 is no device.
        devices.retain(|d| d.id != DevId(0) || d.has_io());
        devices.sort_by_key(|d| order.iter().position(|id| *id == d.id));
        let mut facts =
            Facts { devices, cells, tasks, threads, tally, flow, waits, in_order, ..Facts::default() };
        (facts.unrecorded, facts.narrow) = (unrecorded, narrow);
        if unrecorded.is_none() {
            facts.put_operations(operations);
        }
        if !self.follow.sees_stacks() {
            facts.put_readers_without_calls();
        }
        facts
    }

    /// Number of pieces and bios in flight.
    pub fn in_flight(&self) -> usize {
        self.follow.in_flight()
    }
}

#[cfg(test)]
mod tests;
