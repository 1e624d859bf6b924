//! The same number of operations a second whatever the pattern: `rate-limit`. Devices do more operations of one kind
//! than of another; only a limit in front of a device does not.
//!
//! fio's jobs in one text are compared: reads and writes, random and sequential. **Proof**: at least three jobs of at least two
//! kinds have the same rate, and none was asked to keep it (`rate_iops`). **Refuted** by a kind that is faster.

use super::place::{runs, In};
use super::say::{operations, plain};
use super::thresholds::evidence::JOBS;
use super::thresholds::same_rate::{LEAST_OPERATIONS, MOST_RATE, SAME};
use crate::proof::proof;
use crate::verdict::{Confidence, Verdict};
use std::collections::HashMap;
use tooltext::{Number, Reading, Run, ToolOutput};
use trace::Nanos;

const NAME: &str = "rate-limit";

/// The rate of one job.
struct Rate<'a> {
    place: In<'a>,
    /// The pattern, as fio's option `rw` has it: `randread`, `write`.
    kind: String,
    /// Operations a second, reads and writes together.
    iops: f64,
    of: Number,
}

pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let rates: Vec<Rate> = runs(outputs)
        .flat_map(|place| {
            let jobs = Jobs::of(place.run);
            place.run.of("fio").filter_map(move |r| rate(place, r, &jobs))
        })
        .collect();
    let mut kinds: Vec<&str> = rates.iter().map(|r| r.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let (least, most) = rates.iter().fold((f64::MAX, 0.0f64), |(l, m), r| (l.min(r.iops), m.max(r.iops)));
    let both =
        rates.iter().any(|r| r.kind.contains("read")) && rates.iter().any(|r| r.kind.contains("write"));
    let same = most <= SAME * least && (1.0..=MOST_RATE).contains(&most);
    if rates.len() < JOBS || kinds.len() < 2 || !(both || kinds.len() >= JOBS) || !same {
        return None;
    }
    let first = &rates[0];
    Some(
        Verdict::found(NAME, Nanos(0), Confidence::Medium)
            .because(proof!(
                "{n} jobs of {kinds} kinds ({names}) do {least} to {most} operations a second, regardless of \
                 their load (the first at {at})",
                n = Count(rates.len() as u64),
                kinds = Count(kinds.len() as u64),
                names = kinds.join(", "),
                least = plain(least.round()),
                most = plain(most.round()),
                at = Source(first.place.at(first.of))
            ))
            .unless("a kind of load that does more operations a second on the same volume")
            .without("the even pace of its completions: iowhy record while it runs")
            .try_this(
                "raise the limit with the volume's provider; costs money",
                "aws ec2 modify-volume --volume-id VOLUME --iops N",
            ),
    )
}

/// What the job files of a run say; a text may contain thousands of jobs.
struct Jobs<'a> {
    /// The last job of each name.
    by_name: HashMap<&'a str, &'a Reading>,
    /// The last job of all, if the run has a single result.
    only: Option<&'a Reading>,
    /// Whether the text of the run asks for a rate.
    ask_for_rate: bool,
}

impl<'a> Jobs<'a> {
    fn of(run: &'a Run) -> Jobs<'a> {
        let single = run.of("fio").take(2).count() == 1;
        Jobs {
            by_name: run.of("fio job").map(|job| (job.name.as_str(), job)).collect(),
            only: run.of("fio job").last().filter(|_| single),
            ask_for_rate: ASKED.iter().any(|s| run.says(&format!("{s}="))),
        }
    }
}

/// Options of fio that ask for a rate.
const ASKED: [&str; 2] = ["rate", "rate_iops"];

/// The rate of a job with its kind; `None` if it was asked to keep a rate, or did too few operations.
fn rate<'a>(place: In<'a>, reading: &'a Reading, jobs: &Jobs) -> Option<Rate<'a>> {
    let of = |name: &str| reading.row(name).and_then(|r| r.get("iops"));
    let (reads, writes) = (of("read"), of("write"));
    if jobs.ask_for_rate || ASKED.iter().any(|s| reading.setting(s).is_some()) {
        return None;
    }
    let iops = reads.map_or(0.0, |n| n.value) + writes.map_or(0.0, |n| n.value);
    (operations(reading)? >= LEAST_OPERATIONS).then_some(())?;
    let job = jobs.only.or_else(|| jobs.by_name.get(reading.name.as_str()).copied());
    let told = reading.setting("rw").or(job.and_then(|j| j.setting("rw")));
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
