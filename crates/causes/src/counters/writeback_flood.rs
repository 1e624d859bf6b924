//! Reads beside buffered writes, compared with the same reads beside writes that do not flood: direct or synchronous ones.
//!
//! **Claims** that reads wait behind writeback. **Proof**: with the same reader and as much written, the slowest reads
//! take several times as long when the writes are buffered, while the median stays the same; the disk's own counters
//! say how long the writes were queued. **Refuted** if the tail is the same with direct writes: then any writes delay
//! reads.

use super::place::In;
use super::say::{number, operations, quantity, times};
use super::settings::{dirty, mounts, of_device};
use super::thresholds::evidence::OPERATIONS;
use crate::memory::writer::see_who_writes;
use crate::proof::proof;
use crate::remedy::Action;
use crate::thresholds::counters_writeback_flood::{ABOUT, NO_WRITES, SAME_MEDIAN, SLOWER, SLOW_READ, TARGET};
use crate::verdict::{Confidence, Verdict};
use tooltext::{Command, Reading, Row, ToolOutput, Unit};
use trace::Nanos;
use units::words::{count, ns};

const NAME: &str = "writeback-flood";
/// How data was written beside the reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beside {
    Nothing,
    Direct,
    Sync,
    Buffered,
}

/// Reads that fio measured, and how data was written meanwhile.
struct Reads<'a> {
    place: In<'a>,
    job: &'a Reading,
    row: &'a Row,
    beside: Beside,
}

pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let all: Vec<Reads> = outputs
        .iter()
        .flat_map(|m| m.runs.iter().map(move |r| In { output: m, run: r }))
        .filter_map(|place| reads(outputs, place))
        .collect();
    let mut verdict: Option<Verdict> = None;
    let mut against: Option<Verdict> = None;
    for flooded in all.iter().filter(|r| r.beside == Beside::Buffered) {
        let same = |r: &&Reads| same_reader(r, flooded);
        let calm = |kind| all.iter().filter(same).find(move |r| r.beside == kind);
        let other = calm(Beside::Direct).or_else(|| calm(Beside::Sync));
        let alone = calm(Beside::Nothing);
        let Some(calm) = other.or(alone) else { continue };
        let Some(worst) = worst(flooded, calm) else { continue };
        let median = ratio(flooded, calm, "p50").unwrap_or(1.0);
        if worst.1 < SLOWER || median > SAME_MEDIAN {
            let why = format!(
                "reads beside buffered writes are at most {} as slow as {} ({} {}, {})",
                times(worst.1),
                words(calm.beside),
                worst.0,
                figure(flooded, worst.0),
                figure(calm, worst.0),
            );
            against = against.or(Some(Verdict::rejected(NAME, why)));
            continue;
        }
        let agreed = histograms(flooded, calm);
        let sure = if other.is_some() && agreed.is_some() { Confidence::High } else { Confidence::Medium };
        let mut v = match verdict.take() {
            Some(v) => v.plus(Nanos(0), sure),
            None => Verdict::found(NAME, Nanos(0), sure),
        };
        if let Some(alone) = alone {
            v = v.because(proof!("reads alone: {alone}", alone = summary(alone, &["p99", "p99.99"])));
        }
        if other.is_some() {
            v = v.because(proof!(
                "{what}: {calm}",
                what = words(calm.beside),
                calm = summary(calm, &["p99", "p99.95", "max"])
            ));
        }
        v = v.because(proof!(
            "beside buffered writes: {flooded}; {worst} {trim_end_matches} times, max \
             {into}, while the median is {flooded2} against {calm}{calm2}",
            flooded = summary(flooded, &["p99", "p99.95", "max"]),
            worst = worst.0,
            trim_end_matches = times(worst.1).trim_end_matches(" times"),
            into = ratio(flooded, calm, "max").map_or("unknown".into(), times),
            flooded2 = figure(flooded, "p50"),
            calm = figure(calm, "p50"),
            calm2 = bandwidth(flooded, calm)
        ));
        for sentence in [written(flooded, calm), queue(flooded, calm), agreed, rates(flooded, calm)] {
            v = sentence.into_iter().fold(v, Verdict::because);
        }
        verdict = Some(v);
    }
    let Some(v) = verdict else { return against };
    let v = v.unless("the same latencies while nothing is being written back");
    let flooded = all.iter().find(|r| r.beside == Beside::Buffered && disk(r).is_some());
    let mut v = remedies(v, outputs, flooded);
    if let Some((calm, command)) = all.iter().rev().find_map(gentle) {
        let text = format!(
            "the writer itself waits for the disk (O_DIRECT, or fdatasync every few MiB): {} reads took {} at \
                 most here. Writing takes as long as the disk does",
            words(calm.beside),
            figure(calm, "max")
        );
        v = v.try_proven(text, command);
    }
    Some(v)
}

