//! Stalls, and the percentiles that so many operations tell.

use super::{finding, Judged, MS};
use crate::result::{Latency, Step};
use causes::words;

/// A stall is this many times the median, and
const STALL_TIMES: u64 = 20;
/// at least so long: what a busy machine's processors delay stays below (measured on two shared processors).
const STALL_LEAST: u64 = 50 * MS;
/// Rare stalls take most of the time if the mean is this many times what 95 in 100 stay below.
const RARE_TIMES: u64 = 2;
/// One operation alone must be this long to be called a stall: what nobody would take for chance.
pub(super) const STALL_ALONE: u64 = 500 * MS;
/// Percentiles of so many operations have four slower ones: of fewer they are chance.
const FOR_P95: u64 = 100;
pub(super) const FOR_P99: u64 = 400;
const FOR_P999: u64 = 5_000;

/// The rarest percentile that so many operations tell.
pub(super) fn rare(l: &Latency) -> (&'static str, u64) {
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

pub(super) fn stalls(step: &Step, job: &str, what: &str, out: &mut Judged) {
    let Some(m) = step.job(job) else { return };
    let l = &m.latency;
    let (name, value) = rare(l);
    let expected = (l.p50_ns * STALL_TIMES).max(STALL_LEAST);
    if value > expected {
        let says =
            format!("{what} stall: {name} is {}, the median {}", words::ns(value), words::ns(l.p50_ns));
        out.push(finding("stalls", &step.name, says, value, expected));
    } else if l.mean_ns > RARE_TIMES * l.p95_ns && l.max_ns > expected {
        // One operation at a time: the mean times their number is the time of the run.
        let says = format!(
            "{what} stall now and then: {} at most, and most of the time went there; the median is {}",
            words::ns(l.max_ns),
            words::ns(l.p50_ns)
        );
        out.push(finding("stalls", &step.name, says, l.max_ns, expected));
    } else if l.max_ns > STALL_ALONE.max(expected) {
        let says = format!("one of {what} took {}, the median {}", words::ns(l.max_ns), words::ns(l.p50_ns));
        out.push(finding("stalls", &step.name, says, l.max_ns, STALL_ALONE));
    } else {
        let says =
            format!("{what} take {} at {name}, {} at the median", words::ns(value), words::ns(l.p50_ns));
        out.limit("stalls", &step.name, says, value, expected);
    }
}
