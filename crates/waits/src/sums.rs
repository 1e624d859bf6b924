//! The sums of one victim: exact numbers by latency bucket, and the rows of each bucket.

use crate::bucket::{ByBucket, QUARTERS};
use crate::chain::ChainId;
use crate::culprit::CulpritId;
use crate::without::{AbsentId, Without};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use trace::{DevId, Nanos};

/// Maximal number of absences that are tracked per victim.
const MAX_WITHOUT: usize = 16;

/// Maximal number of evicted absences that are remembered.
const MAX_GONE: usize = 256;

/// Maximal number of devices per victim; a host has some dozen disks.
const MAX_DEVICES: usize = 64;

/// Number of cached positions of rows per cell.
const HINTS: usize = 16;

/// The operations of one victim in one bucket.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// Number of operations.
    pub ops: u64,
    /// Their time in nanoseconds; the rows sum to it.
    pub ns: u64,
    /// The lost part of `ns`.
    pub lost: u64,
    /// Number of operations per quarter of the bucket; saturates.
    quarters: [u32; QUARTERS],
    /// The rows, unsorted: chain, culprit, nanoseconds.
    pub rows: Vec<(ChainId, CulpritId, u64)>,
    /// Recent positions in `rows`, by the lowest bits of chain and culprit.
    hints: [u8; HINTS],
}

/// All sums of one victim.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// Cells by latency bucket.
    pub cells: ByBucket<Cell>,
    /// Number of operations.
    pub ops: u64,
    /// Their time, in nanoseconds.
    pub ns: u64,
    /// The lost part of `ns`.
    pub lost: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Number of operations by their own time, that is, their latency alone.
    pub own: ByBucket<u64>,
    /// Number of operations that were in a device, by their latency.
    pub in_device: ByBucket<u64>,
    /// Device time for which the usual service time is unknown, in nanoseconds.
    pub unknown: u64,
    /// Time in nanoseconds by the device of the requests that were waited for.
    pub devices: SmallVec<[(DevId, u64); 2]>,
    /// Predictions without a task or kind of I/O.
    pub without: Vec<(AbsentId, Without)>,
    /// Evicted absences: they are not tracked any more.
    gone: FxHashSet<AbsentId>,
    /// Whether too many absences were evicted: then no new one is tracked.
    closed: bool,
    /// The longest operation.
    pub max: Nanos,
    /// The shortest operation.
    shortest: Shortest,
    /// Operations that were cut into several requests.
    pub cut: Cut,
}

/// The latency of the shortest operation; the maximal value if there is none yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shortest(Nanos);

impl Default for Shortest {
    fn default() -> Shortest {
        Shortest(Nanos(u64::MAX))
    }
}

/// Operations that were cut into several requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Number of operations.
    pub ops: u64,
    /// Number of their requests.
    pub pieces: u64,
    /// Bytes that they moved.
    pub bytes: u64,
}

impl Cell {
    /// Adds an operation that lies in this quarter of the bucket.
    #[inline]
    pub(crate) fn count(&mut self, time: Nanos, lost: Nanos, quarter: usize) {
        self.ops += 1;
        self.ns += time.0;
        self.lost += lost.0;
        self.quarters[quarter] = self.quarters[quarter].saturating_add(1);
    }

    /// Adds time to a row; returns whether the row is new.
    #[inline]
    pub(crate) fn put(&mut self, chain: ChainId, culprit: CulpritId, ns: u64) -> bool {
        let hint = (chain.0 ^ culprit.0.wrapping_mul(5)) as usize % HINTS;
        match self.rows.get_mut(self.hints[hint] as usize) {
            Some((c, who, sum)) if (*c, *who) == (chain, culprit) => {
                *sum = sum.saturating_add(ns);
                false
            }
            _ => self.put_anywhere(hint, chain, culprit, ns),
        }
    }

    fn put_anywhere(&mut self, hint: usize, chain: ChainId, culprit: CulpritId, ns: u64) -> bool {
        let found = self.rows.iter().position(|(c, who, _)| (*c, *who) == (chain, culprit));
        self.hints[hint] = found.unwrap_or(self.rows.len()) as u8;
        match found {
            Some(at) => self.rows[at].2 = self.rows[at].2.saturating_add(ns),
            None => self.rows.push((chain, culprit, ns)),
        }
        found.is_none()
    }
}

