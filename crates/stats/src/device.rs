//! All that is known of one device.

use crate::alignment::Alignment;
use crate::by_bytes::ByBytes;
use crate::depth::Depth;
use crate::distribution::Distribution;
use crate::let_go::LetGo;
use crate::note::Note;
use crate::pace::Pace;
use crate::phases::Phases;
use crate::reader::Reader;
use crate::reread::Reread;
use crate::series::{Cell, Series};
use crate::tags::Tags;
use crate::traffic::Traffic;
use life::{Bio, Class, Model, Plug, Unclaimed, Unfinished};
use std::collections::BTreeMap;
use trace::{Bytes, Cpu, DevId, Nanos};

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
        let requests = &mut self.requests[plug.implicit as usize];
        *requests = requests.saturating_add(plug.requests);
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
    /// The largest bio.
    pub largest: Bytes,
}

impl BioStats {
    /// Adds a bio. The phases of one that is a whole request are in the cells already.
    #[inline]
    pub fn record(&mut self, b: &Bio) {
        if !b.is_request {
            self.phases.record_bio(b);
        }
        self.merged += b.merged as u64;
        self.split += (b.pieces > 1) as u64;
        self.largest = self.largest.max(b.bytes);
        if let Some(q2m) = b.time.q2g().filter(|_| b.merged) {
            self.q2m.record(q2m.0);
        }
    }
}

/// The mean `D2C` by how many others were in the device at issue, in powers of two: none, 1, 2 to 3, 4 to 7, ...
/// A device that works on one request at a time takes twice as long when twice as many are there; one that works
/// on many at once does not.
#[derive(Clone, Debug, Default)]
pub struct ByDepth {
    counts: [u64; ByDepth::ROWS],
    times: [Nanos; ByDepth::ROWS],
}

/// A row of [`ByDepth`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthRow {
    /// From how many others on.
    pub from: u64,
    /// Up to how many.
    pub to: u64,
    /// Requests issued into so many.
    pub count: u64,
    /// Their mean `D2C`.
    pub mean: Nanos,
}

impl ByDepth {
    const ROWS: usize = 17;

    /// Adds a request.
    #[inline]
    pub fn record(&mut self, others: u64, d2c: Nanos) {
        let row = (64 - others.leading_zeros() as usize).min(Self::ROWS - 1);
        self.counts[row] += 1;
        self.times[row] += d2c;
    }

    /// The rows with requests, the fewest others first.
    pub fn rows(&self) -> impl Iterator<Item = DepthRow> + '_ {
        let row = |i: usize| DepthRow {
            from: if i == 0 { 0 } else { 1 << (i - 1) },
            to: (1 << i) - 1,
            count: self.counts[i],
            mean: Nanos(self.times[i].0 / self.counts[i].max(1)),
        };
        (0..Self::ROWS).map(row).filter(|r| r.count > 0)
    }
}

/// How requests of one class fared with and without others in flight.
#[derive(Clone, Debug, Default)]
pub struct UnderContention {
    /// `D2C` of those issued while the device was flooded with background writes.
    pub flooded: Distribution,
    /// `D2C` of those issued with no background write in flight.
    pub clear: Distribution,
    /// Background writes in flight at issue.
    pub background: Distribution,
    /// Requests of any class in flight at issue.
    pub depth: Distribution,
    /// `D2C` by these.
    pub by_depth: ByDepth,
    /// `D2C` by the bytes in flight at issue, of requests of like size.
    pub by_bytes: ByBytes,
    /// `I2D` of those that background writes overtook.
    pub overtaken: Distribution,
    /// How many background writes overtook each of these.
    pub overtakers: Distribution,
}

impl UnderContention {
    /// Adds a request that was in the device for `d2c`.
    #[inline]
    pub(crate) fn record(&mut self, n: &Note, d2c: Nanos) {
        let background = n.beside[Class::Background.index()];
        let ahead = n.ahead();
        self.background.record(background as u64);
        self.depth.record(ahead);
        self.by_depth.record(ahead, d2c);
        self.by_bytes.record(n, d2c);
        if n.into_flood {
            self.flooded.record(d2c.0);
        } else if background == 0 {
            self.clear.record(d2c.0);
        }
        if let Some(i2d) = n.i2d().filter(|_| n.overtaken > 0) {
            self.overtaken.record(i2d.0);
            self.overtakers.record(u64::from(n.overtaken));
        }
    }
}

