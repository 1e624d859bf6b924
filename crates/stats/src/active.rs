//! The time in which processes did operations under one name.

use std::collections::BTreeMap;
use trace::{Nanos, Tid};

/// Time from a process's first operation to the end of its last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Active {
    pub from: Nanos,
    pub to: Nanos,
}

impl Active {
    /// Time in which both were active.
    fn together(&self, other: &Active) -> Nanos {
        self.to.min(other.to).since(self.from.max(other.from))
    }

    /// Whether both were active together for more than half of the other's time.
    fn overlaps(&self, other: &Active) -> bool {
        2 * self.together(other).0 > other.to.since(other.from).0
    }
}

/// The processes active together with the longest active one, which is first; empty if there is only one.
pub(crate) fn at_once(all: &BTreeMap<Tid, Active>) -> Vec<Tid> {
    let Some((longest, active)) = all.iter().max_by_key(|(_, active)| active.to.since(active.from)) else {
        return vec![];
    };
    let beside = all.iter().filter(|(process, other)| *process != longest && active.overlaps(other));
    let beside: Vec<Tid> = beside.map(|(process, _)| *process).collect();
    let first = (!beside.is_empty()).then_some(*longest);
    first.into_iter().chain(beside).collect()
}

/// Time in which at least one process was active.
pub(crate) fn in_all(all: &BTreeMap<Tid, Active>) -> Nanos {
    let mut spans: Vec<&Active> = all.values().collect();
    spans.sort_by_key(|span| span.from);
    let mut until = Nanos(0);
    let each = spans.into_iter().map(|span| {
        let more = span.to.since(span.from.max(until));
        until = until.max(span.to);
        more
    });
    each.sum()
}

/// A process that did operations under both names at the same time, so the names are of its threads. A name that it
/// had before execve(2) is not at the same time.
pub(crate) fn in_both(all: &BTreeMap<Tid, Active>, others: &BTreeMap<Tid, Active>) -> Option<Tid> {
    let together = |process: &Tid| Some(all.get(process)?.together(others.get(process)?));
    all.keys().copied().find(|process| together(process) > Some(Nanos(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn active(spans: &[(u32, u64, u64)]) -> BTreeMap<Tid, Active> {
        let of = |&(tid, from, to)| (Tid(tid), Active { from: Nanos(from), to: Nanos(to) });
        spans.iter().map(of).collect()
    }

    /// Programs that a loop starts one after the other are one job; two that run at the same time are not known to be.
    #[test]
    fn processes_at_once_are_told_from_those_in_turn() {
        let of = |spans: &[(u32, u64, u64)]| {
            at_once(&active(spans)).into_iter().map(|tid| tid.0).collect::<Vec<_>>()
        };
        assert!(of(&[(1, 0, 10), (2, 10, 21), (3, 21, 30)]).is_empty());
        assert_eq!(of(&[(1, 0, 10), (2, 0, 90), (3, 80, 101), (4, 80, 99)]), [2, 1, 4]);
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn threads_of_a_process_are_told_from_what_it_was_called_before() {
        let of = |one, other| in_both(&active(&[one]), &active(&[other]));
        assert_eq!(of((7, 0, 50), (7, 40, 90)), Some(Tid(7)));
        assert_eq!(of((7, 0, 50), (7, 50, 90)), None, "it became another program");
        assert_eq!(of((7, 0, 50), (8, 0, 50)), None);
    }

    #[test]
    fn time_with_a_process_counts_once() {
        assert_eq!(in_all(&active(&[(1, 0, 50), (2, 10, 40), (3, 40, 60), (4, 100, 110)])), Nanos(70));
        assert_eq!(in_all(&active(&[])), Nanos(0));
    }
}
