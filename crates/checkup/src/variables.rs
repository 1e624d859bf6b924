//! Scales the variables of job files to the disk: rates, sizes and times.

use crate::lay::Laid;
use crate::plan::Plan;
use crate::result::Latency;
use crate::scenario::{Rate, Step};
use std::collections::BTreeMap;
use std::time::Duration;

/// The part of the disk's bandwidth that a writer beside others takes: two thirds are left.
const BESIDE: f64 = 0.3;
/// The maximal rate at which a log grows, in bytes per second: that of a busy log.
const LOG: u64 = 2 << 20;
/// The part of the rate of one read at a time that all readers together ask for.
const READERS: f64 = 0.3;
/// Number of readers in the job files; they share that rate.
const READERS_AT_ONCE: f64 = 4.0;
/// Buffered data of this part of a second (or of a shorter step) are written out at once: the kernel writes in bursts,
/// by default every 5 s (vm.dirty_writeback_centisecs).
const BURST: f64 = 0.5;
/// The minimal burst in bytes, however slow the disk is: from 4 MiB in flight on, writeback is a flood (crate life,
/// `FLOOD_BYTES`), and the dirty data of 5 s exceed that on any disk.
const LEAST_BURST: f64 = 8.0 * (1 << 20) as f64;
/// Maximal number of reads per second; more would not improve the measurement.
const MOST_READS: f64 = 500.0;

/// The values of `${NAME}` in a step's job file, scaled to a disk with this floor and this bandwidth.
pub fn variables(step: &Step, plan: &Plan, laid: &Laid, floor: &Latency) -> BTreeMap<String, String> {
    let text = crate::job::text(step.job).unwrap_or_default();
    let time = plan.time_of(step);
    let size = laid.size;
    let floor = floor.p50_ns.max(1) as f64;
    let reads = (READERS * 1e9 / floor).clamp(1.0, MOST_READS);
    let fair = (BESIDE * laid.bandwidth as f64) as u64;
    let rate = match step.rate {
        Rate::None => 0,
        // The writer's data last as long as the step, however fast the disk is.
        Rate::Beside => fair.min((size as f64 / time.as_secs_f64()) as u64).max(1 << 20),
        Rate::Log => fair.clamp(64 << 10, LOG),
    };
    // Rounded down to whole pages.
    let most = match step.job {
        "appends.fio" => (rate as f64 * time.as_secs_f64() * 1.5) as u64,
        _ => size / u64::from(step.many),
    };
    // At least two bursts: with fewer nothing would be written out.
    let total = rate as f64 * time.as_secs_f64();
    let burst = (rate as f64 * time.as_secs_f64().min(1.0) * BURST).max(LEAST_BURST.min(total / 2.0));
    let all = [
        ("SIZE", size.to_string()),
        ("TIME", format!("{}ms", time.max(Duration::from_millis(50)).as_millis())),
        ("DEPTH", step.many.to_string()),
        ("THREADS", step.many.to_string()),
        ("IOPS", format!("{:.0}", (reads / READERS_AT_ONCE).max(1.0))),
        ("BURST", (burst as u64 >> 20).max(1).to_string()),
        ("RATE", rate.to_string()),
        ("MOST", (most.min(size).max(4096) >> 12 << 12).to_string()),
        ("FEW", (size / 4).to_string()),
    ];
    all.into_iter()
        .filter(|(name, _)| text.contains(&format!("${{{name}}}")))
        .map(|(n, v)| (n.to_string(), v))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Place;
    use crate::plan::{Length, Wish};
    use crate::scenario;

    fn of(step: &str, bandwidth: u64) -> BTreeMap<String, String> {
        let wish = Wish { length: Length::Quick, step: None, most_bytes: None, only: vec![] };
        let place = Place { free: 1 << 40, total: 1 << 41, ..Place::default() };
        let step = scenario::ALL.iter().flat_map(|s| s.steps).find(|s| s.name == step).unwrap();
        let floor = Latency { p50_ns: 1_000_000, ..Latency::default() };
        variables(step, &Plan::of(&wish, &place).unwrap(), &Laid { size: 256 << 20, bandwidth }, &floor)
    }

    #[test]
    fn writeback_comes_in_bursts_that_are_floods() {
        let burst = |mb: u64| of("beside buffered", mb << 20)["BURST"].parse::<u64>().unwrap();
        assert_eq!((burst(1_000), burst(30)), (91, 6));
        // This disk is so slow that it cannot write a flood in the time of a step.
        assert_eq!(burst(5), 1);
    }

    #[test]
    fn only_what_stands_in_the_job_file() {
        let names: Vec<String> = of("pauses", 1 << 20).into_keys().collect();
        assert_eq!(names, ["SIZE", "TIME"]);
        assert_eq!(of("depth 8", 1 << 20)["DEPTH"], "8");
    }
}
