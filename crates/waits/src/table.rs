//! The table itself: adding, merging, and its bounds.
//!
//! A victim has a cell per latency bucket; a cell has the exact number and time of its operations and its rows. Rows are found
//! by looking through the cell's few. Beyond [`MAX_ROWS`] the lighter half of each cell's rows becomes one, `others`: sums stay
//! exact, kept rows become lower bounds, and [`Table::others`] says how much is not told apart.

use crate::bucket::Bucket;
use crate::chain::{ChainId, Chains, Link, OTHERS};
use crate::culprit::{Culprit, CulpritId};
use crate::seconds::{Second, Seconds};
use crate::victim::Victim;
use crate::without::Without;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use trace::{DevId, Nanos};

/// Rows that are kept at most; 3 MB.
pub const MAX_ROWS: usize = 1 << 17;

/// Victims that are told apart; more become one for each operation and device.
pub const MAX_VICTIMS: usize = 1024;

/// Culprits that are told apart.
const MAX_CULPRITS: usize = 4096;

/// Culprits of one victim whose absence is followed.
const MAX_WITHOUT: usize = 16;

/// A victim's number in its table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VictimId(pub u32);

/// A part of one operation's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The chain of waits.
    pub chain: ChainId,
    /// Because of whom.
    pub culprit: CulpritId,
    /// How long.
    pub time: Nanos,
}

/// One operation, to be added.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Whose.
    pub victim: VictimId,
    /// When it ended.
    pub end: Nanos,
    /// How long it took: the sum of its parts.
    pub total: Nanos,
    /// Bytes that it moved.
    pub bytes: u64,
}

/// Operations of one victim and bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// How many.
    pub ops: u64,
    /// Their time; its rows sum to it.
    pub ns: u64,
    /// What of it was lost.
    pub lost: u64,
    /// Its rows, in no order.
    pub rows: Vec<(ChainId, CulpritId, u64)>,
}

/// All of one victim.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// Cells by bucket.
    pub cells: BTreeMap<Bucket, Cell>,
    /// How many operations.
    pub ops: u64,
    /// Their time.
    pub ns: u64,
    /// What of it was lost.
    pub lost: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Operations by their own time: what they would take alone.
    pub own: BTreeMap<Bucket, u64>,
    /// Device time whose usual service is unknown.
    pub unknown: u64,
    /// Time by the device of the requests that were waited for.
    pub devices: SmallVec<[(DevId, u64); 2]>,
    /// What would be without one culprit.
    pub without: Vec<(CulpritId, Without)>,
    /// The longest operation.
    pub max: Nanos,
    /// Operations that were cut into several requests.
    pub cut: Cut,
}

/// Operations that were cut into several requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// How many.
    pub ops: u64,
    /// Their requests.
    pub pieces: u64,
    /// What they moved.
    pub bytes: u64,
}

/// The table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    victims: Vec<(Victim, Sums)>,
    victim_numbers: FxHashMap<Victim, VictimId>,
    pub(crate) chains: Chains,
    culprits: Vec<Culprit>,
    culprit_numbers: FxHashMap<Culprit, CulpritId>,
    rows: usize,
    seconds: Seconds,
    scratch: Vec<(CulpritId, u64)>,
}

impl Table {
    /// The number of a victim; of too many, that of all others in the same operation.
    pub fn victim(&mut self, victim: &Victim) -> VictimId {
        if let Some(id) = self.victim_numbers.get(victim) {
            return *id;
        }
        let others = Victim { task: "others".into(), ..victim.clone() };
        let victim = if self.victims.len() >= MAX_VICTIMS { &others } else { victim };
        if let Some(id) = self.victim_numbers.get(victim) {
            return *id;
        }
        let id = VictimId(self.victims.len() as u32);
        self.victims.push((victim.clone(), Sums::default()));
        self.victim_numbers.insert(victim.clone(), id);
        id
    }

    /// The number of a culprit; of too many, that of none in particular.
    pub fn culprit(&mut self, culprit: &Culprit) -> CulpritId {
        if let Some(id) = self.culprit_numbers.get(culprit) {
            return *id;
        }
        let known = self.culprits.len() < MAX_CULPRITS;
        let culprit = if known { culprit.clone() } else { Culprit::of(culprit.kind) };
        if let Some(id) = self.culprit_numbers.get(&culprit) {
            return *id;
        }
        let id = CulpritId(self.culprits.len() as u32);
        self.culprits.push(culprit.clone());
        self.culprit_numbers.insert(culprit, id);
        id
    }

    /// Who a culprit is.
    pub fn culprit_of(&self, id: CulpritId) -> &Culprit {
        &self.culprits[id.0 as usize]
    }

