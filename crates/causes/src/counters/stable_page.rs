//! A buffered writer at a constant rate that waits rarely, but then for long: it may wait for pages under writeback.
//!
//! **Claims** nothing for sure: percentiles and a maximum do not say what a writer waited for, so the answer is *cannot
//! tell*, with the arithmetic that makes it a candidate, and what to record. **How rare** the stalls are follows from
//! the spread: `k` stalls as long as the longest, among `n` operations, give a variance of `k * max^2 / n`, so
//!
//! ```text
//! k <= n * stdev^2 / max^2        614,401 * (411.95 us)^2 / (225.7 ms)^2 = 2.05: two stalls in two minutes
//! ```

use super::place::In;
use super::say::{number, plain, times};
use super::settings::{mounts, of_device, Set};
use crate::proof::proof;
use crate::thresholds::counters_stable_page::{LONGER, STALL};
use crate::verdict::Verdict;
use tooltext::{Reading, Row, ToolOutput};
use units::words::count;

const NAME: &str = "stable-page";
struct Writer<'a> {
    place: In<'a>,
    row: &'a Row,
    /// Whether the device needs stable pages (`stable_writes`); `None` if the text does not tell it.
    stable: Option<Set<'a>>,
}

pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let mut verdict: Option<Verdict> = None;
    for output in outputs {
        let writers: Vec<Writer> =
            output.runs.iter().filter_map(|run| writer(outputs, In { output, run })).collect();
        for with in writers.iter().filter(|w| stalls(w.row)) {
            let Some(max) = with.row.latency("max") else { continue };
            let Some(without) = writers.iter().find(|o| with.differs_from(o)) else {
                continue;
            };
            let Some(other) = without.row.latency("max").filter(|o| max.value >= LONGER * o.value) else {
                continue;
            };
            let p9999 = |w: &Writer| w.row.latency("p99.99").map_or("unknown".into(), number);
            let higher = with
                .row
                .latency("p99.99")
                .zip(without.row.latency("p99.99"))
                .is_some_and(|(a, b)| a.value > b.value);
            let mut text = format!(
                "{}: max {} ({}) against {} for {} ({}), {}; p99.99 is {}higher, {} against {}: the maximum \
                     is {} that",
                with.place.name(),
                number(max),
                with.place.at(max),
                number(other),
                without.place.name(),
                without.place.at(other),
                times(max.value / other.value),
                if higher { "" } else { "no " },
                p9999(with),
                p9999(without),
                with.row.latency("p99.99").map_or("unknown".into(), |p| times(max.value / p.value)),
            );
            if let Some((k, n)) = how_many(with.row) {
                text += &format!(
                    "; the spread leaves room for {} such stalls among {} writes ({} x stdev^2 / max^2)",
                    plain(k),
                    count(n as u64),
                    count(n as u64)
                );
            }
            let v = verdict.take().unwrap_or_else(|| {
                Verdict::cannot_tell(
                    NAME,
                    "what the writer waited for: iowhy record while it runs (folio_wait_writeback in the write), and \
                     `grep . /sys/block/*/queue/stable_writes` (1 where the device needs stable pages)",
                )
            });
            verdict = Some(told(v.because(text), outputs, with));
            if let (Some(a), Some(b)) = (with.row.get("iops"), without.row.get("iops")) {
                if (a.value / b.value - 1.0).abs() < 0.01 {
                    let text = format!(
                        "the rate is the same in all of them: {}; stalls that rare do not lower it",
                        number(a)
                    );
                    verdict = verdict.map(|v| v.because(text));
                }
            }
        }
    }
    verdict.map(|v| {
        v.because(
            "rare, long stalls of a buffered writer at a constant rate: what waiting for a page under \
             writeback looks like",
        )
        .unless("the same stalls without writeback in flight, or with stable_writes 0")
    })
}

/// What the text says about the device: whether it needs stable pages, and what is mounted on it.
fn told(v: Verdict, outputs: &[ToolOutput], with: &Writer) -> Verdict {
    let v = match with.stable {
        Some(s) if s.chosen() == "1" => {
            v.because(proof!("{s}: writers do wait for pages under writeback there", s = s.words()))
        }
        Some(s) => {
            v.because(proof!("{s}: against it, pages may change while they are written", s = s.words()))
        }
        None => v,
    };
    let device = with.device().unwrap_or("");
    mounts(outputs, device).into_iter().fold(v, Verdict::because)
}

impl Writer<'_> {
    /// The device whose counters fio shows.
    fn device(&self) -> Option<&str> {
        let rows = self.place.run.of("fio").flat_map(|job| &job.rows);
        rows.filter(|row| row.get("write.ios").is_some()).last().map(|row| row.of.as_str())
    }

    /// Whether this writer has stable pages and the other one has not, by setting or by label.
    fn differs_from(&self, other: &Writer) -> bool {
        match (self.stable, other.stable) {
            (Some(a), Some(b)) if a.chosen() != b.chosen() => a.chosen() == "1",
            _ => counterpart(&self.place.run.label, &other.place.run.label),
        }
    }
}

/// A run with buffered writes only.
fn writer<'a>(outputs: &'a [ToolOutput], place: In<'a>) -> Option<Writer<'a>> {
    let job = place.run.of("fio").find(|j| j.row("write").is_some() && j.row("read").is_none())?;
    let direct = |r: &Reading| r.setting("direct") == Some("1");
    let job_file = place.output.runs.iter().flat_map(|run| run.of("fio job file")).any(direct);
    (!job_file && !direct(job)).then_some(())?;
    let mut writer = Writer { place, row: job.row("write")?, stable: None };
    writer.stable = of_device(outputs, place, writer.device(), "queue/stable_writes");
    Some(writer)
}

/// Whether the longest write took far longer than all but one in ten thousand.
fn stalls(row: &Row) -> bool {
    let (Some(max), Some(p)) = (row.latency("max"), row.latency("p99.99")) else { return false };
    p.value > 0.0 && max.value >= STALL * p.value
}

/// The most stalls as long as the longest that are possible, and the number of operations.
fn how_many(row: &Row) -> Option<(f64, f64)> {
    let (stdev, max) = (row.latency("stdev")?.value, row.latency("max")?.value);
    let n = row.value("count")?;
    (max > 0.0).then(|| (n * stdev * stdev / (max * max), n))
}

/// Whether two labels differ only in that the second says *without*: `ext4 w/ stable page write`, `ext4 w/o ...`.
fn counterpart(with: &str, without: &str) -> bool {
    let plain = |text: &str| -> Vec<String> {
        text.split_whitespace()
            .map(|w| match w {
                "w/" | "with" => "with".into(),
                "w/o" | "without" | "no" => "without".into(),
                other => other.to_lowercase(),
            })
            .collect()
    };
    let (with, without) = (plain(with), plain(without));
    let replaced: Vec<String> =
        without.iter().map(|w| if w == "without" { "with".into() } else { w.clone() }).collect();
    with != without && with == replaced
}
