//! Finds devices that explain a recording: simulates the recorded settings and compares the result with the recording.
//!
//! Recorded time in the device includes queueing, so it is not the cost of an operation. Instead, for every kind of device (channels,
//! arbitration, cost by operation or by byte) costs are searched under which the closed loop gives the recorded times. Many kinds do
//! almost equally well, and all of these are kept: their disagreement shows what is unknown. Only the latency alone (the answer) is
//! measured directly, on operations that met no others.

use crate::arrival::Recorded;
use crate::device::{Arbitration, Cost, Model};
use crate::in_flight::most_and_time;
use crate::load::{infer, median, Load};
use crate::metric::{percentile, Metric, Phase, Times};
use crate::settings::{Kind, Settings};
use crate::side::{side, some_in_a_row, Side};
use crate::simulate::{simulate, Work};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A device, and how far its simulation is from the recording.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The device.
    pub model: Model,
    /// The mean absolute logarithm of simulated over recorded: 0.1 is 10 %.
    pub score: f64,
}

/// Number of arrivals for the search over all kinds, and for the further search; the best are judged by all arrivals.
const SEARCHED: [usize; 2] = [3_000, 6_000];
/// Number of kinds that are searched further, with few arrivals and with more.
const BEST: [usize; 2] = [24, 12];
/// Maximal number of devices that are kept.
const KEPT: usize = 8;
/// Minimal number: a single device would not show how little is known.
const KEPT_LEAST: usize = 3;
/// A device is kept if its score is at most the best one's times this ...
const NEARLY: f64 = 1.2;
/// ... or at most the best one's plus this.
const AS_GOOD: f64 = 0.02;
/// Added to both values before they are compared, in nanoseconds: smaller differences are the kernel's own time, not the
/// device's. (From the scheduler to an idle device took 1 to 10 us on Linux 6.18.)
pub const FLOOR: f64 = 20_000.0;
/// Minimal number of values of a metric that is compared.
pub const FEWEST: usize = 30;
const WIDE: [f64; 6] = [0.3, 0.6, 0.85, 1.18, 1.6, 3.0];
const NARROW: [f64; 6] = [0.8, 0.9, 0.96, 1.04, 1.1, 1.25];
const FINE: [f64; 4] = [0.95, 0.98, 1.02, 1.05];
/// The part of a random operation's cost that is a seek, as the starting point of the search.
const SEEK: f64 = 0.7;

fn is_limited(model: &Model, sides: &[Side; 2]) -> bool {
    sides.iter().zip(&model.cost).any(|(side, cost)| side.is_limited(cost))
}

/// Devices under which `settings` reproduce the recording, the best first. `progress` gets the fraction done, 0 to 1.
pub fn fit(
    recorded: &Recorded,
    load: &Load,
    settings: &Settings,
    seed: u64,
    progress: &(dyn Fn(f64) + Sync),
) -> Vec<Fitted> {
    let real = Times::recorded(recorded).sort();
    let samples = SEARCHED.map(|n| Sample::new(recorded, n));
    let on = |i: usize| move |m: &Model, s: &[Sample; 2]| score(&s[i].load, &s[i].real, settings, m, seed);
    let sides = [side(recorded, false), side(recorded, true)];
    let kinds = kinds(recorded, &sides);
    let total = kinds.len() + BEST[0] + 2 * BEST[1];
    let done = AtomicUsize::new(0);
    let tick = || progress(done.fetch_add(1, Ordering::Relaxed) as f64 / total as f64);
    let mut found = in_parallel(&kinds, |start| {
        let best = descend(start, &sides, &WIDE, |m| on(0)(m, &samples));
        tick();
        best
    });
    found.sort_by(|a, b| a.score.total_cmp(&b.score));
    found.truncate(BEST[0]);
    let mut found = in_parallel(&found, |f| {
        let best = descend(&f.model, &sides, &NARROW, |m| on(0)(m, &samples));
        tick();
        best
    });
    found.sort_by(|a, b| a.score.total_cmp(&b.score));
    found.truncate(BEST[1]);
    let mut found = in_parallel(&found, |f| {
        let best = descend(&f.model, &sides, &NARROW, |m| on(1)(m, &samples));
        tick();
        let best = descend(&best.model, &sides, &FINE, |m| on(1)(m, &samples));
        let score = score(load, &real, settings, &best.model, seed);
        tick();
        Fitted { score, ..best }
    });
    found.sort_by(|a, b| a.score.total_cmp(&b.score));
    let limit = found.first().map_or(0.0, |f| (f.score * NEARLY).max(f.score + AS_GOOD));
    let near = found.iter().filter(|f| f.score <= limit).count();
    found.truncate(near.max(KEPT_LEAST));
    // If a plain device explains the recording equally well, no limit in front of it is assumed.
    if found.iter().any(|f| !is_limited(&f.model, &sides)) {
        found.retain(|f| !is_limited(&f.model, &sides));
    }
    found.truncate(KEPT);
    found
}

