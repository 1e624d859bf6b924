//! The same number of operations a second whatever the pattern: `rate-limit`. Devices do more of one kind than of another; only a
//! limit in front of one does not.
//!
//! fio's jobs in one text are compared: reads and writes, at random and in order. **Proof**: three or more of at least two kinds with
//! the same rate, none of them asked for it (`rate_iops`). **Refuted** by a kind that is faster.

use super::say::{plain, In};
use super::thresholds::same_rate::{LEAST_JOBS, MOST_RATE, SAME};
use crate::proof::proof;
use crate::{Confidence, Verdict};
use tooltext::{Mail, Number, Reading};
use trace::Nanos;

const NAME: &str = "rate-limit";

/// A job's rate.
struct Rate<'a> {
    place: In<'a>,
    /// What it does: `randread`, `write`.
    kind: String,
    /// Of all its operations.
    iops: f64,
    of: Number,
}

pub(super) fn judge(mails: &[Mail]) -> Option<Verdict> {
    let runs = mails.iter().flat_map(|m| m.runs.iter().map(move |run| In { mail: m, run }));
    let rates: Vec<Rate> =
        runs.flat_map(|place| place.run.of("fio").filter_map(move |r| rate(place, r))).collect();
    let mut kinds: Vec<&str> = rates.iter().map(|r| r.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let (least, most) = rates.iter().fold((f64::MAX, 0.0f64), |(l, m), r| (l.min(r.iops), m.max(r.iops)));
    let both =
        rates.iter().any(|r| r.kind.contains("read")) && rates.iter().any(|r| r.kind.contains("write"));
    let same = most <= SAME * least && (1.0..=MOST_RATE).contains(&most);
    if rates.len() < LEAST_JOBS || kinds.len() < 2 || !(both || kinds.len() >= LEAST_JOBS) || !same {
        return None;
    }
    let first = &rates[0];
    Some(
        Verdict::found(NAME, Nanos(0), Confidence::Medium)
            .because(proof!(
                "{n} jobs of {kinds} kinds ({names}) do {least} to {most} operations a second, as if it did not matter what they do \
                 (the first at {at})",
                n = Count(rates.len() as u64),
                kinds = Count(kinds.len() as u64),
                names = Text(kinds.join(", ")),
                least = Text(plain(least.round())),
                most = Text(plain(most.round())),
                at = Source(first.place.at(first.of))
            ))
            .unless("a kind of load that does more operations a second on the same volume")
            .without("the even pace of its completions: iowhy record while it runs")
            .try_this(
                "ask for a higher limit where the volume was bought or made; it costs money there, nothing here",
                "aws ec2 modify-volume --volume-id VOLUME --iops N",
            ),
    )
}

/// The rate of a job with its kind; `None` where it was asked to keep a rate.
fn rate<'a>(place: In<'a>, reading: &'a Reading) -> Option<Rate<'a>> {
    let of = |name: &str| reading.row(name).and_then(|r| r.get("iops"));
    let (reads, writes) = (of("read"), of("write"));
    let asked = ["rate", "rate_iops"]
        .iter()
        .any(|s| reading.setting(s).is_some() || place.run.says(&format!("{s}=")));
    if asked {
        return None;
    }
    let iops = reads.map_or(0.0, |n| n.value) + writes.map_or(0.0, |n| n.value);
    let jobs = place.run.of("fio job").filter(|j| j.name == reading.name || place.run.of("fio").count() == 1);
    let told = reading.setting("rw").or(jobs.last().and_then(|j| j.setting("rw")));
    let kind = told.map_or_else(
        || match (reads, writes) {
            (Some(_), Some(_)) => "readwrite".to_owned(),
            (Some(_), None) => "read".to_owned(),
            _ => "write".to_owned(),
        },
        str::to_owned,
    );
    Some(Rate { place, kind, iops, of: reads.or(writes)? })
}
