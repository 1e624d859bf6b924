//! The table itself: adding and merging.
//!
//! A victim has a cell per latency bucket; a cell has the exact number and time of its operations, and its rows. Rows are found
//! by searching the few rows of a cell. `overflow.rs` makes room when a [`Bounds`] limit is exceeded.
//!
//! All time in a table is below 2^64 ns (584 years), so no sum in it can overflow: an operation that would not fit is left out
//! and counted.

use crate::bounds::Bounds;
use crate::bucket::Bucket;
use crate::chain::{ChainId, Chains, FunctionId, Link};
use crate::culprit::{Culprit, CulpritId, CulpritKind};
use crate::phase::Phase;
use crate::seconds::{Second, Seconds};
use crate::sums::{Cut, Sums};
use crate::victim::{Victim, VictimId};
use crate::without::{Absent, AbsentId, Absents, Scratch, Those};
use life::Io;
use rustc_hash::FxHashMap;
use trace::{DevId, Nanos};

/// A part of one operation's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The chain of waits.
    pub chain: ChainId,
    /// The culprit of the wait.
    pub culprit: CulpritId,
    /// The duration; 0 for a culprit that was only in the device at the same time.
    pub time: Nanos,
}

/// An operation to add.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The victim.
    pub victim: VictimId,
    /// The time at which it ended.
    pub end: Nanos,
    /// Its duration: the sum of its parts.
    pub total: Nanos,
    /// Bytes that it moved.
    pub bytes: u64,
    /// Whether it was in a device for some of its time.
    pub in_device: bool,
}

/// The table of waits of a recording.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub(crate) bounds: Bounds,
    pub(crate) victims: Vec<(Victim, Sums)>,
    victim_numbers: FxHashMap<Victim, VictimId>,
    pub(crate) chains: Chains,
    pub(crate) culprits: Vec<Culprit>,
    culprit_numbers: FxHashMap<Culprit, CulpritId>,
    pub(crate) rows: usize,
    /// The time of all victims, in nanoseconds.
    pub(crate) ns: u64,
    pub(crate) left_out: u64,
    pub(crate) seconds: Seconds,
    pub(crate) absents: Absents,
    /// What is absent together with each culprit, by its number.
    absent_with: Vec<Option<AbsentId>>,
    /// Whether each culprit belongs to those that are removed together.
    is_one_of_those: Vec<bool>,
    /// Whether no task is responsible for each culprit's time.
    is_unclear: Vec<bool>,
    /// Each victim's own number as an absent task: it is never tracked without itself.
    own: Vec<AbsentId>,
    scratch: Scratch,
    /// Numbers of culprits without a name, by kind and I/O.
    plain: Vec<Option<CulpritId>>,
    /// Whether something had no room since room was made last.
    pub(crate) full: bool,
    pub(crate) epoch: u32,
}

impl Table {
    /// An empty table with these bounds.
    pub fn bounded(bounds: Bounds) -> Table {
        Table { bounds, ..Table::default() }
    }

    /// Tracks what would be without `those`, for operations that are added from now on.
    pub fn follow(&mut self, those: Those) {
        self.absents.those = those;
    }

    /// The number of a victim. Numbers are valid within one [`Table::epoch`].
    pub fn victim(&mut self, victim: &Victim) -> VictimId {
        if let Some(id) = self.victim_numbers.get(victim) {
            return *id;
        }
        let id = VictimId(self.victims.len() as u32);
        self.victims.push((victim.clone(), Sums::default()));
        self.own.push(self.absents.task(&victim.task));
        self.victim_numbers.insert(victim.clone(), id);
        self.full |= self.victims.len() > self.bounds.victims;
        id
    }

    /// The number of a culprit; if there is no room, that of [`Culprit::others`].
    pub fn culprit(&mut self, culprit: &Culprit) -> CulpritId {
        if let Some(id) = self.culprit_numbers.get(culprit) {
            return *id;
        }
        let others = Culprit::others();
        if self.culprits.len() >= self.bounds.culprits && *culprit != others {
            self.full = true;
            return self.culprit(&others);
        }
        let id = CulpritId(self.culprits.len() as u32);
        self.culprits.push(culprit.clone());
        self.absent_with.push(self.absents.with(culprit));
        self.is_one_of_those.push(self.absents.those.has(culprit));
        self.is_unclear.push(culprit.is_unclear());
        self.culprit_numbers.insert(culprit.clone(), id);
        id
    }

