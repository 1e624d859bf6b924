//! How requests of one kind take turns in a device.

use crate::distribution::Distribution;
use crate::line::Line;
use trace::{Bytes, Nanos};

/// Requests of one direction and about one size. Those that begin where the one completed before them ended are kept
/// separate from the others: a rotating disk takes far less time for them.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    /// Time from the previous completion to theirs, with the device never empty in between.
    pub gaps: Distribution,
    /// Their `D2C`, at any depth.
    pub d2c: Distribution,
    /// `D2C` of those that found the device empty.
    pub alone: Distribution,
    /// `D2C` of these as a function of the time from the previous completion to their issue.
    pub after_idle: Line,
    /// `D2C` of the last of these that was not quick.
    pub(crate) last_alone: Nanos,
    /// Those of `alone` that followed one another and were not quick: what a limit holds back once its saved budget is used up.
    pub alone_in_a_row: InARow,
    /// Those of `gaps` that followed one another and were not quick.
    pub gaps_in_a_row: InARow,
    /// Shortest time from the end of an idle time to the [`IN_A_RUN`]th completion after it, if all of these were far reads of this size.
    pub first_run: Option<Nanos>,
    /// Total bytes that they moved.
    pub bytes: Bytes,
}

/// Successive completions, and the requests that ended with them.
#[derive(Clone, Debug, Default)]
pub struct Ticks {
    /// Time from one completion to the next.
    pub apart: Distribution,
    /// `D2C` of the requests.
    pub d2c: Distribution,
    /// Time from the issue of the request before to that of this one: a program that issues by its own clock also completes by it.
    pub issued_apart: Distribution,
}

/// The first completions after an idle time, all of one size.
#[derive(Clone, Debug)]
pub(crate) struct FirstRun {
    since: Nanos,
    size: Option<usize>,
    count: u32,
}

impl FirstRun {
    pub(crate) fn since(since: Nanos) -> FirstRun {
        FirstRun { since, size: None, count: 0 }
    }

    /// Adds a completion of one of `turns`, of this size class if it counts. `None` when the run ends: it is complete, or the request does not
    /// count, or is of another size.
    pub(crate) fn completed(
        mut self,
        done: Nanos,
        size: Option<usize>,
        turns: &mut Turns,
    ) -> Option<FirstRun> {
        let size = size?;
        if *self.size.get_or_insert(size) != size {
            return None;
        }
        self.count += 1;
        if self.count < IN_A_RUN {
            return Some(self);
        }
        let took = done.since(self.since);
        turns.first_run = Some(turns.first_run.map_or(took, |least| least.min(took)));
        None
    }
}

/// Times that are not quick and follow one at least half as long, which excludes occasional slow ones.
#[derive(Clone, Debug, Default)]
pub struct InARow {
    /// Distribution of these times.
    pub times: Distribution,
    last: Nanos,
}

impl InARow {
    #[inline]
    pub(crate) fn record(&mut self, time: Nanos) {
        let last = std::mem::replace(&mut self.last, time);
        if time >= QUICK && last.0.saturating_mul(2) >= time.0 {
            self.times.record(time.0);
        }
    }
}

/// If a device serves one at a time, less than this share is completed shortly after another one: what a late interrupt delivers with it.
/// Of independent ones a tenth would come within a tenth of the mean distance (exponential distribution).
const EARLY: f64 = 0.1;

/// Shorter times are not noticeable, so they are not seen as held back by a clock.
pub(crate) const QUICK: Nanos = Nanos(500_000);

/// Number of successive gaps, or first completions after an idle time, in a run.
pub const IN_A_RUN: u32 = 16;

/// Smallest number of values for a mean.
const ENOUGH: u64 = 100;

impl Turns {
    /// Adds a request that found the device empty and completed at `done`, after completion `last`. It counts only if it took at most twice
    /// as long as the one before and was issued within that one's `D2C` after `last`; otherwise the two times are unrelated.
    #[cold]
    pub(crate) fn came_after(&mut self, last: Option<Nanos>, done: Nanos, d2c: Nanos) {
        let issued = done.since(d2c);
        let usual = std::mem::replace(&mut self.last_alone, d2c);
        let idle = last.filter(|last| *last <= issued).map(|last| issued.since(last));
        if let Some(idle) = idle.filter(|idle| *idle <= usual && d2c.0 <= usual.0.saturating_mul(2)) {
            self.after_idle.add(idle, d2c);
        }
    }

