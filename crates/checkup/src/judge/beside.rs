//! Judges readers, fsyncs and heartbeats beside writers.

use super::judged::{finding, Judged, MS};
use super::stall::{pair, FOR_P99};
use crate::result::{Finding, Found, Probe, Remedy, Scenario};
use std::collections::BTreeMap;
use units::words;

/// Beside a writer that leaves two thirds of the disk, readers take at most this many times as long at p99, or
pub(super) const BESIDE_TIMES: u64 = 5;
/// (Number of readers: alone they take at most this many times the floor, if all issue at the same time.)
const READERS: u64 = 4;
/// this much longer: on a disk of 50 MB/s, one large write in front of each read is 20 ms.
const BESIDE_LEAST: u64 = 20 * MS;
/// An fsync or a cold read beside a writer may take this much longer: it waits for some of the writes, too.
pub(super) const SHARED_LEAST: u64 = 50 * MS;

pub(super) fn beside(s: &Scenario, probe: &Probe, out: &mut Judged) {
    let Some(alone) = s.steps.iter().find(|s| s.name == "alone").and_then(|s| s.job("reads")) else { return };
    for step in s.steps.iter().filter(|s| s.name != "alone") {
        let Some(m) = step.job("reads") else { continue };
        let ((_, then), (p, now)) = pair(&alone.latency, &m.latency);
        // A bad moment of the readers alone must not excuse the writers.
        let floor = probe.floor.p99_ns * READERS;
        let usual = if floor > 0 { then.min(floor) } else { then };
        let expected = (usual * BESIDE_TIMES).max(usual + BESIDE_LEAST);
        let writer = step.name.trim_start_matches("beside ");
        // A delayed reader issues nothing meanwhile, so a few operations carry most of the time: then the mean shows it.
        let (mean, mean_alone, max) = (m.latency.mean_ns, alone.latency.mean_ns, m.latency.max_ns);
        let says = format!(
            "readers take {} at {p} beside {writer} writes, {} alone",
            words::ns(now),
            words::ns(then)
        );
        if now <= expected && mean > mean_alone * BESIDE_TIMES && max > expected {
            let says = format!(
                "readers take {} on average and up to {} beside {writer} writes, {} alone",
                words::ns(mean),
                words::ns(max),
                words::ns(mean_alone)
            );
            out.push(finding("writers-starve-readers", &step.name, says, max, expected));
        } else {
            out.limit("writers-starve-readers", &step.name, says, now, expected);
        }
    }
}

/// If a buffered writer starves readers and writeback throttling is off, reports that as a cause: a correlation, which a trial can prove.
pub(super) fn unthrottled(
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
    let turns = settings.get("queue/rotational").is_some_and(|r| r == "1");
    let target = if turns { causes::WBT_DISK } else { causes::WBT_FLASH }.0 / 1000;
    let remedies = disk.map(|d| Remedy {
        what: format!("writeback throttling on, with the kernel's usual target of {target} us: buffered writes are written out more slowly"),
        ..Remedy::setting(d, "queue/wbt_lat_usec", target)
    });
    step.causes.push(Found {
        cause: "writeback-flood".into(),
        title: causes::all().iter().find(|c| c.name == "writeback-flood").map_or("", |c| c.title).into(),
        share: f.measured_ns.saturating_sub(f.expected_ns) as f64 / f.measured_ns.max(1) as f64,
        confidence: "low".into(),
        evidence: vec![
            "writeback throttling is off (wbt_lat_usec 0), and readers are slow only beside the writer"
                .into(),
        ],
        remedies: remedies.into_iter().collect(),
    });
}

pub(super) fn heartbeat(s: &Scenario, p: &Probe, out: &mut Judged) {
    let Some((step, m)) = s.steps.first().and_then(|s| Some((s, s.job("heartbeat")?))) else { return };
    // A heartbeat is late if one beat is: for a few dozen beats, the p99 is the slowest.
    let worst = if m.latency.count >= FOR_P99 { m.latency.p99_ns } else { m.latency.max_ns };
    let expected = (p.floor.p99_ns * BESIDE_TIMES).max(p.floor.p99_ns + SHARED_LEAST);
    let says = format!(
        "a heartbeat that reads a cold page takes {} beside a tarball, a read on the quiet disk {}",
        words::ns(worst),
        words::ns(p.floor.p50_ns)
    );
    out.limit("heartbeat-stalls", &step.name, says, worst, expected);
}
