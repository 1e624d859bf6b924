//! What is worse than on a good disk, and what is within its limits.

use crate::result::{Finding, Step};
use units::words;

pub(super) const MS: u64 = 1_000_000;

/// A cause that is a fault by itself must explain at least this part of the slowest operations' time.
pub(super) const NAMES: f64 = 0.3;
/// A cause that explains less of the slowest operations' time is not why they are slow.
pub(super) const WHY: f64 = 0.15;
/// The results of comparing measurements with limits.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// Measurements that exceed their limits.
    pub findings: Vec<Finding>,
    /// Measurements within their limits, one sentence each.
    pub good: Vec<String>,
}

impl Judged {
    pub fn push(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Compares a time with the limit that a good disk of this kind stays below. `says` must fit both outcomes.
    pub fn limit(&mut self, name: &str, step: &str, says: String, measured: u64, expected: u64) {
        if measured > expected {
            self.push(finding(name, step, says, measured, expected));
        } else {
            self.good.push(format!("{says}; a good disk stays below {}", words::ns(expected)));
        }
    }
}

pub(super) fn finding(name: &str, step: &str, says: String, measured: u64, expected: u64) -> Finding {
    Finding {
        name: name.into(),
        step: step.into(),
        says,
        measured_ns: measured,
        expected_ns: expected,
        causes: vec![],
    }
}

/// Adds a finding for a cause that is a fault by itself if it explains at least `least` of the slowest operations' time.
pub(super) fn named(
    step: &Step,
    causes: &[&str],
    least: f64,
    measured: u64,
    says: &str,
    name: &str,
    out: &mut Judged,
) {
    let found = step
        .causes
        .iter()
        .find(|c| causes.contains(&c.cause.as_str()) && c.share >= least && c.confidence != "low");
    if let Some(c) = found {
        let expected = (measured as f64 * (1.0 - c.share)) as u64;
        out.push(finding(
            name,
            &step.name,
            format!("{says}: {:.0} % of the slowest ones' time", c.share * 100.0),
            measured,
            expected,
        ));
    }
}
