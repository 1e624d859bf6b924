//! `rate-limit`: the device is not slow; something in front of it admits only so many operations.
//!
//! Volumes of clouds and hypervisors have a limit of operations a second. Below it they are fast; at it each request waits for its
//! turn, and completions are as even as a clock. A device alone is not: one that needs 0.3 ms for a request and completes one every
//! 2 ms with several waiting is not busy but held back. So: the pace is even, and requests that came while there was room took less
//! than half of it, or large requests keep the same pace as small ones. Refuted if none was that fast and all are alike (then the
//! device itself may take so long), or if the pace is uneven.
//!
//! It is the root of other findings: a device at its limit fills its queue and the scheduler; also writeback
//! throttling's budget, if the device was seen to be faster.
//!
//! Example: the fastest 2 % of reads took 0.3 ms, completions came every 2.0 ms (p25 1.9, p90 2.1) with 8 waiting: 500 a second,
//! where one after another would have been 3,300.

use crate::block::request_size::LARGE_ENOUGH;
use crate::case::{Case, Claimable, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::device::by_the_clock::{self, Passed};
use crate::device::device_stall;
use crate::device::even::{apart, clock, even, spread, within};
use crate::device::expected::rotational;
use crate::device::same_pace::{after_bursts, in_both_directions, whatever_the_size};
use crate::hardware::Hardware;
use crate::interfering::leads_to_the_device;
use crate::limit;
use crate::proof::{proof, Proof};
use crate::remedy::Action;
use crate::slow::Slow;
use crate::thresholds::healthy::NOT_ITS_OWN;
use crate::thresholds::rate_limit::{
    AS_A_CLOCK, ENOUGH, ENOUGH_OF_SIZE, ENOUGH_RUNS, EVEN_RUNS, EVEN_TURNS, FASTER, FASTEST, MIDDLE,
    SAME_PACE, SMALL,
};
use crate::verdict::{Confidence, Verdict};
use ledger::Reason;
use life::Class;
use stats::{Distribution, InTurn, Slope, IN_A_RUN};
use trace::{Bytes, Nanos};
use units::words::{count, size};
use waits::Phase;

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "rate-limit",
    title: "a limit (a volume's or hypervisor's) caps the device's operations a second",
    nature: Nature::Limit,
    page: include_str!("../../pages/rate-limit.md"),
    judge: Judge::Each(Each {
        of,
        unless: "more operations a second than this in any second of another recording of the device",
        otherwise: Otherwise::Explained,
        above: false,
    }),
};

fn of(case: &mut Case, slow: &Slow, v: Verdict) -> Said {
    let left = case.unclaimed(slow, Reason::Device);
    // The slowest operations may have met something other than what sets the pace of all.
    let of_all = case.share_of_all(slow, |row| row.reason == Reason::Device && row.phase != Phase::Service);
    if slow.share(left) < MIN_SHARE && of_all < NOT_ITS_OWN {
        return Said::Nothing;
    }
    let name = case.name(slow.on.id);
    let (apart, told, proof) = match held(case, slow, &name) {
        Ok((apart, told, _)) if !is_the_pace_of_all(slow, apart) => {
            let mean = on_average(slow);
            return Said::Not(proof!(
                "{told}, and {mean} on average: they come together, not one by one",
                told,
                mean
            ));
        }
        Ok(held) => held,
        Err(why) => return Said::Not(why),
    };
    let its = match proof {
        // The little time that the slowest spent in the device says nothing about what all took alone.
        Held::Turns { alone, .. } if slow.share(left) >= MIN_SHARE => {
            left.since(Nanos(alone.0.saturating_mul(slow.group.tail.sum.time.operations)))
        }
        _ => left,
    };
    let paced = paced(case, slow, apart);
    let its = Nanos((its.0 as f64 * paced) as u64);
    if slow.share(its) < MIN_SHARE && of_all * paced < NOT_ITS_OWN {
        return Said::Nothing;
    }
    let before = before_the_device(case, slow, &proof);
    let claimed = case.claim(slow, Reason::Device, its) + before;
    let rate = 1_000_000_000 / apart.max(1);
    let told = proof!("{told}, evenly spaced: {rate} a second", told, rate = Count(rate));
    let v = v.plus(claimed, Confidence::Medium).because(told);
    Said::Found(remedies(v.because(proof.told(slow, claimed)), case, slow, &name, rate))
}

