//! What a victim lost, by cause ([`claims`](super::claims)) and culprit.

use super::claims::Claims;
use life::Io;
use stats::{Facts, Group};
use std::collections::BTreeMap;
use trace::Nanos;
use waits::{ChainId, Culprit, CulpritId, CulpritKind, Link, Phase, Selection};

/// Because of whom.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// The kind of culprit.
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
    /// The length of time.
    pub time: Nanos,
}

/// By what lost time is put together: the cause, and because of whom.
type Key = (Option<&'static str>, Source);

/// A lost row: its chain, its culprit, its time.
type Lost = (ChainId, CulpritId, Nanos);

/// All that some operations of a group lost, the largest part first; it sums to `lost`.
pub(crate) fn all(
    facts: &Facts,
    (number, group): (usize, &Group),
    which: Selection,
    lost: Nanos,
    claims: &Claims,
) -> Vec<Because> {
    let table = &facts.waits;
    let mut sums = BTreeMap::<Key, Vec<(ChainId, Nanos)>>::new();
    let mut told = Nanos(0);
    for (chain, culprit, time) in lost_rows(facts, group, which) {
        told += time;
        let mut left = time;
        for (cause, part) in claims.of(table, number, group.dev, (chain, culprit)) {
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

/// What of the time of some operations of a group each cause has, lost or not.
pub(crate) fn due(
    facts: &Facts,
    (number, group): (usize, &Group),
    which: Selection,
    claims: &Claims,
) -> BTreeMap<&'static str, Nanos> {
    let mut sums = BTreeMap::new();
    for row in group.rows(&facts.waits, which) {
        for (cause, part) in claims.of(&facts.waits, number, group.dev, (row.chain, row.culprit)) {
            *sums.entry(*cause).or_default() += Nanos((row.time.0 as f64 * part) as u64);
        }
    }
    sums
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
