//! Lanes: slices of one track must lie within one another or apart, but requests overlap. So each device has as many
//! tracks as it had requests at once.
//!
//! Slices come in order of their ends. A slice goes to the lane that became free last before it began; with that rule
//! there are never more lanes than slices that overlap at one moment.
//!
//! ```text
//! [1, 4]  [2, 5]  [4, 8]   ->   lane 1: [1, 4] [4, 8]   lane 2: [2, 5]
//! ```

use std::collections::BTreeSet;
use trace::Nanos;

/// Lanes of one device or task. More at once than queues have tags is damage.
pub const MOST_LANES: usize = 16_384;

/// The lanes; each is known by the number of its track.
#[derive(Debug, Default)]
pub struct Lanes {
    /// When each became free.
    free: BTreeSet<(Nanos, u64)>,
}

/// Where a slice goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// To this track.
    Old(u64),
    /// To a new one; [`Lanes::add`] tells which.
    New,
    /// There are too many.
    None,
}

impl Lanes {
    /// The place of a slice, which is taken from now on if it is an old one.
    pub fn place(&mut self, from: Nanos, to: Nanos) -> Place {
        match self.free.range(..=(from, u64::MAX)).next_back().copied() {
            Some(lane) => {
                self.free.remove(&lane);
                self.add(to, lane.1);
                Place::Old(lane.1)
            }
            None if self.free.len() >= MOST_LANES => Place::None,
            None => Place::New,
        }
    }

    /// A lane that is taken until then.
    pub fn add(&mut self, to: Nanos, track: u64) {
        self.free.insert((to, track));
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.free.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn slices_of_a_lane_lie_apart_and_lanes_are_few(mut slices in prop::collection::vec((0u64..200, 0u64..50), 0..100)) {
            slices.sort_by_key(|(from, length)| from + length);
            let (mut lanes, mut made) = (Lanes::default(), vec![]);
            for (from, length) in &slices {
                let (from, to) = (Nanos(*from), Nanos(from + length));
                let track = match lanes.place(from, to) {
                    Place::Old(track) => track as usize,
                    _ => {
                        lanes.add(to, made.len() as u64);
                        made.push(Nanos(0));
                        made.len() - 1
                    }
                };
                prop_assert!(from >= made[track]);
                made[track] = to;
            }
            // Those that touch count as overlapping: of no length, they stand at one place.
            let at = |t: u64| slices.iter().filter(|(from, length)| *from <= t && t <= from + length).count();
            prop_assert!(made.len() <= (0..260).map(at).max().unwrap_or(0));
        }
    }
}
