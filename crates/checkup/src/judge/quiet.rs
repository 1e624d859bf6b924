//! Judges the quiet disk: what it can do, and whether it always does that.

use super::judged::{finding, named, Judged, MS, NAMES};
use super::stall::stalls;
use crate::result::{Probe, Scenario, Step};
use units::words;

/// The step that measures the floor: one read at a time.
pub const FLOOR: &str = "depth 1";
/// The knee is the smallest depth with at least this part of the highest read rate.
pub const KNEE: f64 = 0.9;
/// A disk whose read rate at depth 32 is less than this many times that at depth 1 serves one read at a time. Rotating disks
/// gain 2 to 3 by sorting (NCQ), flash 8 and more (data sheets).
const PARALLEL: f64 = 1.6;
/// A read after a pause takes at most this many times as long as slow reads without a pause (p95: the slowest of them may have waited
/// for processors), and
const PAUSE_TIMES: u64 = 3;
/// this much longer: sleeping processors wake up within a fraction of a millisecond (exit latencies of their deepest states).
const PAUSE_LEAST: u64 = 2 * MS;
/// With this many reads the p80 is judged: one read in four follows a pause, so p80 is one of those, and not one of one or two
/// that are late by chance.
const PAUSE_READS: u64 = 16;

/// Derives what the disk can do from the first scenario.
pub fn probe(scenario: &Scenario, probe: &mut Probe) {
    let reads = |s: &Step| s.job("reads").cloned();
    let step = scenario.steps.iter().find(|s| s.name == FLOOR);
    probe.other_users = step.and_then(|s| s.other_users.clone());
    if let Some(floor) = step.and_then(reads) {
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

pub(super) fn quiet(s: &Scenario, p: &Probe, out: &mut Judged) {
    let Some(step) = s.steps.iter().find(|s| s.name == FLOOR) else { return };
    stalls(step, "reads", "reads on a quiet disk", out);
    let deepest =
        s.steps.iter().rev().find(|s| s.variables.contains_key("DEPTH") && s.job("reads").is_some());
    if let Some((deep, m)) = deepest.filter(|d| d.name != FLOOR).and_then(|d| Some((d, d.job("reads")?))) {
        // A limit also makes it serve few at the same time, but that is no fault of the disk.
        let (before, p50) = (out.findings.len(), m.latency.p50_ns);
        let says = "a limit caps the reads a second";
        named(deep, &["rate-limit"], NAMES, p50, says, "rate-limited", out);
        if p.parallelism < PARALLEL && out.findings.len() == before {
            let says = format!(
                "it serves one read at a time: {} more reads a second at any depth than at depth 1 (x{}), so a read takes {} with {} \
                 others",
                words::three((p.parallelism - 1.0).max(0.0) * 100.0) + " %",
                words::three(p.parallelism),
                words::ns(p50),
                deep.variables.get("DEPTH").map_or("", String::as_str)
            );
            out.push(finding(
                "one-at-a-time",
                &deep.name,
                says,
                p50,
                p.floor.p50_ns * u64::from(p.knee_depth.max(1)) * 4,
            ));
        }
    }
    pauses(s, p, out);
}

/// Judges the first read after a pause.
fn pauses(s: &Scenario, p: &Probe, out: &mut Judged) {
    let Some(step) = s.steps.iter().find(|s| s.name == "pauses") else { return };
    let Some(l) = step.job("reads").map(|m| m.latency).filter(|l| l.count >= PAUSE_READS) else { return };
    let expected = (p.floor.p95_ns * PAUSE_TIMES).max(p.floor.p95_ns + PAUSE_LEAST);
    let says = format!(
        "the first read after a pause takes {}, one without a pause {}",
        words::ns(l.p80_ns),
        words::ns(p.floor.p50_ns)
    );
    out.limit("slow-after-a-pause", &step.name, says, l.p80_ns, expected);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Found, Latency, Measured};

    fn step(name: &str, depth: Option<u32>, p50: u64, p80: u64, cause: Option<&str>) -> Step {
        let latency = Latency { count: 100, p50_ns: p50, p80_ns: p80, mean_ns: p50, ..Latency::default() };
        Step {
            name: name.into(),
            variables: depth.map(|d| ("DEPTH".into(), d.to_string())).into_iter().collect(),
            measured: vec![Measured { job: "reads".into(), latency, ..Measured::default() }],
            causes: cause
                .map(|c| Found { cause: c.into(), share: 0.9, confidence: "high".into(), ..Found::default() })
                .into_iter()
                .collect(),
            ..Step::default()
        }
    }

    fn found(parallelism: f64, steps: Vec<Step>) -> Vec<String> {
        let floor = Latency { p50_ns: MS / 2, p95_ns: MS, p99_ns: 50 * MS, ..Latency::default() };
        let (p, mut out) =
            (Probe { floor, parallelism, knee_depth: 1, ..Probe::default() }, Judged::default());
        quiet(&Scenario { number: 1, steps, ..Scenario::default() }, &p, &mut out);
        out.findings.iter().map(|f| f.name.clone()).collect()
    }

    #[test]
    fn who_holds_the_disk_back() {
        let steps =
            |cause| vec![step(FLOOR, Some(1), MS, MS, None), step("depth 32", Some(32), 60 * MS, MS, cause)];
        assert_eq!(found(1.1, steps(None)), ["one-at-a-time"]);
        assert_eq!(found(1.1, steps(Some("rate-limit"))), ["rate-limited"]);
        assert_eq!(found(8.0, steps(Some("device-saturated"))), [""; 0]);
    }

    #[test]
    fn the_first_read_after_a_pause() {
        let steps = |p80| vec![step(FLOOR, Some(1), MS, MS, None), step("pauses", None, MS, p80, None)];
        assert_eq!(found(8.0, steps(3 * MS)), [""; 0]);
        assert_eq!(found(8.0, steps(4 * MS)), ["slow-after-a-pause"]);
    }
}