/// Why the time is not that of the device's own work.
enum Held {
    /// Completions are as even as a clock, requests are not.
    Clock { spread: u64 },
    /// A request of at least eight times the bytes keeps the same pace as a small one.
    Sizes { small: u64, large: u64 },
    /// Requests of a kind come by a timer, and one of them alone takes less than half of its tick.
    Turns { gap: u64, alone: Nanos },
    /// The first [`IN_A_RUN`] requests after an idle time took so long, where the pace gives them `at_pace`.
    SavedUp { first: Nanos, at_pace: Nanos },
    /// Small requests take as long as a timer lets them, or hardly any time, with the counts of both.
    AtOnce(Box<Passed>),
    /// The later a request comes after the one before, the sooner it is done.
    Sooner(Slope),
    /// No flash is as slow for so little, or more bytes take no longer; and only a timer is as even.
    TooSlow { gap: u64, bytes: Bytes, fastest: u64 },
}

/// Whether completions that far apart make up half of the time in which others waited in the device: then a limit sets the pace of all. Completions
/// that one interrupt finds are close together, as even as the processor that reaps them, while the time passes between such bursts.
fn is_the_pace_of_all(slow: &Slow, apart: u64) -> bool {
    2.0 * apart as f64 >= on_average(slow).0 as f64
}

/// The part of the slowest requests' time in which the device completed others at this pace, 0 to 1: what it completes nothing in for many
/// ticks is no limit's. 1 if none is known.
fn paced(case: &Case, slow: &Slow, apart: u64) -> f64 {
    let (mut at_pace, mut all) = (0u128, 0u128);
    for (d2c, r) in device_stall::requests(case, slow) {
        // The tick in which it came, its own, and as many again: some ticks are longer.
        let ticks = 2 * (r.contention.served() + 2);
        at_pace += u128::from(d2c.0.min(apart.saturating_mul(ticks)));
        all += u128::from(d2c.0);
    }
    if all == 0 {
        1.0
    } else {
        at_pace as f64 / all as f64
    }
}

/// The mean distance of completions while others waited.
fn on_average(slow: &Slow) -> Nanos {
    let completed: u64 = slow.on.requests.iter().map(|phases| phases.count).sum();
    Nanos(slow.on.depth.at_least(2).0 / completed.max(1))
}

/// The gap between completions in ns, the same in words, and the proof that something holds requests back; or what speaks against it.
fn held(case: &Case, slow: &Slow, name: &str) -> Result<(u64, Proof, Held), Proof> {
    let pace = &slow.on.pace;
    // A device that does not rotate and serves small requests one after the other as evenly as a clock, slower than any flash.
    if let Some(kind) =
        by_the_clock::slower_than_flash(case, slow, |turns| turns.gaps.clone(), |turns| turns.gaps.clone())
    {
        let (gap, fastest) = (kind.turns.gaps.quantile(0.5), kind.turns.d2c.quantile(FASTEST));
        let told = apart(&kind.turns.gaps, name);
        return Ok((gap, told, Held::TooSlow { gap, bytes: kind.most, fastest }));
    }
    if let Some(passed) = by_the_clock::or_at_once(case, slow) {
        let told = each_alone(passed.most, &passed.held, name);
        return Ok((passed.held.quantile(0.5), told, Held::AtOnce(Box::new(passed))));
    }
    if let Some(passed) = by_the_clock::in_turn_or_at_once(case, slow) {
        let told = apart(&passed.held, name);
        return Ok((passed.held.quantile(0.5), told, Held::AtOnce(Box::new(passed))));
    }
    if let Some(sizes) = after_bursts(pace) {
        let [small, large] = sizes;
        let gaps = pace.gaps();
        return Ok((gaps.quantile(0.5), apart(&gaps, name), Held::Sizes { small, large }));
    }
    let may_turn = rotational(case, slow.on.id).is_none_or(|turns| turns.value);
    if let Some(sizes) = in_both_directions(pace).filter(|_| !may_turn) {
        let [small, large] = sizes;
        return Ok((large, apart(&pace.gaps(), name), Held::Sizes { small, large }));
    }
    by_pace(slow, name).or_else(|why| {
        let Some((kind, slope)) = by_the_clock::whenever_they_come(case, slow) else { return Err(why) };
        Ok((
            pace.ticks.apart.quantile(0.5),
            each_alone(kind.most, &kind.turns.alone, name),
            Held::Sooner(slope),
        ))
    })
}

