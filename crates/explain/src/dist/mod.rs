//! Distributions of the times of operations by file system: the output of xfsdist, ext4dist and btrfsdist, for every file system, and of
//! the same operations one and two layers below.
//!
//! Invariant: the histogram and the percentiles of an operation count the same times; all intervals together equal the whole.

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

/// The options of `iowhy dist`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Question {
    /// Only file systems of this kind; `None`: all.
    pub fs: Option<Fs>,
    /// The unit of the histograms.
    pub unit: Unit,
    /// The length of an interval; `None`: one interval for the whole recording.
    pub interval: Option<Nanos>,
}

/// The times of one kind of operation on one file system.
#[derive(Clone, Debug)]
pub struct Times {
    /// Their latencies, in nanoseconds.
    pub latency: Distribution,
    /// The same latencies by powers of two.
    pub histogram: Histogram,
    /// Number of operations that waited for no request.
    pub without_io: u64,
    /// Number of operations that returned an error.
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

/// Times by file system and kind of operation.
pub type Groups = BTreeMap<Where, BTreeMap<Ranked, Times>>;

/// A kind of operation with its rank in the output: first those that xfsdist shows.
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

/// Maximal number of intervals; the last one takes all that follows.
const MAX_INTERVALS: u64 = 10_000;
/// Maximal number of distributions, each of about 10 KiB; if it is reached, the last interval takes all that follows.
const MAX_DISTRIBUTIONS: usize = 8192;
/// Maximal number of file systems.
const MAX_FILE_SYSTEMS: usize = 1024;

/// Collects the distributions of a recording.
#[derive(Debug, Default)]
pub struct Dist {
    /// The options.
    pub question: Question,
    /// By number of the interval; all in number 0 if no interval is set.
    intervals: BTreeMap<u64, Groups>,
    /// Number of distributions in `intervals`.
    distributions: usize,
    began: Option<Nanos>,
    /// `Q2C` of bios that no recorded device above sent.
    bios: BTreeMap<(DevId, Class), Distribution>,
    /// `D2C` of requests.
    requests: BTreeMap<(DevId, Class), Distribution>,
    /// Devices of the requests that operations waited for, by file system.
    waited_for: BTreeMap<Where, BTreeSet<DevId>>,
    /// Pairs of a lower and an upper device.
    stacked: Vec<(DevId, DevId)>,
    /// Number of operations on file systems beyond the maximal number.
    pub left_out: u64,
}

impl Dist {
    /// Starts empty.
    pub fn new(question: Question) -> Dist {
        Dist { question, ..Dist::default() }
    }

    /// Sets the beginning of the recording; later calls have no effect.
    pub fn begins(&mut self, at: Nanos) {
        self.began.get_or_insert(at);
    }

    /// Ends the recording. `stacked`: pairs of a lower and an upper device. Operations with only a known device are added to the file system
    /// that turned out to be on that device.
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

    /// The sums over all intervals.
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

    /// Each interval with its beginning, in nanoseconds since the recording began; one interval if no length is set.
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
