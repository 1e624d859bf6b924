//! Decides which processes of one name, and which threads of one process, are distinguished: those that delay the others. Examples: a
//! backend that builds an index beside backends that commit, a copy beside a reader in one script, the connection that dumps. Tasks that
//! delay each other equally stay one. If no single task delays the others, but several similar ones delay one task, that one is distinguished.
//!
//! It is learned from the beginning of a recording, from requests alone: how long the requests of one thread were in the device behind those
//! of another. A task waits for all requests that it has in flight at the same time, so their lost time counts once. Otherwise a task with 32
//! requests in flight would lose as much to a task with one as that one to it.

mod family;

use family::{Family, Lost, Sent, Thread};
use life::{IoObserver, Names, Request, TaskName};
use std::collections::{BTreeMap, BTreeSet};
use trace::{program_and_process, Nanos, Tid};

/// Maximal number of threads that are tracked while learning; a pool has a hundred.
const MOST: usize = 1 << 12;

/// Maximal number of threads whose process is remembered.
const MOST_BORN: usize = 1 << 17;

/// Maximal number of pairs of threads with lost time.
const MOST_PAIRS: usize = 1 << 14;

/// What was learned so far, by thread.
#[derive(Default)]
pub(crate) struct Siblings {
    /// The process of each thread.
    processes: BTreeMap<Tid, Tid>,
    /// The index in `all` of the thread with this name; `None` if the name has no thread number or there was no room.
    known: BTreeMap<TaskName, Option<usize>>,
    all: Vec<Thread>,
    /// Whether two threads of the same name had requests.
    several: bool,
    /// Time lost by and to threads: for requests with a known latency alone, and for others.
    lost: Lost,
}

/// The tasks to distinguish from others of the same name.
#[derive(Default)]
pub(crate) struct Apart {
    /// Processes, sorted.
    pub processes: Vec<Tid>,
    /// Threads of other processes.
    pub threads: Vec<Tid>,
}

impl Siblings {
    /// `processes`: pairs of a thread and its process.
    pub fn new(processes: &[(Tid, Tid)]) -> Siblings {
        Siblings { processes: processes.iter().copied().collect(), ..Siblings::default() }
    }

    /// `parent` created `tid`.
    pub fn born(&mut self, parent: Tid, tid: Tid, is_thread: bool) {
        let process = self.processes.get(&parent).copied().filter(|_| is_thread);
        if self.processes.len() < MOST_BORN || self.processes.contains_key(&tid) {
            self.processes.insert(tid, process.unwrap_or(tid));
        }
    }

    /// Whether two threads of the same name had requests: otherwise there is nothing to learn.
    pub fn are_there(&mut self) -> bool {
        self.several = self.several || !self.names().is_empty();
        self.several
    }

    /// Names that several threads with requests have.
    fn names(&self) -> BTreeSet<&str> {
        let (mut one, mut several) = (BTreeSet::new(), BTreeSet::new());
        for thread in self.all.iter().filter(|thread| thread.sent.time > Nanos(0)) {
            if !one.insert(&*thread.name) {
                several.insert(&*thread.name);
            }
        }
        several
    }

    /// The processes to distinguish by name, and the threads of processes that are not.
    pub fn apart(&self) -> Apart {
        let mut told = Apart::default();
        for name in self.names() {
            let named = |thread: &Thread| *thread.name == *name;
            let processes = Family::of(&self.all, &self.lost, |t| named(t).then_some(t.process));
            told.processes.extend(processes.apart());
            let of_name = || self.all.iter().filter(|thread| named(thread));
            let has_threads = |process: &Tid| of_name().filter(|t| t.process == *process).nth(1).is_some();
            for process in processes.number.into_iter().filter(has_threads) {
                let of_process = |t: &Thread| (named(t) && t.process == process).then_some(t.tid);
                told.threads.extend(Family::of(&self.all, &self.lost, of_process).apart());
            }
        }
        told.processes.sort_unstable();
        told.processes.dedup();
        let of_told =
            |tid: &Tid| self.processes.get(tid).is_some_and(|p| told.processes.binary_search(p).is_ok());
        told.threads.retain(|tid| !of_told(tid));
        told
    }

