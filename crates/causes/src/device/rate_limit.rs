//! `rate-limit`: not the device is slow, somebody in front of it lets only so many operations through.
//!
//! Volumes of clouds and hypervisors have a limit of operations per second. Below it they are fast; at it each request waits for
//! its turn, and completions come as evenly as a clock. A device alone does not do that: one that needs 0.3 ms for a request
//! and completes one each 2 ms with several waiting is not busy, it is held. So: the pace is even, and requests that came
//! while there was room took less than half of it, or large requests keep the same pace as small ones. Refuted if none was that
//! fast and all are alike (then the device itself may take so long), or if the pace is uneven.
//!
//! It is the root of what others do: a device at its limit fills its queue, the scheduler and writeback throttling's budget.
//!
//! Example: the fastest 2 % of reads took 0.3 ms, completions came every 2.0 ms (p25 1.9, p90 2.1) with 8 waiting: 500 a second,
//! where one after another would have been 3,300.

use crate::case::{Case, Claimable, MIN_SAMPLES, MIN_SHARE};
use crate::device::background_task::leads_to_the_device;
use crate::proof::{proof, Proof};
use crate::remedy::Acts;
use crate::slow::Slow;
use crate::thresholds::rate_limit::{
    ENOUGH, ENOUGH_OF_SIZE, ENOUGH_RUNS, EVEN, EVEN_RUNS, FASTER, FASTEST, SAME,
};
use crate::verdict::{Confidence, Verdict};
use crate::words::count;
use crate::Cause;
use ledger::Reason;
use stats::{Distribution, Pace, IN_A_RUN};
use trace::Nanos;
use waits::Phase;

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "rate-limit",
    title:
        "a limit in front of the device lets only so many operations through (a volume's or hypervisor's cap)",
    page: include_str!("../../../../docs/causes/rate-limit.md"),
    judge,
};

/// By the pace alone: a clock, or large requests as quick as small ones.
fn judge(case: &mut Case) -> Verdict {
    judge_by(case, true)
}

/// After the causes that know more: by some requests that were faster.
pub(crate) fn judge_by_the_fastest(case: &mut Case) -> Verdict {
    judge_by(case, false)
}

fn judge_by(case: &mut Case, pace_alone: bool) -> Verdict {
    let mut verdict: Option<Verdict> = None;
    let mut against = None;
    for slow in case.slow() {
        let left = case.unclaimed(&slow, Reason::Device);
        if slow.share(left) < MIN_SHARE {
            continue;
        }
        let name = case.name(slow.on.id);
        let (apart, told) = match even(&slow.on.pace, &name) {
            Ok(pace) => pace,
            Err(uneven) => {
                against = Some(uneven);
                continue;
            }
        };
        if slow.requests().d2c.count() < MIN_SAMPLES {
            against.get_or_insert_with(|| {
                proof!(
                    "{count} requests of {what} are too few to say how fast {name} is below a limit",
                    count = Count(slow.requests().d2c.count()),
                    what = Text(slow.words().to_string()),
                    name = Text(name.to_string())
                )
            });
            continue;
        }
        let own = slow.requests().d2c.quantile(FASTEST);
        let by_size = whatever_the_size(&slow.on.pace);
        let by_the_clock = clock(&slow.on.pace).is_some() || by_size.is_some();
        if pace_alone && !by_the_clock {
            continue;
        }
        if own as f64 > FASTER * apart as f64 && !by_the_clock {
            against = Some(proof!(
                "{told}, and no request was much faster than that: the fastest took {own}",
                told = told.clone(),
                own = Time(Nanos(own))
            ));
            continue;
        }
        let own = if own as f64 > FASTER * apart as f64 { 0 } else { own };
        let own_time = Nanos(own.saturating_mul(slow.group.tail.sum.time.operations)).min(left);
        if slow.share(left - own_time) < MIN_SHARE {
            continue;
        }
        let before = if by_the_clock { before_the_device(case, &slow) } else { Nanos(0) };
        let claimed = case.claim(&slow, Reason::Device, left - own_time) + before;
        let rate = 1_000_000_000 / apart.max(1);
        let begun = verdict.take().unwrap_or_else(|| Verdict::begin(CAUSE.name));
        let told =
            proof!("{told}, as even as a clock: {rate} a second", told = told.clone(), rate = Count(rate));
        let v = begun.plus(claimed, Confidence::Medium).because(told);
        verdict = Some(v.because(no_work(&slow, own, by_size, claimed)));
        verdict = verdict.map(|v| remedies(v, &slow, &name, rate));
    }
    match (verdict, against) {
        (Some(v), _) => {
            v.unless("more operations a second than this in any second of another recording of the device")
        }
        (None, Some(against)) => Verdict::rejected(CAUSE.name, against),
        (None, None) => case.nothing_left(CAUSE.name),
    }
}

