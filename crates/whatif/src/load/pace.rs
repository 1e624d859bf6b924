//! Pacing: whether one-at-a-time I/O arrives by the clock, or a fixed time after the last completion.
//!
//! Both look alike while the device is fast. When it is slow, a task that pauses after each I/O arrives later by the
//! delay, while a paced task arrives at its turn. So for a paced stream, the times from arrival to arrival scatter
//! less than the times from completion to arrival. Scatter is the median deviation from the median.

/// A stream is paced if its intervals scatter less than this part of its pauses.
const STEADIER: f64 = 0.5;
/// Minimal number of arrivals.
const FEWEST: usize = 20;
/// A pause of less than this part of the period belongs to a stream that is late.
const HURRY: f64 = 0.2;
/// An interval of more than this many periods is a delay.
const DELAY: f64 = 1.5;

/// The pace of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Nanoseconds between turns.
    pub period: u64,
    /// Whether missed turns are caught up.
    pub catches_up: bool,
    /// The scatter of the intervals and of the pauses, in nanoseconds.
    pub scatter: (f64, f64),
}

/// Finds the pace of a stream. `queued`: the arrivals; `gaps`: the pause before each. `None` if it is not paced.
pub fn pace(queued: &[u64], gaps: &[u64]) -> Option<Pace> {
    if queued.len() < FEWEST {
        return None;
    }
    let intervals: Vec<f64> = queued.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
    let pauses: Vec<f64> = gaps[1..].iter().map(|g| *g as f64).collect();
    let period = median(&intervals);
    // A stream that hardly ever pauses does not wait for a clock.
    let held = pauses.iter().filter(|p| **p > HURRY * period).count();
    if held * 2 < pauses.len() {
        return behind(queued, gaps);
    }
    let (a, b) = (scatter(&intervals), scatter(&pauses));
    if a >= STEADIER * b || a > 0.1 * period {
        return None;
    }
    let delays = (0..intervals.len() - 1).filter(|i| intervals[*i] > DELAY * period);
    let (mut late, mut hurried) = (0, 0);
    for i in delays {
        late += 1;
        hurried += usize::from(pauses[i + 1] < HURRY * period);
    }
    Some(Pace { period: period as u64, catches_up: hurried * 2 > late, scatter: (a, b) })
}

/// The part of these stretches whose periods must agree, and the relative deviation that counts as agreement.
const AGREE: f64 = 0.7;
const SAME: f64 = 0.02;

/// Finds a pace that is rarely kept: most I/Os are late and without a pause. But between two that waited for their turn, there were as
/// many turns as arrivals, so all these stretches have the same period.
fn behind(queued: &[u64], gaps: &[u64]) -> Option<Pace> {
    let mut sorted = gaps.to_vec();
    sorted.sort_unstable();
    let long = sorted[sorted.len() * 2 / 3].max(1);
    let waited: Vec<usize> = (1..gaps.len()).filter(|i| gaps[*i] >= long).collect();
    let periods: Vec<f64> =
        waited.windows(2).map(|w| (queued[w[1]] - queued[w[0]]) as f64 / (w[1] - w[0]) as f64).collect();
    let period = median(&periods);
    let same = periods.iter().filter(|p| (**p - period).abs() < SAME * period).count() as f64;
    // A stream that never waits has such stretches too, but its pauses are no part of the period.
    if periods.len() < FEWEST || same < AGREE * periods.len() as f64 || (long as f64) < HURRY * period {
        return None;
    }
    let pauses: Vec<f64> = gaps[1..].iter().map(|g| *g as f64).collect();
    Some(Pace { period: period as u64, catches_up: true, scatter: (scatter(&periods), scatter(&pauses)) })
}

/// The median; 0 if there are no values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// The median deviation from the median.
pub fn scatter(values: &[f64]) -> f64 {
    let middle = median(values);
    median(&values.iter().map(|v| (v - middle).abs()).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One-at-a-time I/O with these latencies and a rule for the next arrival.
    fn run(rule: impl Fn(usize, u64, u64) -> u64) -> (Vec<u64>, Vec<u64>) {
        let (mut queued, mut gaps, mut at, mut done) = (vec![], vec![], 0, 0);
        for i in 0..200 {
            at = rule(i, at, done).max(done);
            queued.push(at);
            gaps.push(at - done);
            done = at + 1000 + (i as u64 * 7919) % 4000 + if i % 20 == 19 { 45_000 } else { 0 };
        }
        (queued, gaps)
    }

    #[test]
    fn a_clock_is_told_from_a_pause() {
        let (q, g) = run(|i, _, _| i as u64 * 20_000);
        let found = pace(&q, &g).unwrap();
        assert_eq!((found.period, found.catches_up), (20_000, true));
        let (q, g) = run(|_, last, _| last + 20_000);
        let found = pace(&q, &g).unwrap();
        assert_eq!((found.period, found.catches_up), (20_000, false));
        let (q, g) = run(|_, _, done| done + 20_000);
        assert_eq!(pace(&q, &g), None);
        let (q, g) = run(|_, _, done| done + 100);
        assert_eq!(pace(&q, &g), None);
    }
}
