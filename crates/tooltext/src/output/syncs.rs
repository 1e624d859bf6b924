//! What part of a job's time its syncs take, by fio's sums.
//!
//! ```text
//! write: IOPS=97, BW=390KiB/s (399kB/s)(22.9MiB/60012msec)
//!   sync (usec): min=4012, max=48211, avg=10083.10, stdev=2211.40          97 times 10.1 ms in each second: 98 %
//! ```
//!
//! Many versions print that there were 0 syncs, and an excerpt has no numbers of them. Then one behind each write is what fits if
//! both together take the job's time.

use super::number::Number;
use super::reading::Reading;

/// The syncs of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Syncs {
    /// How many; unknown where the text says neither that nor how long the job ran.
    pub count: Option<f64>,
    /// How many in a second.
    pub rate: f64,
    /// What each took.
    pub mean: Number,
    /// Which part of the job's time they took.
    pub share: f64,
}

/// Sums of means and a run's time agree so far: the job itself takes some time too.
const FITS: std::ops::Range<f64> = 0.8..1.1;

impl Reading {
    /// How many jobs its numbers are of.
    fn jobs(&self) -> f64 {
        let said = self.setting("jobs").or_else(|| self.setting("numjobs"));
        said.and_then(|n| n.parse().ok()).filter(|n: &f64| *n >= 1.0).unwrap_or(1.0)
    }

    /// Its run time in seconds, as far as it says.
    fn seconds(&self) -> Option<f64> {
        let all = ["write", "read", "trim"].iter().filter_map(|of| self.row(of)?.value("runtime"));
        Some(all.fold(0.0, f64::max) / 1e9).filter(|s| *s > 0.0)
    }

    /// The part of its time that an operation of fio's takes, all jobs taken together; more than the whole where many are in flight.
    pub fn share_of(&self, of: &str) -> Option<f64> {
        if of == "sync" {
            return Some(self.syncs()?.share);
        }
        let row = self.row(of)?;
        let rate = self.rate_of(of)?;
        let mean = row.total_latency("mean").or_else(|| row.latency("mean"))?.value;
        Some(rate * mean / 1e9 / self.jobs()).filter(|share| share.is_finite())
    }

    /// Operations in a second: by their number and the run's time, or as it says.
    fn rate_of(&self, of: &str) -> Option<f64> {
        let row = self.row(of)?;
        let counted = || Some(row.value("count").filter(|n| *n > 0.0)? / self.seconds()?);
        counted().or_else(|| row.value("iops"))
    }

    /// What its syncs took; `None` where it says nothing of them, or not how many there were.
    pub fn syncs(&self) -> Option<Syncs> {
        let sync = self.row("sync")?;
        let mean = sync.get("sync.mean")?;
        let part = |rate: f64| rate * mean.value / 1e9 / self.jobs();
        let counted = || Some((sync.value("count").filter(|n| *n > 0.0)?, self.seconds()?));
        let (count, rate) = match counted() {
            Some((count, seconds)) => (Some(count), count / seconds),
            None => {
                let rate = self.rate_of("write")?;
                let fits = FITS.contains(&(part(rate) + self.share_of("write").unwrap_or(0.0)));
                fits.then(|| (self.seconds().map(|seconds| rate * seconds), rate))?
            }
        };
        Some(Syncs { count, rate, mean, share: part(rate) }).filter(|s| s.share.is_finite())
    }
}
