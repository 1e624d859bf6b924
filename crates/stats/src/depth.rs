//! Time that a queue spent at each depth.
//!
//! Depth is weighted by time, not by events: a queue that held 32 requests for a second and then 1 for a millisecond
//! had a mean depth of 32, though each depth was "seen" once. So Little's law can be checked: mean depth = requests
//! per second x mean time of one.
//!
//! Depths up to [`EXACT`] have separate times, so that "all 256 tags were taken" is an exact time. Larger depths share
//! the log-linear buckets of [`Distribution`], with an error of at most 1/128.
//!
//! **Invariant**: the times at all depths sum to the time observed, from the first [`set`](Depth::set) to the last (or
//! to [`finish`](Depth::finish)), to the nanosecond.

use crate::distribution::Distribution;
use serde::{Deserialize, Serialize};
use trace::Nanos;

/// The largest depth whose time is kept separately. Queues are rarely deeper: 128 requests by default
/// (`BLKDEV_DEFAULT_RQ`, include/linux/blkdev.h), 1023 for NVMe (`io_queue_depth`, drivers/nvme/host/pci.c).
pub const EXACT: u64 = 1024;

/// The time spent at each depth of one queue.
///
/// All times are nanoseconds of the trace's clock. Where that clock steps back, no time passes until it has caught up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Depth {
    /// `exact[d]` is the time in ns at depth `d`; its length is that of the deepest one seen.
    exact: Vec<u64>,
    /// Time in ns by depth, for depths beyond [`EXACT`].
    beyond: Distribution,
    /// When the depth was first known.
    first: Option<u64>,
    /// The current depth and the time of its beginning, until finished.
    now: Option<(u64, u64)>,
    deepest: u64,
}

impl Depth {
    /// A queue without observations.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the depth from `at` on. The depth before the first call is not known and not counted.
    pub fn set(&mut self, at: Nanos, depth: u64) {
        self.first.get_or_insert(at.0);
        let at = self.close(at);
        self.now = Some((at.0, depth));
        self.deepest = self.deepest.max(depth);
    }

    /// Ends the observation at `at`: the recording ended.
    pub fn finish(&mut self, at: Nanos) {
        self.close(at);
        self.now = None;
    }

    /// Appends what was observed `later` on the same queue. In between the depth is the last one known, unless `self`
    /// was finished. Finished observations of different queues sum to the time of all of them.
    pub fn merge(&mut self, later: &Depth) {
        if let Some(first) = later.first {
            self.close(Nanos(first));
            self.now = later.now;
            self.first.get_or_insert(first);
        }
        if self.exact.len() < later.exact.len() {
            self.exact.resize(later.exact.len(), 0);
        }
        self.exact.iter_mut().zip(&later.exact).for_each(|(a, b)| *a = a.saturating_add(*b));
        self.beyond.merge(&later.beyond);
        self.deepest = self.deepest.max(later.deepest);
    }

    /// Counts the time since the depth last changed. Returns `at`, or the time of the last change if that is later.
    fn close(&mut self, at: Nanos) -> Nanos {
        let Some((since, depth)) = self.now else { return at };
        let time = at.since(Nanos(since)).0;
        if depth > EXACT {
            self.beyond.record_n(depth, time);
        } else if time > 0 {
            let depth = depth as usize;
            if self.exact.len() <= depth {
                self.exact.resize(depth + 1, 0);
            }
            self.exact[depth] = self.exact[depth].saturating_add(time);
        }
        at.max(Nanos(since))
    }

