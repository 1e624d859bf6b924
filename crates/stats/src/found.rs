//! Notes what is followed: the observer of requests and operations behind an analysis.

use crate::blocks::InOrder;
use crate::device::Device;
use crate::let_go;
use crate::operations::Operations;
use crate::served::Devices;
use crate::tape::Tape;
use crate::tasks::Tasks;
use ledger::{Ledger, Reason};
use life::{Bio, ByClass, IoObserver, Names, Plug, Request};
use operation::{Account, History, Operation, OperationObserver, Outside, SentFor};
use trace::{is_bound_worker, Bytes, DevId, Nanos};

/// Shortest wait for a request that counts as a wait for a tag. A shorter one is the time of the path through the kernel.
const MIN_TAG_WAIT: Nanos = Nanos(10_000);

/// What was found so far.
#[derive(Default)]
pub(crate) struct Found {
    pub devices: Devices,
    pub tape: Tape,
    pub tasks: Tasks,
    pub operations: Operations,
    pub in_order: Option<InOrder>,
    /// Whether only some tasks, or some kinds of operations, are asked about.
    pub narrow: bool,
}

impl IoObserver for Found {
    fn request(&mut self, r: &Request, names: &Names) {
        let task = self.tasks.number(r.task, names);
        self.tape.request(r, task);
    }

    fn bio(&mut self, b: &Bio, names: &Names) {
        self.bio_beside(b, names);
        if let Some(in_order) = self.in_order.as_mut().filter(|_| self.narrow) {
            in_order.bio(b);
        }
        let ledger = Ledger::of_bio(b);
        let no_tag = no_tag(self.devices.of(b.dev), b, &ledger);
        self.tape.bio(b, &ledger, no_tag);
    }

    fn request_beside(&mut self, r: &Request, names: &Names) {
        self.request(r, names);
    }

    fn bio_beside(&mut self, b: &Bio, names: &Names) {
        if let Some(in_order) = self.in_order.as_mut().filter(|_| !self.narrow) {
            in_order.bio(b);
        }
        let device = self.devices.of(b.dev);
        device.bios[b.class().index()].record(b);
        if let Some(direction) = let_go::direction(b.class()) {
            let let_go = &mut device.let_go[direction];
            if is_bound_worker(names.text(b.task)) {
                let_go.record(b, None);
            } else if let_go.has_begun() {
                let_go.record(b, Some(self.tasks.number(b.task, names)));
            }
        }
        if !b.by_request {
            device.did(b);
        }
    }

    fn plug(&mut self, plug: &Plug, names: &Names) {
        let task = self.tasks.number(names.of(plug.tid), names);
        self.devices.of(plug.dev).plugs.entry(task).or_default().record(plug);
    }

    fn in_flight(&mut self, dev: DevId, now: Nanos, in_flight: &ByClass<u32>) {
        let depth = in_flight.iter().map(|n| *n as u64).sum();
        self.devices.of(dev).tags.set(now, depth);
        self.tape.depth(dev, now, depth);
    }
}

/// The part of a bio's wait for a request in which its device was full: it waited for a tag.
fn no_tag(device: &Device, b: &Bio, ledger: &Ledger) -> Nanos {
    let waited = ledger.of_reason(Reason::GetRequest);
    if waited < MIN_TAG_WAIT || b.merged {
        return Nanos(0);
    }
    let span = b.time.queued.zip(b.time.got);
    span.and_then(|(queued, got)| device.tags.wait(queued, got))
        .map_or(Nanos(0), |wait| wait.full.min(waited))
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