/// A run whose writes did not flood, and its author's command for them.
fn gentle<'r, 'a>(r: &'r Reads<'a>) -> Option<(&'r Reads<'a>, String)> {
    let program = match r.beside {
        Beside::Direct => "dd",
        Beside::Sync => "mount",
        _ => return None,
    };
    let command = r.place.run.commands.iter().rev().find(|c| c.program() == program)?;
    Some((r, command.text.clone()))
}

/// Adds the settings that were seen, and what to change.
fn remedies(mut v: Verdict, outputs: &[ToolOutput], flooded: Option<&Reads>) -> Verdict {
    let device = flooded.and_then(disk).map(|row| row.of.as_str());
    let name = device.unwrap_or("DEV");
    let set = |path: &str| of_device(outputs, flooded?.place, device, path);
    let throttling = set("queue/wbt_lat_usec");
    let target = throttling.and_then(|s| s.number());
    for path in ["queue/scheduler", "queue/nr_requests"] {
        v = set(path).map(|s| s.words()).into_iter().fold(v, Verdict::because);
    }
    let throttle = |us: f64| Action::set(name, "queue/wbt_lat_usec", us);
    const COSTS: &str =
        "writeback throttling limits writeback when reads take longer than this; 75000 for rotating disks. \
             Costs write throughput while others wait";
    v = match (throttling, target) {
        (Some(s), Some(0.0)) => v
            .because(proof!("writeback throttling is off: {s}", s = s.words()))
            .try_this(COSTS, throttle(TARGET)),
        (Some(s), Some(us)) => {
            let v = v.because(proof!("writeback throttling is on: {s}", s = s.words()));
            if us > TARGET {
                v.try_this(COSTS, throttle(TARGET))
            } else {
                v
            }
        }
        _ => v
            .without(
                "whether writeback throttling was on, and how much was in flight: iowhy record, or the \
                 text of `grep . /sys/block/*/queue/*`",
            )
            .try_this(COSTS, throttle(TARGET)),
    };
    if let Some(place) = flooded.map(|r| r.place) {
        let told = dirty(outputs, place);
        if !told.is_empty() {
            v = v.because(proof!("the timing of writeback is set by {told}", told = told.join(", ")));
        }
        v = mounts(outputs, name).into_iter().fold(v, Verdict::because);
    }
    see_who_writes(v)
}

/// The reads of a run, and how data was written beside them; `None` if that is not known, or reads are few.
fn reads<'a>(outputs: &[ToolOutput], place: In<'a>) -> Option<Reads<'a>> {
    let job = place.run.of("fio").find(|job| job.row("read").is_some() && job.row("write").is_none())?;
    let row = job.row("read")?;
    // An excerpt does not say how long it ran: at least a second.
    (operations(job).or(row.value("iops")).unwrap_or(0.0) >= OPERATIONS).then_some(())?;
    let dd = place.run.commands.iter().rev().find(|c| c.program() == "dd");
    let flag = |c: &Command| c.parameter("oflag").or_else(|| c.parameter("conv")).map(str::to_owned);
    let disk = job.rows.iter().find(|r| r.get("write.ios").is_some());
    let told = || disk.map_or(vec![], |d| mounts(outputs, &d.of));
    let sync_mount = || {
        let typed = place.run.commands.iter().any(|c| c.program() == "mount" && mounts_sync(&c.text));
        typed || told().iter().any(|m| mounts_sync(m))
    };
    let written = place.run.of("dd").next().is_some();
    let share = disk.and_then(|d| Some(d.value("write.ios")? / d.value("read.ios")?.max(1.0)));
    let beside = match (dd.and_then(flag), written) {
        (Some(flags), true) if flags.contains("direct") => Beside::Direct,
        (Some(flags), true) if flags.contains("sync") => Beside::Sync,
        (_, true) if sync_mount() => Beside::Sync,
        // If dd's command is not shown, it is not known how dd wrote.
        (None, true) if dd.is_some() => Beside::Buffered,
        (_, false) if share.is_some_and(|share| share < NO_WRITES) => Beside::Nothing,
        _ => return None,
    };
    Some(Reads { place, job, row, beside })
}

