//! What requests take alone: the quiet service of a device, by direction, size and distance.
//!
//! A sample is quiet if nothing else was in the device from its issue to its completion. Of these, samples before which the
//! device had rested for as long as such a request usually takes are preferred: a device behind a rate limit is quick only then.

use crate::quiet::{Histogram, Quiet, MIN_QUIET};
use trace::{Bytes, Nanos};

/// Classes of [`Shape::class`].
const CLASSES: usize = 5;
/// 4 KiB and less, 8 KiB, ... 16 MiB and more.
const SIZES: usize = 13;

/// Sizes so many doublings apart stand in for one another where nothing else is known.
const NEAR_SIZE: usize = 2;

/// Of a device that serves one at a time, fewer than one completion in so many comes soon after another: what an interrupt that came
/// late brings with it.
const ONE_IN: u64 = 10;

/// A standard deviation of at most so many means is no coincidence of independent completions: theirs is the mean (exponential
/// distribution).
const STEADY: f64 = 0.5;

/// Of so many completed requests nearly all shapes have been seen.
const SETTLED_AFTER: u64 = 100;

/// Of so many at a time each takes an eighth of its time or less itself.
const CROWD: u64 = 8;

/// Nearly all: the rest is within what a share is told to.
const SETTLED: f64 = 0.95;

/// What the service of a request depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Its class, below five: read, synchronous write, background write, flush, other.
    pub class: u8,
    /// Whether it begins near the end of the request issued before it.
    pub near: bool,
    /// How much it moves.
    pub bytes: Bytes,
    /// Its place among all.
    key: u8,
}

impl Shape {
    /// Of a request.
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

/// Sum and count of the time the device needed for a completion while it was busy.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    sum: u64,
    count: u64,
    bytes: u64,
    /// Sum of the squares of that, in ns².
    squares: f64,
    /// About what the fastest tenth spent in the device, in ns.
    fast: f64,
}

/// How far an estimate moves with each sample.
const STEP: f64 = 0.1;

impl Busy {
    /// A completion of so many bytes took so much of the device's time.
    fn add(&mut self, bytes: Bytes, took: Nanos) {
        self.sum = self.sum.saturating_add(took.0);
        self.squares += took.0 as f64 * took.0 as f64;
        self.bytes = self.bytes.saturating_add(bytes.0);
        self.count += 1;
    }

    /// It took so long in the device.
    fn was_inside(&mut self, d2c: Nanos) {
        // Stochastic approximation of a quantile (Robbins and Monro, 1951): at the tenth, nine small steps up for each large one down.
        self.fast = match (d2c.0 as f64).max(1.0) {
            first if self.fast == 0.0 => first,
            less if less < self.fast => self.fast * (1.0 - 0.9 * STEP),
            _ => self.fast * (1.0 + 0.1 * STEP),
        };
    }

    /// Whether a completion comes sooner than one after another is served: one of a seldom seek or of a long queue does not tell.
    fn is_soon(&self, took: Nanos) -> bool {
        2.0 * (took.0 as f64) < self.mean().min(self.fast)
    }

    fn mean(self) -> f64 {
        (self.sum as f64 / self.count.max(1) as f64).max(1.0)
    }

    /// Whether completions come so long after the one before, whenever that was: of independent ones that would vary by its mean.
    fn is_steady(self) -> bool {
        let mean = self.mean();
        let variance = (self.squares / self.count.max(1) as f64 - mean * mean).max(0.0);
        variance.sqrt() <= STEADY * mean
    }

    /// What one of so many bytes takes, if access and transfer take as long on average; before any was seen, 1 ns for each byte.
    fn of_any(self, bytes: Bytes) -> f64 {
        if self.count == 0 {
            return bytes.0.max(4096) as f64;
        }
        let mean_bytes = (self.bytes as f64 / self.count as f64).max(1.0);
        self.mean() / 2.0 * (1.0 + bytes.0 as f64 / mean_bytes)
    }
}

