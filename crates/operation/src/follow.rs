//! Follows requests and tasks together, in order of time. Readers of batches use this.

use crate::freed::Freed;
use crate::known::Known;
use crate::observer::Observer;
use crate::owners;
use crate::process_tree::ProcessTree;
use crate::scope::{Scope, Scoped};
use crate::softirq::Softirqs;
use crate::tracker::OperationTracker;
use life::{
    Bio, BioNumber, ByClass, Class, Contention, Flusher, IoObserver, IoTracker, Names, Owner, Plug, Remapped,
    Request, Share, Tally, Unclaimed, Underway, Unfinished,
};
use std::ops::Range;
use trace::{Action, Batch, DevId, Nanos, Tid, What};

/// Follows bios, requests and operations.
#[derive(Default)]
pub struct Follow {
    tracker: IoTracker,
    operations: OperationTracker,
    softirqs: Softirqs,
    scope: Option<Scope>,
    /// What was on its way when the recording began, until its first event.
    underway: Vec<Underway>,
    /// Time of the last block event in a batch that had tasks.
    last: Nanos,
}

impl Follow {
    /// Passes on only what the filter selects.
    pub fn asks(&mut self, scope: Option<Scope>) {
        self.scope = scope;
    }

    /// Adds facts that the recording does not contain.
    pub fn knows(&mut self, known: Known) {
        let threads = known.processes.iter().filter(|(tid, process)| tid != process);
        threads.for_each(|(tid, process)| self.tracker.born(*process, *tid, true));
        known.parents.iter().for_each(|(process, parent)| self.tracker.born(*parent, *process, false));
        self.tracker.supervise(&known.supervisors);
        self.tracker.tell_apart(known.apart.iter().copied());
        self.tracker.tell_threads_apart(known.threads_apart.iter().copied(), false);
        let asleep = known.asleep.iter().filter(|slept| !slept.task.is_empty());
        asleep.for_each(|slept| self.tracker.rename(slept.tid, slept.task.as_bytes()));
        self.operations.knows(known);
    }

    /// Presets the service times of a device with values learned earlier.
    pub fn knows_services(&mut self, dev: DevId, services: life::Services) {
        self.tracker.knows_services(dev, services);
    }

    /// Sets what was on its way when the recording began.
    pub fn knows_underway(&mut self, underway: Vec<Underway>) {
        self.underway = underway;
    }

    /// Sets the name of a thread.
    pub fn knows_name(&mut self, tid: Tid, name: &str) {
        self.tracker.rename(tid, name.as_bytes());
    }

    /// Takes in a batch. `to` gets every completed request, bio and operation.
    pub fn feed(&mut self, batch: &Batch, to: &mut dyn Observer) {
        match self.scope.clone() {
            Some(scope) => self.follow(batch, &mut Scoped { scope: &scope, to }),
            None => self.follow(batch, to),
        }
    }

    fn follow(&mut self, batch: &Batch, to: &mut dyn Observer) {
        if !self.underway.is_empty() {
            self.begin(batch, to);
        }
        if batch.tasks.is_empty() && self.operations.is_empty() {
            return self.tracker.feed(batch, to.ios());
        }
        let mut next = 0;
        for task in &batch.tasks {
            let after = (task.after as usize).min(batch.events.len());
            self.blocks(batch, next..after, to);
            next = next.max(after);
            match task.what {
                What::Completions(step) => {
                    self.softirqs.step(task.cpu, task.time, step);
                    continue;
                }
                What::Lost { .. } => self.softirqs.forget(),
                What::Born { tid, thread, .. } => self.tracker.born(task.tid, tid, thread),
                What::Gone => self.tracker.gone(task.tid),
                _ => {}
            }
            self.operations.task(task, batch, self.tracker.names(), to.operations());
            if let (Some(scope), What::Born { tid, .. } | What::CgroupAttach { tid, .. }) =
                (&self.scope, task.what)
            {
                scope.is_in(tid, self.operations.group(tid));
            }
        }
        self.blocks(batch, next..batch.events.len(), to);
        let last = batch.events.iter().rfind(|e| !e.action.is_note());
        self.last = last.map_or(self.last, |e| self.last.max(e.time));
        self.operations.end_of_batch();
    }

    /// At the first event: puts what was on its way by then into the devices.
    fn begin(&mut self, batch: &Batch, to: &mut dyn Observer) {
        let blocks = batch.events.iter().filter(|e| !e.action.is_note()).map(|e| e.time);
        let Some(first) = blocks.chain(batch.tasks.iter().map(|e| e.time)).min() else { return };
        if let Some(task) = batch.tasks.first() {
            self.operations.begin(task.time, self.tracker.names());
        }
        let history = self.operations.history();
        let mut underway = std::mem::take(&mut self.underway);
        let names = self.tracker.names();
        for u in &mut underway {
            let throttled = u.flusher.and_then(|f| f.throttled);
            let probable = throttled.map(|tid| Owner { task: names.of(tid), journal: false });
            let flusher = owners::flusher(history, u.dev).or(u.flusher);
            u.flusher = flusher.map(|f| Flusher { owner: f.owner.or(probable), ..f });
        }
        self.tracker.begins_with(first, &underway, to.ios());
    }

    fn blocks(&mut self, batch: &Batch, range: Range<usize>, to: &mut dyn Observer) {
        for event in batch.events.get(range).unwrap_or_default() {
            let owner = self.operations.block(event, self.tracker.names());
            self.tracker.sends_for(owner);
            let late = match event.action {
                Action::Complete => self.softirqs.late(event.cpu, event.time),
                _ => Nanos(0),
            };
            let mut both = Both { operations: &mut self.operations, to, late };
            self.tracker.feed_some(std::slice::from_ref(event), batch, &mut both);
        }
    }