/// What waited for room in a device that is let so many: in the scheduler, for a tag, for writeback throttling's budget.
fn before_the_device(case: &mut Case, slow: &Slow) -> Nanos {
    let waits = |row: &Claimable| row.phase != Phase::Behind && leads_to_the_device(row.phase);
    match slow.is_below() {
        true => Nanos(0),
        false => case.claim_rows(slow.group_number, Nanos(u64::MAX), waits),
    }
}

/// Why it is no work of the device's own that takes so long.
fn no_work(slow: &Slow, own: u64, by_size: Option<[u64; 2]>, claimed: Nanos) -> Proof {
    match (own, by_size) {
        (0, Some([small, large])) => proof!(
            "a large request takes its turn as a small one: one of eight times the size and more came {large} after the one before, a \
             small one {small}",
            large = Time(Nanos(large)),
            small = Time(Nanos(small))
        ),
        (0, None) => proof!(
            "completions keep time, requests do not: their D2C spreads over {spread} (p10 to p90), completions over less than half \
             of that",
            spread = Time(Nanos(spread(&slow.on.pace.between_ticks)))
        ),
        _ => proof!(
            "the fastest {what} took {own} there: one after another that would be {own2} a second; the slowest spent {claimed} of \
             their time waiting for their turn",
            what = Text(slow.words().to_string()),
            own = Time(Nanos(own)),
            own2 = Count(1_000_000_000 / own.max(1)),
            claimed = Share(slow.share(claimed))
        ),
    }
}

/// The gaps after small requests and after large ones, if they are the same.
fn whatever_the_size(pace: &Pace) -> Option<[u64; 2]> {
    if !within(&pace.gaps, [0.25, 0.9], EVEN) {
        return None;
    }
    let known =
        |i: usize| pace.by_size.get(i).filter(|d| d.count() >= ENOUGH_OF_SIZE).map(|d| d.quantile(0.5));
    let pairs = (0..pace.by_size.len())
        .flat_map(|small| (small + 2..pace.by_size.len()).map(move |large| (small, large)));
    let mut known = pairs.filter_map(|(small, large)| Some([known(small)?, known(large)?]));
    known.find(|[small, large]| small.abs_diff(*large) as f64 <= SAME * *small as f64)
}

/// From p10 to p90.
fn spread(d: &Distribution) -> u64 {
    d.quantile(0.9).saturating_sub(d.quantile(0.1))
}

/// How many nanoseconds completions are apart where they come by the clock although requests do not: a device that takes as long
/// for each would complete them as unevenly as they come. Requests that are as even themselves prove nothing: sent one after
/// another, they come by the device's own clock.
///
/// Example: writes that are issued 0.1 to 0.6 ms after the last completion and take 3.9 to 3.4 ms: all complete 4.0 ms after it.
fn clock(pace: &Pace) -> Option<u64> {
    let (ticks, requests) = (&pace.ticks, &pace.between_ticks);
    let uneven = !is_even(requests) && 2 * spread(ticks) < spread(requests);
    (ticks.count() >= ENOUGH && is_even(ticks) && uneven).then(|| ticks.quantile(0.5))
}

