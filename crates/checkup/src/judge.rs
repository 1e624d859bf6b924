//! What a good disk does, and what is worse than that.
//!
//! Everything is judged by the floor of the same disk: a random read of 4 KiB on a quiet disk. So a slow kind of disk is
//! not blamed for being slow, only for being slower under a load that leaves it two thirds of its time. Why it is worse is
//! said by the causes of the step's recording; where the processors are why, it is no finding of the disk.

use crate::result::{Finding, Found, Latency, Probe, Remedy, Scenario, Step};
use crate::units::{bytes, three, time};
use std::collections::BTreeMap;

/// Requests are no larger by the kernel's own default (BLK_DEF_MAX_SECTORS_CAP, include/linux/blkdev.h).
const KERNELS_KIB: u64 = 1280;
/// A limit is low if it is this part of what could be.
const LOW: u64 = 4;
/// Sizes above a limit that bring less than this many times as much bring nothing.
const BRINGS: f64 = 1.5;

const MS: u64 = 1_000_000;

/// The knee is the least depth with this part of the most reads a second.
pub const KNEE: f64 = 0.9;
/// A disk that serves less than this many times as many reads a second at depth 32 as at depth 1 serves one at a time. Disks
/// that turn gain 2 to 3 by sorting (NCQ), flash 8 and more (data sheets).
const PARALLEL: f64 = 1.6;
/// A stall is this many times the median, and
const STALL_TIMES: u64 = 20;
/// at least so long: what a busy machine's processors delay stays below (measured on two shared processors).
const STALL_LEAST: u64 = 50 * MS;
/// Rare stalls take most of the time if the mean is this many times what 95 in 100 stay below.
const RARE_TIMES: u64 = 2;
/// One operation alone must be this long to be called a stall: what nobody would take for chance.
const STALL_ALONE: u64 = 500 * MS;
/// Readers beside a writer that leaves two thirds of the disk take at most so many times as long at p99, or
const BESIDE_TIMES: u64 = 5;
/// (Four readers alone take at most four times the floor: all came at once.)
const READERS: u64 = 4;
/// so much longer: one large write in front of each read on a disk of 50 MB/s is 20 ms.
const BESIDE_LEAST: u64 = 20 * MS;
/// An append is a copy to memory; longer than this, it waited for something. (Scheduling delays stay below.)
const APPEND: u64 = 10 * MS;
/// An fsync on a file system with a journal is two or three writes one after the other (data, journal, commit), and
const FSYNC_TIMES: u64 = 4;
/// a flush, which flash with a plain cache does in 1 to 3 ms.
const FSYNC_LEAST: u64 = 3 * MS;
/// An fsync or a cold read beside a writer waits for some of its writes too.
const SHARED_LEAST: u64 = 50 * MS;
/// A small write takes at most so many times as long as a small read, and
const WRITE_TIMES: u64 = 5;
/// this besides.
const WRITE_LEAST: u64 = MS;
/// Large requests bring at least this part of the most bytes a second.
const LARGE: f64 = 0.6;
/// A cause that names a fault by itself explains at least this part of the slowest operations' time.
const NAMES: f64 = 0.3;
/// Percentiles of so many operations have four slower ones: of fewer they are chance.
const FOR_P95: u64 = 100;
const FOR_P99: u64 = 400;
const FOR_P999: u64 = 5_000;
/// A cause that explains less of the slowest operations' time is not why they are slow.
const WHY: f64 = 0.15;
/// It is our own load that fills the device: that fewer should be sent is nothing that a person could do.
const OUR_OWN: &str = "device-saturated";

/// Causes that are nobody's fault on the disk's side.
const NOT_STORAGE: &[&str] = &["healthy", "outside-io", "cpu-wait"];

/// What the first scenario says the disk can do.
pub fn probe(scenario: &Scenario, probe: &mut Probe) {
    let reads = |s: &Step| s.job("reads").cloned();
    if let Some(floor) = scenario.steps.iter().find(|s| s.name == "depth 1").and_then(reads) {
        probe.floor = floor.latency;
        let depths = scenario
            .steps
            .iter()
            .filter_map(|s| Some((s.variables.get("DEPTH")?.parse::<u32>().ok()?, reads(s)?.iops)));
        let depths: Vec<(u32, f64)> = depths.collect();
        let most = depths.iter().map(|d| d.1).fold(0.0, f64::max);
        probe.knee_depth = depths.iter().find(|d| d.1 >= KNEE * most).map_or(1, |d| d.0);
        probe.parallelism = if floor.iops > 0.0 { most / floor.iops } else { 1.0 };
    }
}

