//! fio's runs on an array with its write-intent bitmap and without it: `raid-bitmap`, by what changed between them.
//!
//! **Proof**: the same job does at least [`FASTER_WITHOUT`] times as many writes once the author says that the bitmap
//! is gone. **Refuted** by a run without it that is as slow.

use super::place::{runs, In};
use super::raid::is_without_bitmap;
use super::say::{number, operations, times};
use super::thresholds::evidence::OPERATIONS;
use super::thresholds::raid::FASTER_WITHOUT;
use crate::proof::proof;
use crate::verdict::{Confidence, Verdict};
use std::collections::HashMap;
use tooltext::{Number, ToolOutput};
use trace::Nanos;

const NAME: &str = "raid-bitmap";

/// The writes of one job in one run.
struct Writes<'a> {
    place: In<'a>,
    job: &'a str,
    rate: Number,
    without: bool,
}

pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let all: Vec<Writes> = runs(outputs)
        .flat_map(|place| {
            let without = is_without_bitmap(place.run);
            place.run.of("fio").filter_map(move |r| {
                let rate = r.row("write")?.get("iops").filter(|n| n.value > 0.0)?;
                // An excerpt does not say how long it ran: at least a second.
                (operations(r).unwrap_or(rate.value) >= OPERATIONS).then_some(())?;
                Some(Writes { place, job: &r.name, rate, without })
            })
        })
        .collect();
    // For each job name the first run with the bitmap; runs without a name count for any job.
    let mut with: HashMap<&str, usize> = HashMap::new();
    for (i, w) in all.iter().enumerate().filter(|(_, w)| !w.without) {
        with.entry(w.job).or_insert(i);
    }
    let pairs = all.iter().filter(|w| w.without).filter_map(|without| {
        let first = [without.job, ""].iter().filter_map(|job| with.get(job)).min()?;
        Some((&all[*first], without))
    });
    let ratio = |(with, without): &(&Writes, &Writes)| without.rate.value / with.rate.value;
    let pair = pairs.max_by(|a, b| ratio(a).total_cmp(&ratio(b)))?;
    let (with, without) = pair;
    let faster = ratio(&pair);
    let said = proof!(
        "{job}: writes go from {before} with the bitmap ({at}) to {after} without ({at2}), {ratio} as many",
        job = if without.job.is_empty() { "fio" } else { without.job },
        before = number(with.rate),
        at = Source(with.place.at(with.rate)),
        after = number(without.rate),
        at2 = Source(without.place.at(without.rate)),
        ratio = times(faster)
    );
    if faster < FASTER_WITHOUT {
        return Some(Verdict::rejected(NAME, said));
    }
    let mut v = Verdict::found(NAME, Nanos(0), Confidence::Medium).because(said);
    v.share = 1.0 - 1.0 / faster;
    Some(
        v.unless("the same rate without the bitmap in another order of the runs")
            .try_this(
                "larger chunks: a bit covers more, so it is set less often; after a crash more is resynced",
                "mdadm --grow --bitmap=none /dev/MD && mdadm --grow --bitmap=internal --bitmap-chunk=128M \
                     /dev/MD",
            )
            .try_this(
                "no bitmap: after a crash the whole array is resynced",
                "mdadm --grow --bitmap=none /dev/MD",
            ),
    )
}
