//! Requests of a kind that a timer admits, each by itself or one after another: more evenly than any device completes
//! them, and slower than any device is for so little.

use crate::case::Case;
use crate::device::even::{is_broken, is_whole, within};
use crate::device::expected::rotational;
use crate::slow::Slow;
use crate::thresholds::rate_limit::{
    AS_A_CLOCK, BETWEEN, ENOUGH, ENOUGH_OF_SIZE, EVEN_TURNS, FASTER, FASTEST, FASTEST_TURN, MIDDLE, SAME,
    SLOWEST_BYTES_A_SECOND, SLOWEST_READ, SLOWEST_WRITE, SMALL, SOONER, SURELY,
};
use stats::{Bucket, Distribution, InARow, InTurn, Slope, Turns};
use trace::{Bytes, Nanos};

/// Requests of a kind, to a device that does not rotate, whose `time` is as even as a clock and longer than any flash takes: for
/// small requests, for that many bytes, or while larger requests take no longer. `gaps` are those that all kinds have to share.
pub(super) fn slower_than_flash(
    case: &Case,
    slow: &Slow,
    time: impl Fn(&Turns) -> Distribution,
    gaps: impl Fn(&Turns) -> Distribution,
) -> Option<InTurn> {
    let no_longer = |kind: &InTurn, larger: &InTurn| {
        let [took, longer] = [kind, larger].map(|k| time(&k.turns).quantile(0.5));
        // Neighbouring sizes may hardly differ: of 1 MiB that is cut in two, 492 and 532 KiB.
        let sizes = [larger, kind].map(|k| k.turns.mean_size());
        let is_larger = larger.is_read == kind.is_read && sizes[0].0 >= sizes[1].0.saturating_mul(2);
        let is_known = time(&larger.turns).count() >= ENOUGH_OF_SIZE;
        is_larger && is_known && longer as f64 <= (1.0 + SAME) * took as f64
    };
    let is_slow = |kind: &InTurn| {
        let slowest = if kind.is_read { SLOWEST_READ } else { SLOWEST_WRITE };
        let took = Nanos(time(&kind.turns).quantile(0.5));
        let for_its_size = || kind.most <= SMALL || took > at_slowest(kind.most);
        took > slowest && (for_its_size() || slow.on.pace.kinds(false).any(|larger| no_longer(kind, &larger)))
    };
    first(case, slow, gaps, |kind| is_even(&time(&kind.turns)) && is_slow(kind))
}

/// Requests that find a device empty that does not rotate, and take as long as a timer lets them, one after the other,
/// except for some that take less than half: those admitted by left-over credit, a few now and then, or all before the
/// credit was used up. Slow flash varies more, and is never fast.
pub(super) fn or_at_once(case: &Case, slow: &Slow) -> Option<Passed> {
    passed(case, slow, |turns| &turns.alone_in_a_row, |turns| &turns.alone)
}

/// The same, by the gaps between requests that wait behind others.
pub(super) fn in_turn_or_at_once(case: &Case, slow: &Slow) -> Option<Passed> {
    passed(case, slow, |turns| &turns.gaps_in_a_row, |turns| &turns.d2c)
}

/// Requests of which some were held back by a timer and others passed at once.
pub(super) struct Passed {
    /// The largest size of these requests.
    pub most: Bytes,
    /// The times of those that were held back.
    pub held: Distribution,
    /// How many requests there were, held back or not.
    pub of: u64,
    /// The time of the fastest ([`FASTEST`]).
    pub fast: Nanos,
}

/// A timer that holds one request back admits the next one a tick later: if others were done right after, it was no timer.
fn passed(
    case: &Case,
    slow: &Slow,
    row: fn(&Turns) -> &InARow,
    all: fn(&Turns) -> &Distribution,
) -> Option<Passed> {
    let in_turn = |turns: &Turns| held_back(&turns.gaps_in_a_row.times);
    let kind = slower_than_flash(case, slow, |turns| held_back(&row(turns).times), in_turn)?;
    let (row, all) = (row(&kind.turns), all(&kind.turns));
    let (held, fast) = (held_back(&row.times), Nanos(all.quantile(FASTEST)));
    let tick = held.quantile(0.5);
    let is_clock = fast.0 as f64 <= FASTER * tick as f64 && !is_broken(&slow.on.pace, tick, held.count());
    is_clock.then(|| Passed { most: kind.most, held, of: all.count(), fast })
}