/// Judges a scenario by what the disk can do.
pub fn judge(s: &mut Scenario, p: &Probe, disk: Option<&str>, settings: &BTreeMap<String, String>) {
    let mut findings = Vec::new();
    match s.number {
        1 => quiet(s, p, &mut findings),
        2 => {
            beside(s, p, &mut findings);
            unthrottled(s, disk, settings, &findings);
        }
        3 => appends(s, &mut findings),
        4 => {
            sizes(s, &mut findings);
            cut(s, disk, settings, &mut findings);
        }
        5 => fsync(s, p, &mut findings),
        6 => heartbeat(s, p, &mut findings),
        _ => small(s, p, &mut findings),
    }
    for finding in findings {
        let step = s.steps.iter().find(|step| step.name == finding.step);
        let causes = step.map_or(&[][..], |step| &step.causes);
        let storage: Vec<&Found> =
            causes.iter().filter(|c| c.share >= WHY && !NOT_STORAGE.contains(&c.cause.as_str())).collect();
        let elsewhere = causes.iter().find(|c| c.cause == "cpu-wait" || c.cause == "outside-io");
        if let (true, Some(why)) = (storage.is_empty(), elsewhere) {
            s.remarks.push(format!(
                "{}; not the disk: {} ({:.0} %)",
                finding.says,
                why.title.to_lowercase().trim_end_matches('.'),
                why.share * 100.0
            ));
            continue;
        }
        let causes = storage.iter().map(|c| c.cause.clone()).collect();
        s.findings.push(Finding { causes, ..finding });
    }
    let failed = s.steps.iter().filter_map(|step| Some(format!("{}: {}", step.name, step.trouble.as_ref()?)));
    let failed: Vec<String> = failed.collect();
    let measured = s.steps.iter().any(|step| !step.measured.is_empty());
    s.verdict = match (s.findings.is_empty(), failed.is_empty() && measured) {
        (false, _) => "suffers",
        (true, true) => "good",
        (true, false) => "cannot-tell",
    }
    .into();
    s.remarks.extend(failed);
}

fn finding(name: &str, step: &str, says: String, measured: u64, expected: u64) -> Finding {
    Finding {
        name: name.into(),
        step: step.into(),
        says,
        measured_ns: measured,
        expected_ns: expected,
        causes: vec![],
    }
}

/// The rarest percentile that so many operations tell.
fn rare(l: &Latency) -> (&'static str, u64) {
    match l.count {
        FOR_P999.. => ("p99.9", l.p999_ns),
        FOR_P99.. => ("p99", l.p99_ns),
        FOR_P95.. => ("p95", l.p95_ns),
        _ => ("p50", l.p50_ns),
    }
}

/// The same percentile of two: up to p99 what both can tell. Of very few, all were slow: then it is the median.
pub fn pair(a: &Latency, b: &Latency) -> ((&'static str, u64), (&'static str, u64)) {
    let least = a.count.min(b.count).min(FOR_P99);
    let of = |l: &Latency| rare(&Latency { count: least, ..*l });
    (of(a), of(b))
}

fn stalls(step: &Step, job: &str, what: &str, out: &mut Vec<Finding>) {
    let Some(m) = step.job(job) else { return };
    let l = &m.latency;
    let (name, value) = rare(l);
    let expected = (l.p50_ns * STALL_TIMES).max(STALL_LEAST);
    if value > expected {
        let says = format!("{what} stall: {name} is {}, the median {}", time(value), time(l.p50_ns));
        out.push(finding("stalls", &step.name, says, value, expected));
    } else if l.mean_ns > RARE_TIMES * l.p95_ns && l.max_ns > expected {
        // One operation at a time: the mean times their number is the time of the run.
        let says = format!(
            "{what} stall now and then: {} at most, and most of the time went there; the median is {}",
            time(l.max_ns),
            time(l.p50_ns)
        );
        out.push(finding("stalls", &step.name, says, l.max_ns, expected));
    } else if l.max_ns > STALL_ALONE.max(expected) {
        let says = format!("one of {what} took {}, the median {}", time(l.max_ns), time(l.p50_ns));
        out.push(finding("stalls", &step.name, says, l.max_ns, STALL_ALONE));
    }
}

