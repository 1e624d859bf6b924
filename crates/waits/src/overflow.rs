//! Keeps a table within its [`Bounds`](crate::bounds::Bounds): the victims, chains, culprits and rows with the most time are kept, the others are merged into `others`.
//! Sums stay exact, kept rows become lower bounds, and [`Table::others`] is the part that is merged.
//!
//! Each time half of a bound is freed, so the cost per operation is low. An item that becomes heavy later is kept from then on.

use crate::bounds::Bounds;
use crate::chain::{ChainId, OTHERS};
use crate::culprit::{Culprit, CulpritId};
use crate::sums::{Cell, Sums};
use crate::table::Table;
use crate::victim::Victim;
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use trace::Nanos;

impl Table {
    /// The table's maximal sizes.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The time without a row of its own: of victims, chains or culprits that are merged into others.
    pub fn others_time(&self) -> Nanos {
        let others = |c: CulpritId| *self.culprit_of(c) == Culprit::others();
        let of = |(v, s): &(Victim, Sums)| match v.is_others() {
            true => s.ns,
            false => {
                let rows = s.cells.values().flat_map(|c| &c.rows);
                rows.filter(|(chain, who, _)| *chain == OTHERS || others(*who)).map(|(.., ns)| ns).sum()
            }
        };
        Nanos(self.victims.iter().map(of).sum())
    }

    /// The part of all time without a row of its own, 0 to 1.
    pub fn others(&self) -> f64 {
        self.others_time().0 as f64 / self.ns.max(1) as f64
    }

    /// Keeps the heaviest half of everything that exceeds its bound.
    pub(crate) fn make_room(&mut self) {
        let kept = self.heaviest_victims();
        let (chains, culprits) = (self.heaviest_chains(), self.heaviest_culprits());
        let others = self.culprit(&Culprit::others());
        let (least, mut equal) = self.least_row();
        let all_of_cell = self.bounds.rows_of_cell;
        for cell in self.victims.iter_mut().flat_map(|(_, s)| s.cells.values_mut()) {
            let most = if cell.rows.len() > all_of_cell { all_of_cell / 2 } else { cell.rows.len() };
            cell.rows.sort_unstable_by_key(|(.., ns)| Reverse(*ns));
            let mut seen = 0;
            cell.keep(others, |chain, who, ns| {
                seen += 1;
                let known = chains.as_ref().is_none_or(|all| all.contains(&chain))
                    && culprits.as_ref().is_none_or(|all| all.contains(&who));
                let heavy = ns > least || ns == least && equal > 0;
                equal -= usize::from(ns == least && equal > 0 && known && seen <= most);
                known && heavy && seen <= most
            });
        }
        if let Some(culprits) = &culprits {
            // For a culprit that is merged into others, further time would be missing in its predictions.
            let known: FxHashSet<_> = culprits.iter().filter_map(|who| self.absent_with(*who)).collect();
            self.victims.iter_mut().for_each(|(_, s)| s.follow_only(|who| known.contains(&who)));
        }
        let those = self.absents.those.clone();
        let old = std::mem::replace(self, Table::bounded(self.bounds));
        self.follow(those);
        self.epoch = old.epoch.wrapping_add(1);
        self.absorb(&old, |v| {
            let is_kept = kept.as_ref().is_none_or(|kept| kept.contains(v));
            Some(if is_kept { v.clone() } else { v.others() })
        });
        // Merged victims have one cell per bucket where each had its own.
        let others = self.culprit(&Culprit::others());
        for cell in self.victims.iter_mut().flat_map(|(_, s)| s.cells.values_mut()) {
            let before = cell.rows.len();
            if before > all_of_cell {
                cell.rows.sort_unstable_by_key(|(.., ns)| Reverse(*ns));
                let mut seen = 0;
                cell.keep(others, |_, _, _| {
                    seen += 1;
                    seen <= all_of_cell / 2
                });
                self.rows -= before - cell.rows.len();
            }
        }
        self.full = false;
    }

