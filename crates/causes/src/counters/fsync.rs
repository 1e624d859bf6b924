//! Writes that take no time, and an fsync after each that takes all of it: `flush-cost`, from fio's two rows.
//!
//! fio reports syncs separately from writes: how many, and what they took. **Proof**: syncs take most of the run.
//! **Refuted** if they take little of it. These sums cannot say what happens within a sync (the journal, the device's
//! cache); if iostat beside them shows that the device took little of it, that is reported instead.

use super::place::{readings, In};
use super::say::number;
use super::thresholds::evidence::REQUESTS;
use super::thresholds::fsync::{MOSTLY, NOTABLE};
use super::{flush_times, fsync_calls};
use crate::proof::proof;
use crate::remedy::{Action, Acts};
use crate::verdict::{Confidence, Verdict};
use tooltext::{Reading, Syncs as Of, ToolOutput};
use trace::Nanos;

const NAME: &str = "flush-cost";

/// The syncs of one job.
struct Syncs<'a> {
    place: In<'a>,
    job: &'a str,
    all: Of,
}

/// Judges by fio's rows, or by strace's if there are none.
pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    by_fio(outputs).or_else(|| fsync_calls::judge(NAME, outputs)).or_else(|| not_said(outputs))
}

fn by_fio(outputs: &[ToolOutput]) -> Option<Verdict> {
    let all: Vec<Syncs> = readings(outputs, "fio").filter_map(|(place, r)| syncs(place, r)).collect();
    let most = all.iter().max_by(|a, b| a.all.share.total_cmp(&b.all.share))?;
    let told = |s: &Syncs| match s.all.count {
        Some(count) => proof!(
            "{job}: {n} syncs of {mean} each ({at}) are {share} of its time",
            job = s.job,
            n = Count(count as u64),
            mean = number(s.all.mean),
            at = Source(s.place.at(s.all.mean)),
            share = Share(s.all.share.min(1.0))
        ),
        None => proof!(
            "{job}: {n} syncs a second of {mean} each ({at}), one behind each write, are {share} of its time",
            job = s.job,
            n = Count(s.all.rate as u64),
            mean = number(s.all.mean),
            at = Source(s.place.at(s.all.mean)),
            share = Share(s.all.share.min(1.0))
        ),
    };
    if most.all.share < NOTABLE {
        return Some(Verdict::rejected(NAME, told(most)));
    }
    if most.all.share < MOSTLY {
        return None;
    }
    let above = flush_times::passes_above(NAME, outputs, most.all.mean, most.all.rate);
    if above.is_some() {
        return above;
    }
    // An excerpt does not say how long it ran, and so not how many syncs there were.
    let sure = if most.all.count.is_some() { Confidence::Medium } else { Confidence::Low };
    let mut v = Verdict::found(NAME, Nanos(0), sure).because(told(most));
    v = all
        .iter()
        .filter(|s| s.all.share >= MOSTLY && s.job != most.job)
        .take(MOST_JOBS)
        .map(told)
        .fold(v, Verdict::because);
    v.share = most.all.share.min(1.0);
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
            Action::look("strace -fc -e fsync,fdatasync,msync -p PID"),
        )
        .try_this(
            "a device with power-loss protection answers a flush without emptying its cache; see whether \
                     the kernel sends it any",
            Action::look("grep -H . /sys/block/*/queue/write_cache"),
        ),
    )
}

/// *Cannot tell*, if the output has no syncs and its operations take little of the job's time. A limit of its rate would explain that as well.
fn not_said(outputs: &[ToolOutput]) -> Option<Verdict> {
    let (place, reading, share) = readings(outputs, "fio").find_map(|(place, r)| unknown(place, r))?;
    let at = place.at(reading.row("write")?.get("iops")?);
    let missing = proof!(
        "{job}: reads and writes take {share} of its time ({at}), and of syncs terse output says nothing; --output-format=json (fio 3.5 \
         and later) does",
        job = reading.called(),
        share = Share(share),
        at = Source(at)
    );
    Some(Verdict::cannot_tell(NAME, missing))
}

/// The most jobs that are reported beside the one with the largest part.
const MOST_JOBS: usize = 3;

/// The syncs of a job, if there are enough to say anything; for an excerpt without its run time, enough in each second.
fn syncs<'a>(place: In<'a>, reading: &'a Reading) -> Option<Syncs<'a>> {
    let all = reading.syncs()?;
    (all.count.unwrap_or(all.rate) >= REQUESTS).then_some(())?;
    Some(Syncs { place, job: reading.called(), all })
}

/// A job in fio's terse output, which has no syncs, whose operations take next to none of its time: syncs may take the rest.
fn unknown<'a>(place: In<'a>, reading: &'a Reading) -> Option<(In<'a>, &'a Reading, f64)> {
    (reading.setting("output-format") == Some("terse")).then_some(())?;
    let write = reading.row("write")?;
    let most = write.value("runtime")? / 1e9 * write.value("iops")?;
    let share = ["read", "write", "trim"].iter().filter_map(|of| reading.share_of(of)).sum::<f64>();
    (most >= REQUESTS && share > 0.0 && share < NOTABLE).then_some((place, reading, share))
}