fn quiet(s: &Scenario, p: &Probe, out: &mut Vec<Finding>) {
    let Some(step) = s.steps.iter().find(|s| s.name == "depth 1") else { return };
    stalls(step, "reads", "reads on a quiet disk", out);
    let deepest = s.steps.iter().rev().find(|s| s.name != "depth 1" && s.job("reads").is_some());
    if let Some((deep, m)) = deepest.and_then(|d| Some((d, d.job("reads")?))) {
        if p.parallelism < PARALLEL {
            let says = format!(
                "it serves one read at a time: {} more reads a second at any depth than at depth 1 (x{})",
                three((p.parallelism - 1.0).max(0.0) * 100.0) + " %",
                three(p.parallelism)
            );
            out.push(finding(
                "one-at-a-time",
                &deep.name,
                says,
                m.latency.p50_ns,
                p.floor.p50_ns * u64::from(p.knee_depth.max(1)) * 4,
            ));
        }
    }
}

fn beside(s: &Scenario, probe: &Probe, out: &mut Vec<Finding>) {
    let Some(alone) = s.steps.iter().find(|s| s.name == "alone").and_then(|s| s.job("reads")) else { return };
    for step in s.steps.iter().filter(|s| s.name != "alone") {
        let Some(m) = step.job("reads") else { continue };
        let ((_, then), (p, now)) = pair(&alone.latency, &m.latency);
        // That the readers alone met a bad moment must not excuse the writers.
        let floor = probe.floor.p99_ns * READERS;
        let usual = if floor > 0 { then.min(floor) } else { then };
        let expected = (usual * BESIDE_TIMES).max(usual + BESIDE_LEAST);
        let writer = step.name.trim_start_matches("beside ");
        // Who waits sends nothing meanwhile, so that few operations carry most of the time: then the mean tells.
        let (mean, mean_alone, max) = (m.latency.mean_ns, alone.latency.mean_ns, m.latency.max_ns);
        if now > expected {
            let says =
                format!("readers take {} at {p} beside {writer} writes, {} alone", time(now), time(then));
            out.push(finding("writers-starve-readers", &step.name, says, now, expected));
        } else if mean > mean_alone * BESIDE_TIMES && max > expected {
            let says = format!(
                "readers take {} on average and up to {} beside {writer} writes, {} alone",
                time(mean),
                time(max),
                time(mean_alone)
            );
            out.push(finding("writers-starve-readers", &step.name, says, max, expected));
        }
    }
}

/// Writeback throttling that is off, where a buffered writer starves readers: a correlation, which a trial can prove.
fn unthrottled(
    s: &mut Scenario,
    disk: Option<&str>,
    settings: &BTreeMap<String, String>,
    findings: &[Finding],
) {
    let off = settings.get("queue/wbt_lat_usec").is_some_and(|v| v == "0");
    let Some(f) = findings.iter().find(|f| off && f.step == "beside buffered") else { return };
    let Some(step) = s.steps.iter_mut().find(|step| step.name == f.step) else { return };
    if step.causes.iter().any(|c| c.cause == "writeback-flood") {
        return;
    }
    let target = if settings.get("queue/rotational").is_some_and(|r| r == "1") { 75_000 } else { 2_000 };
    let remedies = disk.map(|d| Remedy {
        what: format!("writeback throttling on, with the kernel's usual target of {target} us: buffered writes are written out more slowly"),
        command: format!("echo {target} > /sys/block/{d}/queue/wbt_lat_usec"),
        ..Remedy::default()
    });
    step.causes.push(Found {
        cause: "writeback-flood".into(),
        title: causes::all().iter().find(|c| c.name() == "writeback-flood").map_or("", |c| c.title()).into(),
        share: f.measured_ns.saturating_sub(f.expected_ns) as f64 / f.measured_ns.max(1) as f64,
        confidence: "low".into(),
        evidence: vec![
            "writeback throttling is off (wbt_lat_usec 0), and readers are slow only beside the writer"
                .into(),
        ],
        remedies: remedies.into_iter().collect(),
    });
}

fn appends(s: &Scenario, out: &mut Vec<Finding>) {
    let Some((step, m)) = s.steps.first().and_then(|s| Some((s, s.job("appends")?))) else { return };
    let (name, value) = rare(&m.latency);
    if value > APPEND {
        let says = format!(
            "appends to a log wait for the disk: {name} is {}, the median {}",
            time(value),
            time(m.latency.p50_ns)
        );
        out.push(finding("appends-stall", &step.name, says, value, APPEND));
    } else if m.latency.max_ns > STALL_ALONE {
        let says =
            format!("one append waited {}, the median {}", time(m.latency.max_ns), time(m.latency.p50_ns));
        out.push(finding("appends-stall", &step.name, says, m.latency.max_ns, STALL_ALONE));
    }
}

