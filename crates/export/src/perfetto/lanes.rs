//! Lanes: slices of one track must be nested or disjoint, but requests overlap. So each device has as many
//! tracks as it had requests in flight at the same time.
//!
//! Slices come in order of their ends. A slice goes to the lane that became free last before the slice began; this rule
//! never makes more lanes than slices that overlap at one moment.
//!
//! ```text
//! [1, 4]  [2, 5]  [4, 8]   ->   lane 1: [1, 4] [4, 8]   lane 2: [2, 5]
//! ```

use std::collections::BTreeSet;
use trace::Nanos;

/// Maximal number of lanes of one device or task. More than the tags of all queues means damaged data.
pub const MOST_LANES: usize = 16_384;

/// The lanes of one device and class, or of one task; each is known by the number of its track.
#[derive(Debug, Default)]
pub struct Lanes {
    /// The time at which each lane became free, with its track.
    free: BTreeSet<(Nanos, u64)>,
}

/// The lane for a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The lane with this track.
    Old(u64),
    /// A new lane is needed: see [`Lanes::add`].
    New,
    /// No lane: there are too many.
    None,
}

impl Lanes {
    /// Finds the lane for a slice; an existing lane is occupied until `to`.
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

    /// Adds a lane that is occupied until `to`.
    pub fn add(&mut self, to: Nanos, track: u64) {
        self.free.insert((to, track));
    }

    /// Whether there are no lanes.
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
            // Slices that touch count as overlapping: slices of no length are at the same time.
            let at = |t: u64| slices.iter().filter(|(from, length)| *from <= t && t <= from + length).count();
            prop_assert!(made.len() <= (0..260).map(at).max().unwrap_or(0));
        }
    }
}
