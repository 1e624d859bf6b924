//! Compares the culprits of operations' lost time before and after.

use crate::blame::{culprit_name, Blame, Victim};
use crate::explanation::Explanation;
use std::collections::BTreeMap;
use waits::Culprit;

/// Maximal number of victims that are compared.
const MOST_VICTIMS: usize = 8;

/// A victim's mean lost time per operation, on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Blamed {
    /// The victim. Example: `fio reads on vda`.
    pub victim: String,
    /// Number of operations, before and after.
    pub operations: [u64; 2],
    /// Mean lost time per operation in nanoseconds, before and after.
    pub lost: [f64; 2],
    /// `lost` by culprit, the largest first; sums to `lost`.
    pub because: Vec<(String, [f64; 2])>,
}

/// The victims that both sides have, those with the most lost time first.
pub(super) fn blamed(before: &Explanation, after: &Explanation) -> Vec<Blamed> {
    let [before, after] = [before, after].map(Blame::of);
    let mut pairs: Vec<(&Victim, &Victim)> = before
        .victims
        .iter()
        .filter_map(|b| Some((b, after.victims.iter().find(|a| a.name == b.name)?)))
        .filter(|(b, a)| (b.lost + a.lost).0 > 0)
        .collect();
    pairs.sort_by_key(|(b, a)| std::cmp::Reverse(b.lost + a.lost));
    pairs.into_iter().take(MOST_VICTIMS).map(|(b, a)| of(b, a)).collect()
}

fn of(before: &Victim, after: &Victim) -> Blamed {
    let mut sums = BTreeMap::<String, [f64; 2]>::new();
    let each = |v: &Victim, ns: u64| ns as f64 / v.operations.max(1) as f64;
    for (side, victim) in [before, after].into_iter().enumerate() {
        for (culprit, time) in &victim.because {
            sums.entry(words(culprit)).or_default()[side] += each(victim, time.0);
        }
    }
    let mut because: Vec<(String, [f64; 2])> = sums.into_iter().collect();
    because.sort_by(|(_, x), (_, y)| y[0].max(y[1]).total_cmp(&x[0].max(x[1])));
    Blamed {
        victim: before.name.clone(),
        operations: [before.operations, after.operations],
        lost: [each(before, before.lost.0), each(after, after.lost.0)],
        because,
    }
}

/// Example: `sync: writes`.
fn words(c: &Culprit) -> String {
    let io = c.io.map_or(String::new(), |io| format!(": {}", io.words()));
    format!("{}{io}", culprit_name(c))
}
