//! Two observers of the same recording: the events are followed only once.

use crate::found::Found;
use life::{Bio, BioNumber, ByClass, IoObserver, Names, Plug, Remapped, Request, Share};
use operation::{Account, History, Observer, Operation, OperationObserver, Outside, SentFor};
use trace::{Bytes, DevId, Nanos};

/// Passes everything to both, to the first one first.
pub(crate) struct Pair<'a>(pub &'a mut Found, pub &'a mut dyn Observer);

impl IoObserver for Pair<'_> {
    fn shares(&self) -> bool {
        self.0.shares() || self.1.shares()
    }

    fn issued(&mut self, dev: DevId, now: Nanos, shares: &[Share]) {
        self.0.issued(dev, now, shares);
        self.1.issued(dev, now, shares);
    }

    fn carried(&mut self, request: &Request, shares: &[Share], names: &Names) {
        self.0.carried(request, shares, names);
        self.1.carried(request, shares, names);
    }

    fn remapped(&mut self, child: &Remapped, names: &Names) {
        self.0.remapped(child, names);
        self.1.remapped(child, names);
    }

    fn request(&mut self, request: &Request, names: &Names) {
        self.0.request(request, names);
        self.1.request(request, names);
    }

    fn bio(&mut self, bio: &Bio, names: &Names) {
        self.0.bio(bio, names);
        self.1.bio(bio, names);
    }

    fn request_beside(&mut self, request: &Request, names: &Names) {
        self.0.request_beside(request, names);
        self.1.request_beside(request, names);
    }

    fn bio_beside(&mut self, bio: &Bio, names: &Names) {
        self.0.bio_beside(bio, names);
        self.1.bio_beside(bio, names);
    }

    fn adopted(&mut self, child: BioNumber, parent: BioNumber) {
        self.0.adopted(child, parent);
        self.1.adopted(child, parent);
    }

    fn plug(&mut self, plug: &Plug, names: &Names) {
        self.0.plug(plug, names);
        self.1.plug(plug, names);
    }

    fn in_flight(&mut self, dev: DevId, now: Nanos, in_flight: &ByClass<u32>) {
        self.0.in_flight(dev, now, in_flight);
        self.1.in_flight(dev, now, in_flight);
    }
}

impl OperationObserver for Pair<'_> {
    fn operation(&mut self, o: &Operation, account: Account, names: &Names, history: &History) {
        self.0.operation(o, account.clone(), names, history);
        self.1.operation(o, account, names, history);
    }

    fn sent_for(&mut self, request: &Request, sent: &SentFor, bytes: Bytes, names: &Names) {
        self.0.sent_for(request, sent, bytes, names);
        self.1.sent_for(request, sent, bytes, names);
    }

    fn outside(&mut self, outside: &Outside) {
        self.0.outside(outside);
        self.1.outside(outside);
    }
}
