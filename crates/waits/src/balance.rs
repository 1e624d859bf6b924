//! Checks the invariants of a table.

use crate::bucket::Bucket;
use crate::seconds::Second;
use crate::sums::Cell;
use crate::table::Table;
use crate::victim::Victim;
use trace::Nanos;

impl Table {
    /// The first violated invariant, in words; `None` if all hold. For tests.
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
                let (ops, same) = (w.removed.values().sum(), w.added.values().map(|left| left.ops).sum());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::{ChainId, Link};
    use crate::culprit::{Culprit, CulpritKind};
    use crate::phase::Phase;
    use crate::sums::Sums;
    use crate::table::{Part, Waiting};
    use crate::victim::Asked;
    use life::Class;
    use trace::{DevId, Fs};

    const SHORT: Nanos = Nanos(1_000_000);
    const LONG: Nanos = Nanos(100_000_000);

    /// Makes one number wrong.
    type Fault = fn(&mut Sums);

    /// Two reads of 1 ms and 100 ms, each behind another task.
    fn table() -> Table {
        let mut table = Table::default();
        let asked = Asked::Bio(Class::Read);
        let victim = table.victim(&Victim { task: "reader".into(), asked, fs: Fs::Unknown, dev: DevId(8) });
        let culprit = table.culprit(&Culprit { name: Some("dd".into()), ..Culprit::of(CulpritKind::Task) });
        let chain = table.chain(ChainId(0), Link::Phase(Phase::Behind));
        for total in [SHORT, LONG] {
            let part = Part { chain, culprit, time: total };
            table.add(
                Waiting { victim, end: Nanos(0), total, bytes: 4096, in_device: true },
                &[part],
                total,
                Nanos(0),
            );
        }
        table
    }

    /// Each fault alone: all other sums stay right.
    #[test]
    fn whatever_does_not_add_up_is_told() {
        assert_eq!(table().imbalance(), None);
        let with = |fault: Fault| {
            let mut table = table();
            fault(&mut table.victims[0].1);
            table.imbalance()
        };
        let faults: [(&str, Fault); 8] = [
            ("operations of cells", |s| s.cells.at(Bucket::of(SHORT)).ops += 1),
            ("time of cells", |s| s.ns += 1),
            ("time of rows", |s| s.cells.at(Bucket::of(SHORT)).rows[0].2 += 1),
            ("time of rows", |s| {
                // The short read loses more than it took.
                s.cells.at(Bucket::of(LONG)).lost -= 1;
                s.cells.at(Bucket::of(SHORT)).lost += 1;
            }),
            ("time of rows", |s| {
                // The short read is as long as those of another bucket.
                for (bucket, more) in [(Bucket::of(SHORT), true), (Bucket::of(LONG), false)] {
                    let cell = s.cells.at(bucket);
                    let moved = |ns: u64| if more { ns + SHORT.0 } else { ns - SHORT.0 };
                    (cell.ns, cell.rows[0].2) = (moved(cell.ns), moved(cell.rows[0].2));
                    cell.lost = cell.lost.min(cell.ns);
                }
                s.cells.at(Bucket::of(SHORT)).lost += SHORT.0;
            }),
            ("operations without", |s| s.without[0].1.time = s.ns + 1),
            ("operations without", |s| s.without[0].1.added.at(Bucket::of(LONG)).ops += 1),
            ("operations without", |s| {
                *s.without[0].1.removed.at(Bucket::of(LONG)) += 1;
                s.without[0].1.added.at(Bucket::of(LONG)).ops += 1;
            }),
        ];
        for (n, (words, fault)) in faults.into_iter().enumerate() {
            let told = with(fault);
            assert!(told.as_ref().is_some_and(|t| t.contains(words)), "{n}, {words}: {told:?}");
        }
        let mut rows = table();
        rows.rows += 1;
        let mut time = table();
        time.ns += 1;
        assert!(rows.imbalance().is_some() && time.imbalance().is_some());
    }

    #[test]
    fn more_than_the_bounds_is_told() {
        let full = |bounds: fn(&mut crate::bounds::Bounds)| {
            let mut table = table();
            // One more than the bound fits: the culprit that stands for all others.
            table.culprit(&Culprit::of(CulpritKind::Device));
            bounds(&mut table.bounds);
            table.imbalance().is_some_and(|told| told.contains("too many"))
        };
        assert!(full(|b| b.rows = 1) && full(|b| b.victims = 0) && full(|b| b.culprits = 0));
        assert!(!full(|b| (b.rows, b.victims, b.culprits) = (2, 1, 1)));
    }
}