/// What requests take on one device.
#[derive(Clone, Debug)]
pub struct Services {
    alone: Vec<Option<Box<Histogram>>>,
    rested: Vec<Option<Box<Histogram>>>,
    /// Of requests that move nothing (flushes), alone or not.
    empty: Histogram,
    busy: Vec<Busy>,
    /// Of all shapes that move data.
    all_busy: Busy,
    /// What they spent in the device, in ns.
    inside: u64,
    /// Completions of these that came soon after the one before: in less than half of what such ones take.
    soon: u64,
    /// By shape, looked up once for each change.
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
    /// A request that was alone took so long, after the device had been idle for `idle`.
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

    /// A request that moves nothing took so long, whatever else was in flight.
    pub fn empty(&mut self, took: Nanos) {
        // Of a few each one may be the fastest.
        if self.empty.add(took) || self.empty.count < MIN_QUIET {
            self.resolved.fill(None);
        }
    }

    /// A completion took so much of a busy device's time, after `d2c` in it.
    pub fn busy(&mut self, shape: Shape, took: Nanos, d2c: Nanos) {
        let alike = &mut self.busy[shape.key()];
        // A cheap flush is over as soon as its turn comes, also where one is served at a time; so is what needs no seek.
        if shape.bytes.0 > 0 {
            self.soon += u64::from(alike.is_soon(took));
            self.all_busy.add(shape.bytes, took);
            self.inside = self.inside.saturating_add(d2c.0);
        }
        alike.add(shape.bytes, took);
        alike.was_inside(d2c);
    }

    /// What such a request takes alone, if that is known.
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
            // What a far one takes a near one does not exceed; the reverse says nothing.
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

    /// What those that move nothing take where none was ever alone: what the fastest tenth took (of a few the fastest), as none takes
    /// longer alone than in company; of a device that serves one at a time, or where they come right after the completion before or always
    /// as long after it, the time from that, if it is less.
    fn in_turn(&self, shape: Shape) -> Option<Quiet> {
        // One that is compared with itself alone would never be behind another.
        let are_compared = self.empty.count >= 2;
        let fastest =
            are_compared.then(|| Quiet { p50: self.empty.at(0.1), most: self.empty.at(0.9), samples: 0 })?;
        let flushes = self.busy[shape.key()];
        let mean = Nanos(flushes.mean() as u64);
        // One that comes at any time finds the last completion half a gap ago or more, on average.
        let right_after = 4.0 * flushes.mean() < self.all_busy.mean();
        // Of a device that serves one at a time its other requests say so; a few turns of flushes tell what one takes at most.
        let by_turns = self.is_one_by_one() && flushes.count >= 2;
        let in_turn = by_turns || self.is_usual(shape) && (right_after || flushes.is_steady());
        match in_turn && mean < fastest.p50 {
            true => Some(Quiet { p50: mean, most: fastest.most, samples: 0 }),
            false => Some(fastest),
        }
    }

    /// Whether hardly any completion came soon after another, as they do where several are served side by side: of independent ones
    /// four in ten would come in less than half of the mean (exponential distribution).
    pub(crate) fn is_one_by_one(&self) -> bool {
        let Busy { count, .. } = self.all_busy;
        count >= u64::from(MIN_QUIET) && ONE_IN * self.soon < count
    }

    /// Between two known sizes in proportion; else the nearest size, if it is near enough.
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

    /// By what a request counts among those in the device: its quiet service, else what such ones took of the busy device;
    /// while too few of them were seen, what all took, half of it for each request and half for each byte.
    pub fn cost(&mut self, shape: Shape) -> f64 {
        if let Some(quiet) = self.of(shape) {
            return quiet.p50.0.max(1) as f64;
        }
        match self.is_usual(shape) {
            true => self.busy[shape.key()].mean(),
            false => self.all_busy.of_any(shape.bytes),
        }
    }

    /// How many requests were completed so far.
    pub fn requests(&self) -> u64 {
        self.busy.iter().map(|b| b.count).sum()
    }

    /// Whether more would change little: what they take alone is known of nearly all that were completed so far, or so many are there at a
    /// time that it is little beside the queue.
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

    /// Whether enough of a shape were completed to say what the busy device needs for one.
    pub fn is_usual(&self, shape: Shape) -> bool {
        self.busy[shape.key()].count >= u64::from(MIN_QUIET)
    }
}

#[cfg(test)]
mod tests;
