//! Attributes lost time to causes.
//!
//! Causes claim rows of the slowest operations. The same chain and culprit in all operations is the same wait, so each lost row is
//! divided among causes as its part in the tail was claimed. A wait that does not occur in the tail is divided like the waits of
//! the same phase and the same kind of culprit in the tail of its group, else in the tails of all groups on the same device,
//! unless a cause claims the wait for all operations. A wait that is claimed nowhere has no cause.

use causes::Verdict;
use life::Io;
use stats::{Facts, Group, TailRow};
use std::collections::BTreeMap;
use trace::{DevId, Nanos};
use waits::{ChainId, CulpritId, CulpritKind, Phase, Table};

/// The part of a wait's time that each cause claims, 0 to 1.
type Parts = Vec<(&'static str, f64)>;

/// What similar waits have in common: phase, kind of culprit, and the culprit's kind of I/O.
type Alike = (Phase, CulpritKind, Option<Io>);

/// A wait's time and the part of it that each cause claimed.
#[derive(Default)]
struct Sum {
    time: Nanos,
    claimed: BTreeMap<&'static str, Nanos>,
}

impl Sum {
    fn parts(self) -> Parts {
        let part = |time: Nanos| time.0 as f64 / self.time.0.max(1) as f64;
        self.claimed.into_iter().map(|(cause, time)| (cause, part(time))).collect()
    }
}

/// The claimed parts of every group's tail, by group and wait.
#[derive(Default)]
pub(crate) struct Claims {
    rows: BTreeMap<(usize, ChainId, CulpritId), Parts>,
    /// Waits that a cause claims for all operations, not only for the tail.
    of_all: BTreeMap<(usize, ChainId, CulpritId), Parts>,
    /// By similarity within one group.
    alike: BTreeMap<(usize, Alike), Parts>,
    /// By similarity over all groups on one device.
    beside: BTreeMap<(DevId, Alike), Parts>,
}

impl Claims {
    /// Collects the claims of the causes found, in one pass over each tail.
    pub fn new(facts: &Facts, groups: &[Group], found: &[&Verdict]) -> Claims {
        let table = &facts.waits;
        let tails: Vec<Vec<TailRow>> = groups.iter().map(|g| g.tail_rows(table)).collect();
        let mut rows = BTreeMap::<_, Sum>::new();
        for (number, row) in tails.iter().enumerate().flat_map(|(n, rows)| rows.iter().map(move |r| (n, r))) {
            rows.entry((number, row.chain, row.culprit)).or_default().time += row.time;
        }
        for (verdict, claim) in found.iter().flat_map(|v| v.claims.iter().map(move |c| (v, c))) {
            let row = tails.get(claim.group).and_then(|rows| rows.get(claim.row));
            let sum = row.and_then(|r| rows.get_mut(&(claim.group, r.chain, r.culprit)));
            sum.into_iter().for_each(|s| *s.claimed.entry(verdict.cause).or_default() += claim.time);
        }
        let (mut mine, mut all) = (BTreeMap::<_, Sum>::new(), BTreeMap::<_, Sum>::new());
        for ((number, chain, culprit), sum) in &rows {
            let Some(alike) = alike(table, *chain, *culprit) else { continue };
            let dev = groups[*number].dev;
            for to in [mine.entry((*number, alike)).or_default(), all.entry((dev, alike)).or_default()] {
                to.time += sum.time;
                sum.claimed.iter().for_each(|(cause, time)| *to.claimed.entry(cause).or_default() += *time);
            }
        }
        let of_all = found.iter().flat_map(|v| v.of_all.iter().map(|wait| (*wait, vec![(v.cause, 1.0)])));
        Claims { rows: parts(rows), of_all: of_all.collect(), alike: parts(mine), beside: parts(all) }
    }

    /// The part that each cause claims of a row (chain and culprit) of a group on a device; empty if no cause does.
    pub fn of(
        &self,
        table: &Table,
        group: usize,
        dev: DevId,
        (chain, culprit): (ChainId, CulpritId),
    ) -> &[(&'static str, f64)] {
        let elsewhere = || {
            let alike = alike(table, chain, culprit)?;
            self.alike.get(&(group, alike)).or_else(|| self.beside.get(&(dev, alike)))
        };
        let wait = (group, chain, culprit);
        self.rows.get(&wait).or_else(|| self.of_all.get(&wait)).or_else(elsewhere).map_or(&[], Vec::as_slice)
    }
}

fn parts<K: Ord>(sums: BTreeMap<K, Sum>) -> BTreeMap<K, Parts> {
    sums.into_iter().map(|(key, sum)| (key, sum.parts())).collect()
}

fn alike(table: &Table, chain: ChainId, culprit: CulpritId) -> Option<Alike> {
    let who = table.culprit_of(culprit);
    Some((table.phase(chain)?, who.kind, who.io))
}
