//! What is said beside a healthy answer: why a task may be slow although each of its operations was quick.

use causes::Verdict;
use evidence::Limit;
use explain::answer::Sufferer;
use explain::Explanation;
use operation::Wait;
use trace::{DevId, Nanos};
use units::words::{counted, percent, size, time, whose};
use waits::Selection;

/// The part of the recording's time from which on a task's operations, or its stops, are worth a line.
const SOME: f64 = causes::MIN_SHARE;
/// A task that spends more than half of the recording in its I/O does mostly that.
const MOST: f64 = 0.5;
/// Nine of ten requests: the others are the file system's own (its journal, its metadata).
const NEARLY_ALL: f64 = 0.9;

/// The reason most worth a line; `None` if there is none.
pub(super) fn beside(e: &Explanation, v: &Sufferer) -> Option<String> {
    not_over(e).or_else(|| outside(e, v)).or_else(|| dropped(e, v)).or_else(|| one_at_a_time(e, v))
}

/// Says that an operation had taken much of the recording when that ended: it shows in no number above.
fn not_over(e: &Explanation) -> Option<String> {
    let longest = e.facts.operations.not_over.as_ref()?;
    let on = match longest.dev {
        DevId(0) => String::new(),
        dev => format!(" on {}", e.name(dev)),
    };
    (longest.time.0 as f64 >= SOME * e.facts.recorded().0 as f64).then(|| {
        format!(
            "{} {}{on} had taken {} when the recording ended, and was not over: record until it is",
            whose(&longest.task),
            longest.kind.name().replace('-', " "),
            time(longest.time)
        )
    })
}

/// Says that a task spent most of the recording in I/O and that its device had one request at a time: each may be quick, and still the
/// task cannot go faster.
fn one_at_a_time(e: &Explanation, v: &Sufferer) -> Option<String> {
    let (group, recorded) = (e.focus.groups.get(v.group)?, e.facts.recorded());
    let device = e.facts.device(group.dev)?;
    let depth = &device.contention[group.class.index()].depth;
    let spent = v.time.0 as f64 / recorded.0.max(1) as f64;
    let alone = depth.count() > 0 && depth.quantile(NEARLY_ALL) == 0;
    (alone && (MOST..=1.0).contains(&spent)).then(|| {
        let (task, name, spent) = (&v.task, e.name(device.id), percent(spent));
        format!(
            "{task} spent {spent} of {} in them, and {name} had one request at a time: more in flight, or larger ones, would move more",
            time(recorded)
        )
    })
}

/// Says that a task was kept from running between its operations, for longer than it spent in them or by its control group's quota: its own timer
/// counts that as I/O.
fn outside(e: &Explanation, v: &Sufferer) -> Option<String> {
    let kept = e.facts.operations.kept_from_running(&v.task);
    let least = Nanos((causes::MIN_SHARE * kept.0 as f64) as u64);
    let quota = e.subject.system.quota_met(e.facts.operations.processes_of(&v.task), least);
    if kept > v.time || quota.is_some() && kept.0 as f64 >= SOME * e.facts.recorded().0 as f64 {
        let why = quota.map_or(String::new(), |limited| format!(", held back by {}", limited.file));
        let (cause, kept) = (causes::OUTSIDE_IO, time(kept));
        return Some(format!(
            "{cause}: between its operations {} waited for a processor for {kept}{why}",
            v.task
        ));
    }
    let is_outside = |v: &&Verdict| v.cause == causes::OUTSIDE_IO && v.verdict == causes::Answer::Found;
    let between = e.verdicts.iter().find(is_outside).and_then(|found| found.evidence.first())?;
    Some(format!("{}: {}", causes::OUTSIDE_IO, between.sentence()))
}

/// Says that a task's control group met its limit on memory while the task spent much of the recording in reading pages that were in no cache: the
/// limit includes these pages.
fn dropped(e: &Explanation, v: &Sufferer) -> Option<String> {
    let group = e.focus.groups.get(v.group)?;
    let rows = group.rows(&e.facts.waits, Selection::default());
    let read: Nanos = rows.iter().filter(|row| row.waits.has(Wait::PageRead)).map(|row| row.time).sum();
    if (read.0 as f64) < SOME * e.facts.recorded().0 as f64 {
        return None;
    }
    let limited = e.subject.system.memory_limit_met(e.facts.operations.processes_of(&v.task))?;
    let Limit::Memory { bytes, met, .. } = limited.limit else { return None };
    Some(format!(
        "{} waited {} for pages that were not in memory; its control group met its limit of {} {} ({}), which includes the page cache",
        v.task,
        time(read),
        size(bytes),
        counted(met, "time", "times"),
        limited.file
    ))
}
