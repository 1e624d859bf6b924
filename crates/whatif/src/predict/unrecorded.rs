//! Detects settings that lead to states which the recording does not show: more in flight, deeper in the device, other sizes.

use super::lab::Lab;
use crate::in_flight::most_simulated;
use crate::load::Load;
use crate::metric::Times;
use crate::settings::{Kind, Settings};
use crate::simulate::Done;
use crate::usable::ALL_TAGS;

/// How much deeper than recorded a device may be filled, as a factor.
const DEEPER: f64 = 1.25;
/// Maximal part of arrivals that joined others, if a scheduler's merging is not modelled.
const MOST_JOINED: f64 = 0.05;
/// Maximal part of requests that are larger than any recorded one.
const MOST_LARGER: f64 = 0.01;

impl Lab {
    /// Why the asked settings lead to states that were not recorded; `None` if they do not.
    pub(super) fn strange(
        &self,
        load: &Load,
        asked: &Settings,
        runs: &[Vec<(Times, Vec<Done>)>],
    ) -> Option<String> {
        // For writes, which are limited most.
        let tags = |s: &Settings| s.nr_requests.min(s.tags_for(true, false));
        let (had, gets) = (tags(&self.settings), tags(asked));
        let all_in_use = f64::from(self.most_tags) >= ALL_TAGS * f64::from(had);
        if gets > had && all_in_use && self.load.streams.iter().any(|s| s.waits_for_tags) {
            return Some(format!(
                "tasks waited for one of {had} tags: how many they would have in flight with more was not recorded"
            ));
        }
        if asked.scheduler == Kind::Kyber
            && self.settings.scheduler != Kind::Kyber
            && self.joined > MOST_JOINED
        {
            return Some(format!(
                "{:.0} % of the requests joined others that waited: how kyber would join them is not modelled",
                self.joined * 100.0
            ));
        }
        if let Some(direction) =
            (0..2).find(|d| self.largest[*d] > u64::from(asked.largest) && !self.sizes[*d])
        {
            return Some(format!(
                "all recorded {} are of one size: what smaller ones cost is not known",
                ["reads", "writes"][direction]
            ));
        }
        if asked.largest < self.settings.largest
            && !self.in_a_row
            && self.largest.iter().any(|l| *l > u64::from(asked.largest))
        {
            return Some(
                "the pieces of a request would lie in a row, and no requests did: whether the device seeks is not known".into(),
            );
        }
        let (_, done) = runs.first()?.first()?;
        let most = most_simulated(done);
        if f64::from(most) > (f64::from(self.most) * DEEPER).max(f64::from(self.most) + 1.0) {
            return Some(format!(
                "{most} requests in the device at once; recorded were {} at most",
                self.most
            ));
        }
        // A new request may get what another one waits for, so the order is unknown.
        if asked.scheduler == Kind::None && !asked.chooses_ahead && most >= asked.queue_depth {
            return Some(format!(
                "all {} commands that SCSI lets the device have would be in use: which request is next \
                 without a scheduler is not modelled",
                asked.queue_depth
            ));
        }
        let larger = done.iter().filter(|d| {
            let item = &load.streams[d.from.0 as usize].items[d.from.1 as usize];
            u64::from(d.bytes) > self.largest[item.write as usize]
        });
        if larger.count() as f64 > MOST_LARGER * done.len() as f64 {
            return Some("requests would be larger than any recorded".into());
        }
        None
    }
}
