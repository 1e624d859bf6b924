//! Names of tasks over time. A thread can be renamed, and a thread id can be reused.

use crate::apart::Apart;
use crate::bearers::Bearers;
use crate::holding::{Holding, Io};
use crate::jobs::Jobs;
use crate::task_name::TaskName;
use device::Holder;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use trace::{is_kernel_thread, is_supervisor, starts_all_kinds, works_in_ring_of, Tid};

/// All names seen, and the current name of each task.
#[derive(Debug)]
pub struct Names {
    texts: Vec<String>,
    numbers: FxHashMap<String, TaskName>,
    jobs: Jobs,
    apart: Apart,
    /// Processes declared as supervisors of others, whatever their names are.
    supervisors: FxHashSet<Tid>,
    bearers: Bearers,
    now: FxHashMap<Tid, TaskName>,
    /// Threads that work for another task's io_uring, with that task. They get that task's name.
    in_rings: FxHashMap<Tid, Tid>,
    /// Pairs of names that one task had one after the other, the smaller number first.
    kin: FxHashSet<(TaskName, TaskName)>,
    holdings: Vec<Holding>,
    holders: FxHashMap<Holding, Holder>,
    /// The most recent holder for each kind of I/O.
    recent: [Option<(Holding, Holder)>; Io::COUNT],
}

/// Names and holders added since a [`NamesSeen`], in the order of their numbers.
#[derive(Debug, Default)]
pub struct News {
    texts: Vec<String>,
    holdings: Vec<Holding>,
}

/// How many names and holders a reader in another thread already has.
#[derive(Clone, Copy, Debug, Default)]
pub struct NamesSeen {
    texts: usize,
    holdings: usize,
}

impl News {
    /// Whether it contains no names and no holders.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.holdings.is_empty()
    }

    /// Appends newer names and holders.
    pub fn add(&mut self, mut newer: News) {
        self.texts.append(&mut newer.texts);
        self.holdings.append(&mut newer.holdings);
    }
}

impl Default for Names {
    fn default() -> Names {
        let mut n = Names {
            texts: vec![],
            numbers: FxHashMap::default(),
            jobs: Jobs::default(),
            apart: Apart::default(),
            supervisors: FxHashSet::default(),
            bearers: Bearers::default(),
            now: FxHashMap::default(),
            in_rings: FxHashMap::default(),
            kin: FxHashSet::default(),
            holdings: vec![Holding::default()],
            holders: FxHashMap::default(),
            recent: [None; Io::COUNT],
        };
        n.number("?");
        n.number("swapper");
        n
    }
}

impl Names {
    /// Largest length of a name. The kernel's names have at most 15 bytes (`TASK_COMM_LEN`); longer ones come from elsewhere.
    const MAX_BYTES: usize = 64;
    /// The idle task (`swapper`). Number 0 is `?`, a name that was never seen.
    const IDLE: TaskName = TaskName(1);
    /// Largest number of different names. More are garbage, or too many to read.
    const MAX_NAMES: usize = 1 << 16;

    /// Largest number of io_uring workers followed at once: every renaming looks through them.
    const MAX_IN_RINGS: usize = 1 << 10;

    /// Largest number of holders (tasks by kind of I/O) that devices distinguish.
    const MAX_HOLDERS: usize = 1 << 15;

    /// Sets the name of `tid` from now on.
    pub fn rename(&mut self, tid: Tid, name: &[u8]) {
        let mut name = String::from_utf8_lossy(&name[..name.len().min(Self::MAX_BYTES)]);
        // Control characters would move the cursor or begin a line in a terminal.
        if name.contains(char::is_control) {
            name = name.replace(char::is_control, "?").into();
        }
        let owner = works_in_ring_of(&name);
        let number = match owner.and_then(|owner| self.now.get(&owner)) {
            Some(owners) if *owners > Self::IDLE => *owners,
            _ => self.number_of(tid, &name),
        };
        if self.now.len() < Self::MAX_NAMES || self.now.contains_key(&tid) {
            match owner {
                Some(owner) if self.in_rings.len() < Self::MAX_IN_RINGS => self.in_rings.insert(tid, owner),
                Some(_) => None,
                None => self.in_rings.remove(&tid),
            };
            let workers = self.in_rings.iter().filter(|(_, owner)| **owner == tid);
            for (worker, _) in workers {
                self.now.insert(*worker, number);
            }
            let before = self.now.insert(tid, number);
            self.bearers.has_now(tid, before, number);
            if let Some(before) = before {
                self.becomes(before, number);
            }
        }
    }

