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

/// *Cannot tell*, if the output has no syncs, of which terse output has none and an excerpt may have lost them, and its operations take little
/// of the job's time. A limit of its rate would explain that as well.
fn not_said(outputs: &[ToolOutput]) -> Option<Verdict> {
    let (place, reading, share) = readings(outputs, "fio").find_map(|(place, r)| unknown(place, r))?;
    let at = place.at(reading.row("write")?.get("iops")?);
    if !is_terse(reading) {
        let said = proof!(
            "{job} syncs, by its command, and its reads and writes take {share} of its time ({at})",
            job = reading.called(),
            share = Share(share),
            at = Source(at)
        );
        let missing = "what its syncs take: the whole output of fio 3.5 or later";
        return Some(
            Verdict::cannot_tell(NAME, missing)
                .confirmed_by("the same job with --output-format=json")
                .because(said),
        );
    }
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

fn is_terse(reading: &Reading) -> bool {
    reading.setting("output-format") == Some("terse")
}

/// Options of fio that sync after each or each few writes, and those that do not, or hold a job back.
const ASKED: [&str; 2] = ["fsync=", "fdatasync="];
const NOT: [&str; 4] = ["fsync=0", "fdatasync=0", "rate=", "rate_iops="];

/// A job in output without syncs, terse or of a command that syncs, whose operations take next to none of its time: syncs may take the rest.
fn unknown<'a>(place: In<'a>, reading: &'a Reading) -> Option<(In<'a>, &'a Reading, f64)> {
    let said = |words: &[&str]| words.iter().any(|word| place.run.says(word));
    (is_terse(reading) || said(&ASKED) && !said(&NOT) && reading.syncs().is_none()).then_some(())?;
    let write = reading.row("write")?;
    let most = write.value("runtime")? / 1e9 * write.value("iops")?;
    let share = ["read", "write", "trim"].iter().filter_map(|of| reading.share_of(of)).sum::<f64>();
    (most >= REQUESTS && share > 0.0 && share < NOTABLE).then_some((place, reading, share))
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use crate::verdict::Answer;
    use tooltext::ToolOutput;

    /// The syncs are not in an excerpt of fio's output, but its command asks for one after each write of 0.2 ms, of which there are 273 a second.
    #[test]
    fn syncs_that_the_command_asks_for_are_suspected() {
        let of = |options: &str, mean: f64| {
            let text = format!(
                "$ fio {options} --rw=write --ioengine=sync --size=10m --bs=2300 --name=test\n\
                 test: (g=0): rw=write, bs=(R) 2300B-2300B, (W) 2300B-2300B, (T) 2300B-2300B, ioengine=sync, iodepth=1\n\
                 fio-3.14\nStarting 1 process\n\
                 test: (groupid=0, jobs=1): err= 0: pid=769674: Mon Dec 16 12:34:15 2019\n\
                 \x20 write: IOPS=273, BW=613KiB/s (628kB/s)(9.00MiB/16695msec); 0 zone resets\n\
                 \x20   clat (usec): min=2, max=15056, avg={mean}, stdev=356.47\n\
                 \x20    lat (usec): min=2, max=15057, avg={mean}, stdev=356.57\n"
            );
            let all = judge_counters(&[ToolOutput::read("fio", text.as_bytes())]);
            all.into_iter()
                .find(|v| v.cause == "flush-cost")
                .map(|v| (v.verdict, v.evidence.first().map(|e| e.sentence())))
        };
        let said = "test syncs, by its command, and its reads and writes take 5.5 % of its time (fio:6)";
        assert_eq!(of("--fdatasync=1", 200.0), Some((Answer::CannotTell, Some(said.to_owned()))));
        for options in ["--fdatasync=0", "--direct=1", "--fsync=1 --rate=600k"] {
            assert_eq!(of(options, 200.0), None, "{options}");
        }
        assert_eq!(of("--fdatasync=1", 3400.0), None, "the writes take that time");
    }
}
