//! All that is known of one device.

use crate::depth::Depth;
use crate::distribution::Distribution;
use crate::messages::Messages;
use crate::phases::Phases;
use crate::seek::{Measure, Seeks};
use crate::series::{Cell, Series};
use crate::tail::Tail;
use life::{Class, Plug};
use std::collections::BTreeMap;
use trace::{Bytes, DevId, Nanos};

/// What a device did in one step of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Second {
    /// Requests (bios, on a bio-based device) completed, by class.
    pub completed: [u64; Class::COUNT],
    /// Their bytes.
    pub bytes: [Bytes; Class::COUNT],
    /// Their time from queue to completion, summed.
    pub time: [Nanos; Class::COUNT],
}

impl Cell for Second {
    fn merge(&mut self, o: &Second) {
        for c in 0..Class::COUNT {
            self.completed[c] += o.completed[c];
            self.bytes[c] += o.bytes[c];
            self.time[c] += o.time[c];
        }
    }
}

/// How tasks held requests back.
#[derive(Clone, Debug, Default)]
pub struct PlugStats {
    /// Plugs pulled by the task itself.
    pub explicit: u64,
    /// Plugs pulled because the task went to sleep.
    pub implicit: u64,
    /// Requests sent by the ones and the others.
    pub requests: [u64; 2],
    /// How long they were in.
    pub held: Distribution,
}

impl PlugStats {
    /// Adds a plug.
    pub fn record(&mut self, plug: &Plug) {
        *(if plug.implicit { &mut self.implicit } else { &mut self.explicit }) += 1;
        self.requests[plug.implicit as usize] += plug.requests;
        if let Some(from) = plug.from {
            self.held.record(plug.to.since(from).0);
        }
    }
}

/// Bios of one class on one device: what was asked for.
#[derive(Clone, Debug, Default)]
pub struct BioStats {
    /// By phase; `q2g` of a merged bio is the time until it had joined a request.
    pub phases: Phases,
    /// The same for merged bios only: `Q2M`.
    pub q2m: Distribution,
    /// Bios that were merged into a request of another.
    pub merged: u64,
    /// Bios that were cut in pieces.
    pub split: u64,
    /// Bytes by which the latest differs: the largest bio.
    pub largest: Bytes,
    /// Where their time went, by latency.
    pub tail: Tail,
}

/// How requests of one class fared in company and without it.
#[derive(Clone, Debug, Default)]
pub struct Company {
    /// `D2C` of those issued while the device was flooded with background writes.
    pub flooded: Distribution,
    /// `D2C` of those issued with no background write in flight.
    pub clear: Distribution,
    /// Background writes in flight at issue.
    pub background: Distribution,
    /// Requests of any class in flight at issue.
    pub depth: Distribution,
    /// `I2D` of those that background writes overtook.
    pub overtaken: Distribution,
    /// How many background writes overtook each of these.
    pub overtakers: Distribution,
}

/// One device.
#[derive(Debug)]
pub struct Device {
    /// Its number.
    pub id: DevId,
    /// Requests by class.
    pub requests: [Phases; Class::COUNT],
    /// Bios by class.
    pub bios: [BioStats; Class::COUNT],
    /// Neighbours by class.
    pub company: [Company; Class::COUNT],
    /// Requests in the device over time.
    pub depth: Depth,
    /// Distances between queued bios, and between issued requests.
    pub q2q_seeks: Seeks,
    /// The same between issues.
    pub d2d_seeks: Seeks,
    /// Time between queued bios.
    pub q2q: Distribution,
    /// Time from a remap's queue on the device above to its own queue here.
    pub q2a: Distribution,
    /// Sizes of issued requests, in bytes, by class.
    pub issue_sizes: [Distribution; Class::COUNT],
    /// Issues that began where the one before them (of the same class) ended.
    pub contiguous: [u64; Class::COUNT],
    /// Issues.
    pub issues: [u64; Class::COUNT],
    /// Plugs by task number.
    pub plugs: BTreeMap<u32, PlugStats>,
    /// Per second.
    pub series: Series<Second>,
    /// What the kernel said.
    pub messages: Messages,
    /// Splits (`X`).
    pub splits: u64,
    /// First and last event.
    pub span: Option<(Nanos, Nanos)>,
    /// The last queue and where the last issue of each class ended.
    pub(crate) last_queue: Option<Nanos>,
    pub(crate) last_end: [Option<trace::Sector>; Class::COUNT],
    /// The recorded device that lies on this one.
    pub upper: Option<DevId>,
}

impl Device {
    /// A device of which nothing is known yet.
    pub fn new(id: DevId) -> Device {
        Device {
            id,
            requests: Default::default(),
            bios: Default::default(),
            company: Default::default(),
            depth: Depth::new(),
            q2q_seeks: Seeks::new(Measure::Closest),
            d2d_seeks: Seeks::new(Measure::Closest),
            q2q: Distribution::new(),
            q2a: Distribution::new(),
            issue_sizes: Default::default(),
            contiguous: [0; Class::COUNT],
            issues: [0; Class::COUNT],
            plugs: BTreeMap::new(),
            series: Series::new(),
            messages: Messages::default(),
            splits: 0,
            span: None,
            last_queue: None,
            last_end: [None; Class::COUNT],
            upper: None,
        }
    }

    /// Whether requests were seen here; md and dm have bios only.
    pub fn has_requests(&self) -> bool {
        self.requests.iter().any(|r| r.count > 0)
    }

    /// Time between the first and the last event.
    pub fn duration(&self) -> Nanos {
        self.span.map_or(Nanos(0), |(a, b)| b.since(a))
    }

    /// Requests (bios, on a bio-based device) of a class.
    pub fn phases(&self, class: Class) -> &Phases {
        if self.has_requests() {
            &self.requests[class.index()]
        } else {
            &self.bios[class.index()].phases
        }
    }
}