    /// What is absent together with a culprit.
    pub(crate) fn absent_with(&self, culprit: CulpritId) -> Option<AbsentId> {
        self.absent_with.get(culprit.0 as usize).copied().flatten()
    }

    /// Whether no task is responsible for a culprit's time.
    pub(crate) fn is_unclear(&self, culprit: CulpritId) -> bool {
        self.is_unclear.get(culprit.0 as usize).is_some_and(|is| *is)
    }

    /// What an absence number stands for.
    pub fn absent(&self, id: AbsentId) -> Absent {
        self.absents.of(id)
    }

    /// The number of a culprit without a name.
    #[inline]
    pub fn plain(&mut self, kind: CulpritKind, io: Option<Io>) -> CulpritId {
        let at = kind as usize * (Io::COUNT + 1) + io.map_or(0, |io| io as usize + 1);
        match self.plain.get(at) {
            Some(Some(id)) => *id,
            _ => self.add_plain(at, kind, io),
        }
    }

    #[cold]
    fn add_plain(&mut self, at: usize, kind: CulpritKind, io: Option<Io>) -> CulpritId {
        let id = self.culprit(&Culprit { io, ..Culprit::of(kind) });
        if self.plain.len() <= at {
            self.plain.resize(at + 1, None);
        }
        self.plain[at] = Some(id);
        id
    }

    /// Counts how often room was made: older numbers of victims, chains and culprits are invalid.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The culprit with a number.
    pub fn culprit_of(&self, id: CulpritId) -> &Culprit {
        &self.culprits[id.0 as usize]
    }

    /// All culprits with their numbers.
    pub fn culprits(&self) -> impl Iterator<Item = (CulpritId, &Culprit)> {
        self.culprits.iter().enumerate().map(|(i, c)| (CulpritId(i as u32), c))
    }

    /// The chain with one more link.
    #[inline]
    pub fn chain(&mut self, parent: ChainId, link: Link) -> ChainId {
        self.chains.child(parent, link, self.bounds.chains)
    }

    /// The chain with a phase as its last link; `index` is the phase's [`Phase::index`].
    #[inline]
    pub(crate) fn leaf(&mut self, chain: ChainId, phase: Phase, index: u8) -> ChainId {
        self.chains.leaf(chain, phase, index, self.bounds.chains)
    }

    /// The number of a kernel function.
    pub fn function_number(&mut self, name: &str) -> FunctionId {
        self.chains.function(name, self.bounds.chains)
    }

    /// The links of a chain, outermost first.
    pub fn links(&self, chain: ChainId) -> Vec<Link> {
        self.chains.links(chain)
    }

    /// The name of a kernel function; empty if unknown.
    pub fn function(&self, id: FunctionId) -> &str {
        self.chains.function_name(id)
    }

    /// Adds an operation whose parts sum to its time. A part with time 0 is a culprit that was in a device at the same time. `lost`: the lost part
    /// of its time; `unknown`: its device time for which the usual service time is unknown.
    pub fn add(&mut self, w: Waiting, parts: &[Part], lost: Nanos, unknown: Nanos) {
        debug_assert_eq!(parts.iter().map(|p| u128::from(p.time.0)).sum::<u128>(), u128::from(w.total.0));
        let Some(ns) = self.ns.checked_add(w.total.0) else {
            self.left_out += 1;
            return;
        };
        self.ns = ns;
        let sums = &mut self.victims[w.victim.0 as usize].1;
        sums.ops += 1;
        sums.ns += w.total.0;
        sums.lost += lost.0;
        sums.bytes = sums.bytes.saturating_add(w.bytes);
        sums.unknown = sums.unknown.saturating_add(unknown.0);
        sums.took(w.total);
        *sums.own.at(Bucket::of(w.total.since(lost))) += 1;
        let (bucket, quarter) = Bucket::with_quarter(w.total);
        if w.in_device {
            *sums.in_device.at(bucket) += 1;
        }
        let cell = sums.cells.at(bucket);
        cell.count(w.total, lost, quarter);
        self.scratch.clear();
        let own = self.own[w.victim.0 as usize];
        for part in parts {
            if part.time.0 > 0 {
                self.rows += usize::from(cell.put(part.chain, part.culprit, part.time.0));
            }
            let at = part.culprit.0 as usize;
            let is_unclear = self.is_unclear[at];
            if is_unclear {
                self.scratch.unclear += part.time;
            }
            if let Some(who) = self.absent_with[at].filter(|who| *who != own) {
                self.scratch.add(who, self.is_one_of_those[at], part.time.0, is_unclear);
            }
        }
        self.full |= cell.rows.len() > self.bounds.rows_of_cell;
        let unclear = self.scratch.unclear;
        for (who, lost) in self.scratch.iter() {
            sums.without(who, |without| without.add(w.total, unclear, lost, w.in_device));
        }
        let second = Second { ops: 1, ns: w.total.0, lost: lost.0, bytes: w.bytes };
        self.seconds.add(w.end, w.victim, second);
        if self.full || self.chains.is_full() || self.rows > self.bounds.rows {
            self.make_room();
        }
    }