    /// All culprits.
    pub fn culprits(&self) -> impl Iterator<Item = (CulpritId, &Culprit)> {
        self.culprits.iter().enumerate().map(|(i, c)| (CulpritId(i as u32), c))
    }

    /// A chain, longer by one link.
    pub fn chain(&mut self, parent: ChainId, link: Link) -> ChainId {
        self.chains.child(parent, link)
    }

    /// A chain's links, from the outside in.
    pub fn links(&self, chain: ChainId) -> Vec<Link> {
        self.chains.links(chain)
    }

    /// A kernel function's name.
    pub fn function(&self, id: crate::chain::FunctionId) -> &str {
        self.chains.function_name(id)
    }

    /// Adds an operation whose parts sum to its time. `own` says which parts are its own time and not lost.
    pub fn add(&mut self, w: Waiting, parts: &[Part], lost: Nanos, unknown: Nanos) {
        debug_assert_eq!(parts.iter().map(|p| p.time.0).sum::<u64>(), w.total.0);
        let sums = &mut self.victims[w.victim.0 as usize].1;
        sums.ops += 1;
        sums.ns = sums.ns.saturating_add(w.total.0);
        sums.lost = sums.lost.saturating_add(lost.0);
        sums.bytes = sums.bytes.saturating_add(w.bytes);
        sums.unknown = sums.unknown.saturating_add(unknown.0);
        sums.max = sums.max.max(w.total);
        *sums.own.entry(Bucket::of(w.total.since(lost))).or_default() += 1;
        let cell = sums.cells.entry(Bucket::of(w.total)).or_default();
        cell.ops += 1;
        cell.ns = cell.ns.saturating_add(w.total.0);
        cell.lost = cell.lost.saturating_add(lost.0);
        for part in parts {
            self.rows += usize::from(cell.put(part.chain, part.culprit, part.time.0));
        }
        self.scratch.clear();
        for part in parts.iter().filter(|p| self.culprits[p.culprit.0 as usize].is_somebody()) {
            match self.scratch.iter_mut().find(|(c, _)| *c == part.culprit) {
                Some((_, time)) => *time += part.time.0,
                None => self.scratch.push((part.culprit, part.time.0)),
            }
        }
        for (culprit, time) in &self.scratch {
            sums.without(*culprit, |w2| w2.add(w.total, Nanos(*time)));
        }
        self.seconds.add(w.end, w.victim, Second { ops: 1, ns: w.total.0, lost: lost.0 });
        if self.rows > MAX_ROWS {
            self.shrink();
        }
    }

    /// Notes on which device a victim's requests were.
    pub fn waited_on(&mut self, victim: VictimId, dev: DevId, time: Nanos) {
        let devices = &mut self.victims[victim.0 as usize].1.devices;
        match devices.iter_mut().find(|(d, _)| *d == dev) {
            Some((_, ns)) => *ns += time.0,
            None => devices.push((dev, time.0)),
        }
    }

    /// Notes that an operation of so many bytes was cut into so many requests.
    pub fn was_cut(&mut self, victim: VictimId, pieces: u64, bytes: u64) {
        let cut = &mut self.victims[victim.0 as usize].1.cut;
        (cut.ops, cut.pieces, cut.bytes) = (cut.ops + 1, cut.pieces + pieces, cut.bytes.saturating_add(bytes));
    }

    /// All victims with their sums.
    pub fn victims(&self) -> impl Iterator<Item = (VictimId, &Victim, &Sums)> {
        self.victims.iter().enumerate().map(|(i, (v, s))| (VictimId(i as u32), v, s))
    }

    /// A victim and its sums.
    pub fn of(&self, id: VictimId) -> (&Victim, &Sums) {
        let (victim, sums) = &self.victims[id.0 as usize];
        (victim, sums)
    }

