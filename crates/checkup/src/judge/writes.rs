//! Judges writes: appends to a log, fsyncs, small random writes.

use super::beside::{BESIDE_TIMES, SHARED_LEAST};
use super::judged::{finding, named, Judged, MS, WHY};
use super::quiet::KNEE;
use super::stall::{pair, rare, stalls, STALL_ALONE};
use crate::result::{Probe, Scenario};
use units::words;

/// An append is a copy to memory; if it takes longer, it waited for something. (Scheduling delays stay below.)
const APPEND: u64 = 10 * MS;
/// On a file system with a journal, an fsync is two or three writes one after the other (data, journal, commit), and
const FSYNC_TIMES: u64 = 4;
/// a flush, which flash with a volatile cache does in 1 to 3 ms.
const FSYNC_LEAST: u64 = 3 * MS;
/// A small write takes at most this many times as long as a small read, and
const WRITE_TIMES: u64 = 5;
/// this much longer.
const WRITE_LEAST: u64 = MS;

pub(super) fn appends(s: &Scenario, out: &mut Judged) {
    let Some((step, m)) = s.steps.first().and_then(|s| Some((s, s.job("appends")?))) else { return };
    let (name, value) = rare(&m.latency);
    let median = words::ns(m.latency.p50_ns);
    if value <= APPEND && m.latency.max_ns > STALL_ALONE {
        let says = format!("one append waited {}, the median {median}", words::ns(m.latency.max_ns));
        out.push(finding("appends-stall", &step.name, says, m.latency.max_ns, STALL_ALONE));
    } else {
        let says = format!("appends to a log take {} at {name}, {median} at the median", words::ns(value));
        out.limit("appends-stall", &step.name, says, value, APPEND);
    }
}

pub(super) fn fsync(s: &mut Scenario, p: &Probe, out: &mut Judged) {
    let sync = |name: &str| s.steps.iter().find(|s| s.name == name).and_then(|s| Some((s, s.job("sync")?)));
    let Some((step, alone)) = sync("1 thread") else { return };
    let Some(l) = alone.fsync else { return };
    let expected = p.floor.p50_ns * FSYNC_TIMES + FSYNC_LEAST;
    let says = format!("an fsync takes {}, a read {}", words::ns(l.p50_ns), words::ns(p.floor.p50_ns));
    out.limit("slow-fsync", &step.name, says, l.p50_ns, expected);
    if let Some((step, beside)) = sync("beside a writer").and_then(|(s, m)| Some((s, m.fsync?))) {
        let ((_, then), (p, now)) = pair(&l, &beside);
        let expected = (then * BESIDE_TIMES).max(then + SHARED_LEAST);
        let says = format!(
            "an fsync takes {} at {p} beside a big writer, {} alone",
            words::ns(now),
            words::ns(then)
        );
        out.limit("fsync-waits-for-others", &step.name, says, now, expected);
    }
    let rates: Vec<(u32, f64)> = [1, 8, 64]
        .into_iter()
        .filter_map(|n| Some((n, sync(&format!("{n} thread{}", if n == 1 { "" } else { "s" }))?.1.iops)))
        .collect();
    let most = rates.iter().map(|r| r.1).fold(0.0, f64::max);
    if let Some(knee) = rates.iter().find(|r| r.1 >= KNEE * most) {
        let words: Vec<String> = rates.iter().map(|(n, r)| format!("{r:.0}/s with {n}")).collect();
        let last = rates.last().is_some_and(|last| last.0 == knee.0);
        let grows = match last {
            true => "it grows as far as was tried".to_string(),
            false => format!("it stops growing at {}", knee.0),
        };
        let more = format!("fsyncs by threads: {}; {grows}", words.join(", "));
        s.remarks.push(more);
    }
}

pub(super) fn small(s: &Scenario, p: &Probe, out: &mut Judged) {
    let Some((step, m)) = s.steps.first().and_then(|s| Some((s, s.job("writes")?))) else { return };
    let expected = p.floor.p50_ns * WRITE_TIMES + WRITE_LEAST;
    let says = format!(
        "a random write of 4 KiB takes {}, a read {}",
        words::ns(m.latency.p50_ns),
        words::ns(p.floor.p50_ns)
    );
    out.limit("slow-small-writes", &step.name, says, m.latency.p50_ns, expected);
    if m.latency.p50_ns <= expected {
        named(
            step,
            &["raid-read-modify-write", "raid-bitmap"],
            // An array does so for every small write, whatever else delays the slowest ones.
            WHY,
            m.latency.p50_ns,
            "the array amplifies small writes",
            "slow-small-writes",
            out,
        );
    }
    stalls(step, "writes", "random writes", out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Found, Latency, Measured, Step};

    /// The findings for small writes with this median, on a disk whose reads take 10 ms, if the array's reads before writes
    /// explain this part of the slowest ones' time.
    fn found(p50: u64, share: f64, confidence: &str) -> Vec<(String, u64)> {
        let latency = |p50| Latency { count: 500, p50_ns: p50, ..Latency::default() };
        let causes = vec![Found {
            cause: "raid-read-modify-write".into(),
            share,
            confidence: confidence.into(),
            ..Found::default()
        }];
        let measured = vec![Measured { job: "writes".into(), latency: latency(p50), ..Measured::default() }];
        let s = Scenario {
            number: 7,
            steps: vec![Step { measured, causes, ..Step::default() }],
            ..Scenario::default()
        };
        let mut out = Judged::default();
        small(&s, &Probe { floor: latency(10 * MS), ..Probe::default() }, &mut out);
        out.findings.into_iter().map(|f| (f.name, f.expected_ns)).collect()
    }

    #[test]
    fn small_writes_on_an_array() {
        let slow = |expected| vec![("slow-small-writes".to_string(), expected)];
        assert_eq!(found(30 * MS, 0.0, "high"), []);
        assert_eq!(found(60 * MS, 0.0, "high"), slow(51 * MS), "five times a read and a millisecond");
        // An array that reads before it writes is a finding even below that limit.
        assert_eq!(found(30 * MS, 0.5, "medium"), slow(15 * MS));
        assert_eq!(found(30 * MS, 0.14, "medium"), []);
        assert_eq!(found(30 * MS, 0.5, "low"), []);
    }
}