    /// Whether any task event was seen. Without them there are only requests.
    pub fn sees_tasks(&self) -> bool {
        !self.operations.is_empty()
    }

    /// Whether the recording shows what tasks do and what that waits for.
    pub fn follows_operations(&self) -> bool {
        self.sees_tasks() && self.unrecorded().is_none()
    }

    /// What kind of task event is missing, if that hides what operations wait for.
    pub fn unrecorded(&self) -> Option<Unrecorded> {
        let history = self.operations.history();
        match (history.sees_calls, history.sees_switches) {
            _ if !self.sees_tasks() => None,
            (_, false) => Some(Unrecorded::Switches),
            (false, _) => Some(Unrecorded::Calls),
            _ => None,
        }
    }

    /// Whether the recording has kernel stacks of sleeping tasks.
    pub fn sees_stacks(&self) -> bool {
        self.operations.history().sees_stacks
    }

    /// Files whose inode numbers may have been reused.
    pub fn freed(&self) -> &Freed {
        &self.operations.history().freed
    }

    /// Which process started which, and which have exited.
    pub fn process_tree(&self) -> &ProcessTree {
        &self.operations.history().process_tree
    }

    /// Task names as of the last event.
    pub fn names(&self) -> &Names {
        self.tracker.names()
    }

    /// Recorded devices that are stacked: pairs of (lower, upper).
    pub fn stacked(&self) -> Vec<(DevId, DevId)> {
        self.tracker.stacked()
    }

    /// Bios in flight now that requests have completed in part, each with its device and class.
    pub fn unfinished(&self) -> impl Iterator<Item = (DevId, Class, Unfinished)> + '_ {
        self.tracker.unfinished()
    }

    /// For each stacked device, the reads that it sent below and that belong to none of its recorded bios.
    pub fn unclaimed(&self) -> impl Iterator<Item = (DevId, Unclaimed)> + '_ {
        self.tracker.unclaimed()
    }

    /// Estimated number of requests that each device serves at once.
    pub fn models(&self) -> impl Iterator<Item = (DevId, life::Model)> + '_ {
        self.tracker.models()
    }

    /// Number of pieces of requests, and of bios, in flight.
    pub fn in_flight(&self) -> usize {
        self.tracker.in_flight()
    }

    /// Ends the recording at `until`, or at its last event if that is later. `to` gets the operations that have not
    /// ended. Returns the counts, including what could not be matched.
    pub fn finish(&mut self, until: Option<Nanos>, to: &mut dyn Observer) -> Tally {
        if !self.operations.is_empty() {
            let at = self.last.max(self.operations.now).max(until.unwrap_or_default());
            let names = self.tracker.names();
            self.operations.cut_off(&self.tracker.cut_off(at), &self.tracker.all_along(at), names);
            match &self.scope {
                Some(scope) => self.operations.finish(at, names, &mut Scoped { scope, to }),
                None => self.operations.finish(at, names, to.operations()),
            }
        }
        self.tracker.finish()
    }
}

/// A kind of task event without which operations cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrecorded {
    /// Context switches. Without them all time of a call would count as running.
    Switches,
    /// System calls. Without them only page faults and the kernel's own operations would be left.
    Calls,
}

/// Passes what is completed to the tracker of operations first, and then to the caller's observer.
struct Both<'a> {
    operations: &'a mut OperationTracker,
    to: &'a mut dyn Observer,
    /// Delay between the device's completion and its processing, for what is completed now.
    late: Nanos,
}

impl IoObserver for Both<'_> {
    fn shares(&self) -> bool {
        self.to.shares()
    }

    fn issued(&mut self, dev: DevId, now: Nanos, shares: &[Share]) {
        self.to.issued(dev, now, shares);
    }

    fn carried(&mut self, request: &Request, shares: &[Share], names: &Names) {
        self.to.carried(request, shares, names);
    }

    fn remapped(&mut self, child: &Remapped, names: &Names) {
        self.to.remapped(child, names);
    }

    fn begun_before(&mut self, request: &Request, names: &Names) {
        if !self.operations.is_empty() {
            self.operations.request(request, names, self.to.operations());
        }
    }

    fn request(&mut self, request: &Request, names: &Names) {
        let late;
        let request = match self.late {
            Nanos(0) => request,
            _ => {
                late =
                    Request { contention: Contention { late: self.late, ..request.contention }, ..*request };
                &late
            }
        };
        if !self.operations.is_empty() {
            self.operations.request(request, names, self.to.operations());
        }
        self.to.request(request, names);
    }

    fn bio(&mut self, bio: &Bio, names: &Names) {
        let late;
        let bio = match self.late {
            Nanos(0) => bio,
            _ => {
                late = Bio { contention: Contention { late: self.late, ..bio.contention }, ..bio.clone() };
                &late
            }
        };
        if !self.operations.is_empty() {
            self.operations.bio(bio, names, self.to.operations());
        }
        self.to.bio(bio, names);
    }

    fn adopted(&mut self, child: BioNumber, parent: BioNumber) {
        self.operations.adopted(child, parent);
        self.to.adopted(child, parent);
    }

    fn plug(&mut self, plug: &Plug, names: &Names) {
        self.to.plug(plug, names);
    }

    fn in_flight(&mut self, dev: DevId, now: Nanos, in_flight: &ByClass<u32>) {
        self.to.in_flight(dev, now, in_flight);
    }
}
