//! How long operations took, by file system: what xfsdist, ext4dist and btrfsdist print, of every file
//! system, and the same operations a layer below and two below.
//!
//! Invariant: the histogram and the percentiles of an operation count the same times; those of all intervals
//! together are those of the whole.

mod histogram;
mod layers;

pub use histogram::{Histogram, Row, Unit};
pub use layers::{Family, Layer};

use life::{Bio, Class, IoObserver, Names, Request};
use operation::{Account, History, Kind, Operation, OperationObserver, Part};
use stats::Distribution;
use std::collections::{BTreeMap, BTreeSet};
use trace::{Call, DevId, Fs, Nanos};

/// A file system: its kind and its device.
pub type Where = (Fs, DevId);

/// What is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Question {
    /// Only file systems of this kind.
    pub fs: Option<Fs>,
    /// What the steps of histograms are counted in.
    pub unit: Unit,
    /// Print every so often.
    pub interval: Option<Nanos>,
}

/// Operations of one kind on one file system.
#[derive(Clone, Debug)]
pub struct Times {
    /// How long they took.
    pub latency: Distribution,
    /// The same in powers of two.
    pub histogram: Histogram,
    /// How many waited for no request.
    pub without_io: u64,
    /// How many failed.
    pub errors: u64,
}

impl Times {
    fn new(unit: Unit) -> Times {
        Times { latency: Distribution::new(), histogram: Histogram::new(unit), without_io: 0, errors: 0 }
    }

    fn merge(&mut self, other: &Times) {
        self.latency.merge(&other.latency);
        self.histogram.merge(&other.histogram);
        self.without_io += other.without_io;
        self.errors += other.errors;
    }
}

/// By file system and operation.
pub type Groups = BTreeMap<Where, BTreeMap<Ranked, Times>>;

/// An operation in the order in which they are shown: those that xfsdist knows first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ranked(u8, pub Kind);

impl Ranked {
    fn of(kind: Kind) -> Ranked {
        let rank = match kind {
            Kind::Call(Call::Read) => 0,
            Kind::Call(Call::Write) => 1,
            Kind::Call(Call::Open) => 2,
            Kind::Call(Call::Fsync) => 3,
            _ => 4,
        };
        Ranked(rank, kind)
    }
}

/// Intervals that are kept at most; with more of them the last takes all that remains.
const MAX_INTERVALS: u64 = 10_000;
/// Distributions of intervals that are kept at most, each of some 10 KiB; from then on the last interval takes all that remains.
const MAX_DISTRIBUTIONS: usize = 8192;
/// File systems that are kept at most.
const MAX_FILE_SYSTEMS: usize = 1024;

/// Distributions of a recording.
#[derive(Debug, Default)]
pub struct Dist {
    /// What was asked for.
    pub question: Question,
    /// By interval; 0 where none is asked for.
    intervals: BTreeMap<u64, Groups>,
    /// How many distributions these have.
    distributions: usize,
    began: Option<Nanos>,
    /// `Q2C` of bios that no recorded device above sent.
    bios: BTreeMap<(DevId, Class), Distribution>,
    /// `D2C` of requests.
    requests: BTreeMap<(DevId, Class), Distribution>,
    /// Devices of the requests that operations waited for.
    waited_for: BTreeMap<Where, BTreeSet<DevId>>,
    /// (lower, upper).
    stacked: Vec<(DevId, DevId)>,
    /// Operations of file systems for which there was no room.
    pub left_out: u64,
}

impl Dist {
    /// Nothing seen yet.
    pub fn new(question: Question) -> Dist {
        Dist { question, ..Dist::default() }
    }

    /// The recording began then.
    pub fn begins(&mut self, at: Nanos) {
        self.began.get_or_insert(at);
    }

    /// Ends the recording. `stacked`: which device lies on which, (lower, upper). Operations of which only
    /// the device was known go to the file system that turned out to be on it.
    pub fn finish(&mut self, stacked: Vec<(DevId, DevId)>) {
        self.stacked = stacked;
        let known: BTreeMap<DevId, Fs> = self
            .waited_for
            .keys()
            .filter(|(fs, _)| ![Fs::Unknown, Fs::Block].contains(fs))
            .map(|(fs, dev)| (*dev, *fs))
            .collect();
        let unit = self.question.unit;
        for groups in self.intervals.values_mut() {
            for (dev, fs) in &known {
                let Some(kinds) = groups.remove(&(Fs::Unknown, *dev)) else { continue };
                let there = groups.entry((*fs, *dev)).or_default();
                for (kind, times) in kinds {
                    there.entry(kind).or_insert_with(|| Times::new(unit)).merge(&times);
                }
            }
        }
        if let Some(fs) = self.question.fs {
            self.intervals.values_mut().for_each(|groups| groups.retain(|place, _| place.0 == fs));
        }
    }

    /// Everything, of all intervals.
    pub fn whole(&self) -> Groups {
        let mut all = Groups::new();
        for (place, kinds) in self.intervals.values().flatten() {
            for (kind, times) in kinds {
                let unit = self.question.unit;
                all.entry(*place).or_default().entry(*kind).or_insert_with(|| Times::new(unit)).merge(times);
            }
        }
        all
    }

    /// Each interval with its beginning, in nanoseconds since the recording began; one if none was asked for.
    pub fn intervals(&self) -> impl Iterator<Item = (Nanos, &Groups)> {
        let length = self.question.interval.unwrap_or_default().0;
        self.intervals.iter().map(move |(n, groups)| (Nanos(n.saturating_mul(length)), groups))
    }

    fn interval_of(&self, t: Nanos) -> u64 {
        let (Some(length), Some(began)) = (self.question.interval, self.began) else { return 0 };
        let interval = (t.since(began).0 / length.0.max(1)).min(MAX_INTERVALS - 1);
        match self.intervals.last_key_value() {
            Some((last, _)) if self.distributions >= MAX_DISTRIBUTIONS => interval.min(*last),
            _ => interval,
        }
    }
}

impl OperationObserver for Dist {
    fn operation(&mut self, o: &Operation, account: Account, _names: &Names, _history: &History) {
        if !o.is_storage || !o.kind.is_foreground() {
            return;
        }
        let place = (o.fs, o.dev);
        if self.waited_for.len() >= MAX_FILE_SYSTEMS && !self.waited_for.contains_key(&place) {
            self.left_out += 1;
            return;
        }
        let devices = self.waited_for.entry(place).or_default();
        let mut io = false;
        for node in &account.nodes {
            if let Part::Request(entry) = &node.part {
                io = true;
                devices.insert(entry.done.dev());
            }
        }
        let (interval, unit) = (self.interval_of(o.to), self.question.unit);
        let groups = self.intervals.entry(interval).or_default();
        let kinds = groups.entry(place).or_default();
        let times = kinds.entry(Ranked::of(o.kind)).or_insert_with(|| {
            self.distributions += 1;
            Times::new(unit)
        });
        times.latency.record(o.total().0);
        times.histogram.record(o.total());
        times.without_io += u64::from(!io);
        times.errors += u64::from(o.result < 0);
    }
}

impl IoObserver for Dist {
    fn request(&mut self, r: &Request, _names: &Names) {
        if let Some(d2c) = r.time.d2c() {
            self.requests.entry((r.dev, r.class())).or_default().record(d2c.0);
        }
    }

    fn bio(&mut self, b: &Bio, _names: &Names) {
        if let Some(q2c) = b.time.q2c().filter(|_| !b.is_child()) {
            self.bios.entry((b.dev, b.class())).or_default().record(q2c.0);
        }
    }
}
