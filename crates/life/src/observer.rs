//! What the tracker tells: finished bios and requests, and other changes of state.

use crate::bio::Bio;
use crate::bio_id::BioNumber;
use crate::contention::ByClass;
use crate::names::Names;
use crate::plug::Plug;
use crate::request::Request;
use crate::share::{Remapped, Share};
use trace::{DevId, Nanos};

/// Receives finished bios and requests, and other changes of state. All methods do nothing unless overridden.
pub trait IoObserver {
    /// Whether [`IoObserver::issued`] and [`IoObserver::carried`] are wanted; they look at every bio of every request.
    fn shares(&self) -> bool {
        false
    }

    /// A request was issued for the first time; `_shares` are the bios in it.
    fn issued(&mut self, _dev: DevId, _now: Nanos, _shares: &[Share]) {}
    /// A request was completed; `_shares` are the bios in it. [`IoObserver::request`] and [`IoObserver::bio`] follow.
    fn carried(&mut self, _request: &Request, _shares: &[Share], _names: &Names) {}
    /// A stacked device is about to send a bio to a device below (`A`).
    fn remapped(&mut self, _child: &Remapped, _names: &Names) {}
    /// A request inside the filter was completed.
    fn request(&mut self, _request: &Request, _names: &Names) {}
    /// A request was completed that was in its device when the recording began; it is in no count of completed requests.
    fn begun_before(&mut self, _request: &Request, _names: &Names) {}
    /// A bio inside the filter was completed. Called once for each bio, with its last part.
    fn bio(&mut self, _bio: &Bio, _names: &Names) {}
    /// A request outside the filter was completed. Only the accounting of its device needs it.
    fn request_beside(&mut self, _request: &Request, _names: &Names) {}
    /// A bio outside the filter was completed.
    fn bio_beside(&mut self, _bio: &Bio, _names: &Names) {}
    /// `_parent`, which is in flight, turns out to have sent `_child`, which was completed as an
    /// [orphan](Bio::orphan). If several parents waited for one child, this is called for each of them.
    fn adopted(&mut self, _child: BioNumber, _parent: BioNumber) {}
    /// A plug ended.
    fn plug(&mut self, _plug: &Plug, _names: &Names) {}
    /// The number of requests in flight in a device has changed.
    fn in_flight(&mut self, _dev: DevId, _now: Nanos, _in_flight: &ByClass<u32>) {}
}
