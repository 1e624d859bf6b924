//! Statistics of one device.

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

/// What a device completed in one step of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Second {
    /// Number of requests (bios, on a bio-based device), by class.
    pub completed: [u64; Class::COUNT],
    /// Bytes of these, by class.
    pub bytes: [Bytes; Class::COUNT],
    /// Time from queue to completion, summed, by class.
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

/// Statistics of plugs, by which tasks held requests back.
#[derive(Clone, Debug, Default)]
pub struct PlugStats {
    /// Number of plugs ended by the task itself.
    pub explicit: u64,
    /// Number of plugs ended because the task went to sleep.
    pub implicit: u64,
    /// Requests sent by explicit and by implicit unplugs.
    pub requests: [u64; 2],
    /// Durations of plugs in ns.
    pub held: Distribution,
}

impl PlugStats {
    /// Adds a plug that has ended.
    pub fn record(&mut self, plug: &Plug) {
        *(if plug.implicit { &mut self.implicit } else { &mut self.explicit }) += 1;
        let requests = &mut self.requests[plug.implicit as usize];
        *requests = requests.saturating_add(plug.requests);
        if let Some(from) = plug.from {
            self.held.record(plug.to.since(from).0);
        }
    }
}

/// Bios of one class on one device.
#[derive(Clone, Debug, Default)]
pub struct BioStats {
    /// Times by phase; `q2g` of a merged bio is the time until it had joined a request.
    pub phases: Phases,
    /// `Q2M`: `q2g` of merged bios only.
    pub q2m: Distribution,
    /// Number of bios that were merged into a request of another bio.
    pub merged: u64,
    /// Number of bios that were split.
    pub split: u64,
    /// Size of the largest bio.
    pub largest: Bytes,
}

impl BioStats {
    /// Adds a bio. The phases of a bio that is a whole request are already in the cells.
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

/// Mean `D2C` by the number of others in the device at issue, in powers of two: none, 1, 2 to 3, 4 to 7, ... A device
/// that serves one request at a time takes twice as long with twice as many; one that serves many at once does not.
#[derive(Clone, Debug, Default)]
pub struct ByDepth {
    counts: [u64; ByDepth::ROWS],
    times: [Nanos; ByDepth::ROWS],
}

/// A row of [`ByDepth`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthRow {
    /// Smallest number of others.
    pub from: u64,
    /// Largest number of others.
    pub to: u64,
    /// Number of requests issued with that many others.
    pub count: u64,
    /// Their mean `D2C`.
    pub mean: Nanos,
}

impl ByDepth {
    const ROWS: usize = 17;

    /// Adds a request issued with `others` in the device.
    #[inline]
    pub fn record(&mut self, others: u64, d2c: Nanos) {
        let row = (64 - others.leading_zeros() as usize).min(Self::ROWS - 1);
        self.counts[row] += 1;
        self.times[row] += d2c;
    }

    /// The rows that have requests, the fewest others first.
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

/// Latency of requests of one class with and without others in flight.
#[derive(Clone, Debug, Default)]
pub struct UnderContention {
    /// `D2C` of requests issued while the device was flooded with background writes.
    pub flooded: Distribution,
    /// `D2C` of requests issued with no background write in flight.
    pub clear: Distribution,
    /// Number of background writes in flight at issue.
    pub background: Distribution,
    /// Number of requests of any class in flight at issue.
    pub depth: Distribution,
    /// `D2C` by the number of requests in flight at issue.
    pub by_depth: ByDepth,
    /// `D2C` by the bytes in flight at issue, for requests of like size.
    pub by_bytes: ByBytes,
    /// `I2D` of requests that background writes overtook.
    pub overtaken: Distribution,
    /// Number of background writes that overtook each of these.
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

/// Largest number of CPUs that are distinguished; further ones count as the last.
const MAX_CPUS: usize = 4096;

/// Completed requests by CPU.
#[derive(Clone, Debug, Default)]
pub struct CompletedOn {
    cpus: Vec<(u64, Nanos)>,
}

impl CompletedOn {
    /// Adds a request completed on a CPU with this delay ([`life::Contention::late`]).
    #[inline]
    pub fn record(&mut self, cpu: Cpu, late: Nanos) {
        let at = (cpu.0 as usize).min(MAX_CPUS - 1);
        if self.cpus.len() <= at {
            self.cpus.resize(at + 1, (0, Nanos(0)));
        }
        self.cpus[at].0 += 1;
        self.cpus[at].1 += late;
    }

    /// Number of requests that each CPU completed and their total delay, the largest delay first.
    pub fn cpus(&self) -> Vec<(Cpu, u64, Nanos)> {
        let each = self.cpus.iter().zip(0..).map(|((n, late), cpu)| (Cpu(cpu), *n, *late));
        let mut all: Vec<_> = each.filter(|(_, n, _)| *n > 0).collect();
        all.sort_by_key(|(_, _, late)| std::cmp::Reverse(*late));
        all
    }
}

/// Statistics of one device.
#[derive(Debug)]
pub struct Device {
    /// The device's number.
    pub id: DevId,
    /// Requests served here, by class.
    pub requests: [Phases; Class::COUNT],
    /// Bios queued here, by class.
    pub bios: [BioStats; Class::COUNT],
    /// Contention seen by requests, by class.
    pub contention: [UnderContention; Class::COUNT],
    /// Requests in the device over time.
    pub depth: Depth,
    /// Times when it held as many requests as it ever does.
    pub tags: Tags,
    /// Plugs by task number.
    pub plugs: BTreeMap<u32, PlugStats>,
    /// How evenly it completes, and what it does after idle times.
    pub pace: Pace,
    /// Estimated number of requests that it serves at once.
    pub model: Model,
    /// Writes of whole blocks compared with other writes.
    pub alignment: Alignment,
    /// What control groups' limits held and released: reads, then writes.
    pub let_go: [LetGo; 2],
    /// What it read, and what of it had been read before.
    pub reread: Reread,
    /// How sequentially tasks read, by task number.
    pub readers: BTreeMap<u32, Reader>,
    /// CPUs that completed its requests.
    pub completed_on: CompletedOn,
    /// Throughput over time.
    pub series: Series<Second>,
    /// Counts of events, without following any I/O.
    pub traffic: Traffic,
    /// The recorded stacked device that uses this one.
    pub upper: Option<DevId>,
    /// Reads that it sent below and that belong to none of its recorded bios.
    pub unclaimed: Unclaimed,
    /// Whether it had requests from the recording's beginning to its end and completed none.
    pub hangs: bool,
    /// Bios in flight at the end although parts of them had been served, by class: of all tasks, whatever was asked about.
    pub unfinished: [Unfinished; Class::COUNT],
}

impl Device {
    /// A device without any statistics.
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
            hangs: false,
            unfinished: Default::default(),
        }
    }

    /// Whether requests were seen here, or it [hangs](Device::hangs) with some. md and dm have only bios.
    pub fn has_requests(&self) -> bool {
        self.hangs || self.requests.iter().any(|r| r.count > 0)
    }

    /// Whether any I/O was seen here.
    pub fn has_io(&self) -> bool {
        self.has_requests() || self.bios.iter().any(|b| b.phases.count > 0)
    }

    /// Time between the first and the last event.
    pub fn duration(&self) -> Nanos {
        self.traffic.duration()
    }

    /// Phases of requests (bios, on a bio-based device) of a class.
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