    /// `parent` created `tid`, a thread of its own process or a new process. The job of `tid` follows from that.
    pub fn born(&mut self, parent: Tid, tid: Tid, is_thread: bool) {
        self.supervisors.remove(&tid);
        self.jobs.born(parent, tid, is_thread);
        self.apart.born(parent, tid, is_thread);
        // A new task keeps its parent's name until it takes another. Its name may have been recorded before its creation.
        if let Some(known) = self.now.get(&tid).filter(|name| **name > Self::IDLE) {
            let (known, name) = (*known, self.text(self.first(*known)));
            let process = self.apart.number(tid).map_or(String::new(), |number| format!(":{}", number.0));
            let name = name.strip_suffix(&process).unwrap_or(name).to_string();
            // Releases the number that the task has now: it is free if no other task has it.
            self.bearers.ends(tid, known);
            let number = self.number_of(tid, &name);
            self.bearers.has_now(tid, Some(known), number);
            self.now.insert(tid, number);
        }
    }

    /// Gives each of these processes a name of its own, whatever its job. Items are (thread, process).
    pub fn tell_apart(&mut self, threads: impl Iterator<Item = (Tid, Tid)>) {
        self.apart.processes(threads);
    }

    /// Gives each of these threads a name of its own; with `all`, also each task that one of them creates.
    pub fn tell_threads_apart(&mut self, threads: impl Iterator<Item = Tid>, all: bool) {
        self.apart.threads(threads, all);
    }

    /// Declares these processes supervisors: they start services, containers, scheduled jobs or logins, whatever their names are.
    pub fn supervise(&mut self, processes: &[Tid]) {
        self.supervisors.extend(processes);
    }

    fn becomes(&mut self, before: TaskName, name: TaskName) {
        let [before, name] = [before, name].map(|name| self.first(name));
        let known = before != name && before > Self::IDLE && name > Self::IDLE;
        let starts_all = |name| starts_all_kinds(self.text(name));
        if known && !starts_all(before) && !starts_all(name) && self.kin.len() < Self::MAX_NAMES {
            self.kin.insert((before.min(name), before.max(name)));
        }
    }

    /// Whether tasks of these names belong to one job: the names are equal, or some task had both, one after the other (a forked process has its
    /// parent's name until execve(2)), and the two are not known to be different jobs. Shells link no names.
    pub fn is_one_job(&self, a: TaskName, b: TaskName) -> bool {
        if a == b {
            return true;
        }
        let [first_a, first_b] = [a, b].map(|name| self.first(name));
        let is_kin = || self.kin.contains(&(first_a.min(first_b), first_a.max(first_b)));
        first_a != first_b && is_kin() && !self.began_apart(a, b)
    }

    fn began_apart(&self, a: TaskName, b: TaskName) -> bool {
        matches!([a, b].map(|name| self.bearers.job(name)), [Some(a), Some(b)] if a != b)
    }

    /// The number of the first job with the same name.
    fn first(&self, name: TaskName) -> TaskName {
        self.bearers.first(name)
    }

    /// Notes that a task has exited.
    pub fn gone(&mut self, tid: Tid) {
        self.bearers.ends(tid, self.of(tid));
    }

    /// The current name of `tid`. Thread 0 is the idle task of every CPU.
    pub fn of(&self, tid: Tid) -> TaskName {
        match self.now.get(&tid) {
            Some(name) => *name,
            None if tid == Tid(0) => Self::IDLE,
            None => TaskName(0),
        }
    }

    /// The task whose io_uring this thread works for, if it is an io_uring worker.
    pub fn ring_of(&self, tid: Tid) -> Option<Tid> {
        self.in_rings.get(&tid).copied()
    }