fn sizes(s: &mut Scenario, out: &mut Vec<Finding>) {
    let (mut remarks, mut few) = (Vec::new(), None);
    if let Some(step) = s.steps.iter().find(|s| s.name == "sizes") {
        for order in ["read", "randread"] {
            let sizes = ["4k", "64k", "1m", "4m"];
            let speed = |b: &str| step.job(&format!("{order}-{b}")).map_or(0, |m| m.bytes_per_second);
            let speeds: Vec<u64> = sizes.iter().map(|b| speed(b)).collect();
            let most = speeds.iter().copied().max().unwrap_or(0);
            let words: Vec<String> =
                sizes.iter().zip(&speeds).map(|(b, s)| format!("{b} {}/s", bytes(*s))).collect();
            let how = if order == "read" { "in order" } else { "at random" };
            remarks.push(format!("{how}: {}", words.join(", ")));
            if speeds[2] > 0 && (speeds[2].max(speeds[3]) as f64) < LARGE * most as f64 {
                let says = format!(
                    "large reads {how} are slower than smaller ones: {}/s with 1 MiB, {}/s at best",
                    bytes(speeds[2]),
                    bytes(most)
                );
                few = Some(finding(
                    "large-requests-slow",
                    &step.name,
                    says,
                    1_000_000_000_000_000 / speeds[2].max(1),
                    1_000_000_000_000_000 / most.max(1),
                ));
            }
        }
    }
    s.remarks.extend(remarks);
    out.extend(few);
    if let Some((step, m)) =
        s.steps.iter().find(|s| s.name == "large reads").and_then(|s| Some((s, s.job("reads")?)))
    {
        named(
            step,
            &["request-size"],
            m.latency.p50_ns,
            "large reads are cut into small requests",
            "requests-cut",
            out,
        );
        stalls(step, "reads", "large reads", out);
    }
}

/// A low limit of the requests' size is seen without a recording too: reads above it bring no more than those near it.
fn cut(s: &mut Scenario, disk: Option<&str>, settings: &BTreeMap<String, String>, out: &mut Vec<Finding>) {
    let get = |name: &str| settings.get(&format!("queue/{name}"))?.parse::<u64>().ok();
    let (Some(now), Some(most)) = (get("max_sectors_kb"), get("max_hw_sectors_kb")) else { return };
    let most = most.min(KERNELS_KIB);
    let speed = |b: &str| {
        let step = s.steps.iter().find(|s| s.name == "sizes")?;
        step.job(&format!("randread-{b}")).map(|m| m.bytes_per_second)
    };
    let (Some(near), Some(large)) = (speed("64k"), speed("1m")) else { return };
    if now.saturating_mul(LOW) > most || now > 256 || large as f64 >= BRINGS * near as f64 {
        return;
    }
    let Some(step) = s.steps.iter_mut().find(|s| s.name == "large reads") else { return };
    let Some(m) = step.job("reads").map(|m| m.latency.p50_ns) else { return };
    let share = 1.0 - now as f64 / most.max(1) as f64;
    if step.causes.iter().all(|c| c.cause != "request-size") {
        let remedies = disk.map(|d| Remedy {
            what: format!("max_sectors_kb {now} -> {most}: a large request holds the disk longer, so small ones behind it wait longer"),
            command: format!("echo {most} > /sys/block/{d}/queue/max_sectors_kb"),
            ..Remedy::default()
        });
        let found = Found {
            cause: "request-size".into(),
            title: causes::all().iter().find(|c| c.name() == "request-size").map_or("", |c| c.title()).into(),
            share,
            confidence: "medium".into(),
            evidence: vec![
                format!(
                    "max_sectors_kb is {now}, and {most} is possible: a read of 1 MiB is {} requests",
                    1024 / now.max(1)
                ),
                format!(
                    "reads of 1 MiB bring {}/s, reads of 64 KiB {}/s: larger ones bring nothing",
                    bytes(large),
                    bytes(near)
                ),
            ],
            remedies: remedies.into_iter().collect(),
        };
        step.causes.insert(0, found);
    }
    if out.iter().all(|f| f.name != "requests-cut") {
        let says = format!("large reads are cut into requests of {now} KiB");
        out.push(finding("requests-cut", "large reads", says, m, m * now / most.max(1)));
    }
}