/// Whether two percentiles lie between two parts of the middle one.
fn within(d: &Distribution, [low, high]: [f64; 2], (least, most): (f64, f64)) -> bool {
    let middle = d.quantile(0.5) as f64;
    d.quantile(low) as f64 >= least * middle && d.quantile(high) as f64 <= most * middle
}

/// Whether p10 and p90 are about the middle one, as near as a clock's.
fn is_even(d: &Distribution) -> bool {
    within(d, [0.1, 0.9], EVEN_RUNS)
}

/// How many nanoseconds completions are apart, if they are so evenly, and in words.
fn even(pace: &Pace, name: &str) -> Result<(u64, Proof), Proof> {
    if let Some(tick) = clock(pace) {
        let told = proof!(
            "completions of {name} came {tick} apart (p10 {p10}, p90 {p90})",
            name = Text(name.to_string()),
            tick = Time(Nanos(tick)),
            p10 = Time(Nanos(pace.ticks.quantile(0.1))),
            p90 = Time(Nanos(pace.ticks.quantile(0.9)))
        );
        return Ok((tick, told));
    }
    let (gaps, runs) = (&pace.gaps, &pace.runs);
    if gaps.count() < ENOUGH {
        return Err(proof!(
            "{name} completed only {gaps} requests with others waiting",
            name = Text(name.to_string()),
            gaps = Count(gaps.count())
        ));
    }
    let [p25, gap, p90] = [0.25, 0.5, 0.9].map(|q| gaps.quantile(q));
    let told = proof!(
        "completions of {name} came {gap} apart (p25 {p25}, p90 {p90})",
        name = Text(name.to_string()),
        gap = Time(Nanos(gap)),
        p25 = Time(Nanos(p25)),
        p90 = Time(Nanos(p90))
    );
    if within(gaps, [0.25, 0.9], EVEN) {
        return Ok((gap, told));
    }
    if runs.count() < ENOUGH_RUNS {
        return Err(proof!("{told}: no even pace", told = told.clone()));
    }
    let [p30, run, p80] = [0.3, 0.5, 0.8].map(|q| runs.quantile(q));
    let told = proof!(
        "{told}, {in_a_run} of them took {run} (p30 {p30}, p80 {p80})",
        told = told.clone(),
        in_a_run = Text(IN_A_RUN.to_string()),
        run = Time(Nanos(run)),
        p30 = Time(Nanos(p30)),
        p80 = Time(Nanos(p80))
    );
    match within(runs, [0.3, 0.8], EVEN_RUNS) {
        true => Ok((run / u64::from(IN_A_RUN), told)),
        false => Err(proof!("{told}: no even pace", told = told.clone())),
    }
}

fn remedies(v: Verdict, slow: &Slow, name: &str, rate: u64) -> Verdict {
    if !v.remedies.is_empty() {
        return v;
    }
    let at_once = slow.on.depth.mean() / slow.on.depth.busy().max(f64::MIN_POSITIVE);
    v.try_this(
        format!("ask for a higher limit than {} a second where the volume was bought or made (of libvirt: virsh blkdeviotune GUEST DISK --total-iops-sec N); it costs money there, nothing here", count(rate)),
        "aws ec2 modify-volume --volume-id VOLUME --iops N",
    )
    .try_this(
        "fewer, larger operations: most limits count operations of up to 256 KiB as one",
        format!("grep -H . /sys/block/{name}/queue/max_sectors_kb /sys/block/{name}/queue/read_ahead_kb"),
    )
    .try_on(
        Acts::Culprit("SERVICE".into()),
        format!(
            "let those that can wait do less: {at_once:.0} were waiting at once; holds the unit SERVICE to half of the limit"
        ),
        format!("systemctl set-property --runtime SERVICE IOReadIOPSMax=\"/dev/{name} {}\"", (rate / 2).max(1)),
    )
}
