//! A disk that flushes its cache most of the time, from iostat's rows: suspected `flush-cost`.
//!
//! The kernel counts flushes from Linux 5.5 on (`f/s`, `f_await`). They are one after the other in each hardware queue (block/blk-flush.c), so
//! their number times what each takes is the time of flushing. Counters do not say who waits for them: never more than a suspicion.
//!
//! Example: 101 flushes a second of 9.2 ms each are 93 % of the time.

use super::busy::{by_disk, Report};
use super::say::{number, plain};
use super::thresholds::evidence::REPORTS;
use crate::proof::proof;
use crate::thresholds::alone::MOSTLY;
use crate::verdict::Verdict;
use tooltext::ToolOutput;

const NAME: &str = "flush-cost";

const MISSING: &str = "who waits for them, and for how long: sudo iowhy record -o slow while it is so";

/// Suspected if a disk flushed for more than half of the time in most of the reports on it. Told of the disk that did so for longest.
pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let disks = by_disk(outputs);
    let mostly = disks.iter().filter_map(|(name, reports)| {
        // The mean since boot says nothing of the time that somebody looked at.
        let intervals = reports.iter().filter(|r| !r.since_boot);
        let mut all: Vec<(f64, &Report)> = intervals.filter_map(|r| Some((part(r)?, r))).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Of an even number the lower of the two in the middle.
        let (median, report) = *all.get(all.len().checked_sub(1)? / 2)?;
        (all.len() >= REPORTS && median >= MOSTLY).then_some((*name, median, report))
    });
    let (name, part, report) = mostly.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (rate, took) = (report.row.get("f/s")?, report.row.get("f_await")?);
    Some(Verdict::cannot_tell(NAME, MISSING).because(proof!(
        "{name} flushed its cache for {part} of the time: {rate} flushes a second of {took} each ({at})",
        name,
        part = Share(part.min(1.0)),
        rate = plain(rate.value),
        took = number(took),
        at = Source(report.place.at(took))
    )))
}

/// The part of the time in which the disk flushed: more than 1 with several hardware queues.
fn part(r: &Report) -> Option<f64> {
    Some(r.row.value("f/s")? * r.row.value("f_await")? / 1e9)
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use crate::verdict::Answer;
    use tooltext::ToolOutput;

    /// Reports on a disk with this many flushes a second of this many milliseconds each.
    fn suspected(reports: &[(f64, f64)]) -> Option<String> {
        let report = |(rate, took): &(f64, f64)| {
            format!("Device r/s w/s r_await w_await f/s f_await aqu-sz %util\nvda 0.00 200.00 0.00 4.80 {rate:.2} {took:.2} 1.90 96.00\n\n")
        };
        let text: String = reports.iter().map(report).collect();
        let output = ToolOutput::read("iostat.txt", text.as_bytes());
        let all = judge_counters(&[output]);
        let v = all.into_iter().find(|v| v.cause == "flush-cost")?;
        assert_eq!(v.verdict, Answer::CannotTell);
        Some(v.evidence[0].sentence())
    }

    #[test]
    fn the_mean_since_boot_is_no_evidence() {
        let report = "Device r/s w/s r_await w_await f/s f_await aqu-sz %util\nvda 0.00 200.00 0.00 4.80 101.00 9.20 1.90 96.00\n\n";
        let causes = |before: &str| {
            let text = format!("{before}{report}{report}");
            judge_counters(&[ToolOutput::read("a", text.as_bytes())]).iter().any(|v| v.cause == "flush-cost")
        };
        assert!(causes(""));
        assert!(!causes("Linux 6.1.0 (host) \t11/25/26 \t_x86_64_\t(8 CPU)\n\n"), "one interval remains");
    }

    #[test]
    fn a_disk_that_flushes_most_of_the_time_is_suspected() {
        let said = suspected(&[(101.0, 9.2), (99.0, 9.3), (100.0, 9.3)]).expect("a suspicion");
        assert!(said.starts_with("vda flushed its cache for 93 % of the time: "), "{said}");
        assert_eq!(suspected(&[(101.0, 0.4), (99.0, 0.4)]), None);
        assert_eq!(suspected(&[(101.0, 9.2)]), None, "one report may be of one second");
        assert_eq!(suspected(&[(101.0, 9.2), (0.0, 0.0)]), None, "half of the reports");
        assert_eq!(suspected(&[(101.0, 9.2), (0.0, 0.0), (0.0, 0.0)]), None, "now and then");
    }
}