/// Judges by how even completions are while others wait, or how even they come after others.
fn by_pace(slow: &Slow, name: &str) -> Result<(u64, Proof, Held), Proof> {
    let pace = &slow.on.pace;
    let (apart, told) = even(pace, name)?;
    let held = clock(pace)
        .map(|ticks| Held::Clock { spread: spread(&ticks.d2c, MIDDLE) })
        .or_else(|| whatever_the_size(pace).map(|[small, large]| Held::Sizes { small, large }))
        .or_else(|| faster_alone(slow, apart));
    match held {
        Some(held) => Ok((apart, told, held)),
        None => Err(proof!(
            "{told}, and no request was much faster than that: the fastest took {own}",
            told = told,
            own = Nanos(slow.requests().d2c.quantile(FASTEST))
        )),
    }
}

/// Evidence of what requests of a kind took alone.
fn each_alone(most: Bytes, took: &Distribution, name: &str) -> Proof {
    proof!(
        "requests of up to {bytes} alone in {name} took {took}, half of them within {within} of that",
        bytes = most,
        took = Nanos(took.quantile(0.5)),
        name,
        within = Share(AS_A_CLOCK.1 - 1.0)
    )
}

/// A kind of request that keeps the pace of all while others wait, although one of them alone takes less than half of
/// it: a device that serves one at a time would be done sooner, and one that serves several at once is faster than each
/// of them. Near requests prove nothing about far ones, whatever the device reports: volumes on rotating disks report
/// that they do not rotate. Nor do requests of a device whose flushes take as long: data behind these keeps their pace.
fn faster_alone(slow: &Slow, apart: u64) -> Option<Held> {
    let pace = &slow.on.pace;
    let flushes = &slow.on.requests[Class::Flush.index()].d2c;
    if flushes.count() >= ENOUGH && flushes.quantile(FASTEST) as f64 > FASTER * apart as f64 {
        return None;
    }
    let all_even = within(&pace.runs, [0.3, 0.8], EVEN_RUNS) && pace.runs.count() >= ENOUGH_RUNS;
    let keeps_time = |gaps: &Distribution| {
        gaps.count() >= ENOUGH
            && (gaps.mean() - apart as f64).abs() <= SAME_PACE * apart as f64
            && (all_even || within(gaps, MIDDLE, EVEN_TURNS))
    };
    let kinds: Vec<_> = pace.kinds(true).filter(|kind| keeps_time(&kind.turns.gaps)).collect();
    let mut fastest = kinds.iter().map(|kind| kind.turns.d2c.quantile(FASTEST));
    match fastest.find(|alone| *alone as f64 <= FASTER * apart as f64) {
        Some(alone) => Some(Held::Turns { gap: apart, alone: Nanos(alone) }),
        None => kinds.iter().find_map(|kind| saved_up(kind, apart)),
    }
}

/// The first reads after an idle time were done in less than half the time that the pace of all gives them, and sooner than half of what one of
/// them takes at that pace: a device that works by itself completes no more just because it was idle, unless it had the data (its cache; so
/// neither writes nor reads that go on where the one before ended).
fn saved_up(kind: &InTurn, apart: u64) -> Option<Held> {
    let first = kind.turns.first_run?;
    let at_pace = u64::from(IN_A_RUN) * apart;
    let is_fast = |than: u64| first.0 as f64 <= FASTER * than as f64;
    (is_fast(at_pace) && is_fast(kind.turns.d2c.quantile(0.5)))
        .then_some(Held::SavedUp { first, at_pace: Nanos(at_pace) })
}