/// A cause that is a fault by itself, however fast the rest is.
fn named(step: &Step, causes: &[&str], measured: u64, says: &str, name: &str, out: &mut Vec<Finding>) {
    let found = step
        .causes
        .iter()
        .find(|c| causes.contains(&c.cause.as_str()) && c.share >= NAMES && c.confidence != "low");
    if let Some(c) = found {
        let expected = (measured as f64 * (1.0 - c.share)) as u64;
        out.push(finding(
            name,
            &step.name,
            format!("{says}: {:.0} % of the slowest ones' time", c.share * 100.0),
            measured,
            expected,
        ));
    }
}

fn fsync(s: &mut Scenario, p: &Probe, out: &mut Vec<Finding>) {
    let sync = |name: &str| s.steps.iter().find(|s| s.name == name).and_then(|s| Some((s, s.job("sync")?)));
    let Some((step, alone)) = sync("1 thread") else { return };
    let Some(l) = alone.fsync else { return };
    let expected = p.floor.p50_ns * FSYNC_TIMES + FSYNC_LEAST;
    if l.p50_ns > expected {
        let says = format!("an fsync takes {}, a read {}", time(l.p50_ns), time(p.floor.p50_ns));
        out.push(finding("slow-fsync", &step.name, says, l.p50_ns, expected));
    }
    if let Some((step, beside)) = sync("beside a writer").and_then(|(s, m)| Some((s, m.fsync?))) {
        let ((_, then), (p, now)) = pair(&l, &beside);
        let expected = (then * BESIDE_TIMES).max(then + SHARED_LEAST);
        if now > expected {
            let says =
                format!("an fsync takes {} at {p} beside a big writer, {} alone", time(now), time(then));
            out.push(finding("fsync-waits-for-others", &step.name, says, now, expected));
        }
    }
    let rates: Vec<(u32, f64)> = [1, 8, 64]
        .into_iter()
        .filter_map(|n| Some((n, sync(&format!("{n} thread{}", if n == 1 { "" } else { "s" }))?.1.iops)))
        .collect();
    let most = rates.iter().map(|r| r.1).fold(0.0, f64::max);
    if let Some(knee) = rates.iter().find(|r| r.1 >= KNEE * most) {
        let words: Vec<String> = rates.iter().map(|(n, r)| format!("{r:.0}/s with {n}")).collect();
        let more = format!("fsyncs by threads: {}; it stops growing at {}", words.join(", "), knee.0);
        s.remarks.push(more);
    }
}

fn heartbeat(s: &Scenario, p: &Probe, out: &mut Vec<Finding>) {
    let Some((step, m)) = s.steps.first().and_then(|s| Some((s, s.job("heartbeat")?))) else { return };
    // A heartbeat is late when one beat is: a few dozen beats have no p99 but their slowest.
    let worst = if m.latency.count >= FOR_P99 { m.latency.p99_ns } else { m.latency.max_ns };
    let expected = (p.floor.p99_ns * BESIDE_TIMES).max(p.floor.p99_ns + SHARED_LEAST);
    if worst > expected {
        let says = format!(
            "a heartbeat that reads a cold page takes {} beside a tarball, a read on the quiet disk {}",
            time(worst),
            time(p.floor.p50_ns)
        );
        out.push(finding("heartbeat-stalls", &step.name, says, worst, expected));
    }
}

fn small(s: &Scenario, p: &Probe, out: &mut Vec<Finding>) {
    let Some((step, m)) = s.steps.first().and_then(|s| Some((s, s.job("writes")?))) else { return };
    let expected = p.floor.p50_ns * WRITE_TIMES + WRITE_LEAST;
    if m.latency.p50_ns > expected {
        let says = format!(
            "a random write of 4 KiB takes {}, a read {}",
            time(m.latency.p50_ns),
            time(p.floor.p50_ns)
        );
        out.push(finding("slow-small-writes", &step.name, says, m.latency.p50_ns, expected));
    } else {
        named(
            step,
            &["raid-read-modify-write", "raid-bitmap"],
            m.latency.p50_ns,
            "the array makes more of small writes",
            "slow-small-writes",
            out,
        );
    }
    stalls(step, "writes", "random writes", out);
}

