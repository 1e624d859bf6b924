//! Requests of a kind that are let through by a clock, each by itself or one after another: as even as no device is, and longer than any
//! takes for so little.

use crate::case::Case;
use crate::device::even::{is_whole, within};
use crate::device::healthy::rotational;
use crate::slow::Slow;
use crate::thresholds::rate_limit::{
    AS_A_CLOCK, ENOUGH, ENOUGH_OF_SIZE, FASTER, FASTEST, FASTEST_TURN, MIDDLE, SAME, SLOWEST_BYTES_A_SECOND,
    SLOWEST_READ, SLOWEST_WRITE, SMALL, SOONER, SURELY,
};
use stats::{Distribution, InTurn, Slope, Turns};
use trace::{Bytes, Nanos};

/// Requests of a kind to a device that does not turn, of which some time is as even as a clock and longer than any flash takes: for small
/// ones, if larger ones take no longer, or for so many bytes.
pub(super) fn slower_than_flash(
    case: &Case,
    slow: &Slow,
    time: fn(&Turns) -> &Distribution,
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
    first(case, slow, |kind| is_even(time(&kind.turns)) && is_slow(kind))
}

/// Small requests that find a device empty that does not turn, and take as long as a clock lets them, but for some that take less than half: those for
/// which something was left over. Flash that is slow varies more, and is never fast.
pub(super) fn or_at_once(case: &Case, slow: &Slow) -> Option<(InTurn, u64)> {
    let kind = slower_than_flash(case, slow, |turns| &turns.alone)?;
    let fast = kind.turns.alone.quantile(FASTEST);
    (fast as f64 <= FASTER * kind.turns.alone.quantile(0.5) as f64).then_some((kind, fast))
}

/// Requests that find a device empty, and are done the sooner the later they come after the one before: the clock that lets them through
/// goes on meanwhile. What a device does for a request begins with it. So does not what platters do: the next write is done when they have
/// turned once, whatever the device says of itself.
pub(super) fn whenever_they_come(case: &Case, slow: &Slow) -> Option<(InTurn, Slope)> {
    let sooner = |kind: &InTurn| {
        kind.turns.after_idle.slope().filter(|slope| slope.value + SURELY * slope.error < SOONER)
    };
    let apart = Nanos(slow.on.pace.ticks.quantile(0.5));
    let kind = first(case, slow, |kind| {
        let took = Nanos(kind.turns.alone.quantile(0.5));
        let may_turn = !kind.is_read && took.max(apart) >= FASTEST_TURN;
        is_even(&kind.turns.alone) && took > SLOWEST_READ && !may_turn && sooner(kind).is_some()
    })?;
    sooner(&kind).map(|slope| (kind, slope))
}

/// What the slowest flash takes for so many bytes in order.
pub(super) fn at_slowest(bytes: Bytes) -> Nanos {
    Nanos((u128::from(bytes.0) * 1_000_000_000 / u128::from(SLOWEST_BYTES_A_SECOND)) as u64)
}

/// The first kind that comes by a clock, of a device that does not turn, if all others keep its pace. Where it is not known whether it turns,
/// what is far shows it.
fn first(case: &Case, slow: &Slow, is_clock: impl Fn(&InTurn) -> bool) -> Option<InTurn> {
    let pace = &slow.on.pace;
    let kind = match rotational(case, slow.on.id).map(|turns| turns.value) {
        Some(true) => None,
        Some(false) => pace.kinds(false).find(is_clock),
        // A guest's disk, or no settings. Platters take anything up to a whole turn for what is far.
        None => pace.far().find(is_clock),
    }?;
    pace.kinds(false).all(|other| keeps(&kind.turns, &other.turns)).then_some(kind)
}

fn is_even(time: &Distribution) -> bool {
    time.count() >= ENOUGH && within(time, MIDDLE, AS_A_CLOCK)
}

/// Whether requests of another kind, if there are enough, are as far apart as those of one, or whole multiples of that: a clock lets all
/// through. What a device does itself takes longer for more bytes, however even that is.
fn keeps(one: &Turns, other: &Turns) -> bool {
    let ticks = other.gaps.quantile(0.5) as f64 / one.gaps.quantile(0.5).max(1) as f64;
    let known = one.gaps.count() >= ENOUGH_OF_SIZE && other.gaps.count() >= ENOUGH_OF_SIZE;
    !known || ticks <= 1.0 + SAME || is_whole(ticks)
}
