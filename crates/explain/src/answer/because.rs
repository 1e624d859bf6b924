//! What a victim lost, by cause and culprit.
//!
//! Causes claim rows of the slowest operations. The same chain and culprit in all operations is the same wait: so each lost row
//! is shared among causes as its part in the tail was claimed. A wait that the slowest did not have is shared as the same phase of
//! the same kind of culprit was in them, or in the slowest of others on the same device; what was claimed nowhere is nobody's cause.

use causes::Verdict;
use life::Io;
use stats::{Facts, Group};
use std::collections::BTreeMap;
use trace::Nanos;
use waits::{ChainId, Culprit, CulpritId, CulpritKind, Link, Phase, Selection, Table};

/// Because of whom.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// What kind.
    pub kind: CulpritKind,
    /// Whose name.
    pub name: Option<String>,
    /// Whose data that one wrote, if somebody else's.
    pub dirtied_by: Option<String>,
    /// By which kind of I/O.
    pub io: Option<Io>,
}

impl Source {
    pub(crate) fn of(c: &Culprit) -> Source {
        let text = |t: &Option<Box<str>>| t.as_deref().map(str::to_string);
        Source { kind: c.kind, name: text(&c.name), dirtied_by: text(&c.dirtied_by), io: c.io }
    }
}

/// A part of what a victim lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Because {
    /// Which cause explains it.
    pub cause: Option<&'static str>,
    /// Because of whom.
    pub source: Source,
    /// The chain of waits with the most of it.
    pub chain: Vec<String>,
    /// The last link.
    pub phase: Option<Phase>,
    /// How long.
    pub time: Nanos,
}

/// By what lost time is put together: the cause, and because of whom.
type Key = (Option<&'static str>, Source);

/// A lost row: its chain, its culprit, its time.
type Lost = (ChainId, CulpritId, Nanos);

/// All that some operations of a group lost, the largest part first; it sums to `lost`.
pub(crate) fn all(
    facts: &Facts,
    (groups, number): (&[Group], usize),
    which: Selection,
    lost: Nanos,
    found: &[&Verdict],
) -> Vec<Because> {
    let (table, group) = (&facts.waits, &groups[number]);
    let claims = claims(facts, groups, number, found);
    let mut sums = BTreeMap::<Key, Vec<(ChainId, Nanos)>>::new();
    let mut told = Nanos(0);
    for (chain, culprit, time) in lost_rows(facts, group, which) {
        told += time;
        let mut left = time;
        for (cause, part) in claims.of(table, chain, culprit) {
            let claimed = Nanos((time.0 as f64 * part) as u64).min(left);
            left = left.since(claimed);
            let source = Source::of(table.culprit_of(culprit));
            sums.entry((Some(cause), source)).or_default().push((chain, claimed));
        }
        if left.0 > 0 {
            let source = Source::of(table.culprit_of(culprit));
            sums.entry((None, source)).or_default().push((chain, left));
        }
    }
    // What is in no row of its own.
    if lost > told {
        let nobody = Source::of(&Culprit::default());
        sums.entry((None, nobody)).or_default().push((ChainId(1), lost.since(told)));
    }
    let because = |((cause, source), rows): (Key, Vec<(ChainId, Nanos)>)| {
        let chain = rows.iter().max_by_key(|(_, time)| *time).map(|(chain, _)| *chain).unwrap_or_default();
        Because {
            cause,
            source,
            chain: words(facts, group, chain),
            phase: table.phase(chain),
            time: rows.iter().map(|(_, time)| *time).sum(),
        }
    };
    let mut all: Vec<Because> = sums.into_iter().map(because).filter(|b| b.time.0 > 0).collect();
    all.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.source.cmp(&b.source)));
    all
}

/// What the slowest of a group lost.
pub(crate) fn lost_in(facts: &Facts, group: &Group, which: Selection) -> Nanos {
    lost_rows(facts, group, which).iter().map(|(_, _, time)| *time).sum()
}