/// Whether one of the options is `sync`: `mount -o remount,sync /mnt`.
fn mounts_sync(command: &str) -> bool {
    command.split([' ', ',', '(', ';']).any(|option| option == "sync")
}

/// Whether both runs have the same job.
fn same_reader(a: &Reads, b: &Reads) -> bool {
    let parameters = |r: &Reads| -> Vec<String> {
        let jobs = r.place.run.of("fio job").chain([r.job]);
        let wanted = |s: &&tooltext::Setting| {
            ["rw", "bs", "ioengine", "iodepth", "numjobs", "version"].contains(&s.name.as_str())
        };
        jobs.flat_map(|j| j.settings.iter())
            .filter(wanted)
            .map(|s| format!("{}={}", s.name, s.value))
            .collect()
    };
    a.job.name == b.job.name && parameters(a) == parameters(b)
}

fn words(beside: Beside) -> &'static str {
    match beside {
        Beside::Nothing => "alone",
        Beside::Direct => "beside direct writes",
        Beside::Sync => "beside synchronous writes",
        Beside::Buffered => "beside buffered writes",
    }
}

fn ratio(a: &Reads, b: &Reads, name: &str) -> Option<f64> {
    let (a, b) = (a.row.latency(name)?.value, b.row.latency(name)?.value);
    (b > 0.0).then_some(a / b)
}

/// Words for a bandwidth that is the same in both runs, because only few reads are slow; empty if it differs.
fn bandwidth(flooded: &Reads, calm: &Reads) -> String {
    let of = |r: &Reads| r.row.get("bw");
    match of(flooded).zip(of(calm)) {
        Some((with, without)) if (1.0 / ABOUT..ABOUT).contains(&(with.value / without.value.max(1.0))) => {
            format!(", and the bandwidth is the same, {} against {}", number(with), number(without))
        }
        _ => String::new(),
    }
}

/// The percentile from p99 on at which the two differ most, and by which factor.
fn worst(flooded: &Reads, calm: &Reads) -> Option<(&'static str, f64)> {
    let all = ["p99", "p99.5", "p99.9", "p99.95", "p99.99"].into_iter();
    all.filter_map(|p| Some((p, ratio(flooded, calm, p)?))).max_by(|a, b| a.1.total_cmp(&b.1))
}

fn figure(r: &Reads, name: &str) -> String {
    r.row.latency(name).map_or("unknown".into(), number)
}

/// A run's reads in words: `79,453 a second, p99.99 940 us, max 6.86 ms (output.txt:53)`.
fn summary(r: &Reads, names: &[&str]) -> String {
    let mut parts: Vec<String> = r.row.get("iops").map(number).into_iter().collect();
    parts.extend(r.row.get("bw").map(number));
    parts.extend(names.iter().filter_map(|n| Some(format!("{n} {}", number(r.row.latency(n)?)))));
    let at = r.row.get("iops").or_else(|| r.row.latency("max")).map(|n| format!(" ({})", r.place.at(n)));
    parts.join(", ") + &at.unwrap_or_default()
}

/// How much dd wrote in both runs.
fn written(flooded: &Reads, calm: &Reads) -> Option<String> {
    let dd = |r: &Reads| {
        let row = r.place.run.of("dd").next()?.row("copy")?.clone();
        Some((row.get("bytes")?, row.get("bw")?, r.place.at(row.get("bw")?)))
    };
    let ((bytes, bw, at), (other_bytes, other_bw, other_at)) = (dd(flooded)?, dd(calm)?);
    let as_much = if bytes.value == other_bytes.value { "as much" } else { "not as much" };
    Some(format!(
        "dd wrote {as_much}: {} at {} ({at}), and {} at {} {} ({other_at})",
        number(bytes),
        number(bw),
        number(other_bytes),
        number(other_bw),
        words(calm.beside),
    ))
}

