//! Bytes per second in steps of 0.1 s, as values of a counter: one for each finished step, and 0 when a pause begins.

use trace::{Bytes, Nanos};

/// The length of a step: fine enough for stalls, coarse enough to read.
const STEP: Nanos = Nanos(100_000_000);

/// The bytes of the current step.
#[derive(Debug, Default)]
pub struct Rate {
    /// The number of the step; 0 before the first one.
    step: u64,
    bytes: u64,
}

impl Rate {
    /// Adds bytes that were completed at `at`. An earlier time than the current step counts into it.
    pub fn add(&mut self, at: Nanos, bytes: Bytes, mut tell: impl FnMut(Nanos, u64)) {
        let step = at.0 / STEP.0;
        if step > self.step {
            self.end(&mut tell);
            if self.step > 0 && step > self.step + 1 {
                tell(Nanos((self.step + 1).saturating_mul(STEP.0)), 0);
            }
            self.step = step;
        }
        self.bytes = self.bytes.saturating_add(bytes.0);
    }

    /// Ends the last step.
    pub fn finish(&mut self, mut tell: impl FnMut(Nanos, u64)) {
        self.end(&mut tell);
        tell(Nanos((self.step + 1).saturating_mul(STEP.0)), 0);
    }

    fn end(&mut self, tell: &mut impl FnMut(Nanos, u64)) {
        if self.bytes > 0 {
            let rate = u128::from(self.bytes) * 1_000_000_000 / u128::from(STEP.0);
            tell(Nanos(self.step.saturating_mul(STEP.0)), u64::try_from(rate).unwrap_or(u64::MAX));
            self.bytes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_told_as_one() {
        let (mut rate, mut told) = (Rate::default(), vec![]);
        for (ms, bytes) in [(1020, 100), (1090, 100), (1110, 300), (1500, 1)] {
            rate.add(Nanos(ms * 1_000_000), Bytes(bytes), |at, v| told.push((at.0 / 1_000_000, v)));
        }
        rate.finish(|at, v| told.push((at.0 / 1_000_000, v)));
        assert_eq!(told, [(1000, 2000), (1100, 3000), (1200, 0), (1500, 10), (1600, 0)]);
    }
}
