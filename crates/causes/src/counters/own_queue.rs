//! A load that waits in its own queue: suspected `device-saturated`.
//!
//! As many operations are in flight as arrive in the time that one takes (Little's law): rate times mean latency. A test that keeps hundreds
//! in flight measures how long its queue is, not how long the device takes. What one operation takes alone is not in such a text: never
//! more than a suspicion.
//!
//! A queue makes all operations wait. If most take much less than the mean, a few that stalled make the mean, and the number in flight with
//! it: then the queue is no explanation.
//!
//! Example: 2,474 writes a second of 330 ms each are 816 in flight; one after the other they would take 0.4 ms each.

use super::place::{readings, In};
use super::say::{number, plain};
use super::thresholds::busy::LEAST_QUEUE;
use super::thresholds::own_queue::{ALIKE, NOT_SLOW};
use crate::proof::proof;
use crate::remedy::Action;
use crate::verdict::Verdict;
use tooltext::{Number, Reading, Row, ToolOutput};

/// Operations of one kind of a fio job.
struct Load<'a> {
    place: In<'a>,
    reading: &'a Reading,
    row: &'a Row,
    rate: Number,
    mean: Number,
}

impl Load<'_> {
    fn in_flight(&self) -> f64 {
        self.rate.value * self.mean.value / 1e9
    }

    /// Whether most operations wait, as far as the text says.
    fn all_wait(&self) -> bool {
        let median = ["lat.p50", "clat.p50"].into_iter().find_map(|name| self.row.value(name));
        median.is_none_or(|median| median >= ALIKE * self.mean.value)
    }
}

/// Suspected of the load with most in flight, if its operations are slow.
pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let loads = readings(outputs, "fio").flat_map(|(place, reading)| {
        let kinds = ["read", "write"].into_iter().filter_map(|kind| reading.row(kind));
        kinds.filter_map(move |row| {
            Some(Load { place, reading, row, rate: row.get("iops")?, mean: row.total_latency("mean")? })
        })
    });
    let waits = loads.filter(|l| l.in_flight() >= LEAST_QUEUE && l.mean.value >= NOT_SLOW.0 as f64);
    let most = waits.filter(Load::all_wait).max_by(|a, b| a.in_flight().total_cmp(&b.in_flight()))?;
    let missing = "what one operation takes alone: the same job with --iodepth=1 --numjobs=1";
    let told = proof!(
        "{job}: {n} {kind}s in flight at {rate}, so each takes {mean} ({at})",
        job = most.reading.called(),
        kind = most.row.of.as_str(),
        mean = number(most.mean),
        rate = number(most.rate),
        n = plain(most.in_flight().round()),
        at = Source(most.place.at(most.mean))
    );
    Some(Verdict::cannot_tell("device-saturated", missing).because(told).try_this(
        "who else loads the device meanwhile, and how long its queue is",
        Action::look("iostat -x 1 10"),
    ))
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use tooltext::ToolOutput;

    fn said(iops: u32, mean_usec: u32) -> Option<String> {
        said_with(iops, mean_usec, "")
    }

    fn said_with(iops: u32, mean_usec: u32, more: &str) -> Option<String> {
        let text = format!(
            "deep: (groupid=0, jobs=16): err= 0: pid=33: Fri Nov 11 11:26:03 2022\n  write: IOPS={iops}, BW=9899KiB/s (10.1MB/s)(2901MiB/300116msec)\n\
             \x20    lat (usec): min=300, max=1932000, avg={mean_usec}.0, stdev=212.83\n{more}"
        );
        let all = judge_counters(&[ToolOutput::read("out", text.as_bytes())]);
        all.into_iter().find(|v| v.cause == "device-saturated").map(|v| v.evidence[0].sentence())
    }

    #[test]
    fn a_long_queue_of_ones_own_makes_slow_operations() {
        assert_eq!(
            said(2474, 329_640).as_deref(),
            Some("deep: 816 writes in flight at 2,474 a second, so each takes 330 ms (out:3)")
        );
        assert_eq!(said(200_000, 640), None, "fast, however many");
        assert_eq!(said(50, 20_000), None, "slow one by one");
    }

    #[test]
    fn a_few_stalls_are_no_queue() {
        let with = |median: u32| {
            let more = format!(
                "    clat percentiles (msec):\n     | 50.00th=[ {median}], 99.00th=[ 61], 99.90th=[ 6544]\n"
            );
            said_with(700, 40_000, &more)
        };
        assert_eq!((with(9), with(36).is_some()), (None, true));
    }
}