    /// The victims to keep; `None` if all fit. Cells take at most a quarter of the rows.
    fn heaviest_victims(&self) -> Option<FxHashSet<Victim>> {
        let cells = |s: &Sums| s.cells.len();
        let all: usize = self.victims.iter().map(|(_, s)| cells(s)).sum();
        if self.victims.len() <= self.bounds.victims && all <= self.bounds.rows / 4 {
            return None;
        }
        let mut order: Vec<&(Victim, Sums)> = self.victims.iter().filter(|(v, _)| !v.is_others()).collect();
        order.sort_by(|(a, s), (b, t)| t.ns.cmp(&s.ns).then_with(|| a.cmp(b)));
        let mut room = self.bounds.rows / 4;
        let stays = order.into_iter().take(self.bounds.victims / 2).take_while(|(_, s)| {
            let fits = cells(s) <= room;
            room = room.saturating_sub(cells(s));
            fits
        });
        Some(stays.map(|(v, _)| v.clone()).collect())
    }

    /// The chains to keep, by the time of their rows, with all their parents; `None` if all fit.
    fn heaviest_chains(&self) -> Option<FxHashSet<ChainId>> {
        if !self.chains.is_full() {
            return None;
        }
        let mut times = vec![0u64; self.chains.len()];
        self.each_row(|chain, _, ns| times[chain.0 as usize] += ns);
        let (mut stay, mut links) = (FxHashSet::default(), FxHashSet::default());
        for chain in heaviest_first(&times) {
            let chain = ChainId(chain as u32);
            let mut at = chain;
            while at != ChainId(0) && links.insert(at) {
                at = self.chains.parent(at);
            }
            if links.len() > self.bounds.chains / 2 {
                break;
            }
            stay.insert(chain);
        }
        Some(stay)
    }

    /// The culprits to keep, by the time of their rows; `None` if all fit.
    fn heaviest_culprits(&self) -> Option<FxHashSet<CulpritId>> {
        if self.culprits.len() < self.bounds.culprits {
            return None;
        }
        let mut times = vec![0u64; self.culprits.len()];
        self.each_row(|_, who, ns| times[who.0 as usize] += ns);
        Some(heaviest_first(&times).take(self.bounds.culprits / 2).map(|who| CulpritId(who as u32)).collect())
    }

    /// The time of the lightest row to keep, and how many rows with exactly this time to keep.
    fn least_row(&self) -> (u64, usize) {
        if self.rows <= self.bounds.rows {
            return (0, usize::MAX);
        }
        let mut times = Vec::with_capacity(self.rows);
        self.each_row(|_, _, ns| times.push(Reverse(ns)));
        // Each cell needs a row for others.
        let cells: usize = self.victims.iter().map(|(_, s)| s.cells.len()).sum();
        let stay = (self.bounds.rows / 2).saturating_sub(cells);
        if stay == 0 {
            return (u64::MAX, 0);
        }
        let (_, Reverse(least), _) = times.select_nth_unstable(stay - 1);
        let least = *least;
        (least, stay - times.iter().filter(|Reverse(ns)| *ns > least).count())
    }

    fn each_row(&self, mut each: impl FnMut(ChainId, CulpritId, u64)) {
        let cells = self.victims.iter().flat_map(|(_, s)| s.cells.values());
        cells.flat_map(|c| &c.rows).for_each(|(chain, who, ns)| each(*chain, *who, *ns));
    }
}

/// Indexes of values above 0, the largest value first.
fn heaviest_first(times: &[u64]) -> impl Iterator<Item = usize> + '_ {
    let mut order: Vec<usize> = (0..times.len()).filter(|i| times[*i] > 0).collect();
    order.sort_by_key(|i| (Reverse(times[*i]), *i));
    order.into_iter()
}

impl Cell {
    /// Merges rows for which `stays` is false into one.
    fn keep(&mut self, others: CulpritId, mut stays: impl FnMut(ChainId, CulpritId, u64) -> bool) {
        let mut rest = 0;
        self.rows.retain(|(chain, who, ns)| {
            let stays = *chain != OTHERS && stays(*chain, *who, *ns);
            rest += if stays { 0 } else { *ns };
            stays
        });
        if rest > 0 {
            self.put(OTHERS, others, rest);
        }
    }
}
