//! Decides which groups of operations are worth judging: those whose time is a visible part of what all groups waited for.
//!
//! Times are wall-clock times, so that 32 reads in flight for 1 ms count as 1 ms. A group is worth judging if its tail or its loss
//! is visible, if it is not negligible beside the other groups or noticed by its own task, and if it has enough operations or one
//! that was long by itself.
//!
//! Example: of a recording of 10 s with 5 s lost in all, a task that lost 40 ms is not judged (0.8 %), unless its tail has 2 % of
//! the time of all tails.

use crate::thresholds::case::{KEPT_WAITING, MIN_SHARE, WORTH_A_WORD};
use crate::thresholds::judge::TRIFLE;
use stats::{Facts, Focus, Group};

/// The bounds that follow from all groups of a recording, in ns of wall-clock time.
pub(crate) struct Significance<'a> {
    facts: &'a Facts,
    /// A tail of this length is a visible part of all tails.
    tail: f64,
    /// A loss of this length is a visible part of the recording, or of all that was lost.
    loss: f64,
    /// A loss below this is negligible beside all that was lost; the largest loss never is.
    negligible: f64,
    /// The same of losses that count one operation at a time, so that a task with many in flight does not outweigh the others.
    negligible_of_one: f64,
    /// A wait of this length is noticed whatever the others lost.
    noticed: f64,
}

impl<'a> Significance<'a> {
    /// The bounds of a recording.
    pub fn of(facts: &'a Facts, focus: &Focus) -> Significance<'a> {
        let groups = || focus.groups.iter();
        let recorded = facts.duration().0 as f64;
        let all_tails: f64 = groups().map(|g| tail(facts, g)).sum();
        let all_lost: f64 = groups().map(|g| lost(facts, g)).sum();
        let most_lost = groups().map(|g| lost(facts, g)).fold(0.0, f64::max);
        let all_of_one: f64 = groups().map(|g| lost_of_one(facts, g)).sum();
        Significance {
            facts,
            tail: WORTH_A_WORD * all_tails,
            loss: (recorded / KEPT_WAITING as f64).min(MIN_SHARE * all_lost),
            negligible: most_lost.min(TRIFLE * all_lost),
            negligible_of_one: TRIFLE * all_of_one,
            noticed: MIN_SHARE * recorded,
        }
    }

    /// Whether a group is worth judging.
    pub fn matters(&self, g: &Group) -> bool {
        self.is_visible(g) && self.is_significant(g) && !g.is_thin(self.facts)
    }

    fn is_visible(&self, g: &Group) -> bool {
        tail(self.facts, g) >= self.tail || lost(self.facts, g) >= self.loss
    }

    fn is_significant(&self, g: &Group) -> bool {
        let lost = lost(self.facts, g);
        let notices = lost >= self.noticed && lost_of_one(self.facts, g) >= self.negligible_of_one;
        lost >= self.negligible || notices || by_itself(self.facts, g) >= self.noticed
    }
}

/// The time of a group's tail.
fn tail(facts: &Facts, g: &Group) -> f64 {
    g.tail_by_the_clock(facts, g.tail.sum.time.total).0 as f64
}

/// What a group lost.
fn lost(facts: &Facts, g: &Group) -> f64 {
    g.by_the_clock(facts, g.lost).0 as f64
}

/// What a group lost if one operation counts at a time.
fn lost_of_one(facts: &Facts, g: &Group) -> f64 {
    g.of_one(facts, g.lost).0 as f64
}

/// What the operations of a group take by themselves: not lost, but waited for.
fn by_itself(facts: &Facts, g: &Group) -> f64 {
    g.by_the_clock(facts, g.all.time.total.since(g.lost)).0 as f64
}