    /// Whether nobody waited for anything.
    pub fn is_empty(&self) -> bool {
        self.victims.is_empty()
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// The time axis.
    pub fn seconds(&self) -> &Seconds {
        &self.seconds
    }

    /// The part of all time that is in no row of its own, 0 to 1.
    pub fn others(&self) -> f64 {
        let (mut others, mut all) = (0u64, 0u64);
        for (_, sums) in &self.victims {
            all = all.saturating_add(sums.ns);
            let rows = sums.cells.values().flat_map(|c| &c.rows).filter(|(chain, ..)| *chain == OTHERS);
            others = rows.fold(others, |n, (.., ns)| n.saturating_add(*ns));
        }
        others as f64 / all.max(1) as f64
    }

    /// Adds another table: the result is what adding both recordings' operations would have given.
    pub fn merge(&mut self, other: &Table) {
        let victims: Vec<VictimId> = other.victims.iter().map(|(v, _)| self.victim(v)).collect();
        let culprits: Vec<CulpritId> = other.culprits.iter().map(|c| self.culprit(c)).collect();
        let mut chains = FxHashMap::<ChainId, ChainId>::default();
        for ((_, theirs), id) in other.victims.iter().zip(&victims) {
            for (bucket, cell) in &theirs.cells {
                for (chain, culprit, ns) in &cell.rows {
                    let chain = *chains.entry(*chain).or_insert_with(|| self.chains.import(&other.chains, *chain));
                    let mine = self.victims[id.0 as usize].1.cells.entry(*bucket).or_default();
                    self.rows += usize::from(mine.put(chain, culprits[culprit.0 as usize], *ns));
                }
            }
            self.victims[id.0 as usize].1.merge_sums(theirs, &culprits);
        }
        self.seconds.merge(&other.seconds, |v| victims[v.0 as usize]);
        if self.rows > MAX_ROWS {
            self.shrink();
        }
    }

    /// The lighter half of each cell's rows becomes one.
    fn shrink(&mut self) {
        let nobody = self.culprit(&Culprit::default());
        self.rows = 0;
        for cell in self.victims.iter_mut().flat_map(|(_, s)| s.cells.values_mut()) {
            cell.rows.sort_unstable_by_key(|(.., ns)| std::cmp::Reverse(*ns));
            let keep = cell.rows.len().div_ceil(2);
            let lighter: u64 = cell.rows.drain(keep..).map(|(.., ns)| ns).sum();
            if lighter > 0 {
                cell.put(OTHERS, nobody, lighter);
            }
            cell.rows.shrink_to_fit();
            self.rows += cell.rows.len();
        }
    }
}

impl Cell {
    /// Adds time to a row; whether the row is new.
    #[inline]
    fn put(&mut self, chain: ChainId, culprit: CulpritId, ns: u64) -> bool {
        match self.rows.iter_mut().find(|(c, who, _)| *c == chain && *who == culprit) {
            Some((.., sum)) => {
                *sum = sum.saturating_add(ns);
                false
            }
            None => {
                self.rows.push((chain, culprit, ns));
                true
            }
        }
    }
}

impl Sums {
    fn without(&mut self, culprit: CulpritId, add: impl FnOnce(&mut Without)) {
        if let Some((_, without)) = self.without.iter_mut().find(|(c, _)| *c == culprit) {
            return add(without);
        }
        if self.without.len() >= MAX_WITHOUT {
            // The one that matters least makes room.
            let least = self.without.iter().enumerate().min_by_key(|(_, (_, w))| w.time).map(|(i, _)| i);
            least.map(|i| self.without.swap_remove(i));
        }
        let mut new = Without::default();
        add(&mut new);
        self.without.push((culprit, new));
    }

    fn merge_sums(&mut self, other: &Sums, culprits: &[CulpritId]) {
        self.ops += other.ops;
        self.ns = self.ns.saturating_add(other.ns);
        self.lost = self.lost.saturating_add(other.lost);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.unknown = self.unknown.saturating_add(other.unknown);
        self.max = self.max.max(other.max);
        self.cut.ops += other.cut.ops;
        self.cut.pieces += other.cut.pieces;
        self.cut.bytes = self.cut.bytes.saturating_add(other.cut.bytes);
        other.own.iter().for_each(|(b, n)| *self.own.entry(*b).or_default() += n);
        for (bucket, theirs) in &other.cells {
            let cell = self.cells.entry(*bucket).or_default();
            cell.ops += theirs.ops;
            cell.ns = cell.ns.saturating_add(theirs.ns);
            cell.lost = cell.lost.saturating_add(theirs.lost);
        }
        for (dev, ns) in &other.devices {
            match self.devices.iter_mut().find(|(d, _)| d == dev) {
                Some((_, sum)) => *sum += ns,
                None => self.devices.push((*dev, *ns)),
            }
        }
        for (culprit, theirs) in &other.without {
            self.without(culprits[culprit.0 as usize], |w| w.merge(theirs));
        }
    }

    /// The device whose requests were waited for most.
    pub fn main_device(&self) -> Option<DevId> {
        self.devices.iter().max_by_key(|(_, ns)| *ns).map(|(dev, _)| *dev)
    }

    /// The latency that a part of the operations do not exceed: the mean of the bucket it lies in.
    pub fn quantile(&self, part: f64) -> Nanos {
        let cells = self.cells.values().map(|c| (c.ops, c.ns));
        quantile(cells, self.ops, part).min(self.max)
    }

    /// The same of what they would take alone: a bucket's lower end.
    pub fn own_quantile(&self, part: f64) -> Nanos {
        quantile(self.own.iter().map(|(b, n)| (*n, b.lower().0.saturating_mul(*n))), self.ops, part)
    }
}

/// Of counts and sums in order the mean where a part of all is reached.
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
