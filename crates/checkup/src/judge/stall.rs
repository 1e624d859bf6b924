//! Finds stalls, and selects the percentiles that a number of operations supports.

use super::judged::{finding, Judged, MS};
use crate::result::{Latency, Step};
use units::words;

/// A stall takes at least this many times the median, and
const STALL_TIMES: u64 = 20;
/// at least this long: delays by the processors of a busy machine stay below (measured on two shared processors).
const STALL_LEAST: u64 = 50 * MS;
/// Rare stalls take most of the time if the mean is more than this many times the p95.
const RARE_TIMES: u64 = 2;
/// If this many slices have an operation that long, it is not chance, whatever the percentiles are.
const AGAIN: usize = 4;
/// A single operation is a stall if it takes at least this long: too long to be chance.
pub(super) const STALL_ALONE: u64 = 500 * MS;
/// From this number of operations on, the percentile has four slower ones; with fewer it would be chance.
const FOR_P95: u64 = 100;
pub(super) const FOR_P99: u64 = 400;
const FOR_P999: u64 = 5_000;

/// The rarest percentile that the number of operations supports, with its value in ns.
pub(super) fn rare(l: &Latency) -> (&'static str, u64) {
    match l.count {
        FOR_P999.. => ("p99.9", l.p999_ns),
        FOR_P99.. => ("p99", l.p99_ns),
        FOR_P95.. => ("p95", l.p95_ns),
        _ => ("p50", l.p50_ns),
    }
}

/// The same percentile of two distributions: up to p99, the rarest that both support; the median if one has very few.
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
    let again = m.slices.iter().filter(|slice| slice.max_ns > expected).count();
    if value > expected {
        let says =
            format!("{what} stall: {name} is {}, the median {}", words::ns(value), words::ns(l.p50_ns));
        out.push(finding("stalls", &step.name, says, value, expected));
    } else if l.mean_ns > RARE_TIMES * l.p95_ns && l.max_ns > expected {
        // With one operation at a time, the mean times their number is the time of the run.
        let says = format!(
            "{what} stall now and then: {} at most, and most of the time went there; the median is {}",
            words::ns(l.max_ns),
            words::ns(l.p50_ns)
        );
        out.push(finding("stalls", &step.name, says, l.max_ns, expected));
    } else if again >= AGAIN {
        let says = format!(
            "{what} stall again and again: up to {}, in {again} of {} slices of the time; the median is {}",
            words::ns(l.max_ns),
            m.slices.len(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Measured;

    /// The finding for 330 reads of 1 ms, the slowest of 300 ms, in eight slices of which `slow` have one that slow.
    fn said(slow: usize) -> Option<String> {
        let latency =
            |max_ns| Latency { count: 330, p50_ns: MS, p95_ns: 4 * MS, max_ns, ..Latency::default() };
        let slices = (0..8).map(|n| latency(if n < slow { 300 * MS } else { 5 * MS })).collect();
        let latency = Latency { mean_ns: 6 * MS, ..latency(300 * MS) };
        let measured = vec![Measured { job: "reads".into(), latency, slices, ..Measured::default() }];
        let mut out = Judged::default();
        stalls(&Step { measured, ..Step::default() }, "reads", "reads", &mut out);
        out.findings.pop().map(|f| f.says)
    }

    #[test]
    fn what_happens_in_four_slices_is_no_chance() {
        assert_eq!(said(3), None);
        let again =
            "reads stall again and again: up to 300 ms, in 4 of 8 slices of the time; the median is 1 ms";
        assert_eq!(said(4).unwrap(), again);
    }
}
