//! Whether completions are as even as a clock: one tick apart, or a few ticks, or on average over a run of them.

use crate::proof::{proof, Proof};
use crate::thresholds::rate_limit::{
    AS_A_CLOCK, BROKEN, ENOUGH, ENOUGH_RUNS, EVEN, EVEN_RUNS, EVEN_TURNS, MIDDLE, MOST, MOST_TICKS, NOT_TICKS,
};
use stats::{Bucket, Distribution, Pace, Ticks, IN_A_RUN};
use trace::Nanos;

/// The distance between two quantiles.
pub(crate) fn spread(d: &Distribution, [low, high]: [f64; 2]) -> u64 {
    d.quantile(high).saturating_sub(d.quantile(low))
}

/// Completions that come by a clock although requests do not: a device that takes as long for each would complete them
/// as unevenly as they come, or more so. Requests that are as even themselves prove nothing: sent one after another,
/// they follow the device's own pace. The same holds for a program that sends them by a clock of its own.
///
/// Example: writes that are issued 0.1 to 0.6 ms after the last completion and take 3.9 to 3.4 ms: all complete 4.0 ms after it.
pub(crate) fn clock(pace: &Pace) -> Option<&Ticks> {
    // One after the other with a flush between them, completions are as even as the device is, but not as even as a clock.
    let as_a_clock = by_a_clock(&pace.ticks, AS_A_CLOCK);
    let ticks = as_a_clock.or_else(|| by_a_clock(&pace.clear_of_flushes, EVEN))?;
    (!is_broken(pace, ticks.apart.quantile(0.5), ticks.apart.count())).then_some(ticks)
}

/// Whether many requests, beside `count` that took a tick, came sooner after one that had taken a tick: a limit lets none through so soon.
pub(crate) fn is_broken(pace: &Pace, tick: u64, count: u64) -> bool {
    let (least, _) = EVEN_TURNS;
    let of_these = |bucket: &Bucket| bucket.upper as f64 >= least * tick as f64;
    let broken: u64 = pace.broken.buckets().filter(of_these).map(|bucket| bucket.count).sum();
    broken as f64 > BROKEN * count as f64
}

fn by_a_clock(ticks: &Ticks, bounds: (f64, f64)) -> Option<&Ticks> {
    let (apart, requests) = (&ticks.apart, &ticks.d2c);
    let is_clock = |part: [f64; 2]| {
        let even = within(apart, part, bounds) && !within(requests, part, AS_A_CLOCK);
        let by_itself = spread(apart, part) < spread(&ticks.issued_apart, part);
        even && by_itself && spread(apart, part).saturating_mul(2) < spread(requests, part)
    };
    (apart.count() >= ENOUGH && [MIDDLE, MOST].into_iter().any(is_clock)).then_some(ticks)
}

/// Whether two quantiles lie between two multiples of the median.
pub(crate) fn within(d: &Distribution, [low, high]: [f64; 2], (least, most): (f64, f64)) -> bool {
    let middle = d.quantile(0.5) as f64;
    d.quantile(low) as f64 >= least * middle && d.quantile(high) as f64 <= most * middle
}

/// Whether gaps are even, or the long gaps among even ones are whole multiples of them: a limit may count a large request as several.
pub(crate) fn is_even(gaps: &Distribution) -> bool {
    let ticks = gaps.quantile(0.9) as f64 / gaps.quantile(0.5).max(1) as f64;
    let (least, most) = AS_A_CLOCK;
    let whole = ticks.round() >= 2.0 && (least..=most).contains(&(ticks / ticks.round()));
    within(gaps, [0.25, 0.9], EVEN) || whole && within(gaps, MIDDLE, EVEN_TURNS) || are_ticks(gaps)
}

/// Whether gaps are one tick of a clock or a few: something else may take ticks that no completion shows.
pub(crate) fn are_ticks(gaps: &Distribution) -> bool {
    let tick = gaps.quantile(0.25).max(1) as f64;
    let of = |percentile: u32| gaps.quantile(f64::from(percentile) / 100.0) as f64 / tick;
    let (least, _) = AS_A_CLOCK;
    let all = (10..=90).step_by(5).map(of);
    gaps.count() >= ENOUGH
        && of(90) >= 2.0 * least
        && is_whole(of(90))
        && all.filter(|ticks| !is_whole(*ticks)).count() <= NOT_TICKS
}

/// Whether a time, in ticks, is a small whole number, as exact as a clock keeps it.
pub(crate) fn is_whole(ticks: f64) -> bool {
    let (least, most) = AS_A_CLOCK;
    ticks < MOST_TICKS && (least..=most).contains(&(ticks / ticks.round()))
}

/// How far completions are apart, in words.
pub(crate) fn apart(gaps: &Distribution, name: &str) -> Proof {
    let [p25, gap, p90] = [0.25, 0.5, 0.9].map(|q| Nanos(gaps.quantile(q)));
    proof!("completions of {name} were {gap} apart (p25 {p25}, p90 {p90})", name, gap, p25, p90)
}

/// The gap between completions in ns if they are even, with the sentence; else the sentence that says they are not.
pub(crate) fn even(pace: &Pace, name: &str) -> Result<(u64, Proof), Proof> {
    if let Some(ticks) = clock(pace) {
        return Ok((ticks.apart.quantile(0.5), apart(&ticks.apart, name)));
    }
    let (gaps, runs) = (&pace.gaps(), &pace.runs);
    if gaps.count() < ENOUGH {
        return Err(proof!(
            "{gaps} completions of {name} with others queued are too few to judge",
            name,
            gaps = Count(gaps.count())
        ));
    }
    let told = apart(gaps, name);
    if is_even(gaps) {
        return Ok((gaps.quantile(0.5), told));
    }
    if runs.count() < ENOUGH_RUNS {
        return Err(proof!("{told}: not evenly spaced", told));
    }
    let [p30, run, p80] = [0.3, 0.5, 0.8].map(|q| runs.quantile(q));
    let told = proof!(
        "{told}, {in_a_run} in a row took {run} (p30 {p30}, p80 {p80})",
        told,
        in_a_run = Text(IN_A_RUN.to_string()),
        run = Nanos(run),
        p30 = Nanos(p30),
        p80 = Nanos(p80)
    );
    match within(runs, [0.3, 0.8], EVEN_RUNS) {
        true => Ok((run / u64::from(IN_A_RUN), told)),
        false => Err(proof!("{told}: not evenly spaced", told)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two hundred gaps: in each ten, this many take this many thousandths of a tick, and the others one tick.
    fn gaps(in_ten: u64, ticks: impl Fn(u64) -> u64) -> Distribution {
        let mut gaps = Distribution::new();
        for i in 0..200 {
            gaps.record(if i % 10 < in_ten { 4_600 * ticks(i) } else { 4_600_000 });
        }
        gaps
    }

    #[test]
    fn gaps_of_a_few_ticks_are_a_clocks() {
        assert!(are_ticks(&gaps(4, |_| 2000)) && are_ticks(&gaps(4, |i| 1000 * (2 + i % 2))));
        assert!(!is_even(&gaps(4, |_| 1500)), "half a tick");
        assert!(!is_even(&gaps(6, |i| 1000 + 13 * i)), "anything up to four ticks");
        assert!(!are_ticks(&gaps(1, |_| 2000)), "all but a few are alike: that is tested otherwise");
    }
}
