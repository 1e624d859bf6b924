//! Measures the operations of one direction: their sizes, and their latencies alone.

use crate::arrival::Recorded;
use crate::device::Cost;
use crate::load::median;

/// Minimal number of operations alone, for the latency alone to be measured.
const ALONE: usize = 20;
/// This many operations of a direction may have been answered faster than the device can: accidents of the clock.
const TOO_FAST: usize = 5;
/// Fast operations may have been faster than the device's median by this factor.
const LUCK: f64 = 1.15;
/// A channel that is held for longer than this many answer times belongs to a device behind a limit.
const LIMITED: f64 = 1.5;
/// The part of operations that must begin where the last one ended, and the part that must not.
const IN_A_ROW: f64 = 0.05;

/// The latency of operations alone: per operation, per byte, and deviations.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Time per operation, in nanoseconds.
    pub fixed: f64,
    /// Time per byte, in nanoseconds.
    pub per_byte: f64,
    /// Deviations in nanoseconds, sorted.
    pub scatter: Vec<f32>,
}

/// Measurements of the operations of one direction.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// Number of operations.
    pub n: usize,
    /// Their mean size in bytes.
    pub mean: f64,
    /// Whether there are small and large ones: [`sizes_vary`].
    pub varied: bool,
    /// Their latencies alone, if enough were alone.
    pub alone: Option<Answer>,
    /// The quantile 0.01 of their times in the device, in nanoseconds.
    pub shortest: f64,
    /// Their minimal time in the device without the [`TOO_FAST`] fastest, in nanoseconds.
    pub least: f64,
}

impl Side {
    /// Whether a device with this cost could have answered as fast as recorded.
    pub fn allows(&self, cost: &Cost) -> bool {
        self.n == 0 || self.alone.is_some() || cost.answer + cost.answer_byte * self.mean <= LUCK * self.least
    }

    /// Whether a device with this cost answers long before the next operation may begin.
    pub fn is_limited(&self, cost: &Cost) -> bool {
        let hold = cost.hold + cost.hold_byte * self.mean;
        self.n > 0 && self.alone.is_none() && hold > LIMITED * (cost.answer + cost.answer_byte * self.mean)
    }
}

/// Whether some operations began where the last one ended and others did not: then the cost of a seek can be found.
pub fn some_in_a_row(r: &Recorded) -> bool {
    let mut order: Vec<_> = r.arrivals.iter().filter(|a| a.bytes.0 > 0 && !a.joined).collect();
    order.sort_by_key(|a| a.issued);
    let in_a_row = order.windows(2).filter(|w| w[0].start.after(w[0].bytes) == w[1].start).count();
    let part = in_a_row as f64 / order.len().max(1) as f64;
    part > IN_A_ROW && part < 1.0 - IN_A_ROW
}

/// Whether a direction has small and large operations: the quantiles 0.05 and 0.95 differ by more than a factor of 2.
pub fn sizes_vary(r: &Recorded, write: bool) -> bool {
    let of = r.arrivals.iter().filter(|a| a.is_write() == write && a.bytes.0 > 0 && !a.joined);
    let mut sizes: Vec<u64> = of.map(|a| a.bytes.0).collect();
    sizes.sort_unstable();
    let at = |part: usize| sizes.get(sizes.len() * part / 100).copied().unwrap_or(0);
    at(95) > at(5).saturating_mul(2)
}

/// Measures the operations of a direction.
pub fn side(r: &Recorded, write: bool) -> Side {
    let of = || r.arrivals.iter().filter(|a| a.is_write() == write && a.bytes.0 > 0 && !a.joined);
    let n = of().count();
    if n == 0 {
        return Side::default();
    }
    let mean = of().map(|a| a.bytes.0).sum::<u64>() as f64 / n as f64;
    let varied = sizes_vary(r, write);
    let mut took: Vec<u64> = of().map(|a| a.data.since(a.issued).0).collect();
    took.sort_unstable();
    let shortest = took[n / 100] as f64;
    let least = took[TOO_FAST.min(n - 1)] as f64;
    Side { n, mean, varied, alone: alone(r, write), shortest, least }
}

/// Fits the latencies of operations alone; `None` if there are too few.
fn alone(r: &Recorded, write: bool) -> Option<Answer> {
    let mut order: Vec<_> = r.arrivals.iter().filter(|a| !a.joined).collect();
    order.sort_by_key(|a| a.issued);
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut busy_until = 0;
    for (i, a) in order.iter().enumerate() {
        let nobody_before = busy_until <= a.issued.0;
        let nobody_after = order.get(i + 1).is_none_or(|b| b.issued >= a.data);
        busy_until = busy_until.max(a.completed.0);
        if nobody_before && nobody_after && a.is_write() == write && a.bytes.0 > 0 && !a.requeued {
            points.push((a.bytes.0 as f64, a.data.since(a.issued).0 as f64));
        }
    }
    if points.len() < ALONE {
        return None;
    }
    // The line of Theil and Sen between small and large operations, if there are both; else a median.
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let third = points.len() / 3;
    let middle = |p: &[(f64, f64)]| {
        let x: Vec<f64> = p.iter().map(|p| p.0).collect();
        let y: Vec<f64> = p.iter().map(|p| p.1).collect();
        (median(&x), median(&y))
    };
    let (small, large) = (middle(&points[..third.max(1)]), middle(&points[points.len() - third.max(1)..]));
    let per_byte = match large.0 > 2.0 * small.0 {
        true => ((large.1 - small.1) / (large.0 - small.0)).max(0.0),
        false => 0.0,
    };
    let rest: Vec<f64> = points.iter().map(|p| p.1 - per_byte * p.0).collect();
    let fixed = median(&rest).max(1.0);
    let mut scatter: Vec<f32> = rest.iter().map(|r| (r - fixed) as f32).collect();
    scatter.sort_by(f32::total_cmp);
    let keep = scatter.len() / MOST_SCATTER + 1;
    let scatter = scatter.into_iter().step_by(keep).collect();
    Some(Answer { fixed, per_byte, scatter })
}

/// Maximal number of deviations.
const MOST_SCATTER: usize = 2000;
