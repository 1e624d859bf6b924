//! The quiet disk: what it can do, and whether it does that always.

use super::{finding, stall::stalls};
use crate::result::{Finding, Probe, Scenario, Step};
use causes::words;

/// The step that says how fast the disk is: one read at a time.
pub const FLOOR: &str = "depth 1";
/// The knee is the least depth with this part of the most reads a second.
pub const KNEE: f64 = 0.9;
/// A disk that serves less than this many times as many reads a second at depth 32 as at depth 1 serves one at a time. Disks
/// that turn gain 2 to 3 by sorting (NCQ), flash 8 and more (data sheets).
const PARALLEL: f64 = 1.6;

/// What the first scenario says the disk can do.
pub fn probe(scenario: &Scenario, probe: &mut Probe) {
    let reads = |s: &Step| s.job("reads").cloned();
    if let Some(floor) = scenario.steps.iter().find(|s| s.name == FLOOR).and_then(reads) {
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

pub(super) fn quiet(s: &Scenario, p: &Probe, out: &mut Vec<Finding>) {
    let Some(step) = s.steps.iter().find(|s| s.name == FLOOR) else { return };
    stalls(step, "reads", "reads on a quiet disk", out);
    let deepest = s.steps.iter().rev().find(|s| s.name != FLOOR && s.job("reads").is_some());
    if let Some((deep, m)) = deepest.and_then(|d| Some((d, d.job("reads")?))) {
        if p.parallelism < PARALLEL {
            let says = format!(
                "it serves one read at a time: {} more reads a second at any depth than at depth 1 (x{})",
                words::three((p.parallelism - 1.0).max(0.0) * 100.0) + " %",
                words::three(p.parallelism)
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
