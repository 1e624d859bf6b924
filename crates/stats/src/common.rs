//! The most frequent value, without a count for each value ever seen.
//!
//! [`TRACKED`] counts are kept by the method of Misra and Gries ("Finding repeated elements", 1982), mergeable as in Agarwal et al.,
//! "Mergeable summaries" (2012). If there is no room for a new value, all counts are lowered by one, and those at 0 are removed. Each
//! true count is then between the count kept and that plus the number of lowerings, which itself is at most `count / (TRACKED + 1)`.
//! A mode is named only if these bounds prove it: a random pattern has none, and a stride of a few percent is always found.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Number of values counted: a value that is more than 1 in 256 of all is never missed.
pub const TRACKED: usize = 256;

/// The most frequent distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mode {
    /// In sectors.
    pub distance: u64,
    /// It occurred at least this often.
    pub at_least: u64,
    /// It occurred at most this often.
    pub at_most: u64,
}

/// The most frequent distances.
///
/// Every distance of a recording is counted here, and in a random pattern each is new. So the table is small and stays
/// in the CPU's cache: a distance has the first place, from that of its hash on, that is its own or free. Example: 56
/// and 700 both hash to 9; 56 came first and has place 9, so 700 has place 10.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub(crate) struct Common {
    /// Distance and count, each count too low by at most `lowered`; at most [`TRACKED`].
    kept: Vec<(u64, u64)>,
    /// For each place, one more than the index of its distance in `kept`; 0: free. Empty, or [`PLACES`] long.
    places: Vec<u16>,
    lowered: u64,
}

/// Number of places. Most are free, so that a search ends soon.
const PLACES: usize = 4 * TRACKED;

/// The written form of [`Common`].
#[derive(Serialize, Deserialize)]
struct Written {
    counts: FxHashMap<u64, u64>,
    lowered: u64,
}

impl From<Written> for Common {
    fn from(w: Written) -> Common {
        let mut common = Common { lowered: w.lowered, ..Common::default() };
        common.keep(w.counts);
        common
    }
}

impl From<Common> for Written {
    fn from(c: Common) -> Written {
        Written { counts: c.kept.into_iter().collect(), lowered: c.lowered }
    }
}

impl PartialEq for Common {
    fn eq(&self, other: &Common) -> bool {
        let all = |c: &Common| c.kept.iter().copied().collect::<FxHashMap<_, _>>();
        self.lowered == other.lowered && all(self) == all(other)
    }
}

impl Eq for Common {}

impl Common {
    /// Counts a distance.
    #[inline]
    pub fn add(&mut self, distance: u64) {
        let at = self.place(distance);
        match self.places[at] {
            0 if self.kept.len() == TRACKED => self.lower(),
            0 => {
                self.kept.push((distance, 1));
                self.places[at] = self.kept.len() as u16;
            }
            kept => {
                let count = &mut self.kept[kept as usize - 1].1;
                *count = count.saturating_add(1);
            }
        }
    }

    /// The place of a distance, or the free place for it.
    #[inline]
    fn place(&mut self, distance: u64) -> usize {
        if self.places.is_empty() {
            self.places = vec![0; PLACES];
        }
        // The high bits of a product with 2^64 / golden ratio (Knuth, TAOCP 6.4).
        let mut at = distance.wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> (usize::BITS - PLACES.ilog2());
        while self.places[at] > 0 && self.kept[self.places[at] as usize - 1].0 != distance {
            at = (at + 1) % PLACES;
        }
        at
    }

    /// Lowers all counts by one, for a distance seen once that has no place (and would be lowered to 0 itself).
    fn lower(&mut self) {
        self.lowered = self.lowered.saturating_add(1);
        self.kept.iter_mut().for_each(|(_, count)| *count -= 1);
        self.kept.retain(|(_, count)| *count > 0);
        self.find_places();
    }

    fn find_places(&mut self) {
        self.places.fill(0);
        for kept in 0..self.kept.len() {
            let at = self.place(self.kept[kept].0);
            self.places[at] = kept as u16 + 1;
        }
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Common) {
        let mut counts: FxHashMap<u64, u64> = self.kept.iter().copied().collect();
        for (distance, n) in &other.kept {
            let count = counts.entry(*distance).or_default();
            *count = count.saturating_add(*n);
        }
        self.lowered = self.lowered.saturating_add(other.lowered);
        self.keep(counts);
    }

    /// Keeps `TRACKED` of these counts: lowers all by the largest one that has no room.
    fn keep(&mut self, counts: impl IntoIterator<Item = (u64, u64)>) {
        let mut counts: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
        if counts.len() > TRACKED {
            let (_, &mut (_, by), _) = counts.select_nth_unstable_by(TRACKED, |a, b| b.1.cmp(&a.1));
            counts.iter_mut().for_each(|(_, count)| *count = count.saturating_sub(by));
            counts.retain(|(_, count)| *count > 0);
            self.lowered = self.lowered.saturating_add(by);
        }
        self.kept = counts;
        self.find_places();
    }

    /// The most frequent distance; `None` if none is proven to be.
    pub fn mode(&self) -> Option<Mode> {
        let (distance, at_least) = self.kept.iter().copied().max_by_key(|&(_, count)| count)?;
        // Every other distance, kept or not, was seen at most this often.
        let rival = self.kept.iter().filter(|&&(d, _)| d != distance).map(|(_, c)| *c).max().unwrap_or(0);
        let rival = rival.saturating_add(self.lowered);
        let mode = Mode { distance, at_least, at_most: at_least.saturating_add(self.lowered) };
        (at_least > rival).then_some(mode)
    }

    /// Whether every distance has its own count.
    #[cfg(test)]
    pub fn is_exact(&self) -> bool {
        self.lowered == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The claimed bounds hold for the true counts, merged or not.
        #[test]
        fn bounds_of_common_distances_hold(
            d in prop::collection::vec(prop_oneof![0u64..8, 0u64..2000], 0..3000), cut in 0usize..3000,
        ) {
            let (a, b) = d.split_at(cut.min(d.len()));
            let (mut common, mut later) = (Common::default(), Common::default());
            a.iter().for_each(|&d| common.add(d));
            b.iter().for_each(|&d| later.add(d));
            common.merge(&later);
            let mut truth: FxHashMap<u64, u64> = FxHashMap::default();
            d.iter().for_each(|d| *truth.entry(*d).or_default() += 1);
            let kept: FxHashMap<u64, u64> = common.kept.iter().copied().collect();
            prop_assert!(kept.len() <= TRACKED);
            prop_assert!(common.lowered <= d.len() as u64 / (TRACKED as u64 + 1));
            for (d, &n) in &truth {
                let kept = kept.get(d).copied().unwrap_or(0);
                prop_assert!((kept..=kept + common.lowered).contains(&n));
            }
            if let Some(mode) = common.mode() {
                let n = truth[&mode.distance];
                prop_assert!((mode.at_least..=mode.at_most).contains(&n));
                prop_assert!(truth.iter().all(|(d, &other)| *d == mode.distance || other < n));
            }
        }
    }
}