/// What to do, by what it could gain: the time above a good disk's, and the part of it that the cause explains.
pub fn remedies(scenarios: &[Scenario]) -> Vec<Remedy> {
    let mut all: Vec<Remedy> = Vec::new();
    for s in scenarios {
        for f in &s.findings {
            let Some(step) = s.steps.iter().find(|step| step.name == f.step) else { continue };
            for c in step.causes.iter().filter(|c| f.causes.contains(&c.cause) && c.cause != OUR_OWN) {
                let gain = (f.measured_ns.saturating_sub(f.expected_ns) as f64 * c.share) as u64;
                for r in &c.remedies {
                    let new =
                        Remedy { cause: c.cause.clone(), scenario: s.number, gain_ns: gain, ..r.clone() };
                    match all.iter_mut().find(|old| old.command == new.command && old.what == new.what) {
                        Some(old) if old.gain_ns >= gain => {}
                        Some(old) => *old = new,
                        None => all.push(new),
                    }
                }
            }
        }
    }
    // The order of a cause's own remedies is kept: it is by how well they help.
    all.sort_by_key(|r| std::cmp::Reverse(r.gain_ns));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Measured;

    fn latency(p50: u64, p99: u64) -> Latency {
        Latency {
            count: 1_000,
            p50_ns: p50,
            mean_ns: p50,
            p95_ns: p99,
            p99_ns: p99,
            p999_ns: p99,
            max_ns: p99,
        }
    }

    fn step(name: &str, job: &str, l: Latency, causes: &[(&str, f64)]) -> Step {
        let found = |c: &(&str, f64)| Found {
            cause: c.0.into(),
            title: c.0.into(),
            share: c.1,
            confidence: "high".into(),
            ..Found::default()
        };
        let measured = vec![Measured { job: job.into(), latency: l, ..Measured::default() }];
        Step { name: name.into(), measured, causes: causes.iter().map(found).collect(), ..Step::default() }
    }

    fn readers(beside: Latency, causes: &[(&str, f64)]) -> Scenario {
        let steps = vec![
            step("alone", "reads", latency(MS, 2 * MS), &[]),
            step("beside buffered", "reads", beside, causes),
        ];
        let mut s = Scenario { number: 2, steps, ..Scenario::default() };
        judge(&mut s, &Probe::default(), None, &BTreeMap::new());
        s
    }

    #[test]
    fn readers_beside_a_writer() {
        assert_eq!(readers(latency(MS, 10 * MS), &[("writeback-flood", 0.9)]).verdict, "good");
        let s = readers(latency(MS, 100 * MS), &[("writeback-flood", 0.9), ("cpu-wait", 0.1)]);
        assert_eq!((s.verdict.as_str(), s.findings[0].name.as_str()), ("suffers", "writers-starve-readers"));
        assert_eq!(s.findings[0].causes, ["writeback-flood"]);
    }

    #[test]
    fn processors_are_not_the_disk() {
        let s = readers(latency(MS, 100 * MS), &[("cpu-wait", 0.9)]);
        assert_eq!((s.verdict.as_str(), s.findings.len()), ("good", 0));
        assert!(s.remarks[0].contains("not the disk"), "{:?}", s.remarks);
    }

    #[test]
    fn what_was_not_measured_is_not_good() {
        let mut s = Scenario {
            number: 7,
            steps: vec![Step { trouble: Some("full".into()), ..Step::default() }],
            ..Scenario::default()
        };
        judge(&mut s, &Probe::default(), None, &BTreeMap::new());
        assert_eq!(s.verdict, "cannot-tell");
    }

    #[test]
    fn remedies_by_gain() {
        let with = |number: u8, measured: u64| {
            let remedies =
                vec![Remedy { what: format!("of {number}"), command: "x".into(), ..Remedy::default() }];
            let causes = vec![Found { cause: "c".into(), share: 0.5, remedies, ..Found::default() }];
            Scenario {
                number,
                steps: vec![Step { name: "a".into(), causes, ..Step::default() }],
                findings: vec![Finding {
                    causes: vec!["c".into()],
                    ..finding("f", "a", String::new(), measured, MS)
                }],
                ..Scenario::default()
            }
        };
        let all = remedies(&[with(1, 3 * MS), with(2, 11 * MS)]);
        assert_eq!(all.iter().map(|r| (r.scenario, r.gain_ns)).collect::<Vec<_>>(), [(2, 5 * MS), (1, MS)]);
    }
}