impl Cut {
    /// Adds further operations.
    pub(crate) fn add(&mut self, other: &Cut) {
        self.ops = self.ops.saturating_add(other.ops);
        self.pieces = self.pieces.saturating_add(other.pieces);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

impl Sums {
    /// Updates the longest and the shortest operation.
    #[inline]
    pub(crate) fn took(&mut self, time: Nanos) {
        self.max = self.max.max(time);
        self.shortest = self.shortest.min(Shortest(time));
    }

    pub(crate) fn without(&mut self, who: AbsentId, add: impl FnOnce(&mut Without)) {
        if let Some((_, without)) = self.without.iter_mut().find(|(w, _)| *w == who) {
            return add(without);
        }
        if self.closed || self.gone.contains(&who) {
            return;
        }
        let mut new = Without::default();
        add(&mut new);
        if self.without.len() >= MAX_WITHOUT && !who.is_fixed() {
            // Evicts the absence with the least time.
            let tasks = self.without.iter().enumerate().filter(|(_, (id, _))| !id.is_fixed());
            let least = tasks.min_by_key(|(_, (_, w))| w.time).map(|(at, (_, w))| (at, w.time));
            let Some((at, _)) = least.filter(|(_, time)| *time < new.time) else { return self.forget(who) };
            let (other, _) = self.without.swap_remove(at);
            self.forget(other);
        }
        self.without.push((who, new));
    }

    /// Tracks only these absences from now on.
    pub(crate) fn follow_only(&mut self, is_known: impl Fn(AbsentId) -> bool) {
        let gone: Vec<AbsentId> = self
            .without
            .iter()
            .map(|(who, _)| *who)
            .filter(|who| !who.is_fixed() && !is_known(*who))
            .collect();
        self.without.retain(|(who, _)| !gone.contains(who));
        gone.into_iter().for_each(|who| self.forget(who));
    }

    fn forget(&mut self, who: AbsentId) {
        self.gone.insert(who);
        if self.gone.len() > MAX_GONE {
            self.gone.clear();
            self.closed = true;
        }
    }

    /// Adds everything but the rows of cells.
    pub(crate) fn merge(&mut self, other: &Sums, mut absent: impl FnMut(AbsentId) -> AbsentId) {
        self.ops += other.ops;
        self.ns = self.ns.saturating_add(other.ns);
        self.lost = self.lost.saturating_add(other.lost);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.unknown = self.unknown.saturating_add(other.unknown);
        self.max = self.max.max(other.max);
        self.shortest = self.shortest.min(other.shortest);
        self.cut.add(&other.cut);
        other.own.iter().for_each(|(b, n)| *self.own.at(*b) += n);
        other.in_device.iter().for_each(|(b, n)| *self.in_device.at(*b) += n);
        for (bucket, theirs) in &other.cells {
            let cell = self.cells.at(*bucket);
            cell.ops += theirs.ops;
            cell.ns = cell.ns.saturating_add(theirs.ns);
            cell.lost = cell.lost.saturating_add(theirs.lost);
            let quarters = cell.quarters.iter_mut().zip(theirs.quarters);
            quarters.for_each(|(mine, theirs)| *mine = mine.saturating_add(theirs));
        }
        other.devices.iter().for_each(|(dev, ns)| self.waited_on(*dev, Nanos(*ns)));
        let theirs: Vec<(AbsentId, &Without)> =
            other.without.iter().map(|(who, w)| (absent(*who), w)).collect();
        if !other.follows_all() {
            self.follow_only(|who| theirs.iter().any(|(known, _)| *known == who));
        }
        theirs.into_iter().for_each(|(who, w)| self.without(who, |mine| mine.merge(w)));
        other.gone.iter().for_each(|who| self.forget(absent(*who)));
        self.closed |= other.closed;
    }

    /// Adds time of waiting for requests of a device.
    #[inline]
    pub(crate) fn waited_on(&mut self, dev: DevId, time: Nanos) {
        let known = self.devices.len();
        match self.devices.iter_mut().find(|(d, _)| *d == dev) {
            Some((_, ns)) => *ns = ns.saturating_add(time.0),
            None if known < MAX_DEVICES => self.devices.push((dev, time.0)),
            None => {}
        }
    }

    /// Whether all absences are tracked: none has been evicted.
    pub(crate) fn follows_all(&self) -> bool {
        self.gone.is_empty() && !self.closed
    }

    /// The device whose requests were waited for longest.
    pub fn main_device(&self) -> Option<DevId> {
        self.devices.iter().max_by_key(|(_, ns)| *ns).map(|(dev, _)| *dev)
    }

    /// Number of operations that were in a device, and their time: each bucket's time in proportion.
    pub fn in_devices(&self) -> (u64, Nanos) {
        self.in_device.iter().fold((0, Nanos(0)), |(ops, time), (bucket, n)| {
            let cell = self.cells.get(bucket).map_or((0, 1), |c| (c.ns, c.ops.max(1)));
            let its = u128::from(cell.0) * u128::from(*n) / u128::from(cell.1);
            (ops + n, time + Nanos(its as u64))
        })
    }

    /// The latency that this part of the operations do not exceed, by nearest rank like all reported latencies, at most 1/128 off; the minimum and
    /// the maximum are exact.
    pub fn quantile(&self, part: f64) -> Nanos {
        let rank = ((self.ops as f64 * part).ceil() as u64).max(1);
        if rank == 1 || rank >= self.ops {
            return if rank == 1 && self.ops > 0 { self.shortest.0 } else { self.max };
        }
        let mut seen = 0;
        for (bucket, cell) in &self.cells {
            let before = seen;
            for (quarter, ops) in cell.quarters.iter().enumerate() {
                seen += u64::from(*ops);
                if seen >= rank {
                    return bucket.middle(quarter).max(self.shortest.0).min(self.max);
                }
            }
            seen = before + cell.ops;
            if seen >= rank {
                return Nanos(cell.ns / cell.ops.max(1));
            }
        }
        self.max
    }

    /// The same quantile of the operations' own times: the lower end of the bucket.
    pub fn own_quantile(&self, part: f64) -> Nanos {
        quantile(self.own.iter().map(|(b, n)| (*n, b.lower().0.saturating_mul(*n))), self.ops, part)
    }
}

/// For cells in order (count, sum): the mean of the cell in which this part of all is reached.
pub(crate) fn quantile(cells: impl Iterator<Item = (u64, u64)>, all: u64, part: f64) -> Nanos {
    let wanted = ((all as f64 * part).ceil() as u64).max(1);
    let (mut seen, mut last) = (0, Nanos(0));
    for (ops, ns) in cells.filter(|(ops, _)| *ops > 0) {
        seen += ops;
        last = Nanos(ns / ops);
        if seen >= wanted {
            break;
        }
    }
    last
}
