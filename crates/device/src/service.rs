//! The latencies of requests alone: the quiet service of a device, by class, size and distance.
//!
//! A sample is quiet if nothing else was in the device from its issue to its completion. Preferred are samples before which the device
//! rested for at least the usual latency of such a request: a device behind a rate limit is fast only then.

use crate::quiet::{Histogram, Quiet, MIN_QUIET};
use trace::{Bytes, Nanos};

/// Number of classes in [`Shape::class`].
const CLASSES: usize = 5;
/// Number of sizes: up to 4 KiB, 8 KiB, ... 16 MiB and more.
const SIZES: usize = 13;

/// A size can stand in for another one at most this many doublings away, if nothing else is known.
const NEAR_SIZE: usize = 2;

/// A device serves one request at a time if less than 1 in this many completions comes soon after another: late interrupts
/// cause a few.
const ONE_IN: u64 = 10;

/// A standard deviation of at most this many means is no coincidence: for independent completions it equals the mean (exponential
/// distribution).
const STEADY: f64 = 0.5;

/// After this many completed requests, almost all shapes have been seen.
const SETTLED_AFTER: u64 = 100;

/// With this mean depth, a request's own service is at most 1/8 of its time.
const CROWD: u64 = 8;

/// The part of the requests whose latency alone must be known; the rest is within the rounding of reported shares.
const SETTLED: f64 = 0.95;

/// What the service time of a request depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Its class, below five: read, synchronous write, background write, flush, other.
    pub class: u8,
    /// Whether it begins within [`SEEK`](crate::SEEK) sectors of the end of the request issued before it.
    pub near: bool,
    /// Bytes that it moves; 0 for a flush.
    pub bytes: Bytes,
    /// Its index among all shapes.
    key: u8,
}

impl Shape {
    /// The shape of a request.
    #[inline]
    pub fn new(class: u8, near: bool, bytes: Bytes) -> Shape {
        let pages = bytes.0.div_ceil(4096).max(1);
        let size = (64 - (pages - 1).leading_zeros() as usize).min(SIZES - 1);
        Shape { class, near, bytes, key: at(class as usize % CLASSES, near, size) as u8 }
    }

    fn size(self) -> usize {
        self.key() % SIZES
    }

    fn key(self) -> usize {
        self.key as usize
    }
}

fn at(class: usize, near: bool, size: usize) -> usize {
    (class * 2 + usize::from(near)) * SIZES + size
}

/// Sums of the time that a busy device needed per completion.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    sum: u64,
    count: u64,
    bytes: u64,
    /// Sum of the squares of these times, in ns².
    squares: f64,
    /// Estimated quantile 0.1 of D2C, in ns.
    fast: f64,
}

/// The relative change of an estimate per sample.
const STEP: f64 = 0.1;

impl Busy {
    /// Counts a completion of this size that took this much of the device's time.
    fn add(&mut self, bytes: Bytes, took: Nanos) {
        self.sum = self.sum.saturating_add(took.0);
        self.squares += took.0 as f64 * took.0 as f64;
        self.bytes = self.bytes.saturating_add(bytes.0);
        self.count += 1;
    }

    /// Counts the D2C of a completion.
    fn was_inside(&mut self, d2c: Nanos) {
        // Stochastic approximation of a quantile (Robbins and Monro, 1951): at the tenth, nine small steps up for each large one down.
        self.fast = match (d2c.0 as f64).max(1.0) {
            first if self.fast == 0.0 => first,
            less if less < self.fast => self.fast * (1.0 - 0.9 * STEP),
            _ => self.fast * (1.0 + 0.1 * STEP),
        };
    }

    /// Whether a completion comes too soon for one-by-one service: in less than half of the mean and of the fastest tenth's D2C.
    fn is_soon(&self, took: Nanos) -> bool {
        2.0 * (took.0 as f64) < self.mean().min(self.fast)
    }

    fn mean(self) -> f64 {
        (self.sum as f64 / self.count.max(1) as f64).max(1.0)
    }

    /// Whether the times between completions hardly vary: for independent completions, the standard deviation would be their mean.
    fn is_steady(self) -> bool {
        let mean = self.mean();
        let variance = (self.squares / self.count.max(1) as f64 - mean * mean).max(0.0);
        variance.sqrt() <= STEADY * mean
    }