/// Applies `f` on all processors; the results are in the order of the arguments.
pub(crate) fn in_parallel<T: Sync, A: Send>(of: &[T], f: impl Fn(&T) -> A + Sync) -> Vec<A> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(of.len().max(1));
    let work = || {
        let mut mine = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            match of.get(i) {
                Some(one) => mine.push((i, f(one))),
                None => return mine,
            }
        }
    };
    let mut all: Vec<(usize, A)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|t| t.join().unwrap_or_default()).collect()
    });
    all.sort_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, a)| a).collect()
}

/// The stretch that the search uses: the middle of the recording.
struct Sample {
    load: Load,
    real: Times,
}

impl Sample {
    fn new(r: &Recorded, length: usize) -> Sample {
        let n = r.arrivals.len();
        let from = n.saturating_sub(length) / 2;
        let arrivals = r.arrivals[from..(from + length).min(n)].to_vec();
        let middle = Recorded { arrivals, ..Recorded::default() };
        Sample { load: infer(&middle), real: Times::recorded(&middle).sort() }
    }
}

/// How far the simulation of a device is from the recording; see [`Fitted::score`].
pub fn score(load: &Load, real: &Times, settings: &Settings, model: &Model, seed: u64) -> f64 {
    let done = simulate(load, settings, model, Work::Time, seed);
    let times = Times::simulated(&done, settings.scheduler != Kind::None, load).sort();
    let (mut sum, mut n) = (0.0, 0.0);
    for (metric, values) in real.metrics() {
        if values.len() < FEWEST {
            continue;
        }
        // The whole time of an I/O has the same weight as its two parts together.
        let weight = if metric.phase == Phase::Q2C { 1.0 } else { 0.5 };
        for q in [0.5, 0.9, 0.99] {
            sum += weight * distance(percentile(values, q), times.percentile(metric, q));
            n += weight;
        }
        if metric.phase == Phase::Q2C {
            let many = times.values(metric).len().max(1) as f64;
            sum += (many / values.len() as f64).ln().abs().min(2.0);
            n += 1.0;
        }
    }
    sum / f64::max(n, 1.0)
}

fn distance(real: Option<u64>, simulated: Option<u64>) -> f64 {
    let (Some(a), Some(b)) = (real, simulated) else { return 3.0 };
    ((b as f64 + FLOOR) / (a as f64 + FLOOR)).ln().abs().min(3.0)
}

/// Whether a kind of cost exists, and how to scale it.
type Way<'a> = (bool, &'a dyn Fn(&mut Model, f64));

/// Scales one cost after the other as long as that improves the score: both directions, reads, writes, flushes, seeks.
fn descend(start: &Model, sides: &[Side; 2], factors: &[f64], score: impl Fn(&Model) -> f64) -> Fitted {
    let score = |m: &Model| match sides.iter().zip(&m.cost).all(|(side, cost)| side.allows(cost)) {
        true => score(m),
        false => f64::INFINITY,
    };
    let both = |m: &mut Model, f: f64| {
        (0..2).for_each(|i| scale(&mut m.cost[i], f, sides[i].alone.is_none()));
    };
    let read = |m: &mut Model, f: f64| scale(&mut m.cost[0], f, sides[0].alone.is_none());
    let write = |m: &mut Model, f: f64| scale(&mut m.cost[1], f, sides[1].alone.is_none());
    let flush = |m: &mut Model, f: f64| m.flush *= f;
    let seek = |m: &mut Model, f: f64| m.seek *= f;
    let (has, two) = (|i: usize| sides[i].n > 0, sides.iter().all(|s| s.n > 0));
    let ways: [Way; 5] = [
        (two, &both),
        (has(0), &read),
        (has(1), &write),
        (start.flush > 0.0, &flush),
        (start.seek > 0.0, &seek),
    ];
    let mut best = Fitted { score: score(start), model: start.clone() };
    for (_, way) in ways.iter().filter(|(there, _)| *there) {
        let from = best.model.clone();
        for factor in factors {
            let mut model = from.clone();
            way(&mut model, *factor);
            let score = score(&model);
            if score < best.score {
                best = Fitted { score, model };
            }
        }
    }
    best
}

