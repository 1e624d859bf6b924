//! Active and idle periods: when something was in flight and when nothing was.
//!
//! A period is active from the first issue into an empty device to the completion that empties it. An issue at the
//! same time as that completion continues the period, as in btt's table of active periods.
//!
//! **Invariant**: active and idle times sum to the time from the first issue to the last completion.

use crate::distribution::Distribution;
use trace::Nanos;

/// Periods of one device, or of all devices together.
#[derive(Clone, Debug, Default)]
pub struct Activity {
    active: Distribution,
    idle: Distribution,
    /// Start of the current active period; `None` while idle.
    since: Option<Nanos>,
    /// The last active period, kept back because the next issue may continue it.
    last: Option<(Nanos, Nanos)>,
}

impl Activity {
    /// Notes whether something is in flight from `now` on.
    #[inline]
    pub fn set(&mut self, now: Nanos, busy: bool) {
        match (self.since, busy) {
            (None, true) => {
                self.since = Some(match self.last.take() {
                    Some((from, to)) if now <= to => from,
                    Some((from, to)) => {
                        self.active.record(to.since(from).0);
                        self.idle.record(now.since(to).0);
                        now
                    }
                    None => now,
                });
            }
            (Some(from), false) => {
                self.last = Some((from, now.max(from)));
                self.since = None;
            }
            _ => {}
        }
    }

    /// Ends the observation at `at`.
    pub fn finish(&mut self, at: Nanos) {
        self.set(at, false);
        if let Some((from, to)) = self.last.take() {
            self.active.record(to.since(from).0);
        }
    }

    /// Lengths of the active periods, in nanoseconds.
    pub fn active(&self) -> &Distribution {
        &self.active
    }

    /// Lengths of the idle periods between them, in nanoseconds.
    pub fn idle(&self) -> &Distribution {
        &self.idle
    }

    /// Active share of the time from the first issue to the last completion, 0 to 1; 0 if there was none.
    pub fn share(&self) -> f64 {
        match self.active.sum() + self.idle.sum() {
            0 => 0.0,
            all => self.active.sum() as f64 / all as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn periods_that_touch_are_one() {
        let mut a = Activity::default();
        for (at, busy) in [(10, true), (20, false), (20, true), (30, false), (50, true), (51, false)] {
            a.set(Nanos(at), busy);
        }
        a.finish(Nanos(100));
        assert_eq!((a.active().count(), a.active().sum(), a.idle().sum()), (2, 21, 20));
        assert_eq!(a.share(), 21.0 / 41.0);
    }

    #[test]
    fn what_is_in_flight_at_the_end_is_active_until_then() {
        let mut a = Activity::default();
        a.set(Nanos(5), true);
        a.finish(Nanos(9));
        assert_eq!((a.active().max(), a.idle().count(), a.share()), (4, 0, 1.0));
    }

    proptest! {
        #[test]
        fn active_and_idle_add_up(steps in prop::collection::vec((0u64..50, any::<bool>()), 1..60)) {
            let (mut a, mut now) = (Activity::default(), 0);
            let (mut first, mut last) = (None, 0);
            let mut was = false;
            for (wait, busy) in steps {
                now += wait;
                a.set(Nanos(now), busy);
                if busy {
                    first.get_or_insert(now);
                }
                if was && !busy {
                    last = now;
                }
                was = busy;
            }
            a.finish(Nanos(now));
            let last = if was { now } else { last };
            prop_assert_eq!(a.active().sum() + a.idle().sum(), first.map_or(0, |f| last - f) as u128);
        }
    }
}