    /// Depths at which time was spent, in ascending order: smallest and largest depth of a bucket, and its time.
    pub fn times(&self) -> impl Iterator<Item = (u64, u64, Nanos)> + '_ {
        let exact = self.exact.iter().enumerate().filter(|(_, &time)| time > 0);
        exact
            .map(|(depth, &time)| (depth as u64, depth as u64, Nanos(time)))
            .chain(self.beyond.buckets().map(|b| (b.lower.max(EXACT + 1), b.upper, Nanos(b.count))))
    }

    /// Time during which the queue held at least `depth`. Exact up to [`EXACT`] + 1; beyond, whole buckets count by
    /// their smallest depth.
    pub fn at_least(&self, depth: u64) -> Nanos {
        self.times().filter(|&(lower, _, _)| lower >= depth).map(|(_, _, time)| time).sum()
    }

    /// Total time observed.
    pub fn observed(&self) -> Nanos {
        self.times().map(|(_, _, time)| time).sum()
    }

    /// The exact mean depth over the time observed; 0 if there was none.
    pub fn mean(&self) -> f64 {
        let exact: u128 =
            self.exact.iter().enumerate().map(|(depth, &time)| depth as u128 * time as u128).sum();
        match self.observed().0 {
            0 => 0.0,
            time => exact.saturating_add(self.beyond.sum()) as f64 / time as f64,
        }
    }

    /// Share of the time observed during which the queue was not empty, 0 to 1.
    pub fn busy(&self) -> f64 {
        match self.observed().0 {
            0 => 0.0,
            time => self.at_least(1).0 as f64 / time as f64,
        }
    }

    /// The largest depth, even if it lasted for no time.
    pub fn max(&self) -> u64 {
        self.deepest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Depth changes at growing times.
    fn of(changes: &[(u64, u64)]) -> Depth {
        let mut d = Depth::new();
        changes.iter().for_each(|&(at, depth)| d.set(Nanos(at), depth));
        d
    }

    #[test]
    fn weights_by_time() {
        let mut d = of(&[(1000, 32), (1900, 1), (1950, 0)]);
        d.finish(Nanos(2000));
        assert_eq!(
            d.times().collect::<Vec<_>>(),
            [(0, 0, Nanos(50)), (1, 1, Nanos(50)), (32, 32, Nanos(900))]
        );
        assert_eq!(d.mean(), (32.0 * 900.0 + 50.0) / 1000.0);
        assert_eq!((d.busy(), d.max(), d.observed()), (0.95, 32, Nanos(1000)));
        assert_eq!((d.at_least(2), d.at_least(33)), (Nanos(900), Nanos(0)));
    }

    #[test]
    fn nothing_known_is_all_zero() {
        let mut d = Depth::new();
        d.finish(Nanos(5));
        assert_eq!((d.mean(), d.busy(), d.max(), d.observed()), (0.0, 0.0, 0, Nanos(0)));
    }

    #[test]
    fn a_clock_that_steps_back_adds_no_time() {
        let mut d = of(&[(100, 1), (200, 2), (50, 3), (150, 4), (300, 0)]);
        d.finish(Nanos(300));
        assert_eq!(d.observed(), Nanos(200));
        assert_eq!((d.at_least(2), d.max()), (Nanos(100), 4));
    }

    #[test]
    fn any_depth_is_bounded() {
        let mut d = of(&[(0, u64::MAX), (10, EXACT), (20, EXACT + 1), (30, 0)]);
        d.finish(Nanos(u64::MAX));
        assert_eq!(d.exact.len() as u64, EXACT + 1);
        assert_eq!((d.at_least(EXACT), d.at_least(EXACT + 1)), (Nanos(30), Nanos(20)));
        assert_eq!(d.observed(), Nanos(u64::MAX));
    }

    fn changes() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let depth = prop_oneof![4 => 0u64..40, 1 => 0u64..5000, 1 => any::<u64>()];
        prop::collection::vec((0u64..1000, depth), 0..60).prop_map(|steps| {
            let mut now = 0;
            steps
                .into_iter()
                .map(|(wait, depth)| {
                    now += wait;
                    (now, depth)
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn times_add_up_to_the_time_observed(c in changes(), tail in 0u64..100) {
            let mut d = of(&c);
            let end = c.last().map_or(0, |c| c.0 + tail);
            d.finish(Nanos(end));
            prop_assert_eq!(d.observed(), Nanos(end - c.first().map_or(0, |c| c.0)));
            prop_assert_eq!(d.max(), c.iter().map(|c| c.1).max().unwrap_or(0));
            let area: u128 = c.iter().zip(c.iter().skip(1).map(|c| c.0).chain([end]))
                .map(|(&(at, depth), until)| depth as u128 * (until - at) as u128).sum();
            if d.observed().0 > 0 {
                let mean = area as f64 / d.observed().0 as f64;
                prop_assert!((d.mean() - mean).abs() <= mean * 1e-12);
            }
        }

        #[test]
        fn merging_is_exact(c in changes(), cut in 0usize..60) {
            let (a, b) = c.split_at(cut.min(c.len()));
            let mut merged = of(a);
            merged.merge(&of(b));
            prop_assert_eq!(merged, of(&c));
        }

        #[test]
        fn json_round_trips(c in changes()) {
            let d = of(&c);
            let json = serde_json::to_string(&d).unwrap();
            prop_assert_eq!(serde_json::from_str::<Depth>(&json).unwrap(), d);
        }
    }
}
