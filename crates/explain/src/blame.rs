//! Who waits for whom: the time that each victim lost, by culprit, and the time that each culprit cost, by victim.
//!
//! Queries the table of waits for the victims in [`stats::Focus`]. Only lost time counts: an operation's own service
//! and computing have no culprit. **Invariant**: both directions sum to the time that the victims lost.

use crate::explanation::Explanation;
pub use crate::which::Which;
use std::collections::BTreeMap;
use trace::{DevId, Nanos};
use waits::{Asked, Culprit, CulpritKind, Selection, Table, VictimId};

/// Lost time by victim and by culprit.
#[derive(Clone, Debug, Default)]
pub struct Blame {
    /// Sorted by time lost, the largest first.
    pub victims: Vec<Victim>,
    /// The same time by culprit, sorted by time lost, the largest first.
    pub culprits: Vec<Cost>,
    /// Sum over all victims.
    pub lost: Nanos,
}

/// A victim with its lost time by culprit.
#[derive(Clone, Debug)]
pub struct Victim {
    /// Example: `postgres fdatasyncs on sda`.
    pub name: String,
    /// The task's name. Example: `postgres`.
    pub task: Box<str>,
    /// The device whose requests its operations waited for; `DevId(0)` if there is none.
    pub dev: DevId,
    /// Number of its operations.
    pub operations: u64,
    /// Sum over its operations.
    pub time: Nanos,
    /// The part of `time` that was lost.
    pub lost: Nanos,
    /// `lost` by culprit, the largest first; sums to `lost`.
    pub because: Vec<(Culprit, Nanos)>,
}

/// A culprit with the time that it cost the victims.
#[derive(Clone, Debug)]
pub struct Cost {
    /// The culprit, over all its kinds of I/O (`io` is `None`).
    pub culprit: Culprit,
    /// Time that all victims lost because of it.
    pub lost: Nanos,
    /// `lost` by victim (index into [`Blame::victims`]) and kind of I/O, the largest first.
    pub by: Vec<(usize, Culprit, Nanos)>,
}

impl Blame {
    /// Sums up the victims in the focus of an explanation.
    pub fn of(e: &Explanation) -> Blame {
        let table = &e.facts.waits;
        let groups = e.focus.groups.iter().filter(|g| !g.victims.is_empty());
        let victims = groups.map(|g| {
            let asked = table.of(g.victims[0]).0.asked;
            let mut because = BTreeMap::new();
            g.victims.iter().for_each(|v| add(&mut because, table, *v));
            let because = largest_first(because, |time| *time);
            let (operations, time) = (g.operations, g.all.time.total);
            let name = victim_name(e, &g.task, asked, g.dev);
            Victim { name, task: (&*g.task).into(), dev: g.dev, operations, time, lost: g.lost, because }
        });
        Blame::new(victims.collect())
    }

    fn new(mut victims: Vec<Victim>) -> Blame {
        victims.sort_by_key(|v| std::cmp::Reverse(v.lost));
        let mut by = BTreeMap::<Culprit, Vec<(usize, Culprit, Nanos)>>::new();
        for (at, victim) in victims.iter().enumerate() {
            for (culprit, time) in &victim.because {
                let who = Culprit { io: None, ..culprit.clone() };
                by.entry(who).or_default().push((at, culprit.clone(), *time));
            }
        }
        let cost = |(culprit, mut by): (Culprit, Vec<(usize, Culprit, Nanos)>)| {
            by.sort_by_key(|(.., time)| std::cmp::Reverse(*time));
            Cost { culprit, lost: by.iter().map(|(.., time)| *time).sum(), by }
        };
        let mut culprits: Vec<Cost> = by.into_iter().map(cost).collect();
        culprits.sort_by_key(|c| std::cmp::Reverse(c.lost));
        let lost = victims.iter().map(|v| v.lost).sum();
        Blame { victims, culprits, lost }
    }
}

fn add(sums: &mut BTreeMap<Culprit, Nanos>, table: &Table, victim: VictimId) {
    for (culprit, time) in table.lost_by(victim) {
        let who = culprit.map_or_else(Culprit::others, |id| table.culprit_of(id).clone());
        *sums.entry(who).or_default() += time;
    }
}

fn largest_first<K: Ord, V>(sums: BTreeMap<K, V>, size: impl Fn(&V) -> Nanos) -> Vec<(K, V)> {
    let mut all: Vec<(K, V)> = sums.into_iter().collect();
    all.sort_by_key(|(_, v)| std::cmp::Reverse(size(v)));
    all
}