fn disk<'a>(r: &'a Reads) -> Option<&'a Row> {
    r.job.rows.iter().rev().find(|row| row.get("write.time").is_some())
}

/// How long writes were queued, by the disk's own counters.
fn queue(flooded: &Reads, calm: &Reads) -> Option<String> {
    let each = |r: &Reads| {
        let row = disk(r)?;
        let (time, n) = (row.get("write.time")?, row.get("write.ios")?);
        (n.value > 0.0).then(|| (time, n, time.value / n.value))
    };
    let (time, n, mean) = each(flooded)?;
    let mut text = format!(
        "{} counted {} for {} writes: {} each",
        disk(flooded)?.of,
        number(time),
        number(n),
        quantity(mean, Unit::Nanoseconds)
    );
    if let Some(runtime) = flooded.row.value("runtime").filter(|t| *t > 0.0) {
        text += &format!(", {} in flight on average over the run", super::say::plain(time.value / runtime));
    }
    if let Some((time, n, mean)) = each(calm) {
        let mean = quantity(mean, Unit::Nanoseconds);
        text += &format!("; {} it was {} for {}, {mean} each", words(calm.beside), number(time), number(n));
    }
    Some(format!("{text} ({})", flooded.place.at(time)))
}

/// What the file system's histograms show, if they agree that reads are slower.
fn histograms(flooded: &Reads, calm: &Reads) -> Option<String> {
    let find = |r: &Reads| {
        let tool = ["xfsdist", "ext4dist", "btrfsdist", "histogram"]
            .into_iter()
            .find_map(|t| r.place.run.of(t).next().cloned());
        tool.filter(|t| t.row("read").is_some())
    };
    let (with, without) = (find(flooded)?, find(calm)?);
    let slow = |reading: &Reading, of: &str| Some(reading.row(of)?.slower_than(SLOW_READ));
    let ((all, slow_with), (all_calm, slow_calm)) = (slow(&with, "read")?, slow(&without, "read")?);
    if slow_with / all.max(1.0) < SLOWER * slow_calm / all_calm.max(1.0) || slow_with == 0.0 {
        return None;
    }
    let mut text = format!(
        "{} agrees: {} of {} reads took {} or more, {} of {} {}",
        with.tool,
        count(slow_with as u64),
        count(all as u64),
        ns(SLOW_READ as u64),
        count(slow_calm as u64),
        count(all_calm as u64),
        words(calm.beside)
    );
    if let Some(write) = with.row("write") {
        let slowest =
            write.histogram.iter().filter(|b| b.count.value > 0.0).map(|b| b.below).fold(0.0, f64::max);
        let n = count(write.slower_than(0.0).0 as u64);
        text +=
            &format!("; it shows in read and not in write, whose {n} all took under {}", ns(slowest as u64));
    }
    Some(format!("{text} ({})", flooded.place.output.at(with.at)))
}

/// What the author says of the rates during the writes.
fn rates(flooded: &Reads, calm: &Reads) -> Option<String> {
    let claim = |r: &Reads| r.place.run.claims.iter().find(|c| c.unit == Unit::PerSecond).cloned();
    let (slow, fast) = (claim(flooded)?, claim(calm)?);
    let range = match slow.from == slow.to {
        true => super::say::plain(slow.from),
        false => format!("{} to {}", super::say::plain(slow.from), super::say::plain(slow.to)),
    };
    let low = if slow.from == slow.to { "" } else { " at the low end" };
    Some(format!(
        "while it was written the author saw {range} {} ({}), {} with {} ({}): {}{low} ({} / {})",
        slow.of,
        flooded.place.output.at(slow.at),
        super::say::plain(fast.to),
        words(calm.beside).trim_start_matches("beside "),
        calm.place.output.at(fast.at),
        times(fast.to / slow.from.max(1.0)),
        super::say::plain(fast.to),
        super::say::plain(slow.from),
    ))
}
