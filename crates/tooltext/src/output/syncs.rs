//! Computes the part of a job's time that its syncs take, from fio's statistics.
//!
//! ```text
//! write: IOPS=97, BW=390KiB/s (399kB/s)(22.9MiB/60012msec)
//!   sync (usec): min=4012, max=48211, avg=10083.10, stdev=2211.40          97 times 10.1 ms in each second: 98 %
//! ```
//!
//! Many versions of fio print a count of 0 syncs, and an excerpt may have no count. One sync per write is then assumed if
//! writes and syncs together take the job's time.

use super::number::Number;
use super::reading::Reading;

/// The syncs of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Syncs {
    /// Number of syncs; `None` if the text has neither their number nor the run time.
    pub count: Option<f64>,
    /// Syncs per second.
    pub rate: f64,
    /// Mean time of a sync.
    pub mean: Number,
    /// Part of the job's time that syncs take, 0 to 1.
    pub share: f64,
}

/// Range in which the sum of means over the run's time is plausible: the job itself takes some time, too.
const FITS: std::ops::Range<f64> = 0.8..1.1;

impl Reading {
    /// Number of jobs that the numbers cover; 1 if unknown.
    fn jobs(&self) -> f64 {
        self.known_jobs().unwrap_or(1.0)
    }

    /// Number of jobs that the numbers cover, as the text says it, or as a group's rate and the mean rate of a job in it show.
    fn known_jobs(&self) -> Option<f64> {
        let said = self.setting("jobs").or_else(|| self.setting("numjobs"));
        let said = said.and_then(|n| n.parse().ok()).filter(|n: &f64| *n >= 1.0);
        said.or_else(|| {
            let write = self.row("write")?;
            let jobs = (write.value("iops")? / write.value("iops.mean")?).round();
            // Of one job the two are equal, but newer versions print the sum of all jobs as their mean.
            (jobs.is_finite() && jobs >= 2.0).then_some(jobs)
        })
    }

    /// Operations in flight on average, of all kinds but syncs.
    fn others_in_flight(&self) -> f64 {
        let all = ["read", "write", "trim"].into_iter().filter_map(|of| self.share_of(of));
        all.sum::<f64>() * self.jobs()
    }

    /// Run time in seconds; `None` if unknown.
    fn seconds(&self) -> Option<f64> {
        let all = ["write", "read", "trim"].iter().filter_map(|of| self.row(of)?.value("runtime"));
        Some(all.fold(0.0, f64::max) / 1e9).filter(|s| *s > 0.0)
    }

    /// Part of the run time that an operation takes, per job; above 1 if many operations are in flight.
    pub fn share_of(&self, of: &str) -> Option<f64> {
        if of == "sync" {
            return Some(self.syncs()?.share);
        }
        let row = self.row(of)?;
        let rate = self.rate_of(of)?;
        let mean = row.total_latency("mean").or_else(|| row.latency("mean"))?.value;
        Some(rate * mean / 1e9 / self.jobs()).filter(|share| share.is_finite())
    }

    /// Operations per second: number divided by run time, or as printed.
    fn rate_of(&self, of: &str) -> Option<f64> {
        let row = self.row(of)?;
        let counted = || Some(row.value("count").filter(|n| *n > 0.0)? / self.seconds()?);
        counted().or_else(|| row.value("iops"))
    }

    /// The syncs of the job; `None` if the text has no times of syncs, or their number is unknown.
    pub fn syncs(&self) -> Option<Syncs> {
        let sync = self.row("sync")?;
        let mean = sync.get("sync.mean")?;
        let in_flight = |rate: f64| rate * mean.value / 1e9;
        // An excerpt does not say how many jobs there are: at least so many that each has one operation in flight.
        let part = |rate: f64| {
            let least = || (in_flight(rate) + self.others_in_flight()).max(1.0);
            in_flight(rate) / self.known_jobs().unwrap_or_else(least)
        };
        let counted = || Some((sync.value("count").filter(|n| *n > 0.0)?, self.seconds()?));
        let (count, rate) = match counted() {
            Some((count, seconds)) => (Some(count), count / seconds),
            None => {
                let rate = self.rate_of("write")?;
                let each = in_flight(rate) / self.jobs();
                let fits = FITS.contains(&(each + self.share_of("write").unwrap_or(0.0)));
                fits.then(|| (self.seconds().map(|seconds| rate * seconds), rate))?
            }
        };
        Some(Syncs { count, rate, mean, share: part(rate) }).filter(|s| s.share.is_finite())
    }
}
