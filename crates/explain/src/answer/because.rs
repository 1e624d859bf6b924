//! Splits a victim's lost time by cause ([`claims`](super::claims)) and culprit.

use super::claims::Claims;
use stats::{Facts, Group};
use std::collections::BTreeMap;
use trace::Nanos;
use waits::{ChainId, Culprit, CulpritId, Link, Phase, Selection};

/// A part of a victim's lost time: one cause and one culprit.
#[derive(Clone, Debug, PartialEq)]
pub struct Because {
    /// The cause that claims it; `None` if no cause does.
    pub cause: Option<&'static str>,
    /// The culprit; its kind is `Unknown` if there is none.
    pub culprit: Culprit,
    /// The chain of waits with most of this time, from the operation to the last link, in short words.
    pub chain: Vec<String>,
    /// The last link of that chain.
    pub phase: Option<Phase>,
    /// The sum over all chains.
    pub time: Nanos,
}

/// Cause and culprit: the key by which lost time is summed.
type Key = (Option<&'static str>, Culprit);

/// A row of lost time: chain, culprit, time.
type Lost = (ChainId, CulpritId, Nanos);

/// Splits the time `lost` by the selected operations of a group, the largest part first; the parts sum to `lost`.
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
    for (chain, id, time) in lost_rows(facts, group, which) {
        told += time;
        let (mut left, culprit) = (time, table.culprit_of(id));
        for (cause, part) in claims.of(table, number, group.dev, (chain, id)) {
            let claimed = Nanos((time.0 as f64 * part) as u64).min(left);
            left = left.since(claimed);
            sums.entry((Some(cause), culprit.clone())).or_default().push((chain, claimed));
        }
        if left.0 > 0 {
            sums.entry((None, culprit.clone())).or_default().push((chain, left));
        }
    }
    // Lost time without a row of its own.
    if lost > told {
        sums.entry((None, Culprit::default())).or_default().push((ChainId(1), lost.since(told)));
    }
    let because = |((cause, culprit), rows): (Key, Vec<(ChainId, Nanos)>)| {
        let chain = rows.iter().max_by_key(|(_, time)| *time).map(|(chain, _)| *chain).unwrap_or_default();
        Because {
            cause,
            culprit,
            chain: words(facts, group, chain),
            phase: table.phase(chain),
            time: rows.iter().map(|(_, time)| *time).sum(),
        }
    };
    let mut all: Vec<Because> = sums.into_iter().map(because).filter(|b| b.time.0 > 0).collect();
    all.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.culprit.cmp(&b.culprit)));
    all
}

/// The time of the selected operations that each cause claims, lost or not.
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

/// The lost time of the selected operations of a group.
pub(crate) fn lost_in(facts: &Facts, group: &Group, which: Selection) -> Nanos {
    lost_rows(facts, group, which).iter().map(|(_, _, time)| *time).sum()
}

/// The rows of the selected operations that are lost time.
fn lost_rows(facts: &Facts, group: &Group, which: Selection) -> Vec<Lost> {
    let table = &facts.waits;
    let rows = group.rows(table, which);
    let is_lost = |r: &stats::TailRow| table.phase(r.chain).is_some() && !table.is_own(r.chain, r.culprit);
    rows.iter().filter(|r| is_lost(r)).map(|r| (r.chain, r.culprit, r.time)).collect()
}

/// A chain in short words, from the operation to the last link.
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
