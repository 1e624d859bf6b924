//! How much of a sync a device can account for, by the times of writes and flushes that iostat shows beside fio's results.

use super::say::quantity;
use super::thresholds::fsync::{FLUSHES, WRITES};
use crate::proof::proof;
use crate::verdict::Verdict;
use tooltext::{Number, Row, ToolOutput, Unit};

/// A device's writes and flushes in one run: medians of its intervals.
struct Times<'a> {
    device: String,
    /// Flushes a second.
    rate: f64,
    /// Nanoseconds per flush and per write.
    flush: f64,
    write: f64,
    output: &'a ToolOutput,
    at: tooltext::Spot,
}

/// What is missing if syncs take longer than the device does.
const MISSING: &str = "what syncs wait for above the device: sudo iowhy record -o slow while it runs";

/// *Cannot tell*, if syncs of this mean take more than twice what the device can account for: they wait for something other than its flushes. Of all
/// devices, the one with the longest flushes is taken, if it flushed for half of the syncs at least: else it is of another time or disk.
pub(super) fn passes_above(
    cause: &'static str,
    outputs: &[ToolOutput],
    mean: Number,
    a_second: f64,
) -> Option<Verdict> {
    let all = outputs.iter().flat_map(times).filter(|t| 2.0 * t.rate >= a_second);
    let most = all.max_by(|a, b| in_device(a).total_cmp(&in_device(b)))?;
    let bound = in_device(&most);
    (2.0 * bound < mean.value).then(|| {
        let ns = |value| quantity(value, Unit::Nanoseconds);
        Verdict::cannot_tell(cause, MISSING).because(proof!(
            "{device} took {flush} for a flush and {write} for a write ({at}), so at most {bound} of a sync of {mean}: the rest passed \
             above the device",
            device = most.device,
            flush = ns(most.flush),
            write = ns(most.write),
            at = Source(most.output.at(most.at).to_string()),
            bound = ns(bound),
            mean = ns(mean.value)
        ))
    })
}

fn in_device(t: &Times) -> f64 {
    FLUSHES * t.flush + WRITES * t.write
}

fn times(output: &ToolOutput) -> Vec<Times<'_>> {
    let of = |row: &Row| {
        let flush = row.get("f_await").filter(|n| n.value > 0.0)?;
        Some(Times {
            device: row.of.clone(),
            rate: row.value("f/s")?,
            flush: flush.value,
            write: row.value("w_await")?,
            output,
            at: flush.at,
        })
    };
    let runs = output.runs.iter().map(|run| run.of_intervals());
    runs.flat_map(|run| run.of("iostat").flat_map(|r| &r.rows).filter_map(of).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use crate::verdict::{Answer, Verdict};
    use tooltext::ToolOutput;

    /// 300 syncs a second of 3 ms, beside a device with this many flushes a second of this many milliseconds, and writes of 0.1 ms.
    fn judged(flushes: f64, took: f64) -> Verdict {
        let report = format!(
            "Device r/s w/s r_await w_await f/s f_await aqu-sz %util\nvda 0.00 900.00 0.00 0.10 {flushes:.2} {took:.2} 0.10 2.00\n\n"
        );
        let fio = "app: (groupid=0, jobs=1): err= 0: pid=1: Fri Nov 27 15:05:24 2026\n  \
            write: IOPS=300, BW=1200KiB/s (1229kB/s)(4800KiB/4000msec); 0 zone resets\n    \
            clat (usec): min=3, max=390, avg=11.76, stdev=11.52\n  \
            fsync/fdatasync/sync_file_range:\n    sync (usec): min=64, max=11742, avg=3000.00, stdev=1521.23\n";
        let output = ToolOutput::read("mixed.txt", format!("{}{fio}", report.repeat(3)).as_bytes());
        judge_counters(&[output]).into_iter().find(|v| v.cause == "flush-cost").expect("a verdict")
    }

    #[test]
    fn what_the_device_did_not_take_is_not_its_flushes() {
        // 2 x 0.6 + 3 x 0.1 ms are half of a sync.
        for (took, answer) in [(0.59, Answer::CannotTell), (0.61, Answer::Found)] {
            let v = judged(300.0, took);
            assert_eq!(v.verdict, answer, "{v:?}");
        }
        let said = judged(300.0, 0.03).evidence[0].sentence();
        assert!(said.contains("vda took 30 us for a flush and 100 us for a write"), "{said}");
        assert!(said.contains("at most 360 us of a sync of 3 ms"), "{said}");
        // This few flushes are of another time or disk.
        assert_eq!(judged(149.0, 0.03).verdict, Answer::Found);
    }
}
