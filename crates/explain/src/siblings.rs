//! Processes of one name of which one is in the way of the others: a backend that builds an index beside backends that commit, a copy
//! beside a reader in one script. They are told apart; those that are in each other's way alike are one.
//!
//! It is learned of a recording's beginning, of requests alone: how long those of one process were in the device behind those of
//! another. Requests that a process has in flight together are waited for together, so what they lost counts once: else who keeps 32 in
//! flight would lose as much to who keeps one as that one to it.

use life::{Names, Request, Sink, TaskName};
use std::collections::BTreeMap;
use trace::{program_and_process, Nanos, Tid};

/// Processes that are told apart while it is learned; a pool has a hundred.
const MOST: usize = 1024;

/// Pairs of them that are remembered.
const MOST_PAIRS: usize = 1 << 14;

/// Less than this part of what requests took is not worth a name of its own. A choice without a source, as the next two.
const WORTH: f64 = 0.1;

/// It costs so many times what it loses: of two that do the same each costs what it loses, but for chance.
const APART: f64 = 2.0;

/// Of all that processes of its name lost to one another, the part that one has to cost: in a pool of many alike none does.
const CAUSES: f64 = 0.25;

/// So many requests have to have waited for it: of fewer, which may never have been alone, it is not known what they take by themselves.
const MANY: u64 = 100;

/// What was learned so far.
#[derive(Default)]
pub(crate) struct Siblings {
    /// The process that a name stands for.
    known: BTreeMap<TaskName, Option<usize>>,
    all: Vec<Sibling>,
    /// Who lost how much to whom, and how often.
    lost: BTreeMap<(usize, usize), (Nanos, u64)>,
}

/// A process with requests.
struct Sibling {
    name: Box<str>,
    process: Tid,
    first: Nanos,
    last: Nanos,
    /// All that its requests were in the device.
    time: Nanos,
}

impl Sibling {
    /// How many of its requests were in flight at a time; at least one.
    fn depth(&self) -> f64 {
        (self.time.0 as f64 / self.last.since(self.first).0.max(1) as f64).max(1.0)
    }
}

impl Siblings {
    /// Whether two processes of one name have requests: only then there is something to learn.
    pub fn are_there(&self) -> bool {
        let sent = || self.all.iter().enumerate().filter(|(_, s)| s.time > Nanos(0));
        sent().any(|(at, one)| sent().any(|(other, s)| other < at && s.name == one.name))
    }

    /// Those that are told apart.
    pub fn apart(&self) -> Vec<Tid> {
        let mut cost = vec![0.0; self.all.len()];
        let mut lost = cost.clone();
        let mut often = vec![0; self.all.len()];
        for ((victim, culprit), (time, times)) in &self.lost {
            let by_the_clock = time.0 as f64 / self.all[*victim].depth();
            cost[*culprit] += by_the_clock;
            lost[*victim] += by_the_clock;
            often[*culprit] += times;
        }
        let of_name = |name: &str, of: &dyn Fn(usize) -> f64| -> f64 {
            self.all.iter().enumerate().filter(|(_, s)| *s.name == *name).map(|(at, _)| of(at)).sum()
        };
        let is_apart = |(at, s): &(usize, &Sibling)| {
            let all = of_name(&s.name, &|other| lost[other]);
            let took = of_name(&s.name, &|other| self.all[other].time.0 as f64 / self.all[other].depth());
            let is_in_the_way = cost[*at] > APART * lost[*at] && cost[*at] > CAUSES * all;
            is_in_the_way && often[*at] >= MANY && all > WORTH * took
        };
        let mut told: Vec<Tid> =
            self.all.iter().enumerate().filter(is_apart).map(|(_, s)| s.process).collect();
        told.sort_unstable();
        told
    }

    /// The process that a name stands for, if it is known.
    fn of(&mut self, task: TaskName, names: &Names) -> Option<usize> {
        if let Some(known) = self.known.get(&task) {
            return *known;
        }
        let (name, process) = program_and_process(names.text(task));
        let new = self.all.len();
        let number = process.filter(|_| new < MOST).map(|process| {
            let (first, last, time) = (Nanos(u64::MAX), Nanos(0), Nanos(0));
            self.all.push(Sibling { name: name.into(), process, first, last, time });
            new
        });
        self.known.insert(task, number);
        number
    }
}

impl Sink for Siblings {
    fn request(&mut self, r: &Request, names: &Names) {
        let Some(victim) = self.of(r.task, names) else { return };
        let own = &mut self.all[victim];
        let (from, to) = (r.time.issued.unwrap_or(r.time.completed), r.time.completed);
        (own.first, own.last) = (own.first.min(from), own.last.max(to));
        own.time += to.since(from);
        let flushes = [r.time.preflush, r.time.postflush].into_iter().flatten();
        let flushes = flushes.flat_map(|flush| [flush.queued, flush.behind, flush.second]);
        for behind in flushes.chain(r.company.split.behind).filter(|b| b.time > Nanos(0)) {
            let Some(culprit) = names.holding(behind.holder).and_then(|h| self.of(h.task, names)) else {
                continue;
            };
            let is_sibling = culprit != victim && self.all[culprit].name == self.all[victim].name;
            let pair = (victim, culprit);
            if is_sibling && (self.lost.len() < MOST_PAIRS || self.lost.contains_key(&pair)) {
                let (time, times) = self.lost.entry(pair).or_default();
                *time += behind.time;
                *times += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Processes 1 to 3 of one name, each so often and so long in the device, `pairs`: who lost how much to whom.
    fn apart(times: [u64; 3], pairs: &[(usize, usize, u64)]) -> Vec<u32> {
        let sibling = |(at, time): (usize, &u64)| Sibling {
            name: "postgres".into(),
            process: Tid(at as u32 + 1),
            first: Nanos(0),
            last: Nanos(1000),
            time: Nanos(*time),
        };
        let all = times.iter().enumerate().map(sibling).collect();
        let lost =
            pairs.iter().map(|(victim, culprit, time)| ((*victim, *culprit), (Nanos(*time), MANY))).collect();
        Siblings { known: BTreeMap::new(), all, lost }.apart().iter().map(|tid| tid.0).collect()
    }

    #[test]
    fn who_is_in_the_others_way_and_they_hardly_in_its_is_told_apart() {
        assert_eq!(apart([800, 900, 900], &[(1, 0, 500), (2, 0, 400), (0, 1, 100), (1, 2, 50)]), [1]);
        // Alike.
        assert_eq!(apart([800, 900, 900], &[(1, 0, 300), (0, 1, 250), (2, 0, 240), (0, 2, 200)]), [0; 0]);
        // Noise.
        assert_eq!(apart([800, 900, 900], &[(1, 0, 50)]), [0; 0]);
    }

    /// 32 in flight lose as much to one as that to them, but not by the clock.
    #[test]
    fn what_is_in_flight_together_is_waited_for_together() {
        assert_eq!(apart([32_000, 1000, 0], &[(0, 1, 900), (1, 0, 900)]), [1]);
    }
}
