//! What is slow although nobody interferes: each request takes what such a request takes alone on this device.
//!
//! `cold-reads`: reads through the page cache that it did not have and nothing had fetched ahead. `slow-device`: anything else. Both claim the time in which the
//! device served the victim's own requests and how that varies, where it is most of what was slow. Asked last: whatever else is
//! found explains it better.

use crate::case::{Case, MIN_SAMPLES, MIN_SHARE};
use crate::device::healthy::{expected, rotational, EXPECTED_FLASH};
use crate::proof::proof;
use crate::slow::Slow;
use crate::thresholds::alone::MOSTLY;
use crate::thresholds::device_stall::LONG;
use crate::verdict::{Confidence, Verdict};
use crate::Cause;
use life::{Class, Io};
use operation::Wait;
use stats::TailRow;
use trace::Nanos;
use waits::{CulpritKind, Phase, Selection};

/// Reads.
pub const COLD_READS: Cause = Cause {
    name: "cold-reads",
    title: "reads that nothing cached or fetched ahead, each as fast as the device alone",
    page: include_str!("../../pages/cold-reads.md"),
    judge: |case| judge(case, "cold-reads", true),
};

/// Writes and flushes.
pub const SLOW_DEVICE: Cause = Cause {
    name: "slow-device",
    title: "nothing queues and nobody interferes: the device takes so long for such an operation",
    page: include_str!("../../pages/slow-device.md"),
    judge: |case| judge(case, "slow-device", false),
};

/// Of reads through the page cache, or of all other operations.
fn judge(case: &mut Case, name: &'static str, cached: bool) -> Verdict {
    let mut verdict: Option<Verdict> = None;
    let mut against = None;
    for slow in case.slow().into_iter().filter(|s| !s.is_below()) {
        let seeks = may_seek(case, &slow);
        let picks = |row: &TailRow| {
            (is_alone(case, &slow.group.task, row) || seeks && row.phase == Phase::Paused)
                && cached == (slow.group.class == Class::Read && is_cached(row))
        };
        let alone = case.unclaimed_rows(slow.group_number, |row| picks(row));
        let what = slow.words().to_string();
        let all = &slow.group.all.time;
        let mean = Nanos(all.total.0 / all.operations.max(1));
        let part = slow.share(alone);
        let throughout = (MIN_SHARE..MOSTLY).contains(&part) && part_of_all(case, &slow, picks) >= MOSTLY;
        if part < MOSTLY && !throughout {
            against = Some(proof!(
                "the device served the slowest {what} alone for {alone} of their time",
                what = Text(what),
                alone = Share(part)
            ));
            continue;
        }
        // What had to be read from the device at all is compared with flash, the device's own pace with such a device's.
        let (enough, kind) = match cached {
            true => (EXPECTED_FLASH, "a read that the cache does not have, from flash".into()),
            false => expected(&rotational(case, slow.on.id)),
        };
        // What is slow throughout has a slow mean; of a tail it is where that begins.
        let from = if throughout { mean } else { slow.group.tail.threshold };
        if from <= enough {
            against = Some(proof!(
                "{what} took {from}; Linux expects {enough} of {kind}",
                what = Text(if throughout { what } else { format!("the slowest {what}") }),
                from = Time(from),
                enough = Time(enough),
                kind = Text(kind)
            ));
            continue;
        }
        let of_device: Vec<bool> = case.rows(slow.group_number).iter().map(|row| picks(row)).collect();
        let claimed = case.claim_numbered(slow.group_number, alone, |number| of_device[number]);
        let v = verdict.take().unwrap_or_else(|| Verdict::begin(name)).plus(claimed, Confidence::High);
        verdict = Some(remedies(prove(v, case, &slow, claimed), case, &slow));
    }
    match (verdict, against) {
        (Some(v), _) => v.unless("operations that are faster on this device while nothing else runs"),
        (None, Some(against)) => Verdict::rejected(name, against),
        (None, None) => case.nothing_left(name),
    }
}

/// Whether a row is about a page, or a block of a file system, that the cache did not have.
fn is_cached(row: &TailRow) -> bool {
    [Wait::PageRead, Wait::PageFault, Wait::Metadata].into_iter().any(|wait| row.waits.has(wait))
}

/// Whether a row is time of the victim's own request, alone in the device; or of the journal's, with its own changes.
fn is_alone(case: &Case, task: &str, row: &TailRow) -> bool {
    let culprit = case.facts.waits.culprit_of(row.culprit);
    let journal = culprit.io == Some(Io::Journal) && culprit.name.as_deref() == Some(task);
    match row.phase {
        Phase::Service => culprit.kind == CulpritKind::Own || journal,
        Phase::Varies | Phase::Slow => true,
        _ => false,
    }
}

/// Which part of the time of all operations, slow or not, some rows have.
fn part_of_all(case: &Case, slow: &Slow, pick: impl Fn(&TailRow) -> bool) -> f64 {
    let rows = slow.group.rows(&case.facts.waits, Selection::default());
    let time: Nanos = rows.iter().filter(|row| pick(row)).map(|row| row.time).sum();
    time.0 as f64 / slow.group.all.time.total.0.max(1) as f64
}

/// Whether nothing took longer in the device than a disk that turns takes for a seek: then a pause of it is one.
fn may_seek(case: &Case, slow: &Slow) -> bool {
    let turns = rotational(case, slow.on.id).is_none_or(|turns| turns.value);
    turns && slow.requests().d2c.max() < LONG.0
}

fn prove(v: Verdict, case: &Case, slow: &Slow, claimed: Nanos) -> Verdict {
    let requests = slow.requests();
    let v = v.because(proof!(
        "the device served the slowest {what} alone for {claimed} of their time: nothing else delayed them",
        what = Text(slow.words().to_string()),
        claimed = Share(slow.share(claimed))
    ));
    if requests.d2c.count() < MIN_SAMPLES {
        return v;
    }
    v.because(proof!(
        "{name} took {p50} for each (p50; p99 {p99}), {count} requests of {size} on average",
        name = Text(case.name(slow.on.id)),
        p50 = Time(Nanos(requests.d2c.quantile(0.5))),
        p99 = Time(Nanos(requests.d2c.quantile(0.99))),
        count = Count(requests.count),
        size = Size(trace::Bytes(requests.bytes.0 / requests.count.max(1)))
    ))
}

fn remedies(v: Verdict, case: &Case, slow: &Slow) -> Verdict {
    if !v.remedies.is_empty() {
        return v;
    }
    let name = case.name(slow.on.id);
    if slow.group.class != Class::Read {
        return v.try_this(
            "how long this device takes for a synchronous write: if a better one takes less, that is the gain to be had",
            format!("fio --name=sync --directory=DIR-ON-{name} --rw=write --bs=4k --size=64M --fsync=1 --runtime=10 --time_based"),
        );
    }
    v.try_this(
        "read the files into memory before they are needed, several at a time: a device with a queue serves them together",
        "find DIR -type f -print0 | xargs -0 -n 16 -P 8 cat > /dev/null",
    )
    .try_this("more memory keeps them there: how much is cached, how much is pushed out", "vmstat 1 5; grep -E 'Cached|Active|Inactive' /proc/meminfo")
}