/// Names a culprit for the reader, without the kind of I/O. Example: `kworker/u4:0 (data of cp)`.
pub fn culprit_name(c: &Culprit) -> String {
    let of = c.dirtied_by.as_ref().map_or(String::new(), |of| format!(" (data of {of})"));
    match (&c.name, c.kind) {
        (_, CulpritKind::Own) => "itself".into(),
        (Some(name), CulpritKind::Cpu) => format!("{name} on the processor"),
        (Some(name), _) => format!("{name}{of}"),
        (None, CulpritKind::Task) => "a task".into(),
        (None, CulpritKind::Kernel) => "the kernel".into(),
        (None, CulpritKind::Device) => "the device".into(),
        (None, CulpritKind::Limit) => "a limit".into(),
        (None, CulpritKind::Cpu) => "the processors".into(),
        (None, CulpritKind::Unknown) => "unknown".into(),
    }
}

/// Example: `postgres fdatasyncs on sda`.
fn victim_name(e: &Explanation, task: &str, asked: Asked, dev: DevId) -> String {
    let on = if dev == DevId(0) { String::new() } else { format!(" on {}", e.name(dev)) };
    format!("{task} {}{on}", asked.plural())
}

/// The table of waits as folded stacks (victim, waits, culprit), in nanoseconds.
pub fn stacks(e: &Explanation, which: Which) -> BTreeMap<String, Nanos> {
    let table = &e.facts.waits;
    table.folded(|id| {
        let (victim, sums) = table.of(id);
        let on = sums.main_device().unwrap_or(victim.dev);
        let selection = match which {
            Which::All => Selection::default(),
            Which::Slowest => table.slowest_of(&[id], stats::TAIL_SHARE).0,
        };
        Some((victim_name(e, &victim.task, victim.asked, on), selection))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::Io;

    fn task(name: &str, io: Io) -> Culprit {
        Culprit { name: Some(name.into()), io: Some(io), ..Culprit::of(CulpritKind::Task) }
    }

    fn victim(name: &str, because: &[(Culprit, u64)]) -> Victim {
        let because: Vec<_> = because.iter().map(|(c, ns)| (c.clone(), Nanos(*ns))).collect();
        let lost = because.iter().map(|(_, time)| *time).sum();
        let (task, time) = (name.into(), lost + Nanos(5));
        Victim { name: name.into(), task, dev: DevId(8), operations: 1, time, lost, because }
    }

    #[test]
    fn both_directions_sum_to_what_was_lost() {
        let (reads, writes) = (task("cp", Io::Read), task("cp", Io::BackgroundWrite));
        let own = Culprit { io: Some(Io::Read), ..Culprit::of(CulpritKind::Own) };
        let b = Blame::new(vec![
            victim("psql", &[(reads.clone(), 10), (own.clone(), 1)]),
            victim("redis", &[(writes.clone(), 30), (reads, 2), (Culprit::others(), 3)]),
        ]);
        assert_eq!(b.victims[0].name, "redis", "who lost most stands first");
        assert_eq!(b.lost, Nanos(46));
        assert_eq!(b.culprits.iter().map(|c| c.lost).sum::<Nanos>(), b.lost);
        let cp = &b.culprits[0];
        assert_eq!((culprit_name(&cp.culprit), cp.lost), ("cp".into(), Nanos(42)));
        assert_eq!(cp.by[0], (0, writes, Nanos(30)));
        let names: Vec<String> = b.culprits.iter().map(|c| culprit_name(&c.culprit)).collect();
        assert_eq!(names, ["cp", "others", "itself"]);
    }

    /// A recording of the block layer, and one of operations.
    #[test]
    fn recordings_sum_to_the_nanosecond() {
        for name in ["randread-vs-bufferedwrite", "fsync-ordered-data"] {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name);
            let e = crate::input::Input::recording(&path).unwrap().explain().unwrap();
            let sum = |stacks: BTreeMap<String, Nanos>| stacks.into_values().sum::<Nanos>();
            let table = Nanos(e.facts.waits.victims().map(|(.., sums)| sums.ns).sum());
            assert_eq!(sum(stacks(&e, Which::All)), table, "{name}");
            assert!(sum(stacks(&e, Which::Slowest)) < table, "{name}");
            let blame = Blame::of(&e);
            assert!(blame.lost.0 > 0, "{name}");
            for v in &blame.victims {
                assert_eq!(
                    v.because.iter().map(|(_, time)| *time).sum::<Nanos>(),
                    v.lost,
                    "{name}: {}",
                    v.name
                );
                assert!(v.lost <= v.time, "{name}: {}", v.name);
            }
            assert_eq!(blame.culprits.iter().map(|c| c.lost).sum::<Nanos>(), blame.lost, "{name}");
        }
    }
}
