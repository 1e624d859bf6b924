//! Whether requests of different sizes keep the same pace: what moves many times the bytes in the same time does not move them itself.

use crate::device::even::within;
use crate::thresholds::rate_limit::{
    AS_A_CLOCK, ENOUGH, ENOUGH_OF_SIZE, EVEN_TURNS, IN_SLOWER_HALF, LARGER, MIDDLE, SAME, SLOWER_HALF,
};
use stats::{InTurn, Pace, Turns};

/// The gaps after small and after large requests, if they are the same and as even as a clock. On a disk that seeks both take a
/// seek and little else, which varies, whatever the disk reports: volumes on rotating disks report that they do not rotate.
pub(super) fn whatever_the_size(pace: &Pace) -> Option<[u64; 2]> {
    within(&pace.gaps(), MIDDLE, AS_A_CLOCK).then(|| same_of_sizes(pace, 0.5))?
}

/// The same, if the slower half of all comes by a timer and saved-up credit passes at once.
pub(super) fn after_bursts(pace: &Pace) -> Option<[u64; 2]> {
    let gaps = pace.gaps();
    let is_clock = gaps.count() >= ENOUGH && within(&gaps, SLOWER_HALF, AS_A_CLOCK);
    is_clock.then(|| same_of_sizes(pace, IN_SLOWER_HALF))?
}

/// The gaps after small and after large requests, if they are the same, each even by itself, and one kind are reads and
/// the other writes. Gaps of other kinds may be twice as long, for requests that the limit counts as two. In one
/// direction alone it may be what the device does for each: allocate, or wait for its platters. If requests mostly come
/// after the completion of the one before, it is the pace at which they come.
pub(super) fn in_both_directions(pace: &Pace) -> Option<[u64; 2]> {
    let waits = |turns: &Turns| turns.d2c.quantile(0.5) >= turns.gaps.quantile(0.5);
    let is_even = |kind: &InTurn| waits(&kind.turns) && within(&kind.turns.gaps, MIDDLE, EVEN_TURNS);
    let even: Vec<_> = pace.kinds(false).filter(is_even).collect();
    let pairs = even.iter().flat_map(|one| even.iter().map(move |other| (one, other)));
    let across = pairs.filter(|(one, other)| one.is_read != other.is_read);
    same(across.map(|(one, other)| (&one.turns, &other.turns)), 0.5)
}

/// A quantile of the gaps after small and after large requests, if it is the same for both: of all up to a size, and of all from a larger one on.
fn same_of_sizes(pace: &Pace, part: f64) -> Option<[u64; 2]> {
    let all = pace.by_size();
    let together = |some: &[Turns]| {
        some.iter().fold(Turns::default(), |mut together, turns| {
            together.merge(turns);
            together
        })
    };
    let small: Vec<Turns> = (1..all.len()).map(|size| together(&all[..size])).collect();
    let large: Vec<Turns> = (1..all.len()).map(|size| together(&all[size..])).collect();
    let pairs =
        small.iter().enumerate().flat_map(|(at, one)| large[at..].iter().map(move |other| (one, other)));
    same(pairs, part)
}

/// The same for the first of these pairs in which the second one is larger and the quantiles agree.
fn same<'a>(pairs: impl Iterator<Item = (&'a Turns, &'a Turns)>, part: f64) -> Option<[u64; 2]> {
    let is_known = |turns: &Turns| turns.gaps.count() >= ENOUGH_OF_SIZE;
    let known = pairs.filter(|(small, large)| is_known(small) && is_known(large));
    let far = known.filter(|(small, large)| large.mean_size().0 >= LARGER * small.mean_size().0);
    let mut gaps = far.map(|(small, large)| [small, large].map(|turns| turns.gaps.quantile(part)));
    gaps.find(|[small, large]| small.abs_diff(*large) as f64 <= SAME * *small as f64)
}
