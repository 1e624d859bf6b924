//! Questions to the table: the rows of some victims, from a latency on; by culprit; as folded stacks.

use crate::bucket::Bucket;
use crate::chain::{ChainId, Link};
use crate::culprit::{Culprit, CulpritId};
use crate::phase::Phase;
use crate::table::{Table, VictimId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use trace::Nanos;

/// Rows of one victim with the same chain and culprit, over all buckets that were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Who waited.
    pub victim: VictimId,
    /// For what.
    pub chain: ChainId,
    /// Because of whom.
    pub culprit: CulpritId,
    /// How long together.
    pub time: Nanos,
}

/// Which rows are asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Selection {
    /// Operations of this bucket and slower ones.
    pub from: Bucket,
}

impl Table {
    /// The bucket from which on at least `share` of the operations of some victims together are, and how many these are.
    pub fn slowest_of(&self, victims: &[VictimId], share: f64) -> (Selection, u64) {
        let all: u64 = victims.iter().map(|v| self.of(*v).1.ops).sum();
        let wanted = ((all as f64 * share).ceil() as u64).max(1);
        let mut ops = BTreeMap::<Bucket, u64>::new();
        for (bucket, cell) in victims.iter().flat_map(|v| &self.of(*v).1.cells) {
            *ops.entry(*bucket).or_default() += cell.ops;
        }
        let mut seen = 0;
        for (bucket, n) in ops.iter().rev() {
            seen += n;
            if seen >= wanted {
                return (Selection { from: *bucket }, seen);
            }
        }
        (Selection::default(), seen)
    }

    /// The rows of a victim, the largest first.
    pub fn rows_of(&self, victim: VictimId, which: Selection) -> Vec<Row> {
        let mut sums = FxHashMap::<(ChainId, CulpritId), u64>::default();
        let (_, of) = self.of(victim);
        for cell in of.cells.range(which.from..).map(|(_, cell)| cell) {
            for (chain, culprit, ns) in &cell.rows {
                *sums.entry((*chain, *culprit)).or_default() += ns;
            }
        }
        let row = |((chain, culprit), ns)| Row { victim, chain, culprit, time: Nanos(ns) };
        let mut rows: Vec<Row> = sums.into_iter().map(row).collect();
        rows.sort_unstable_by_key(|r| (std::cmp::Reverse(r.time), r.chain, r.culprit));
        rows
    }

    /// How many operations are in a selection, and their time.
    pub fn selected(&self, victim: VictimId, which: Selection) -> (u64, Nanos) {
        let cells = self.of(victim).1.cells.range(which.from..);
        cells.fold((0, Nanos(0)), |(n, t), (_, c)| (n + c.ops, t + Nanos(c.ns)))
    }

    /// The leaf of a chain.
    pub fn phase(&self, chain: ChainId) -> Option<Phase> {
        match self.chains.last(chain) {
            Link::Phase(phase) => Some(phase),
            _ => None,
        }
    }

    /// Whether a row is its victim's own time, and not lost.
    pub fn is_own(&self, chain: ChainId, culprit: CulpritId) -> bool {
        self.phase(chain).is_some_and(|phase| crate::operations::is_own(phase, self.culprit_of(culprit)))
    }

    /// Whether a chain has such a link.
    pub fn passes(&self, chain: ChainId, is: impl Fn(Link) -> bool) -> bool {
        self.chains.backward(chain).any(is)
    }

    /// A victim's latencies without a culprit: the mean, and what `part`s of them do not exceed. `None` of one whose absence was not
    /// followed.
    pub fn quantiles_without(
        &self,
        victim: VictimId,
        culprit: CulpritId,
        parts: &[f64],
    ) -> Option<(Nanos, Vec<Nanos>)> {
        let (_, of) = self.of(victim);
        let Some((_, without)) = of.without.iter().find(|(c, _)| *c == culprit) else {
            let all = || parts.iter().map(|part| of.quantile(*part)).collect();
            // Nothing is lost to one who is not there, if all who are are followed.
            return of.follows_all().then(|| (Nanos(of.ns / of.ops.max(1)), all()));
        };
        let mut cells = BTreeMap::<Bucket, (u64, u64)>::new();
        for (bucket, cell) in &of.cells {
            let gone = without.removed.get(bucket).copied().unwrap_or(0).min(cell.ops);
            let left = cell.ops - gone;
            if left > 0 {
                let mean = cell.ns / cell.ops.max(1);
                cells.insert(*bucket, (left, mean.saturating_mul(left)));
            }
        }
        for (bucket, (ops, ns)) in &without.added {
            let cell = cells.entry(*bucket).or_default();
            *cell = (cell.0 + ops, cell.1.saturating_add(*ns));
        }
        let mean = Nanos(of.ns.saturating_sub(without.time) / of.ops.max(1));
        // Nobody is slower without somebody; the means of buckets alone do not promise that.
        let at = |part: &f64| {
            crate::sums::quantile(cells.values().copied(), of.ops, *part).min(of.quantile(*part))
        };
        Some((mean, parts.iter().map(at).collect()))
    }

    /// The table as folded stacks (`a;b;c 123`): victim, chain, culprit, microseconds. `of` names victims.
    pub fn folded(&self, name: impl Fn(VictimId) -> String) -> Vec<(String, u64)> {
        let mut all = Vec::new();
        for (id, ..) in self.victims() {
            for row in self.rows_of(id, Selection::default()) {
                let mut stack = name(id);
                for link in self.links(row.chain) {
                    stack.push(';');
                    stack.push_str(&self.link_words(link).replace(';', ","));
                }
                let who = culprit_words(self.culprit_of(row.culprit));
                if !who.is_empty() {
                    stack.push(';');
                    stack.push_str(&who.replace(';', ","));
                }
                all.push((stack, row.time.0));
            }
        }
        all.sort();
        all
    }

    /// A link in words, with the function that shows it.
    pub fn link_words(&self, link: Link) -> String {
        match link {
            Link::Wait(wait, f) => match self.function(f) {
                "" => wait.words().into(),
                function => format!("{} ({function})", wait.words()),
            },
            Link::Commit(phase) => format!("commit: {}", phase.name()),
            Link::Work(f) => format!("work item {}", self.function(f)),
            Link::Request(op, cut, _) => format!("{}{}", if cut { "piece of a " } else { "" }, op.name()),
            Link::Phase(phase) => phase.words().into(),
            Link::Others => "others".into(),
        }
    }
}

/// A culprit in words; nothing for one without a name.
pub fn culprit_words(c: &Culprit) -> String {
    let io = c.io.map_or(String::new(), |io| format!(": {}", io.name()));
    match (&c.name, &c.dirtied_by) {
        (Some(name), Some(of)) => format!("{name} (data of {of}){io}"),
        (Some(name), None) => format!("{name}{io}"),
        (None, _) => match c.kind {
            crate::culprit::CulpritKind::Unknown => String::new(),
            kind => format!("{}{io}", kind.name()),
        },
    }
}
