//! Reads `samples.jsonl`: the kernel's counters, sampled once per second during the recording (docs/capture.md).
//!
//! Counters run since boot, so each pair of samples gives an [`Interval`] of differences. Differences can be added: two
//! consecutive intervals make one, with only resolution lost. That bounds the memory:
//! when there are too many intervals, they are joined in pairs, and each later one covers twice the time.
//!
//! ```text
//! 10 reads at 1 s, 14 at 2 s, 20 at 3 s    ->    4 in the first interval, 6 in the second; 10 in both together
//! ```
//!
//! Unusable data is left out and counted in [`SampleQuality`]: lines that are no sample, and intervals of a device in
//! which its counters restarted.

mod counters;
mod interval;
mod quality;

pub use interval::{CpuUse, DiskUse, Interval, Io, Stalled};
pub use quality::SampleQuality;

use crate::fact::{At, Place};
use capture::{Sample, SAMPLES_JSONL};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use trace::Nanos;

/// Limit on the length of a line in bytes: 16,384 devices take 2 MB.
const LONGEST_LINE: u64 = 4 << 20;
/// Limit on kept entries of devices and processors, 130 bytes each: a day of 100 devices is joined to 90 s per interval.
const MOST_CELLS: usize = 100_000;

/// The samples of a recording.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Intervals in time order, without gaps except where samples are missing.
    pub intervals: Vec<Interval>,
    /// Counts of what was left out and of oddities.
    pub quality: SampleQuality,
}

impl Samples {
    /// Reads the samples of the capture at `path`, a folder or a file in it, or `path` itself if it has the name of a samples
    /// file. `None` if the file does not exist.
    pub fn read(path: &Path) -> io::Result<Option<Samples>> {
        let own_name = path.file_name().is_some_and(|name| name == SAMPLES_JSONL);
        let file = match path.is_dir() {
            true => path.join(SAMPLES_JSONL),
            false if own_name => path.to_path_buf(),
            false => path.with_file_name(SAMPLES_JSONL),
        };
        // Reading a named pipe might never end.
        if !file.is_file() {
            return Ok(None);
        }
        Samples::from_reader(BufReader::new(File::open(file)?)).map(Some)
    }

    /// Reads samples, one per line.
    pub fn from_reader(mut from: impl BufRead) -> io::Result<Samples> {
        let mut joining = Joining::new(MOST_CELLS);
        let mut before: Option<Sample> = None;
        let mut text = Vec::new();
        for number in 1.. {
            text.clear();
            if (&mut from).take(LONGEST_LINE).read_until(b'\n', &mut text)? == 0 {
                break;
            }
            let whole = text.last() == Some(&b'\n');
            let too_long = !whole && text.len() as u64 == LONGEST_LINE;
            if too_long {
                skip_line(&mut from)?;
            }
            let quality = &mut joining.samples.quality;
            match serde_json::from_slice::<Sample>(&text) {
                Ok(line) if !too_long => {
                    quality.samples += 1;
                    let interval =
                        before.as_ref().and_then(|before| Interval::between(before, &line, quality));
                    // A sample with an earlier time is skipped; the next one is compared with the last good one.
                    if interval.is_some() || before.is_none() {
                        before = Some(line);
                    }
                    if let Some(interval) = interval {
                        joining.add(interval);
                    }
                }
                _ if text.trim_ascii().is_empty() => {}
                Err(_) if !whole && !too_long => quality.cut = true,
                _ => {
                    quality.unknown += 1;
                    let place = Place::Line(number);
                    quality.first_unknown.get_or_insert(At { file: SAMPLES_JSONL.into(), place });
                }
            }
        }
        Ok(joining.end())
    }

    /// Start of the first interval and end of the last, on the trace's clock; `None` without intervals.
    pub fn span(&self) -> Option<(Nanos, Nanos)> {
        Some((self.intervals.first()?.from, self.intervals.last()?.to))
    }

    /// Names of the devices that had I/Os in flight in every sample, in all for at least `time`, and completed none, while tasks were blocked:
    /// they hang. Where nobody is blocked, the kernel may have lost count of what is in flight.
    pub fn hung(&self, time: Nanos) -> Vec<Arc<str>> {
        let hangs = |i: &Interval, name: &str| {
            let device = i.disks.get(name);
            i.blocked > 0 && device.is_some_and(|d| d.in_flight > 0 && d.has_completed_nothing())
        };
        let long = self.span().is_some_and(|(from, to)| to.since(from) >= time);
        let names = self.intervals.first().filter(|_| long).into_iter().flat_map(|i| i.disks.keys());
        names.filter(|name| self.intervals.iter().all(|i| hangs(i, name))).cloned().collect()
    }

    /// Names of the devices with any I/O, sorted.
    pub fn active_disks(&self) -> Vec<Arc<str>> {
        let all = self.intervals.iter().flat_map(|i| &i.disks);
        let mut names: Vec<_> =
            all.filter(|(_, disk)| !disk.is_idle()).map(|(name, _)| name.clone()).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// Skips the rest of a line.
fn skip_line(from: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = from.fill_buf()?;
        let (used, end) = match buffer.iter().position(|b| *b == b'\n') {
            Some(at) => (at + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        from.consume(used);
        if end {
            return Ok(());
        }
    }
}

/// Collects intervals, and joins them in pairs when there are too many.
struct Joining {
    samples: Samples,
    most_cells: usize,
    cells: usize,
    /// Number of the file's intervals that make one.
    width: u64,
    /// The incomplete interval, and the number of intervals joined in it.
    open: Option<(Interval, u64)>,
}

impl Joining {
    fn new(most_cells: usize) -> Joining {
        Joining { samples: Samples::default(), most_cells, cells: 0, width: 1, open: None }
    }

    fn add(&mut self, next: Interval) {
        let (interval, made_of) = match self.open.take() {
            None => (next, 1),
            Some((mut open, n)) => {
                open.join(&next);
                (open, n + 1)
            }
        };
        if made_of < self.width {
            self.open = Some((interval, made_of));
            return;
        }
        self.cells += interval.cells();
        self.samples.intervals.push(interval);
        if self.cells > self.most_cells && self.samples.intervals.len() > 1 {
            self.halve();
        }
    }

    fn halve(&mut self) {
        let mut joined: Vec<Interval> = Vec::with_capacity(self.samples.intervals.len() / 2);
        let mut all = std::mem::take(&mut self.samples.intervals).into_iter();
        while let Some(mut first) = all.next() {
            match all.next() {
                Some(second) => {
                    first.join(&second);
                    joined.push(first);
                }
                None => self.open = Some((first, self.width)),
            }
        }
        self.width *= 2;
        self.cells = joined.iter().map(Interval::cells).sum();
        self.samples.intervals = joined;
    }

    fn end(mut self) -> Samples {
        self.samples.intervals.extend(self.open.map(|(interval, _)| interval));
        self.samples.quality.joined = self.width;
        self.samples
    }
}

#[cfg(test)]
mod tests;