    /// Number of threads that have each name now.
    pub fn threads(&self) -> BTreeMap<String, u64> {
        let mut all = BTreeMap::<String, u64>::new();
        for name in self.now.values() {
            *all.entry(self.text(*name).to_string()).or_default() += 1;
        }
        all
    }

    /// The text of a name; `?` if it was never seen.
    pub fn text(&self, name: TaskName) -> &str {
        self.texts.get(name.0 as usize).map_or("?", String::as_str)
    }

    /// The number under which devices know a holder of requests. It is 0 once there are too many holders.
    #[inline]
    pub fn holder(&mut self, holding: Holding) -> Holder {
        match self.recent[holding.io as usize] {
            Some((recent, holder)) if recent == holding => holder,
            _ => self.other_holder(holding),
        }
    }

    fn other_holder(&mut self, holding: Holding) -> Holder {
        let holder = match self.holders.get(&holding) {
            Some(known) => *known,
            None if self.holdings.len() > Self::MAX_HOLDERS => Holder(0),
            None => {
                let new = Holder(self.holdings.len() as u16);
                self.holdings.push(holding);
                self.holders.insert(holding, new);
                new
            }
        };
        self.recent[holding.io as usize] = Some((holding, holder));
        holder
    }

    /// The holder with this number; `None` for number 0, which stands for all others.
    pub fn holding(&self, holder: Holder) -> Option<&Holding> {
        self.holdings.get(holder.0 as usize).filter(|_| holder.0 > 0)
    }

    /// Returns the names and holders that are newer than `heard`, and updates `heard`.
    pub fn news(&self, heard: &mut NamesSeen) -> News {
        let news = News {
            texts: self.texts.get(heard.texts..).unwrap_or_default().to_vec(),
            holdings: self.holdings.get(heard.holdings..).unwrap_or_default().to_vec(),
        };
        *heard = NamesSeen { texts: self.texts.len(), holdings: self.holdings.len() };
        news
    }

    /// An empty set of names, to be filled by [`Names::hear`].
    pub fn of_news() -> Names {
        Names { texts: vec![], holdings: vec![], ..Names::default() }
    }

    /// Appends news. It does not include which task has which name now.
    pub fn hear(&mut self, news: &mut News) {
        self.texts.append(&mut news.texts);
        self.holdings.append(&mut news.holdings);
    }

    /// The number of the task's name. If several jobs have that name, it is the one of the task's job.
    fn number_of(&mut self, tid: Tid, name: &str) -> TaskName {
        let first = self.number(name);
        if first <= Self::IDLE || is_supervisor(name) || is_kernel_thread(name) {
            return first;
        }
        if let Some(number) = self.apart.number(tid) {
            return self.number(&format!("{name}:{}", number.0));
        }
        let supervises =
            |parent| is_supervisor(self.text(self.of(parent))) || self.supervisors.contains(&parent);
        let job = self.jobs.of(tid, supervises);
        let new = TaskName(self.texts.len() as u32);
        let number =
            self.bearers.number(first, job, Some(new).filter(|_| self.texts.len() < Self::MAX_NAMES));
        if number == new {
            self.texts.push(format!("{name}:{}", self.jobs.process(tid).0));
        }
        number
    }