/// Processors that are told apart; further ones count as the last.
const MAX_CPUS: usize = 4096;

/// Requests by the processor that completed them.
#[derive(Clone, Debug, Default)]
pub struct CompletedOn {
    cpus: Vec<(u64, Nanos)>,
}

impl CompletedOn {
    /// A request was completed there, so late ([`UnderContention::late`](life::Contention)).
    #[inline]
    pub fn record(&mut self, cpu: Cpu, late: Nanos) {
        let at = (cpu.0 as usize).min(MAX_CPUS - 1);
        if self.cpus.len() <= at {
            self.cpus.resize(at + 1, (0, Nanos(0)));
        }
        self.cpus[at].0 += 1;
        self.cpus[at].1 += late;
    }

    /// How many each completed, and how late they were in all, the latest first.
    pub fn cpus(&self) -> Vec<(Cpu, u64, Nanos)> {
        let each = self.cpus.iter().zip(0..).map(|((n, late), cpu)| (Cpu(cpu), *n, *late));
        let mut all: Vec<_> = each.filter(|(_, n, _)| *n > 0).collect();
        all.sort_by_key(|(_, _, late)| std::cmp::Reverse(*late));
        all
    }
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
    pub contention: [UnderContention; Class::COUNT],
    /// Requests in the device over time.
    pub depth: Depth,
    /// When it held as many as it ever does.
    pub tags: Tags,
    /// Plugs by task number.
    pub plugs: BTreeMap<u32, PlugStats>,
    /// How it keeps pace.
    pub pace: Pace,
    /// How many requests it serves at once.
    pub model: Model,
    /// Writes of whole blocks, and others.
    pub alignment: Alignment,
    /// What control groups' limits held and let go: of reads, and of writes.
    pub let_go: [LetGo; 2],
    /// What it read, and had read before.
    pub reread: Reread,
    /// How tasks read, by number.
    pub readers: BTreeMap<u32, Reader>,
    /// Which processors completed its requests.
    pub completed_on: CompletedOn,
    /// Per second.
    pub series: Series<Second>,
    /// What passed by, event by event.
    pub traffic: Traffic,
    /// The recorded device that lies on this one.
    pub upper: Option<DevId>,
    /// Reads that it sent to devices below for none of its own bios that was seen.
    pub unclaimed: Unclaimed,
    /// Bios that were in flight at the end although parts of them had been served, by class: of all tasks, whoever was asked about.
    pub unfinished: [Unfinished; Class::COUNT],
}

impl Device {
    /// A device of which nothing is known yet.
    pub fn new(id: DevId) -> Device {
        Device {
            id,
            requests: Default::default(),
            bios: Default::default(),
            contention: Default::default(),
            depth: Depth::new(),
            tags: Tags::default(),
            plugs: BTreeMap::new(),
            pace: Pace::default(),
            model: Model::default(),
            alignment: Alignment::default(),
            let_go: Default::default(),
            reread: Reread::default(),
            readers: BTreeMap::new(),
            completed_on: CompletedOn::default(),
            series: Series::new(),
            traffic: Traffic::default(),
            upper: None,
            unclaimed: Unclaimed::default(),
            unfinished: Default::default(),
        }
    }

    /// Whether requests were seen here; md and dm have bios only.
    pub fn has_requests(&self) -> bool {
        self.requests.iter().any(|r| r.count > 0)
    }

    /// Whether any I/O was seen here.
    pub fn has_io(&self) -> bool {
        self.has_requests() || self.bios.iter().any(|b| b.phases.count > 0)
    }

    /// Time between the first and the last event.
    pub fn duration(&self) -> Nanos {
        self.traffic.duration()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_by_powers_of_two() {
        let mut d = ByDepth::default();
        for (others, d2c) in [(0, 10), (1, 20), (2, 30), (3, 50), (u64::MAX, 7)] {
            d.record(others, Nanos(d2c));
        }
        let rows: Vec<_> = d.rows().map(|r| (r.from, r.count, r.mean.0)).collect();
        assert_eq!(rows, [(0, 1, 10), (1, 1, 20), (2, 2, 40), (32768, 1, 7)]);
    }
}
