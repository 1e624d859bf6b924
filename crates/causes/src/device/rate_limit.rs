//! `rate-limit`: not the device is slow, somebody in front of it lets only so many operations through.
//!
//! Volumes of clouds and hypervisors have a limit of operations per second. Below it they are fast; at it each request waits for
//! its turn, and completions come as evenly as a clock. A device alone does not do that: one that needs 0.3 ms for a request
//! and completes one each 2 ms with several waiting is not busy, it is held. So: the pace is even, and requests that came
//! while there was room took less than half of it, or large requests keep the same pace as small ones. Refuted if none was that
//! fast and all are alike (then the device itself may take so long), or if the pace is uneven.
//!
//! It is the root of what others do: a device at its limit fills its queue and the scheduler; writeback throttling's budget, too, where the
//! device was seen to be faster.
//!
//! Example: the fastest 2 % of reads took 0.3 ms, completions came every 2.0 ms (p25 1.9, p90 2.1) with 8 waiting: 500 a second,
//! where one after another would have been 3,300.

use crate::block::request_size::LARGE_ENOUGH;
use crate::case::{Case, Claimable, MIN_SHARE};
use crate::device::background_task::leads_to_the_device;
use crate::device::by_the_clock::{self, Passed};
use crate::device::even::{apart, clock, even, spread, within};
use crate::device::healthy::rotational;
use crate::hardware::Hardware;
use crate::limit;
use crate::proof::{proof, Proof};
use crate::remedy::Action;
use crate::slow::Slow;
use crate::thresholds::healthy::NOT_ITS_OWN;
use crate::thresholds::rate_limit::{
    AS_A_CLOCK, ENOUGH, ENOUGH_OF_SIZE, ENOUGH_RUNS, EVEN_RUNS, EVEN_TURNS, FASTER, FASTEST, IN_SLOWER_HALF,
    LARGER, MIDDLE, SAME, SAME_PACE, SLOWER_HALF, SMALL,
};
use crate::verdict::{Confidence, Verdict};
use crate::words::{count, size};
use crate::{Cause, Each, Judge, Nature, Otherwise, Said};
use ledger::Reason;
use life::Class;
use stats::{Distribution, InTurn, Pace, Slope, Turns};
use trace::{Bytes, Nanos};
use waits::Phase;

/// The cause.
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
    // The slowest may have met something else than what sets the pace of all.
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
        // What they take of the little that the slowest spent there says nothing about all.
        Held::Turns { alone, .. } if slow.share(left) >= MIN_SHARE => {
            left.since(Nanos(alone.0.saturating_mul(slow.group.tail.sum.time.operations)))
        }
        _ => left,
    };
    if slow.share(its) < MIN_SHARE && of_all < NOT_ITS_OWN {
        return Said::Nothing;
    }
    let before = before_the_device(case, slow, &proof);
    let claimed = case.claim(slow, Reason::Device, its) + before;
    let rate = 1_000_000_000 / apart.max(1);
    let told = proof!("{told}, evenly spaced: {rate} a second", told, rate = Count(rate));
    let v = v.plus(claimed, Confidence::Medium).because(told);
    Said::Found(remedies(v.because(proof.told(slow, claimed)), case, slow, &name, rate))
}

/// Why it is no work of the device's own that takes so long.
enum Held {
    /// Completions keep time, requests do not.
    Clock { spread: u64 },
    /// A request of eight times the bytes takes its turn as a small one.
    Sizes { small: u64, large: u64 },
    /// Requests of a kind come by the clock, one of them alone takes less than half of that.
    Turns { gap: u64, alone: Nanos },
    /// Small requests take as long as a clock lets them, or hardly anything: so many of so many were held back.
    AtOnce(Box<Passed>),
    /// The later a request comes, the sooner it is done.
    Sooner(Slope),
    /// No flash is as slow for so little, or more bytes take no longer; and nothing else is as even.
    TooSlow { gap: u64, bytes: Bytes, fastest: u64 },
}

/// Whether completions so far apart make up half of the time in which others waited in the device: a limit sets the pace of all. What an
/// interrupt finds done together is close together, as even as the processor that reaps it, and the time lies between such crowds.
fn is_the_pace_of_all(slow: &Slow, apart: u64) -> bool {
    2.0 * apart as f64 >= on_average(slow).0 as f64
}

/// How far apart completions were on average, while others waited.
fn on_average(slow: &Slow) -> Nanos {
    let completed: u64 = slow.on.requests.iter().map(|phases| phases.count).sum();
    Nanos(slow.on.depth.at_least(2).0 / completed.max(1))
}