    /// Adds the counts of another kind.
    pub fn merge(&mut self, other: &Turns) {
        self.gaps.merge(&other.gaps);
        self.d2c.merge(&other.d2c);
        self.alone.merge(&other.alone);
        self.after_idle.add_group(&other.after_idle);
        self.alone_in_a_row.times.merge(&other.alone_in_a_row.times);
        self.gaps_in_a_row.times.merge(&other.gaps_in_a_row.times);
        self.first_run = self.first_run.into_iter().chain(other.first_run).min();
        self.bytes += other.bytes;
    }

    /// Mean size of a request.
    pub fn mean_size(&self) -> Bytes {
        Bytes(self.bytes.0 / self.d2c.count().max(1))
    }

    /// Lower bound of the time of one request with `at_once` of them in the device, if they are completed one after
    /// another: they take turns (the bound of a closed queue; Lazowska and others, Quantitative System Performance,
    /// 1984, chapter 5). The turn is the median gap, so that flushes in between do not count.
    pub fn least(&self, at_once: f64) -> Option<Nanos> {
        let is_in_turn = self.gaps.quantile(EARLY).saturating_mul(2) >= self.gaps.mean() as u64;
        let turn = self.gaps.quantile(0.5);
        (self.gaps.count() >= ENOUGH && is_in_turn).then(|| Nanos((turn as f64 * at_once.max(1.0)) as u64))
    }
}

/// [`Turns`] of one direction and size.
#[derive(Clone, Debug)]
pub struct InTurn {
    /// Whether they are reads; otherwise writes.
    pub is_read: bool,
    /// Upper bound of their size.
    pub most: Bytes,
    /// Their statistics.
    pub turns: Turns,
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Twenty completions after a pause, one each millisecond.
    #[test]
    fn the_first_that_count_after_an_idle_time_are_a_run() {
        let first_run = |size: fn(u64) -> Option<usize>| {
            let mut turns = Turns { first_run: Some(Nanos(17 * MS)), ..Turns::default() };
            let mut run = Some(FirstRun::since(Nanos(100 * MS)));
            for i in 1..=20 {
                run = run.and_then(|run| run.completed(Nanos((100 + i) * MS), size(i), &mut turns));
            }
            turns.first_run.unwrap().0 / MS
        };
        assert_eq!(first_run(|_| Some(0)), 16);
        assert_eq!(first_run(|i| (i != 9).then_some(0)), 17, "a write, or a read that is near");
        assert_eq!(first_run(|i| Some(usize::from(i > 9))), 17, "larger ones");
    }

    #[test]
    fn one_that_is_slow_now_and_then_is_in_no_row() {
        let mut row = InARow::default();
        let quick = QUICK.0 / 2;
        for time in [quick, 5 * MS, quick, 5 * MS, 5 * MS, 5 * MS, quick, quick] {
            row.record(Nanos(time));
        }
        assert_eq!((row.times.count(), row.times.min()), (2, 5 * MS));
    }

    #[test]
    fn who_takes_turns_waits_for_as_many_as_there_are() {
        let turns = |gaps: [u64; 4]| {
            let mut turns = Turns::default();
            (0..200).for_each(|i| turns.gaps.record(gaps[i % 4]));
            turns.least(3.0)
        };
        assert!(turns([MS; 4]).unwrap().0.abs_diff(3 * MS) < MS / 10);
        // A flush in between, or a completion that a late interrupt delivered with it, changes nothing.
        assert!(turns([MS, MS, MS, 4 * MS]).unwrap().0.abs_diff(3 * MS) < MS / 10);
        assert_eq!(turns([MS / 100, MS / 100, MS, 4 * MS]), None, "they come together: side by side");
        assert_eq!(turns([u64::MAX / 2 + 1; 4]), Some(Nanos(u64::MAX)), "of a clock of centuries");
        assert_eq!(Turns::default().least(1.0), None);
    }
}
