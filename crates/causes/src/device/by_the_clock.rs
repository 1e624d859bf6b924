//! Requests of a kind that are let through by a clock, each by itself or one after another: as even as no device is, and longer than any
//! takes for so little.

use crate::case::Case;
use crate::device::even::{is_whole, within};
use crate::device::healthy::rotational;
use crate::slow::Slow;
use crate::thresholds::rate_limit::{
    AS_A_CLOCK, BETWEEN, BROKEN, ENOUGH, ENOUGH_OF_SIZE, EVEN_TURNS, FASTER, FASTEST, FASTEST_TURN, MIDDLE,
    SAME, SLOWEST_BYTES_A_SECOND, SLOWEST_READ, SLOWEST_WRITE, SMALL, SOONER, SURELY,
};
use stats::{Bucket, Distribution, InARow, InTurn, Slope, Turns};
use trace::{Bytes, Nanos};

/// Requests of a kind to a device that does not turn, of which some time is as even as a clock and longer than any flash takes: for small
/// ones, if larger ones take no longer, or for so many bytes. `gaps` are those that all kinds have to share.
pub(super) fn slower_than_flash(
    case: &Case,
    slow: &Slow,
    time: impl Fn(&Turns) -> Distribution,
    gaps: impl Fn(&Turns) -> Distribution,
) -> Option<InTurn> {
    let no_longer = |kind: &InTurn, larger: &InTurn| {
        let [took, longer] = [kind, larger].map(|k| time(&k.turns).quantile(0.5));
        // Sizes beside each other may hardly differ: of 1 MiB that is cut in two, 492 and 532 KiB.
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

/// Requests that find a device empty that does not turn, and take as long as a clock lets them, one after the other, but for some that take less
/// than half: those for which something was left over, a few now and then or all before a credit was used up. Flash that is slow varies more,
/// and is never fast.
pub(super) fn or_at_once(case: &Case, slow: &Slow) -> Option<Passed> {
    passed(case, slow, |turns| &turns.alone_in_a_row, |turns| &turns.alone)
}

/// The same of the turns of those that wait behind others.
pub(super) fn in_turn_or_at_once(case: &Case, slow: &Slow) -> Option<Passed> {
    passed(case, slow, |turns| &turns.gaps_in_a_row, |turns| &turns.d2c)
}

/// Requests of which some were held back and others were not.
pub(super) struct Passed {
    /// They are no larger than this.
    pub most: Bytes,
    /// What those took that were held back.
    pub held: Distribution,
    /// How many there were in all.
    pub of: u64,
    /// What the fastest took.
    pub fast: Nanos,
}

/// A clock that holds one back lets the next one through a tick later: where others were done at once right after, no clock did it.
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
    let tick = held.quantile(0.5) as f64;
    let of_these = |bucket: &Bucket| bucket.upper as f64 >= EVEN_TURNS.0 * tick;
    let broken: u64 = slow.on.pace.broken.buckets().filter(of_these).map(|bucket| bucket.count).sum();
    let is_clock = fast.0 as f64 <= FASTER * tick && broken as f64 <= BROKEN * held.count() as f64;
    is_clock.then(|| Passed { most: kind.most, held, of: all.count(), fast })
}

/// Of times of two kinds the slower one, where hardly any lie between: those of a clock, and what passes it at once. Else all.
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

/// Requests that find a device empty, and are done the sooner the later they come after the one before: the clock that lets them through
/// goes on meanwhile. What a device does for a request begins with it. So does not what platters do: the next write is done when they have
/// turned once, whatever the device says of itself.
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

/// What the slowest flash takes for so many bytes in order.
pub(super) fn at_slowest(bytes: Bytes) -> Nanos {
    Nanos((u128::from(bytes.0) * 1_000_000_000 / u128::from(SLOWEST_BYTES_A_SECOND)) as u64)
}

/// The first kind that comes by a clock, of a device that does not turn, if all others keep its pace. Where it is not known whether it turns,
/// what is far shows it.
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
        // A guest's disk, or no settings. Platters take anything up to a whole turn for what is far.
        None => pace.far().find(is_clock),
    }?;
    pace.kinds(false).all(|other| keeps(&gaps(&kind.turns), &gaps(&other.turns))).then_some(kind)
}

fn is_even(time: &Distribution) -> bool {
    time.count() >= ENOUGH && within(time, MIDDLE, AS_A_CLOCK)
}

/// Whether requests of another kind, if there are enough, are as far apart as those of one, or whole multiples of that: a clock lets all
/// through. What a device does itself takes longer for more bytes, however even that is.
fn keeps(one: &Distribution, other: &Distribution) -> bool {
    let ticks = other.quantile(0.5) as f64 / one.quantile(0.5).max(1) as f64;
    let known = one.count() >= ENOUGH_OF_SIZE && other.count() >= ENOUGH_OF_SIZE;
    !known || ticks <= 1.0 + SAME || is_whole(ticks)
}
