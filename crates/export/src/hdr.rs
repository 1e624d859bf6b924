//! HdrHistogram logs (HdrHistogram's "Histogram log format version 1.3"): latencies of each second by kind, for its
//! plotter, processors and libraries in many languages.
//!
//! Each line has a tag (`vda:read`, `fsync`), the start and length of its interval, the longest latency in
//! milliseconds, and the histogram, in nanoseconds with three significant digits.

use crate::device_names::DeviceNames;
use crate::output::{Failure, Folder, Output};
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::Histogram;
use life::{Bio, Class, IoObserver, Names, Request};
use operation::{Account, Follow, History, Kind, Operation, OperationObserver, Outside};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::{Duration, SystemTime};
use trace::{Batch, DevId, Nanos};

/// Significant digits, as most users of HdrHistogram choose: an error of at most 0.1 %.
const DIGITS: u8 = 3;
/// Longer latencies count as one hour, the limit of HdrHistogram's own tools.
const LONGEST: u64 = 3_600_000_000_000;
/// Maximal number of kinds with histograms; each may take 200 KB.
const MOST_TAGS: usize = 256;
/// Latencies are in nanoseconds, but the column of the longest is in milliseconds.
const MAX_DIVISOR: f64 = 1e6;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Requests(DevId, Class),
    Operations(Kind),
}

/// A log that is being written.
pub struct HdrLog {
    follow: Follow,
    log: Log,
}

struct Log {
    out: Output,
    name: DeviceNames,
    zero: Option<Nanos>,
    second: u64,
    histograms: BTreeMap<Key, Histogram<u64>>,
    left_out: u64,
    failure: Option<io::Error>,
}

impl HdrLog {
    /// Starts the log `latency.hlog` in a folder. `began`: the start of the recording, if known.
    pub fn create(folder: &Folder, name: DeviceNames, began: Option<SystemTime>) -> Result<HdrLog, Failure> {
        let mut out = folder.file("latency.hlog")?;
        let mut head = IntervalLogWriterBuilder::new();
        head.add_comment("[Logged with iowhy: latencies in nanoseconds]");
        head.add_comment("[Histogram log format version 1.3]");
        head.add_comment("[MaxValueDivisor: 1000000.000]");
        if let Some(began) = began {
            head.with_start_time(began).with_base_time(began);
        }
        // An output reports failures only in `finish`.
        let _ = head.begin_log_with(&mut out, &mut V2DeflateSerializer::new()).map(|_| ());
        let legend =
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"";
        let _ = writeln!(out, "{legend}");
        let (zero, second, histograms, left_out, failure) = Default::default();
        let log = Log { out, name, zero, second, histograms, left_out, failure };
        Ok(HdrLog { follow: Follow::default(), log })
    }

    /// Uses a tracker with known facts about the machine and with the filter: only selected operations are written.
    pub fn follows(self, follow: Follow) -> Self {
        Self { follow, ..self }
    }

    /// Records the latencies of a batch.
    pub fn feed(&mut self, batch: &Batch) {
        if self.log.zero.is_none() {
            self.log.zero = explain::began(batch);
        }
        self.follow.feed(batch, &mut self.log);
    }

    /// Finishes the log. Returns the file's name and number of histograms, and the number of latencies left out.
    pub fn finish(mut self) -> Result<((String, u64), u64), Failure> {
        self.log.flush();
        match self.log.failure {
            Some(e) => Err(("latency.hlog".into(), e)),
            None => Ok((self.log.out.finish()?, self.log.left_out)),
        }
    }
}

impl Log {
    fn record(&mut self, key: Key, at: Nanos, latency: Nanos) {
        let second = at.since(self.zero.unwrap_or(at)).0 / Nanos::SECOND.0;
        if second > self.second {
            self.flush();
            self.second = second;
        }
        if self.histograms.len() >= MOST_TAGS && !self.histograms.contains_key(&key) {
            self.left_out += 1;
            return;
        }
        let made = || Histogram::new_with_bounds(1, LONGEST, DIGITS);
        if let std::collections::btree_map::Entry::Vacant(place) = self.histograms.entry(key) {
            match made() {
                Ok(histogram) => drop(place.insert(histogram)),
                Err(_) => return self.left_out += 1,
            }
        }
        if let Some(histogram) = self.histograms.get_mut(&key) {
            histogram.saturating_record(latency.0);
        }
    }

    /// Writes the histograms of the current second and empties them.
    fn flush(&mut self) {
        let start = Duration::from_secs(self.second);
        let mut serializer = V2DeflateSerializer::new();
        for (key, histogram) in &mut self.histograms {
            if histogram.is_empty() {
                continue;
            }
            let tag = match key {
                Key::Requests(dev, class) => format!("{}:{}", (self.name)(*dev), class_name(*class)),
                Key::Operations(kind) => kind.name().to_string(),
            };
            let tag: String = tag.chars().map(|c| if ", \r\n".contains(c) { '_' } else { c }).collect();
            let mut builder = IntervalLogWriterBuilder::new();
            builder.with_max_value_divisor(MAX_DIVISOR);
            // A builder writes the divisor as a comment; once per line would be too often.
            let mut line = vec![];
            let written = builder
                .begin_log_with(&mut line, &mut serializer)
                .map_err(io::Error::other)
                .and_then(|mut log| {
                    let one = Duration::from_secs(1);
                    log.write_histogram(histogram, start, one, Tag::new(&tag)).map_err(io::Error::other)
                });
            if let Err(e) = written {
                self.failure.get_or_insert(e);
                return;
            }
            let begin = line.iter().position(|b| *b == b'\n').map_or(0, |at| at + 1);
            let _ = self.out.write_all(&line[begin..]);
            self.out.entries += 1;
            histogram.reset();
        }
    }
}

/// The name of a class in JSON.
fn class_name(class: Class) -> String {
    serde_json::to_value(class).ok().and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default()
}

impl IoObserver for Log {
    fn request(&mut self, r: &Request, _: &Names) {
        self.record(Key::Requests(r.dev, r.class()), r.time.completed, r.time.total());
    }

    fn bio(&mut self, b: &Bio, _: &Names) {
        if !b.by_request {
            self.record(Key::Requests(b.dev, b.class()), b.time.completed, b.time.total());
        }
    }
}

impl OperationObserver for Log {
    fn operation(&mut self, o: &Operation, _: Account, _: &Names, _: &History) {
        if o.is_storage {
            self.record(Key::Operations(o.kind), o.to, o.total());
        }
    }

    fn outside(&mut self, _: &Outside) {}
}