    /// The index of the thread with a name, if its number is known and there is room.
    fn of(&mut self, task: TaskName, names: &Names) -> Option<usize> {
        if let Some(known) = self.known.get(&task) {
            return *known;
        }
        let (name, tid) = program_and_process(names.text(task));
        let new = self.all.len();
        let number = tid.filter(|_| new < MOST).map(|tid| {
            let process = self.processes.get(&tid).copied().unwrap_or(tid);
            self.all.push(Thread { name: name.into(), tid, process, sent: Sent::NONE });
            new
        });
        self.known.insert(task, number);
        number
    }
}

impl IoObserver for Siblings {
    fn request(&mut self, r: &Request, names: &Names) {
        let Some(victim) = self.of(r.task, names) else { return };
        let own = &mut self.all[victim];
        let (from, to) = (r.time.issued.unwrap_or(r.time.completed), r.time.completed);
        own.sent.add(&Sent { first: from, last: to, time: to.since(from) });
        let flushes = [r.time.preflush, r.time.postflush].into_iter().flatten();
        let flushes = flushes.flat_map(|flush| [flush.queued, flush.behind, flush.second]);
        for behind in flushes.chain(r.contention.split.behind).filter(|b| b.time > Nanos(0)) {
            let Some(culprit) = names.holding(behind.holder).and_then(|h| self.of(h.task, names)) else {
                continue;
            };
            let is_sibling = culprit != victim && self.all[culprit].name == self.all[victim].name;
            let pair = (victim, culprit);
            let lost = &mut self.lost[usize::from(!r.contention.split.known)];
            if is_sibling && (lost.len() < MOST_PAIRS || lost.contains_key(&pair)) {
                let waits = lost.entry(pair).or_default();
                waits.time += behind.time;
                waits.count += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::family::{Waits, MANY};
    use super::*;

    fn thread(tid: u32, process: u32, time: u64) -> Thread {
        let sent = Sent { first: Nanos(0), last: Nanos(1000), time: Nanos(time) };
        Thread { name: "postgres".into(), tid: Tid(tid), process: Tid(process), sent }
    }

    /// Processes 1 to 3 of one name with these times in the device. `pairs`: (victim, culprit, lost time), each in `waits` waits.
    fn apart_of(waits: u64, is_known: bool, times: [u64; 3], pairs: &[(usize, usize, u64)]) -> Vec<u32> {
        let all = (1..).zip(times).map(|(process, time)| thread(process, process, time)).collect();
        let of = |(victim, culprit, time): &(usize, usize, u64)| {
            ((*victim, *culprit), Waits { time: Nanos(*time), count: waits })
        };
        let mut lost = Lost::default();
        lost[usize::from(!is_known)] = pairs.iter().map(of).collect();
        learned(all, lost).apart().processes.iter().map(|tid| tid.0).collect()
    }

    fn learned(all: Vec<Thread>, lost: Lost) -> Siblings {
        let processes = all.iter().map(|thread| (thread.tid, thread.process)).collect();
        Siblings { processes, all, lost, ..Siblings::default() }
    }

    fn apart(times: [u64; 3], pairs: &[(usize, usize, u64)]) -> Vec<u32> {
        apart_of(MANY, false, times, pairs)
    }

    /// A process costs the other 95 of 100, and loses 5 or 40 to it.
    #[test]
    fn the_fewer_the_waits_the_more_one_sided_they_have_to_be() {
        let of = |waits, back| apart_of(waits, true, [200, 200, 0], &[(1, 0, 95), (0, 1, back)]);
        assert_eq!((of(5, 5), of(4, 5)), (vec![1], vec![]));
        assert_eq!((of(200, 40), of(90, 40)), (vec![1], vec![]));
        assert_eq!(apart_of(90, false, [200, 200, 0], &[(1, 0, 95), (0, 1, 5)]), [0; 0]);
    }

    #[test]
    fn who_is_in_the_others_way_and_they_hardly_in_its_is_told_apart() {
        assert_eq!(apart([800, 900, 900], &[(1, 0, 500), (2, 0, 400), (0, 1, 100), (1, 2, 50)]), [1]);
        // Equal.
        assert_eq!(apart([800, 900, 900], &[(1, 0, 300), (0, 1, 250), (2, 0, 240), (0, 2, 200)]), [0; 0]);
        // Noise.
        assert_eq!(apart([800, 900, 900], &[(1, 0, 50)]), [0; 0]);
    }

    /// Two writers that are alike and one reader: neither writer delays the other, both delay the reader.
    #[test]
    fn who_several_alike_are_in_the_way_of_is_told_apart() {
        let writers = [(0, 1, 300), (1, 0, 300)];
        let of = |to_reader: u64, from_reader: u64| {
            let reader = [(2, 0, to_reader), (2, 1, to_reader), (0, 2, from_reader), (1, 2, from_reader)];
            apart([900; 3], &[writers, [reader[0], reader[1]], [reader[2], reader[3]]].concat())
        };
        assert_eq!(of(200, 40), [3]);
        assert_eq!((of(200, 110), of(90, 5)), (vec![], vec![]));
    }

    /// 32 in flight lose as much to one as it loses to them, but not by the clock.
    #[test]
    fn what_is_in_flight_together_is_waited_for_together() {
        assert_eq!(apart([32_000, 1000, 0], &[(0, 1, 900), (1, 0, 900)]), [1]);
    }

    /// Each threshold has to be exceeded: 2 times its own loss, 1/4 of all losses, 1/10 of the requests' time.
    #[test]
    fn who_costs_no_more_than_is_allowed_is_not_told_apart() {
        let times = [1000; 3];
        assert_eq!(apart(times, &[(1, 0, 200), (0, 1, 100), (2, 0, 200)]), [1]);
        assert_eq!(apart(times, &[(1, 0, 400), (0, 1, 200)]), [0; 0]);
        assert_eq!(apart(times, &[(1, 0, 101), (2, 1, 149), (1, 2, 150)]), [1]);
        assert_eq!(apart(times, &[(1, 0, 100), (2, 1, 150), (1, 2, 150)]), [0; 0]);
        assert_eq!(apart(times, &[(1, 0, 301)]), [1]);
        assert_eq!(apart(times, &[(1, 0, 300)]), [0; 0]);
    }

    #[test]
    fn there_is_something_to_learn_where_two_of_one_name_have_requests() {
        let are_there = |all: &[(&str, u64)]| {
            let of = |(tid, (name, time)): (u32, &(&str, u64))| Thread {
                name: (*name).into(),
                ..thread(tid, tid, *time)
            };
            let all = (1..).zip(all).map(of).collect();
            Siblings { all, ..Siblings::default() }.are_there()
        };
        assert!(are_there(&[("postgres", 5), ("tar", 5), ("postgres", 5)]));
        assert!(!are_there(&[("postgres", 5), ("tar", 5), ("postgres", 0)]), "it was only waited for");
        assert!(!are_there(&[("postgres", 5)]) && !are_there(&[]));
    }

    #[test]
    fn depth_is_how_many_were_in_flight_at_a_time_and_at_least_one() {
        assert_eq!(thread(1, 1, 32_000).sent.depth(), 32.0);
        assert_eq!(thread(1, 1, 500).sent.depth(), 1.0);
    }

    /// Of threads 1 to 3, one costs the others 600 of 700; all belong to one process, or two of them do.
    #[test]
    fn a_thread_is_told_from_those_of_its_process() {
        let of = |processes: [u32; 3]| {
            let all = (1..).zip(processes).map(|(tid, process)| thread(tid, process, 900)).collect();
            let lost = [(1, 0, 300), (2, 0, 300), (0, 1, 50), (1, 2, 50)];
            let waits = |time| Waits { time: Nanos(time), count: MANY };
            let lost = lost.map(|(victim, culprit, time)| ((victim, culprit), waits(time)));
            let told = learned(all, [BTreeMap::new(), lost.into_iter().collect()]).apart();
            (told.processes, told.threads)
        };
        assert_eq!(of([1, 1, 1]), (vec![], vec![Tid(1)]));
        assert_eq!(of([1, 2, 3]), (vec![Tid(1)], vec![]));
        assert_eq!(of([7, 7, 8]), (vec![Tid(7)], vec![]), "what its threads do to each other is its own");
    }
}