/// The rows of some operations of a group that are lost time.
fn lost_rows(facts: &Facts, group: &Group, which: Selection) -> Vec<Lost> {
    let table = &facts.waits;
    let rows = group.rows(table, which);
    let is_lost = |r: &stats::TailRow| table.phase(r.chain).is_some() && !table.is_own(r.chain, r.culprit);
    rows.iter().filter(|r| is_lost(r)).map(|r| (r.chain, r.culprit, r.time)).collect()
}

/// Parts of a time by the causes that claimed them, 0 to 1.
type Parts = Vec<(&'static str, f64)>;

/// A wait as it is alike for several: its phase, and what kind of culprit by which I/O, but for nobody's own.
type Alike = (Phase, CulpritKind, Option<Io>);

/// Which part of each row each cause claimed.
#[derive(Default)]
struct Claims {
    /// Of the group's tail.
    rows: BTreeMap<(ChainId, CulpritId), Parts>,
    /// Of what is alike in it.
    alike: BTreeMap<Alike, Parts>,
    /// Of what is alike in the tails of all groups on the same device.
    beside: BTreeMap<Alike, Parts>,
}

impl Claims {
    fn of(&self, table: &Table, chain: ChainId, culprit: CulpritId) -> &[(&'static str, f64)] {
        let alike = || alike(table, chain, culprit);
        let row = self.rows.get(&(chain, culprit));
        let known = row.or_else(|| alike().and_then(|a| self.alike.get(&a).or_else(|| self.beside.get(&a))));
        known.map_or(&[], Vec::as_slice)
    }
}

fn alike(table: &Table, chain: ChainId, culprit: CulpritId) -> Option<Alike> {
    let who = table.culprit_of(culprit);
    Some((table.phase(chain)?, who.kind, who.io))
}

/// What was claimed of a group's tail, and of those on the same device.
fn claims(facts: &Facts, groups: &[Group], number: usize, found: &[&Verdict]) -> Claims {
    let mut claims = Claims::default();
    let mut sums = [BTreeMap::<Alike, (Nanos, BTreeMap<&'static str, Nanos>)>::new(), BTreeMap::new()];
    let dev = groups[number].dev;
    for (at, group) in groups.iter().enumerate().filter(|(_, g)| g.dev == dev) {
        let rows = group.tail_rows(&facts.waits);
        for row in &rows {
            if at == number {
                claims.rows.insert((row.chain, row.culprit), vec![]);
            }
            let Some(alike) = alike(&facts.waits, row.chain, row.culprit) else { continue };
            let both = sums.iter_mut().skip(usize::from(at != number));
            both.for_each(|sums| sums.entry(alike).or_default().0 += row.time);
        }
        for verdict in found {
            for claim in verdict.claims.iter().filter(|c| c.group == at) {
                let Some(row) = rows.get(claim.row).filter(|r| r.time.0 > 0) else { continue };
                if at == number {
                    let part = claim.time.0 as f64 / row.time.0 as f64;
                    claims.rows.entry((row.chain, row.culprit)).or_default().push((verdict.cause, part));
                }
                let Some(alike) = alike(&facts.waits, row.chain, row.culprit) else { continue };
                let both = sums.iter_mut().skip(usize::from(at != number));
                both.for_each(|sums| {
                    *sums.entry(alike).or_default().1.entry(verdict.cause).or_default() += claim.time
                });
            }
        }
    }
    let [mine, all] = sums.map(|sums| {
        let parts = |(all, by): (Nanos, BTreeMap<&'static str, Nanos>)| -> Parts {
            by.into_iter().map(|(cause, time)| (cause, time.0 as f64 / all.0.max(1) as f64)).collect()
        };
        sums.into_iter().map(|(alike, sum)| (alike, parts(sum))).collect()
    });
    (claims.alike, claims.beside) = (mine, all);
    claims
}

/// A chain in short words, from the operation to the leaf.
fn words(facts: &Facts, group: &Group, chain: ChainId) -> Vec<String> {
    let mut words = vec![group.op.map_or(group.words().to_string(), |op| op.kind.name().to_string())];
    for link in facts.waits.links(chain) {
        let word = match link {
            Link::Wait(wait, _) => wait.words().to_string(),
            Link::Phase(phase) => phase.name().to_string(),
            link => facts.waits.link_words(link),
        };
        words.push(word);
    }
    words
}