    /// Adds time of waiting for a victim's requests on a device.
    pub fn waited_on(&mut self, victim: VictimId, dev: DevId, time: Nanos) {
        self.victims[victim.0 as usize].1.waited_on(dev, time);
    }

    /// Counts an operation of this size that was cut into this number of requests.
    pub fn was_cut(&mut self, victim: VictimId, pieces: u64, bytes: u64) {
        self.victims[victim.0 as usize].1.cut.add(&Cut { ops: 1, pieces, bytes });
    }

    /// All victims with their numbers and sums.
    pub fn victims(&self) -> impl Iterator<Item = (VictimId, &Victim, &Sums)> {
        self.victims.iter().enumerate().map(|(i, (v, s))| (VictimId(i as u32), v, s))
    }

    /// The victim with a number, and its sums.
    pub fn of(&self, id: VictimId) -> (&Victim, &Sums) {
        let (victim, sums) = &self.victims[id.0 as usize];
        (victim, sums)
    }

    /// Whether there are no victims.
    pub fn is_empty(&self) -> bool {
        self.victims.is_empty()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// The time axis.
    pub fn seconds(&self) -> &Seconds {
        &self.seconds
    }

    /// Number of operations that were left out because the table would exceed 584 years.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Adds another table: the result is as if both recordings' operations had been added to one table.
    pub fn merge(&mut self, other: &Table) {
        self.merge_some(other, |_| true);
    }

    /// Like [`Table::merge`], but only for the wanted victims.
    pub fn merge_some(&mut self, other: &Table, wanted: impl Fn(&Victim) -> bool) {
        self.absorb(other, |v| wanted(v).then(|| v.clone()));
        if self.full || self.chains.is_full() || self.rows > self.bounds.rows {
            self.make_room();
        }
    }

    /// Merges the victims for which `name` returns a name, under that name; may exceed the bounds.
    pub(crate) fn absorb(&mut self, other: &Table, name: impl Fn(&Victim) -> Option<Victim>) {
        let mut victims = Vec::with_capacity(other.victims.len());
        let mut culprits = FxHashMap::<CulpritId, CulpritId>::default();
        let mut chains = FxHashMap::<ChainId, ChainId>::default();
        self.left_out += other.left_out;
        for (victim, theirs) in &other.victims {
            let Some(name) = name(victim) else {
                victims.push(None);
                continue;
            };
            let Some(ns) = self.ns.checked_add(theirs.ns) else {
                self.left_out += theirs.ops;
                victims.push(None);
                continue;
            };
            let id = self.victim(&name);
            victims.push(Some(id));
            self.ns = ns;
            for (bucket, cell) in &theirs.cells {
                for (chain, culprit, ns) in &cell.rows {
                    let bound = self.bounds.chains;
                    let chain = *chains
                        .entry(*chain)
                        .or_insert_with(|| self.chains.import(&other.chains, *chain, bound));
                    let who =
                        *culprits.entry(*culprit).or_insert_with(|| self.culprit(other.culprit_of(*culprit)));
                    let mine = self.victims[id.0 as usize].1.cells.at(*bucket);
                    self.rows += usize::from(mine.put(chain, who, *ns));
                    self.full |= mine.rows.len() > self.bounds.rows_of_cell;
                }
            }
            let absents = &mut self.absents;
            self.victims[id.0 as usize].1.merge(theirs, |who| absents.import(other.absent(who)));
        }
        self.seconds.merge(&other.seconds, |v| victims[v.0 as usize]);
    }
}