fn scale(cost: &mut Cost, factor: f64, answer_too: bool) {
    cost.hold *= factor;
    cost.hold_byte *= factor;
    if answer_too {
        cost.answer *= factor;
        cost.answer_byte *= factor;
    }
}

/// The starting points of the search: every kind of device.
fn kinds(r: &Recorded, sides: &[Side; 2]) -> Vec<Model> {
    let (most, busy) = most_and_time(r);
    let both = sides.iter().all(|s| s.n > 0);
    let varied = sides.iter().any(|s| s.varied) || (both && differ(sides));
    let forms: &[f64] = if varied { &[1.0, 0.5, 0.0] } else { &[1.0] };
    let arbitrations: &[Arbitration] = match both {
        true => &[Arbitration::OneRow, Arbitration::InTurn, Arbitration::Apart],
        false => &[Arbitration::OneRow],
    };
    let seeks = some_in_a_row(r);
    let (count, bytes) = sides.iter().fold((0.0, 0.0), |s, x| (s.0 + x.n as f64, s.1 + x.n as f64 * x.mean));
    let flushes: Vec<f64> = flushes(r);
    let flush = median(&flushes);
    let mut all = Vec::new();
    for arbitration in arbitrations {
        let mut channels = 1;
        while channels <= most.max(1) && channels <= 64 {
            for by_op in forms {
                let c = f64::from(channels);
                let hold = c * busy * by_op / f64::max(count, 1.0);
                let hold_byte = c * busy * (1.0 - by_op) / f64::max(bytes, 1.0);
                let cost = |s: &Side| {
                    let held = Cost { hold, hold_byte, ..Cost::default() };
                    match &s.alone {
                        Some(a) => Cost { answer: a.fixed, answer_byte: a.per_byte, ..held },
                        None => Cost { answer: hold, answer_byte: hold_byte, ..held },
                    }
                };
                let scatter = |s: &Side| s.alone.as_ref().map(|a| a.scatter.clone()).unwrap_or_default();
                let model = Model {
                    channels,
                    arbitration: *arbitration,
                    cost: [cost(&sides[0]), cost(&sides[1])],
                    flush,
                    seek: 0.0,
                    scatter: [scatter(&sides[0]), scatter(&sides[1])],
                };
                // A device that answers at once although the channel is held: a device behind a limit.
                if sides.iter().any(|s| s.n > 0 && s.alone.is_none()) {
                    let mut fast = model.clone();
                    for (cost, s) in fast.cost.iter_mut().zip(sides) {
                        if s.alone.is_none() {
                            (cost.answer, cost.answer_byte) = (s.shortest, 0.0);
                        }
                    }
                    all.push(fast);
                }
                if seeks {
                    let mut disk = model.clone();
                    disk.seek = SEEK * (hold + hold_byte * bytes / f64::max(count, 1.0));
                    for cost in &mut disk.cost {
                        (cost.hold, cost.hold_byte) =
                            (cost.hold * (1.0 - SEEK), cost.hold_byte * (1.0 - SEEK));
                        (cost.answer, cost.answer_byte) =
                            (cost.answer * (1.0 - SEEK), cost.answer_byte * (1.0 - SEEK));
                    }
                    all.push(disk);
                }
                all.push(model);
            }
            channels *= 2;
        }
    }
    all
}

fn differ(sides: &[Side; 2]) -> bool {
    let (a, b) = (sides[0].mean, sides[1].mean);
    a.max(b) > 2.0 * a.min(b)
}

/// Times of flushes in nanoseconds: without data, in the device; before data, from getting the request to the issue of the data.
fn flushes(r: &Recorded) -> Vec<f64> {
    let of = |a: &crate::arrival::Arrival| match (a.preflush, a.bytes.0) {
        (true, 0) => Some(a.completed.since(a.issued).0 as f64),
        (true, _) => Some(a.issued.since(a.got).0 as f64),
        _ => None,
    };
    r.arrivals.iter().filter_map(of).collect()
}

/// The relative error of a simulated percentile; `None` if a value is missing or the real one is 0.
pub fn error(real: Option<u64>, simulated: Option<u64>) -> Option<f64> {
    let (a, b) = (real? as f64, simulated? as f64);
    (a > 0.0).then(|| b / a - 1.0)
}

/// The metrics that have enough values.
pub fn judged(real: &Times) -> Vec<Metric> {
    real.metrics().filter(|(_, v)| v.len() >= FEWEST).map(|(m, _)| m).collect()
}