/// How far completions are apart, in words, too, and the proof that something holds requests back; or what speaks against it.
fn held(case: &Case, slow: &Slow, name: &str) -> Result<(u64, Proof, Held), Proof> {
    let pace = &slow.on.pace;
    // A device that does not turn and takes small requests one after the other by the clock, slower than any flash.
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
    if let Some(sizes) = by_the_clock_after_bursts(pace) {
        let [small, large] = sizes;
        let gaps = pace.gaps();
        return Ok((gaps.quantile(0.5), apart(&gaps, name), Held::Sizes { small, large }));
    }
    let may_turn = rotational(case, slow.on.id).is_none_or(|turns| turns.value);
    if let Some(sizes) = each_by_the_clock(pace).filter(|_| !may_turn) {
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

/// By how even completions are while others wait, or come after them.
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

/// What requests of a kind took alone.
fn each_alone(most: Bytes, took: &Distribution, name: &str) -> Proof {
    proof!(
        "requests of up to {bytes} alone in {name} took {took}, half of them within {within} of that",
        bytes = most,
        took = Nanos(took.quantile(0.5)),
        name,
        within = Share(AS_A_CLOCK.1 - 1.0)
    )
}

/// A kind of request that keeps the pace of all with others waiting, although such a one alone takes less than half of it: a device that
/// serves one after the other would be done sooner, one that serves several at once is faster than each of them. Near requests prove nothing
/// of far ones, whatever the device says of itself: volumes on disks that turn say that they do not. Nor do requests of a device whose flushes
/// take as long: data behind these keep their pace.
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
    let kinds = pace.kinds(true).filter(|kind| keeps_time(&kind.turns.gaps));
    let fastest = |kind: InTurn| kind.turns.d2c.quantile(FASTEST);
    let alone = kinds.map(fastest).find(|alone| *alone as f64 <= FASTER * apart as f64)?;
    Some(Held::Turns { gap: apart, alone: Nanos(alone) })
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

/// What waited for room in a device that is let so many: in the scheduler, for a tag, for writeback throttling's budget. That budget is
/// held back wherever reads are slow, by a limit or not: it is the limit's only where the device was seen to be faster.
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

/// The gaps after small requests and after large ones, if they are the same and a clock's. Where a disk seeks both take a seek and little
/// else, which varies, whatever it says of itself: volumes on disks that turn say that they do not.
fn whatever_the_size(pace: &Pace) -> Option<[u64; 2]> {
    within(&pace.gaps(), MIDDLE, AS_A_CLOCK).then(|| same_of_sizes(pace, 0.5))?
}

/// The same where the slower half of all comes by the clock, and what had been saved up passes at once.
fn by_the_clock_after_bursts(pace: &Pace) -> Option<[u64; 2]> {
    let gaps = pace.gaps();
    let is_clock = gaps.count() >= ENOUGH && within(&gaps, SLOWER_HALF, AS_A_CLOCK);
    is_clock.then(|| same_of_sizes(pace, IN_SLOWER_HALF))?
}

/// The gaps after small requests and after large ones, one of them reads and the other writes, each even by themselves, if they are the
/// same. Those of others may be twice as long, of requests that the limit counts as two. Of one direction alone it may be what the device
/// does for each: allocate, or wait for its platters. Of requests that mostly come after the completion before theirs it is the pace at
/// which they come.
fn each_by_the_clock(pace: &Pace) -> Option<[u64; 2]> {
    let waits = |turns: &Turns| turns.d2c.quantile(0.5) >= turns.gaps.quantile(0.5);
    let is_even = |kind: &InTurn| waits(&kind.turns) && within(&kind.turns.gaps, MIDDLE, EVEN_TURNS);
    let even: Vec<_> = pace.kinds(false).filter(is_even).collect();
    let pairs = even.iter().flat_map(|one| even.iter().map(move |other| (one, other)));
    let across = pairs.filter(|(one, other)| one.is_read != other.is_read);
    same(across.map(|(one, other)| (&one.turns, &other.turns)), 0.5)
}

/// A percentile of the gaps after small requests and after large ones, if it is the same.
fn same_of_sizes(pace: &Pace, part: f64) -> Option<[u64; 2]> {
    let all = pace.by_size();
    same(all.iter().flat_map(|one| all.iter().map(move |other| (one, other))), part)
}

/// The same of the first of these pairs of which the other is larger, and of which it is.
fn same<'a>(pairs: impl Iterator<Item = (&'a Turns, &'a Turns)>, part: f64) -> Option<[u64; 2]> {
    let is_known = |turns: &Turns| turns.gaps.count() >= ENOUGH_OF_SIZE;
    let known = pairs.filter(|(small, large)| is_known(small) && is_known(large));
    let far = known.filter(|(small, large)| large.mean_size().0 >= LARGER * small.mean_size().0);
    let mut gaps = far.map(|(small, large)| [small, large].map(|turns| turns.gaps.quantile(part)));
    gaps.find(|[small, large]| small.abs_diff(*large) as f64 <= SAME * *small as f64)
}

/// The size of requests, where all are so large that a limit of bytes would let through as many as one of operations.
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

/// Where a limit of such a device is raised.
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