/// Of times of two kinds the slower one, if hardly any lie between: times set by a timer, and those of requests that pass at once. Else all.
fn held_back(times: &Distribution) -> Distribution {
    let from = times.quantile(FASTEST).saturating_mul(2);
    let mut slower = Distribution::new();
    let above = times.buckets().filter(|bucket| bucket.lower >= from);
    above.for_each(|bucket| slower.record_n(bucket.lower.midpoint(bucket.upper), bucket.count));
    let middle = slower.quantile(0.5) as f64;
    let is_between = |bucket: &Bucket| {
        bucket.lower as f64 > FASTER * middle && (bucket.upper as f64) < EVEN_TURNS.0 * middle
    };
    let between: u64 = times.buckets().filter(is_between).map(|bucket| bucket.count).sum();
    match between as f64 <= BETWEEN * slower.count() as f64 && !slower.is_empty() {
        true => slower,
        false => times.clone(),
    }
}

/// Requests that find a device empty, and are done the sooner the later they come after the one before: the timer that
/// admits them goes on meanwhile, whereas a device's own work begins with the request. Platters are an exception: the
/// next write is done when they have turned once, whatever the device reports about itself.
pub(super) fn whenever_they_come(case: &Case, slow: &Slow) -> Option<(InTurn, Slope)> {
    let sooner = |kind: &InTurn| {
        kind.turns.after_idle.slope().filter(|slope| slope.value + SURELY * slope.error < SOONER)
    };
    let apart = Nanos(slow.on.pace.ticks.apart.quantile(0.5));
    let kind = first(
        case,
        slow,
        |turns| turns.gaps.clone(),
        |kind| {
            let took = Nanos(kind.turns.alone.quantile(0.5));
            let may_turn = !kind.is_read && took.max(apart) >= FASTEST_TURN;
            is_even(&kind.turns.alone) && took > SLOWEST_READ && !may_turn && sooner(kind).is_some()
        },
    )?;
    sooner(&kind).map(|slope| (kind, slope))
}

/// The time that the slowest flash takes for this many sequential bytes.
pub(super) fn at_slowest(bytes: Bytes) -> Nanos {
    Nanos((u128::from(bytes.0) * 1_000_000_000 / u128::from(SLOWEST_BYTES_A_SECOND)) as u64)
}

/// The first kind that comes by a timer, on a device that does not rotate, if all other kinds keep its pace. If it is
/// not known whether the device rotates, only requests far from each other count.
fn first(
    case: &Case,
    slow: &Slow,
    gaps: impl Fn(&Turns) -> Distribution,
    is_clock: impl Fn(&InTurn) -> bool,
) -> Option<InTurn> {
    let pace = &slow.on.pace;
    let kind = match rotational(case, slow.on.id).map(|turns| turns.value) {
        Some(true) => None,
        Some(false) => pace.kinds(false).find(is_clock),
        // A guest's disk, or no settings. Platters take anything up to a whole turn for requests that are far apart.
        None => pace.far().find(is_clock),
    }?;
    pace.kinds(false).all(|other| keeps(&gaps(&kind.turns), &gaps(&other.turns))).then_some(kind)
}

fn is_even(time: &Distribution) -> bool {
    time.count() >= ENOUGH && within(time, MIDDLE, AS_A_CLOCK)
}

/// Whether requests of another kind, if there are enough, are as far apart as those of this one, or a whole multiple of
/// that: a timer admits all kinds. What a device does itself takes longer for more bytes, however even it is.
fn keeps(one: &Distribution, other: &Distribution) -> bool {
    let ticks = other.quantile(0.5) as f64 / one.quantile(0.5).max(1) as f64;
    let known = one.count() >= ENOUGH_OF_SIZE && other.count() >= ENOUGH_OF_SIZE;
    !known || ticks <= 1.0 + SAME || is_whole(ticks)
}
