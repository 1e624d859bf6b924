//! Writes that take no time and the fsync behind each that takes it all: `flush-cost`, from fio's two rows.
//!
//! fio reports syncs separately from writes: how many, and what they took. **Proof**: syncs take most of the run. **Refuted** if
//! they take little of it. What passes within a sync (the journal, the device's cache) these sums cannot say.

use super::fsync_calls;
use super::say::{number, In};
use super::thresholds::fsync::{LEAST_CALLS, MOSTLY, NOTABLE};
use crate::proof::proof;
use crate::remedy::Acts;
use crate::{Confidence, Verdict};
use tooltext::{Mail, Number, Reading};
use trace::Nanos;

const NAME: &str = "flush-cost";

/// Syncs of one job.
struct Syncs<'a> {
    place: In<'a>,
    job: &'a str,
    count: f64,
    mean: Number,
    share: f64,
}

/// By fio's rows, or where there are none by strace's.
pub(super) fn judge(mails: &[Mail]) -> Option<Verdict> {
    by_fio(mails).or_else(|| fsync_calls::judge(NAME, mails))
}

fn by_fio(mails: &[Mail]) -> Option<Verdict> {
    let runs = mails.iter().flat_map(|m| m.runs.iter().map(move |run| In { mail: m, run }));
    let all: Vec<Syncs> =
        runs.flat_map(|place| place.run.of("fio").filter_map(move |r| syncs(place, r))).collect();
    let most = all.iter().max_by(|a, b| a.share.total_cmp(&b.share))?;
    let told = |s: &Syncs| {
        proof!(
            "{job}: {n} syncs of {mean} each ({at}) are {share} of its time",
            job = s.job,
            n = Count(s.count as u64),
            mean = number(s.mean),
            at = Source(s.place.at(s.mean)),
            share = Share(s.share.min(1.0))
        )
    };
    if most.share < NOTABLE {
        return Some(Verdict::rejected(NAME, told(most)));
    }
    if most.share < MOSTLY {
        return None;
    }
    let mut v = Verdict::found(NAME, Nanos(0), Confidence::Medium).because(told(most));
    v = all
        .iter()
        .filter(|s| s.share >= MOSTLY && s.job != most.job)
        .take(MOST_JOBS)
        .map(told)
        .fold(v, Verdict::because);
    v.share = most.share.min(1.0);
    Some(
        v.unless(
            "syncs that return at once: a device whose cache survives a power cut, or writes without fsync just as slow",
        )
        .without(
            "what happens within a sync, the journal's writes or the device's flush: iowhy record \
                 while it runs",
        )
        .try_on(
            Acts::Victim,
            "sync once after several writes: a sync of many costs as much as a sync of one",
            "strace -f -c -e trace=fsync,fdatasync,sync_file_range,msync -p PID",
        )
        .try_this(
            "a device with power-loss protection answers a flush without emptying its cache; see whether \
                     the kernel sends it any",
            "grep -H . /sys/block/*/queue/write_cache",
        ),
    )
}

/// Sums of means and a run's time agree so far: the job itself takes some time too.
const FITS: std::ops::Range<f64> = 0.8..1.1;
/// Jobs that are reported beside the one with the largest part.
const MOST_JOBS: usize = 3;

/// What part of a job's time its syncs take; `None` where the text does not say how many there were.
fn syncs<'a>(place: In<'a>, reading: &'a Reading) -> Option<Syncs<'a>> {
    let sync = reading.row("sync")?;
    let mean = sync.get("sync.mean")?;
    let rows = || ["write", "read"].iter().filter_map(|of| reading.row(of));
    let runtime = rows().filter_map(|r| r.value("runtime")).fold(0.0, f64::max);
    let jobs: f64 = reading.setting("numjobs").and_then(|n| n.parse().ok()).unwrap_or(1.0);
    // Many versions print 0 syncs. One behind each write is what fits if the times of both together are the run.
    let of_writes = || {
        let write = reading.row("write")?;
        let count = write.value("count").or_else(|| Some(write.value("iops")? * runtime / 1e9))?;
        let both = count * (mean.value + write.latency("mean").map_or(0.0, |n| n.value));
        FITS.contains(&(both / (runtime * jobs))).then_some(count)
    };
    let count = sync.value("count").filter(|n| *n > 0.0).or_else(of_writes).filter(|n| *n >= LEAST_CALLS)?;
    let share = count * mean.value / (runtime * jobs.max(1.0));
    (runtime > 0.0 && share.is_finite()).then_some(Syncs { place, job: reading.called(), count, mean, share })
}