impl Held {
    fn told(&self, slow: &Slow, claimed: Nanos) -> Proof {
        match self {
            Held::Sizes { small, large } => proof!(
                "size does not matter: a request of eight times the size or more came {large} after the one \
                 before, a small one {small}",
                large = Nanos(*large),
                small = Nanos(*small)
            ),
            Held::Clock { spread } => proof!(
                "completions are evenly spaced, latencies vary: interquartile range of D2C {spread}, of the gaps \
                     between completions less than half that",
                spread = Nanos(*spread)
            ),
            Held::Turns { gap, alone } => proof!(
                "with requests queued, completions were {gap} apart, but the fastest took {alone}, or {rate} a second \
                     one by one; the slowest {what} spent {claimed} of their time waiting for their turn",
                gap = Nanos(*gap),
                alone,
                rate = Count(1_000_000_000 / alone.0.max(1)),
                what = slow.words(),
                claimed = Share(slow.share(claimed))
            ),
            Held::SavedUp { first, at_pace } => proof!(
                "the first {in_a_run} reads after an idle time were done within {first}, where that pace gives {at_pace}: only a \
                     limit saves up",
                in_a_run = Text(IN_A_RUN.to_string()),
                first,
                at_pace
            ),
            Held::AtOnce(passed) => proof!(
                "{held} of {of} were held back, the fastest of the others took {fast}: the device is fast, and something admits \
                 one every {took}",
                held = Count(passed.held.count()),
                of = Count(passed.of),
                fast = passed.fast,
                took = Nanos(passed.held.quantile(0.5))
            ),
            Held::Sooner(Slope { value, count, .. }) => proof!(
                "the later a request was issued after the one before, the sooner it was done, by {part} of the delay ({count} \
                 requests): they wait for a timer, not for the device's service",
                part = Share(value.abs().min(1.0)),
                count = Count(*count)
            ),
            Held::TooSlow { gap, bytes, .. } if *bytes > SMALL && Nanos(*gap) <= by_the_clock::at_slowest(*bytes) => {
                proof!(
                    "requests of more than {bytes} take no longer, and only a timer is so regular: half of \
                 them lie within {within} of that",
                    bytes,
                    within = Share(AS_A_CLOCK.1 - 1.0)
                )
            }
            Held::TooSlow { gap, bytes, .. } => proof!(
                "flash does not take {gap} for {bytes}, and only a timer is so regular: half of them lie \
                     within {within} of that",
                gap = Nanos(*gap),
                bytes,
                within = Share(AS_A_CLOCK.1 - 1.0)
            ),
        }
    }
}

/// Claims what waited for room in a limited device: in the scheduler, for a tag, for writeback throttling's budget. That budget is
/// small wherever reads are slow, with or without a limit: it is the limit's only if the device was seen to be faster.
fn before_the_device(case: &mut Case, slow: &Slow, proof: &Held) -> Nanos {
    let was_faster = match proof {
        Held::TooSlow { gap, fastest, .. } => *fastest as f64 <= FASTER * *gap as f64,
        _ => true,
    };
    let waits = |row: &Claimable| match row.phase {
        Phase::Behind => false,
        Phase::Reason(Reason::WritebackThrottle) => was_faster,
        phase => leads_to_the_device(phase),
    };
    match slow.is_below() {
        true => Nanos(0),
        false => case.claim_rows(slow.group_number, Nanos(u64::MAX), waits),
    }
}

/// The mean size of requests, if all are so large that a limit on bytes would admit as many as one on operations; else `None`.
fn may_be_of_bytes(slow: &Slow) -> Option<Bytes> {
    let sizes = slow.on.pace.by_size().iter().filter(|turns| turns.gaps.count() >= ENOUGH_OF_SIZE).count();
    let requests = slow.requests();
    let mean = Bytes(requests.bytes.0 / requests.count.max(1));
    (sizes <= 1 && mean >= LARGE_ENOUGH).then_some(mean)
}

fn remedies(v: Verdict, case: &Case, slow: &Slow, name: &str, rate: u64) -> Verdict {
    let v = match may_be_of_bytes(slow) {
        Some(bytes) => {
            let limit = format!(
                "the limit of {} operations or {} a second (unknown which: all requests were of one size)",
                count(rate),
                size(Bytes(rate.saturating_mul(bytes.0)))
            );
            raised(v, name, &limit).without(proof!(
                "whether the limit is one of operations or of bytes: all requests were of {bytes}",
                bytes
            ))
        }
        None => raised(v, name, &format!("the limit of {} operations a second", count(rate))).try_this(
            "fewer, larger operations: most limits count operations of up to 256 KiB as one",
            Action::look(format!(
                "grep -H . /sys/block/{name}/queue/max_sectors_kb /sys/block/{name}/queue/read_ahead_kb"
            )),
        ),
    };
    limit::half(v, case, slow)
}

/// Adds where the limit of such a device is raised.
fn raised(v: Verdict, name: &str, limit: &str) -> Verdict {
    match Hardware::of(name) {
        Hardware::File
        | Hardware::Stacked
        | Hardware::Remote
        | Hardware::Memory
        | Hardware::Card
        | Hardware::Unknown => {
            let (_, look) = Hardware::check(name);
            v.try_this(format!("find what sets {limit}: it is below {name}"), look)
        }
        Hardware::Guest => v.try_this(
            format!("raise {limit}, with the volume's provider or on its host; costs money"),
            "virsh blkdeviotune GUEST DISK --total-iops-sec N",
        ),
        Hardware::Scsi | Hardware::Nvme => v.try_this(
            format!("raise {limit}, with the volume's provider (this is Amazon's command); costs money"),
            "aws ec2 modify-volume --volume-id VOLUME --iops N",
        ),
    }
}
