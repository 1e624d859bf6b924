//! Whether a table adds up: what its invariants are, as a question to it.

use crate::bucket::Bucket;
use crate::seconds::Second;
use crate::sums::Cell;
use crate::table::Table;
use crate::victim::Victim;
use trace::Nanos;

impl Table {
    /// What does not add up, if anything: for tests.
    pub fn imbalance(&self) -> Option<String> {
        let mut rows = 0;
        let wrong = |v: &Victim, what: &str, a: u64, b: u64| Some(format!("{v:?}: {what} {a}, not {b}"));
        let mut all = 0u64;
        for (id, v, s) in self.victims() {
            let sum = |of: fn(&Cell) -> u64| s.cells.values().map(of).sum::<u64>();
            let axis = self.seconds.of(id);
            let seconds = |of: fn(&Second) -> u64| axis.iter().map(|(_, s)| of(s)).sum::<u64>();
            let pairs = [
                ("operations of cells", sum(|c| c.ops), s.ops),
                ("time of cells", sum(|c| c.ns), s.ns),
                ("lost time of cells", sum(|c| c.lost), s.lost),
                ("operations by own time", s.own.values().sum(), s.ops),
                ("operations by second", seconds(|s| s.ops), s.ops),
                ("time by second", seconds(|s| s.ns), s.ns),
                ("lost time by second", seconds(|s| s.lost), s.lost),
                ("lost time", s.lost, s.lost.min(s.ns)),
                ("time of the longest", s.max.0, s.max.0.min(s.ns)),
            ];
            if let Some((what, a, b)) = pairs.into_iter().find(|(_, a, b)| a != b) {
                return wrong(v, what, a, b);
            }
            for (bucket, c) in &s.cells {
                let of_rows = c.rows.iter().map(|(.., ns)| ns).sum();
                let fits = Bucket::of(Nanos(c.ns / c.ops.max(1))) == *bucket;
                if c.ns != of_rows || c.lost > c.ns || !fits {
                    return wrong(v, &format!("time of rows in {bucket:?}"), of_rows, c.ns);
                }
                rows += c.rows.len();
            }
            for (who, w) in &s.without {
                let (ops, same) = (w.removed.values().sum(), w.added.values().map(|(ops, _)| ops).sum());
                let more = w.removed.iter().any(|(b, n)| s.cells.get(b).is_none_or(|c| c.ops < *n));
                if ops != same || w.time > s.ns || more {
                    return wrong(v, &format!("operations without {:?}", self.absent(*who)), ops, same);
                }
            }
            all += s.ns;
        }
        if (rows, all) != (self.rows, self.ns) {
            return Some(format!("{rows} rows of {all} ns, not {} of {}", self.rows, self.ns));
        }
        let most = self.bounds;
        let victims = self.victims.iter().filter(|(v, _)| !v.is_others()).count();
        let within = rows <= most.rows && victims <= most.victims && self.culprits.len() <= most.culprits + 1;
        (!within)
            .then(|| format!("{rows} rows, {victims} victims, {} culprits are too many", self.culprits.len()))
    }
}
