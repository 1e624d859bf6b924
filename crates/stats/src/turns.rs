//! How requests of one kind take turns in a device.

use crate::distribution::Distribution;
use crate::line::Line;
use trace::{Bytes, Nanos};

/// Requests of one direction and about one size, those that begin where the one completed before them ended and all others apart: a disk
/// that turns takes far less for the former.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    /// From the completion before to theirs, with something in the device all the time.
    pub gaps: Distribution,
    /// Their `D2C`, whatever was in the device.
    pub d2c: Distribution,
    /// The same of those that found it empty.
    pub alone: Distribution,
    /// What these took, by how long after the completion before they were issued.
    pub after_idle: Line,
    /// What the last of these took that was not quick.
    pub(crate) last_alone: Nanos,
    /// Those of `alone` that came one after the other, none of them quick: what a limit holds back once what had been saved up is used up.
    pub alone_in_a_row: InARow,
    /// The same of `gaps`.
    pub gaps_in_a_row: InARow,
    /// How much they moved, all together.
    pub bytes: Bytes,
}

/// Times that are not quick and follow one that took at least half as long: not the one that is slow now and then.
#[derive(Clone, Debug, Default)]
pub struct InARow {
    /// These.
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

/// Of a device that serves one at a time fewer than this part are completed soon after another one: what an interrupt that came late brings
/// with it. Of independent ones a tenth would come within a tenth of the mean distance (exponential distribution).
const EARLY: f64 = 0.1;

/// What takes less is not held back by a clock that anybody would notice.
pub(crate) const QUICK: Nanos = Nanos(500_000);

/// A mean of fewer says little.
const ENOUGH: u64 = 100;

impl Turns {
    /// One that found the device empty and was done at `done`, when `last` had been the completion before. What took twice as long as the
    /// one before, or came later than that, says nothing of how the two go together; and of quick ones nobody asks.
    #[cold]
    pub(crate) fn came_after(&mut self, last: Option<Nanos>, done: Nanos, d2c: Nanos) {
        let issued = done.since(d2c);
        let usual = std::mem::replace(&mut self.last_alone, d2c);
        let idle = last.filter(|last| *last <= issued).map(|last| issued.since(last));
        if let Some(idle) = idle.filter(|idle| *idle <= usual && d2c.0 <= usual.0.saturating_mul(2)) {
            self.after_idle.add(idle, d2c);
        }
    }

    /// Adds another kind's.
    pub(crate) fn merge(&mut self, other: &Turns) {
        self.gaps.merge(&other.gaps);
        self.d2c.merge(&other.d2c);
        self.alone.merge(&other.alone);
        self.after_idle.add_group(&other.after_idle);
        self.alone_in_a_row.times.merge(&other.alone_in_a_row.times);
        self.gaps_in_a_row.times.merge(&other.gaps_in_a_row.times);
        self.bytes += other.bytes;
    }

    /// How much one moves, on average.
    pub fn mean_size(&self) -> Bytes {
        Bytes(self.bytes.0 / self.d2c.count().max(1))
    }

    /// What one takes at least where so many are in the device at a time, if they are completed one after another: so many take turns (the
    /// bound of a closed queue; Lazowska and others, Quantitative System Performance, 1984, chapter 5). The median turn: a flush in
    /// between is none of theirs.
    pub fn least(&self, at_once: f64) -> Option<Nanos> {
        let is_in_turn = self.gaps.quantile(EARLY).saturating_mul(2) >= self.gaps.mean() as u64;
        let turn = self.gaps.quantile(0.5);
        (self.gaps.count() >= ENOUGH && is_in_turn).then(|| Nanos((turn as f64 * at_once.max(1.0)) as u64))
    }
}

/// [`Turns`] of a kind.
#[derive(Clone, Debug)]
pub struct InTurn {
    /// Reads, or writes.
    pub is_read: bool,
    /// They are no larger than this.
    pub most: Bytes,
    /// How they fared.
    pub turns: Turns,
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

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
        // A flush in between, or a completion that a late interrupt brought with it, changes nothing.
        assert!(turns([MS, MS, MS, 4 * MS]).unwrap().0.abs_diff(3 * MS) < MS / 10);
        assert_eq!(turns([MS / 100, MS / 100, MS, 4 * MS]), None, "they come together: side by side");
        assert_eq!(turns([u64::MAX / 2 + 1; 4]), Some(Nanos(u64::MAX)), "of a clock of centuries");
        assert_eq!(Turns::default().least(1.0), None);
    }
}