    fn number(&mut self, name: &str) -> TaskName {
        if let Some(known) = self.numbers.get(name) {
            return *known;
        }
        if self.texts.len() >= Self::MAX_NAMES {
            return TaskName(0);
        }
        let number = TaskName(self.texts.len() as u32);
        self.texts.push(name.to_string());
        self.numbers.insert(name.to_string(), number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_starts_a_program_belongs_to_its_job() {
        let mut names = Names::default();
        for (tid, name) in
            [(1, "bash"), (2, "bash"), (2, "find"), (3, "find"), (3, "cat"), (4, "bash"), (4, "dd")]
        {
            names.rename(Tid(tid), name.as_bytes());
        }
        let [find, cat, dd] = [2, 3, 4].map(|tid| names.of(Tid(tid)));
        assert!(names.is_one_job(find, cat) && names.is_one_job(cat, find));
        assert!(!names.is_one_job(cat, dd) && !names.is_one_job(find, dd), "started by the same shell");
        let bash = names.of(Tid(1));
        assert!(!names.is_one_job(bash, dd), "it may be another shell");
    }

    #[test]
    fn what_cron_starts_twice_is_two_jobs_and_what_one_starts_itself_is_it() {
        let mut names = Names::default();
        let (cron, other) = (10, 99);
        for (tid, name) in [(cron, "cron"), (other, "dd"), (20, "postgres")] {
            names.rename(Tid(tid), name.as_bytes());
        }
        let made = [(cron, 11), (11, 12), (11, 13), (cron, 15), (15, 16), (1, 20), (20, 21)];
        made.into_iter().for_each(|(parent, tid)| names.born(Tid(parent), Tid(tid), false));
        for (tid, name) in [(11, "sh"), (12, "dd"), (13, "dd"), (15, "sh"), (16, "dd"), (21, "postgres")] {
            names.rename(Tid(tid), name.as_bytes());
        }
        let is_one = |a, b| names.is_one_job(names.of(Tid(a)), names.of(Tid(b)));
        assert!(is_one(20, 21) && is_one(12, 13));
        assert!(!is_one(12, 16) && !is_one(16, 12));
        assert!(!is_one(12, other), "that one was there before");
        let text = |tid| names.text(names.of(Tid(tid)));
        assert_eq!([other, 12, 13, 16, 21].map(text), ["dd", "dd:12", "dd:12", "dd:16", "postgres"]);
    }

    #[test]
    fn a_process_that_is_told_apart_has_a_name_of_its_own_with_its_threads() {
        let mut names = Names::default();
        let told = [(7, 7), (8, 7)].map(|(thread, process)| (Tid(thread), Tid(process)));
        names.tell_apart(told.into_iter());
        names.born(Tid(7), Tid(9), true);
        names.born(Tid(7), Tid(10), false);
        for tid in [6, 7, 8, 9, 10] {
            names.rename(Tid(tid), b"postgres");
        }
        let text = |tid| names.text(names.of(Tid(tid)));
        let own = "postgres:7";
        assert_eq!([6, 7, 8, 9, 10].map(text), ["postgres", own, own, own, "postgres"]);
        names.tell_threads_apart([Tid(8), Tid(10)].into_iter(), true);
        names.rename(Tid(11), b"postgres");
        names.rename(Tid(8), b"walwriter");
        // After its name was told.
        names.born(Tid(10), Tid(11), true);
        let text = |tid| names.text(names.of(Tid(tid)));
        assert_eq!([7, 8, 11].map(text), [own, "walwriter:8", "postgres:11"]);
    }

    #[test]
    fn a_worker_in_a_ring_bears_the_name_of_who_asks() {
        let mut names = Names::default();
        names.rename(Tid(812), b"postgres");
        for (tid, name) in
            [(900, "iou-wrk-812"), (901, "iou-sqp-812"), (902, "iou-wrk-7"), (903, "iou-wrk-x")]
        {
            names.rename(Tid(tid), name.as_bytes());
        }
        names.rename(Tid(812), b"postgres");
        let text = |tid| names.text(names.of(Tid(tid)));
        assert_eq!([900, 901, 902, 903].map(text), ["postgres", "postgres", "iou-wrk-7", "iou-wrk-x"]);
        let of = |tid| names.ring_of(Tid(tid)).map(|tid| tid.0);
        assert_eq!([812, 900, 901, 902, 903].map(of), [None, Some(812), Some(812), Some(7), None]);
        names.rename(Tid(900), b"dd");
        assert!(names.ring_of(Tid(900)).is_none() && names.text(names.of(Tid(900))) == "dd");
    }

    #[test]
    fn a_name_that_was_unknown_is_no_parents() {
        let mut names = Names::default();
        for name in ["?", "dd"] {
            names.rename(Tid(1), name.as_bytes());
        }
        assert!(!names.is_one_job(names.of(Tid(7)), names.of(Tid(1))));
    }
}