    /// The estimated time for this size, if access and transfer take equally long on average; 1 ns per byte before the first sample.
    fn of_any(self, bytes: Bytes) -> f64 {
        if self.count == 0 {
            return bytes.0.max(4096) as f64;
        }
        let mean_bytes = (self.bytes as f64 / self.count as f64).max(1.0);
        self.mean() / 2.0 * (1.0 + bytes.0 as f64 / mean_bytes)
    }
}

/// The latencies of requests on one device.
#[derive(Clone, Debug)]
pub struct Services {
    alone: Vec<Option<Box<Histogram>>>,
    rested: Vec<Option<Box<Histogram>>>,
    /// Requests without data (flushes), alone or not.
    empty: Histogram,
    busy: Vec<Busy>,
    /// All shapes with data.
    all_busy: Busy,
    /// Sum of their D2C, in ns.
    inside: u64,
    /// Number of completions that came soon after the one before: in less than half of their usual time.
    soon: u64,
    /// Cached results by shape, cleared on each change.
    resolved: Vec<Option<Option<Quiet>>>,
}

impl Default for Services {
    fn default() -> Services {
        let shapes = CLASSES * 2 * SIZES;
        Services {
            alone: vec![None; shapes],
            rested: vec![None; shapes],
            empty: Histogram::default(),
            busy: vec![Busy::default(); shapes],
            all_busy: Busy::default(),
            inside: 0,
            soon: 0,
            resolved: vec![None; shapes],
        }
    }
}

impl Services {
    /// Adds the latency of a request that was alone, after the device had been idle for `idle`.
    pub fn quiet(&mut self, shape: Shape, took: Nanos, idle: Nanos) {
        let key = shape.key();
        let mut changed = self.alone[key].get_or_insert_default().add(took);
        let usual = self.alone[key].as_ref().and_then(|h| h.quiet);
        if usual.is_some_and(|usual| idle >= usual.p50) {
            changed |= self.rested[key].get_or_insert_default().add(took);
        }
        if changed {
            self.resolved.fill(None);
        }
    }

    /// Adds the latency of a request without data, whatever else was in flight.
    pub fn empty(&mut self, took: Nanos) {
        // While there are few, each one may be the fastest.
        if self.empty.add(took) || self.empty.count < MIN_QUIET {
            self.resolved.fill(None);
        }
    }

    /// Adds a completion that took `took` of a busy device's time, after `d2c` in it.
    pub fn busy(&mut self, shape: Shape, took: Nanos, d2c: Nanos) {
        let alike = &mut self.busy[shape.key()];
        // A cheap flush ends as soon as its turn comes, even with one-by-one service; so does a request without a seek.
        if shape.bytes.0 > 0 {
            self.soon += u64::from(alike.is_soon(took));
            self.all_busy.add(shape.bytes, took);
            self.inside = self.inside.saturating_add(d2c.0);
        }
        alike.add(shape.bytes, took);
        alike.was_inside(d2c);
    }

    /// The latency of such a request alone, if known.
    pub fn of(&mut self, shape: Shape) -> Option<Quiet> {
        let key = shape.key();
        if let Some(known) = self.resolved[key] {
            return known;
        }
        let found = self.resolve(shape);
        self.resolved[key] = Some(found);
        found
    }

    #[cold]
    fn resolve(&self, shape: Shape) -> Option<Quiet> {
        let (class, size) = (shape.class as usize % CLASSES, shape.size());
        self.measured(at(class, shape.near, size)).or_else(|| {
            // A near request takes no longer than a far one; the reverse tells nothing.
            let far = if shape.near { self.measured(at(class, false, size)) } else { None };
            let stand_in = match shape.bytes.0 {
                0 => self.measured(at(class, !shape.near, size)).or_else(|| self.in_turn(shape)),
                _ => far.or_else(|| self.of_other_size(class, shape.near, size)),
            };
            stand_in.map(|q| Quiet { samples: 0, ..q })
        })
    }

    fn measured(&self, key: usize) -> Option<Quiet> {
        let of = |h: &Option<Box<Histogram>>| h.as_ref().and_then(|h| h.quiet);
        of(&self.rested[key]).or_else(|| of(&self.alone[key]))
    }

