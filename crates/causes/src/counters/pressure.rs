//! `/proc/pressure`: the part of the time in which tasks were stalled (Documentation/accounting/psi.rst). `some`: at
//! least one task; `full`: all tasks that had something to do, at once.
//!
//! Stalls for memory are reclaim, refaults of pages that were just dropped, and swap, which cannot be told apart:
//! `reclaim`, with low confidence. Stalls for I/O say that tasks wait for a disk, but neither for which one nor why:
//! *cannot tell*, with the number. **Refuted** if less than a tenth of the time was stalled.

use super::place::{readings, In};
use super::say::number;
use super::thresholds::pressure::NOTICED;
use crate::proof::{proof, Proof};
use crate::remedy::Action;
use crate::verdict::{Confidence, Verdict};
use tooltext::{Number, Reading, Row, Run, ToolOutput};
use trace::Nanos;

/// The means, and the time that each covers.
const MEANS: [(&str, &str); 3] = [("avg10", "10 s"), ("avg60", "60 s"), ("avg300", "300 s")];

/// The longest stall for one resource, `some` or `full`.
struct Stall<'a> {
    place: In<'a>,
    reading: &'a Reading,
    part: Number,
    mean: &'static str,
    over: &'static str,
}

/// The resource of a row that names none: `cat /proc/pressure/io` alone prints no name.
const UNNAMED: &str = "";

/// Whether the row is of this resource.
fn is_of(row: &Row, resource: &str) -> bool {
    let known = ["io", "memory", "cpu", "irq"];
    let mut words = row.of.split([' ', ':', '/', '.']);
    match words.clone().any(|word| known.contains(&word)) {
        true => words.any(|word| word == resource),
        false => resource == UNNAMED,
    }
}

/// Whether the row is of this kind of stall, for this resource.
fn is_stall(row: &Row, resource: &str, kind: &str) -> bool {
    row.of.ends_with(kind) && is_of(row, resource)
}

fn worst<'a>(outputs: &'a [ToolOutput], resource: &str, kind: &str) -> Option<Stall<'a>> {
    let of = readings(outputs, "pressure")
        .flat_map(|(place, reading)| reading.rows.iter().map(move |row| (place, reading, row)))
        .filter(|(_, _, row)| is_stall(row, resource, kind));
    let all = of.flat_map(|(place, reading, row)| {
        let of_mean = move |(mean, over)| Some(Stall { place, reading, part: row.get(mean)?, mean, over });
        MEANS.into_iter().filter_map(of_mean)
    });
    all.max_by(|a, b| a.part.value.total_cmp(&b.part.value))
}

/// The part of the time in which tasks were stalled, and the sentence; `what` names the resource.
fn told(outputs: &[ToolOutput], resource: &str, what: &'static str) -> Option<(f64, Proof)> {
    let some = worst(outputs, resource, "some").or_else(|| worst(outputs, resource, "full"))?;
    let said = proof!(
        "tasks waited for {what} for {part} of the last {over} ({at})",
        what,
        part = number(some.part),
        over = some.over,
        at = Source(some.place.at(some.part))
    );
    // Of the same time: `full` is a part of `some`.
    let full = some.reading.rows.iter().find(|row| is_stall(row, resource, "full"));
    let full = full.and_then(|row| row.get(some.mean)).filter(|part| part.value >= NOTICED);
    let said = match full {
        Some(full) => proof!("{said}, all of them at once for {part}", said, part = number(full)),
        None => said,
    };
    Some((some.part.value, said))
}

/// Stalls for I/O, or for a resource that the text does not name.
pub(super) fn io(outputs: &[ToolOutput]) -> Option<Verdict> {
    const NAME: &str = "device-saturated";
    let unnamed = || told(outputs, UNNAMED, "a resource that the text does not name");
    let (part, said) = told(outputs, "io", "I/O").or_else(unnamed)?;
    if part < NOTICED {
        return Some(Verdict::rejected(NAME, said));
    }
    let missing = "which resource (grep -H . /proc/pressure/*), which device, who waits and because of whom: sudo iowhy record -o slow while it is so; iostat -x 1 shows \
                   which device is busy";
    Some(Verdict::cannot_tell(NAME, missing).because(said))
}

/// Stalls for memory.
pub(super) fn memory(outputs: &[ToolOutput]) -> Option<Verdict> {
    const NAME: &str = "reclaim";
    let (part, said) = told(outputs, "memory", "memory (reclaim, pages dropped too early, swap)")?;
    if part < NOTICED {
        return Some(Verdict::rejected(NAME, said));
    }
    Some(
        Verdict::found(NAME, Nanos(0), Confidence::Low)
            .because(said)
            .unless("operations just as slow with memory to spare")
            .without("which tasks free memory or swap, and how long each time: iowhy record; vmstat 1 shows swapping (si, so)")
            .try_this(
                "find out whether the machine or one control group is short of memory",
                Action::look("grep -H . /proc/pressure/memory; grep -H full /sys/fs/cgroup/*/memory.pressure /sys/fs/cgroup/*/*/memory.pressure"),
            ),
    )
}

/// Stalls for a processor, or processors that were hardly ever idle: no proof that I/O waited for one.
pub(super) fn processors(outputs: &[ToolOutput]) -> Option<Verdict> {
    const NAME: &str = "cpu-wait";
    let missing = "whether operations wait for one: iowhy record while it is so";
    match told(outputs, "cpu", "a processor") {
        Some((part, said)) if part < NOTICED => Some(Verdict::rejected(NAME, said)),
        Some((_, said)) => Some(Verdict::cannot_tell(NAME, missing).because(said)),
        None => hardly_idle(outputs).map(|said| Verdict::cannot_tell(NAME, missing).because(said)),
    }
}

/// Processors that were idle, or waited for I/O, for less than a tenth of the time, as iostat, sar or vmstat show them; not top, whose screen
/// is one moment.
fn hardly_idle(outputs: &[ToolOutput]) -> Option<Proof> {
    let idle = |output: &ToolOutput, row: &Row| {
        let (idle, waiting) = (row.get("idle")?, row.value("iowait").unwrap_or(0.0));
        Some((idle.value + waiting, output.at(idle.at).to_string()))
    };
    let of_run = |output: &ToolOutput, run: &Run| -> Vec<(f64, String)> {
        let run = run.of_intervals_alone();
        let all = run.readings.iter().filter(|r| r.tool != "top");
        all.flat_map(|r| &r.rows).filter_map(|row| idle(output, row)).collect()
    };
    let all = outputs.iter().flat_map(|output| output.runs.iter().flat_map(move |run| of_run(output, run)));
    let (part, at) = all.min_by(|(a, _), (b, _)| a.total_cmp(b)).filter(|(part, _)| *part < NOTICED)?;
    Some(proof!("processors were idle for {part} of the time ({at})", part = Share(part), at = Source(at)))
}