    /// The latency of a request without data if none was ever alone: that of the fastest tenth (with few samples, of the fastest), as none
    /// takes longer alone than in contention. The time since the last completion is used if it is less, provided that the device serves
    /// one at a time, or such requests end right after another completion or at a constant time after it.
    fn in_turn(&self, shape: Shape) -> Option<Quiet> {
        let flushes = self.busy[shape.key()];
        // Whether a device serves one at a time is known from its other requests; one turn of a flush suffices as a bound.
        let by_turns = self.is_one_by_one() && flushes.count > 0;
        // A single one is not compared with itself: it would never be behind another.
        let are_compared = self.empty.count >= 2 || by_turns && self.empty.count > 0;
        let fastest =
            are_compared.then(|| Quiet { p50: self.empty.at(0.1), most: self.empty.at(0.9), samples: 0 })?;
        let mean = Nanos(flushes.mean() as u64);
        // At a random moment, the last completion was half a gap ago or more, on average.
        let right_after = 4.0 * flushes.mean() < self.all_busy.mean();
        let in_turn = by_turns || self.is_usual(shape) && (right_after || flushes.is_steady());
        match in_turn && mean < fastest.p50 {
            true => Some(Quiet { p50: mean, most: fastest.most, samples: 0 }),
            false => Some(fastest),
        }
    }

    /// Whether almost no completion came soon after another, as they do with parallel service: of independent completions, four in ten
    /// would come in less than half of the mean (exponential distribution).
    pub(crate) fn is_one_by_one(&self) -> bool {
        let Busy { count, .. } = self.all_busy;
        count >= u64::from(MIN_QUIET) && ONE_IN * self.soon < count
    }

    /// Interpolates between the next known sizes; else uses the nearest size, if it is near enough.
    fn of_other_size(&self, class: usize, near: bool, size: usize) -> Option<Quiet> {
        let known = |s: usize| self.measured(at(class, near, s)).map(|q| (s, q));
        let below = (0..size).rev().find_map(known);
        let above = (size + 1..SIZES).find_map(known);
        match (below, above) {
            (Some((s1, a)), Some((s2, b))) => {
                let bytes = |s: usize| (1u64 << s) as f64;
                let part = (bytes(size) - bytes(s1)) / (bytes(s2) - bytes(s1));
                let mix = |x: Nanos, y: Nanos| {
                    Nanos((x.0 as f64 + part * (y.0 as f64 - x.0 as f64)).max(0.0) as u64)
                };
                Some(Quiet { p50: mix(a.p50, b.p50), most: mix(a.most, b.most), samples: 0 })
            }
            (Some((s, q)), None) if size - s <= NEAR_SIZE => Some(q),
            (None, Some((s, q))) if s - size <= NEAR_SIZE => Some(q),
            _ => None,
        }
    }

    /// The weight of a request among those in the device: its latency alone; else the mean time of its shape on the busy device; else an
    /// estimate from all requests, half of it per request and half per byte.
    pub fn cost(&mut self, shape: Shape) -> f64 {
        if let Some(quiet) = self.of(shape) {
            return quiet.p50.0.max(1) as f64;
        }
        match self.is_usual(shape) {
            true => self.busy[shape.key()].mean(),
            false => self.all_busy.of_any(shape.bytes),
        }
    }

    /// Number of completed requests so far.
    pub fn requests(&self) -> u64 {
        self.busy.iter().map(|b| b.count).sum()
    }

    /// Whether more samples would change little: the latency alone is known for almost all requests so far, or the queue is so deep that it
    /// hardly matters.
    pub fn is_settled(&self) -> bool {
        let all = self.requests();
        if all >= SETTLED_AFTER && self.inside >= self.all_busy.sum.saturating_mul(CROWD) {
            return true;
        }
        let known = self.busy.iter().enumerate().filter(|(key, b)| b.count > 0 && self.is_known(*key));
        all >= SETTLED_AFTER && known.map(|(_, b)| b.count).sum::<u64>() as f64 >= SETTLED * all as f64
    }

    fn is_known(&self, key: usize) -> bool {
        let (class, near, size) = (key / SIZES / 2, key / SIZES % 2 == 1, key % SIZES);
        let bytes = if self.busy[key].bytes == 0 { Bytes(0) } else { Bytes(4096 << size) };
        self.resolve(Shape::new(class as u8, near, bytes)).is_some()
    }

    /// Whether enough requests of a shape were completed to estimate its time on the busy device.
    pub fn is_usual(&self, shape: Shape) -> bool {
        self.busy[shape.key()].count >= u64::from(MIN_QUIET)
    }
}

#[cfg(test)]
mod tests;
