//! The filter: selects the waits that are asked about by device, mount, task, process, control group, operation, file.
//!
//! A [`Scope`] stands between [`Follow`](crate::Follow) and its observers, so every view obeys the same filter. It narrows
//! which tasks are *asked about*, never what happened: a device is still busy with all requests. Those outside the filter are
//! passed on as [`IoObserver::request_beside`] and [`IoObserver::bio_beside`], for accounting of a device.

use crate::account::{Account, Part};
use crate::asking::{Asking, By};
use crate::history::History;
use crate::observer::{Observer, OperationObserver, Outside};
use crate::occurred::{Level, NotThere, Occurred};
use crate::op_names::names_of;
use crate::operation::Operation;
use crate::writers::SentFor;
use life::{Bio, BioNumber, ByClass, IoObserver, Names, Plug, Remapped, Request, Share};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};
use trace::{program, Bytes, DevId, Nanos, Tid};

/// Names of devices, processes and files of a recording, from what lies beside it.
pub trait Called: Send {
    /// All names of a device.
    fn device(&self, dev: DevId) -> Vec<String>;
    /// Mount points of file systems on the device.
    fn mounts(&self, dev: DevId) -> Vec<String>;
    /// The process of a thread; `None` if not known.
    fn process(&self, tid: Tid) -> Option<Tid>;
    /// The control group that a process was in when recording began.
    fn cgroup(&self, process: Tid) -> Option<String>;
    /// The path of an operation's file; `None` if not known.
    fn file(&self, o: &Operation) -> Option<String>;
}

/// Largest number of names listed in a message.
const MOST_LISTED: usize = 20;
/// Largest number of tasks whose control group is remembered.
const MOST_TASKS: usize = 1 << 16;
/// Largest number of names remembered for each criterion.
const MOST_SEEN: usize = 1000;

/// A question, and the names met so far. Clones share what they met.
#[derive(Clone)]
pub struct Scope {
    asking: Asking,
    state: Arc<Mutex<State>>,
}

struct State {
    called: Box<dyn Called>,
    devices: FxHashMap<DevId, [bool; 2]>,
    /// Control groups of tasks that were created or moved during the recording.
    cgroups: FxHashMap<Tid, String>,
    /// For each [`By`]: names met; and (`met`) whether a wanted one was among them.
    seen: [BTreeSet<String>; By::ALL.len()],
    met: [bool; By::ALL.len()],
    /// Whether anything matched all criteria together.
    matched: bool,
    /// What matched all criteria but the kind of operation; empty if no kind is asked for.
    occurred: Occurred,
}

impl Scope {
    /// The filter for a question; `None` if it is about everything.
    pub fn of(asking: Asking, called: Box<dyn Called>) -> Option<Scope> {
        let (devices, cgroups, seen, met, matched, occurred) = Default::default();
        let state = State { called, devices, cgroups, seen, met, matched, occurred };
        (!asking.is_all()).then(|| Scope { asking, state: Arc::new(Mutex::new(state)) })
    }

    /// The question.
    pub fn asking(&self) -> &Asking {
        &self.asking
    }

    /// Whether a device is shown: all are, unless devices or mounts are asked for.
    pub fn shows_device(&self, dev: DevId) -> bool {
        self.lock().is_on(&self.asking, &[dev])
    }

    /// Whether anything matched; if not, what the recording has instead. A kind of operation that did not occur is no
    /// error, because kinds are known words, not names that may be misspelt.
    pub fn check(&self) -> Result<(), NotThere> {
        let state = self.lock();
        if state.matched {
            return Ok(());
        }
        for by in By::ALL {
            let wanted = self.asking.of(by);
            if wanted.is_empty() || state.met[by as usize] {
                continue;
            }
            if by == By::Op {
                return Ok(());
            }
            let what = format!("no {} is called {}", by.words(), wanted.join(" or "));
            return Err(NotThere { what, there: listed(by, &state.seen[by as usize]) });
        }
        let all = By::ALL.into_iter().filter(|by| !self.asking.of(*by).is_empty());
        let all: Vec<String> =
            all.map(|by| format!("{} {}", by.words(), self.asking.of(by).join(" or "))).collect();
        let what = format!("nothing in this recording matches {} together", all.join(", "));
        Err(NotThere { what, there: "each of them alone matches; use fewer".into() })
    }

    /// The kinds of operations that occurred, if none of a wanted kind did.
    pub fn no_such_operation(&self) -> Option<NotThere> {
        let (wanted, state) = (self.asking.of(By::Op), self.lock());
        let none = !wanted.is_empty() && !state.met[By::Op as usize];
        none.then(|| state.occurred.instead_of(wanted))
    }

    /// A task was created, or moved to another control group.
    pub(crate) fn is_in(&self, tid: Tid, group: Option<&str>) {
        if self.asking.of(By::Cgroup).is_empty() {
            return;
        }
        let mut state = self.lock();
        if state.cgroups.len() < MOST_TASKS || state.cgroups.contains_key(&tid) {
            // The number may have been another task's. If the group is not known, the task is in none that was asked for.
            state.cgroups.insert(tid, group.unwrap_or_default().to_string());
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Whether an operation matches the question.
    fn operation(&self, o: &Operation, account: &Account, names: &Names) -> bool {
        let asked = |by| !self.asking.of(by).is_empty();
        let mut state = self.lock();
        let mut devices = vec![];
        if asked(By::Device) || asked(By::Mount) {
            devices.extend(Some(o.dev).filter(|dev| *dev != DevId(0)));
            for node in &account.nodes {
                match &node.part {
                    Part::Request(entry) if !devices.contains(&entry.done.dev()) => {
                        devices.push(entry.done.dev())
                    }
                    _ => {}
                }
            }
        }
        let mut holds = state.is_on(&self.asking, &devices);
        holds &= state.is_of_task(&self.asking, names.text(o.task), o.tid, o.process);
        if asked(By::File) {
            let path = state.called.file(o);
            holds &= state.is(&self.asking, By::File, || path.into_iter().collect());
        }
        // What has not ended is not in the numbers of other views either.
        if asked(By::Op) && holds && o.still_out.is_none() {
            state.occurred.add(Level::Operation, o.kind.plural());
        }
        holds &= state.is(&self.asking, By::Op, || names_of(o.kind));
        state.matched |= holds;
        holds
    }

    /// Whether a request or bio matches the question. Files are known for operations only.
    fn block(&self, level: Level, dev: DevId, op: life::Op, (task, tid): (&str, Tid)) -> bool {
        let mut state = self.lock();
        let mut holds = state.is_on(&self.asking, &[dev]);
        holds &= state.is_of_task(&self.asking, task, tid, None);
        holds &= self.asking.of(By::File).is_empty();
        if holds && !self.asking.of(By::Op).is_empty() {
            state.occurred.add(level, op.name());
        }
        holds &= state.is(&self.asking, By::Op, || vec![op.name().into()]);
        state.matched |= holds;
        holds
    }
}

impl State {
    /// Whether one of the names is wanted. The first name is remembered.
    fn is(&mut self, asking: &Asking, by: By, names: impl FnOnce() -> Vec<String>) -> bool {
        if asking.of(by).is_empty() {
            return true;
        }
        let names = names();
        let found = asking.wants(by, &names);
        let seen = &mut self.seen[by as usize];
        if seen.len() < MOST_SEEN {
            seen.extend(names.into_iter().take(1));
        }
        self.met[by as usize] |= found;
        found
    }

    fn is_of_task(&mut self, asking: &Asking, task: &str, tid: Tid, process: Option<Tid>) -> bool {
        let mut holds = self.is(asking, By::Task, || vec![task.into(), program(task).into()]);
        if asking.of(By::Pid).is_empty() && asking.of(By::Cgroup).is_empty() {
            return holds;
        }
        let process = process.or_else(|| self.called.process(tid)).unwrap_or(tid);
        let met = self.cgroups.get(&process).or_else(|| self.cgroups.get(&tid)).cloned();
        let group = match met {
            Some(group) => Some(group).filter(|group| !group.is_empty()),
            None => self.called.cgroup(process),
        };
        holds &= self.is(asking, By::Pid, || vec![process.0.to_string(), tid.0.to_string()]);
        holds & self.is(asking, By::Cgroup, || group.into_iter().collect())
    }

    /// Whether one of the devices is wanted, and one of the mounts on them.
    fn is_on(&mut self, asking: &Asking, devices: &[DevId]) -> bool {
        if asking.of(By::Device).is_empty() && asking.of(By::Mount).is_empty() {
            return true;
        }
        let mut holds = [false; 2];
        for dev in devices {
            let of = match self.devices.get(dev) {
                Some(known) => *known,
                None => {
                    let (names, mounts) = (self.called.device(*dev), self.called.mounts(*dev));
                    let of = [self.is(asking, By::Device, || names), self.is(asking, By::Mount, || mounts)];
                    self.devices.insert(*dev, of);
                    of
                }
            };
            (holds[0], holds[1]) = (holds[0] | of[0], holds[1] | of[1]);
        }
        holds == [true; 2]
    }
}

fn listed(by: By, seen: &BTreeSet<String>) -> String {
    // A user who names a file that was opened and closed in between needs to know why it is missing.
    let known = if by == By::File {
        "; files are known that were open when the recording began or ended"
    } else {
        ""
    };
    let some: Vec<&str> = seen.iter().take(MOST_LISTED).map(String::as_str).collect();
    match seen.len().saturating_sub(MOST_LISTED) {
        _ if seen.is_empty() => by.untold().into(),
        0 => format!("recorded: {}{known}", some.join(", ")),
        more => format!("recorded: {} and {more} more{known}", some.join(", ")),
    }
}

/// Passes to an observer what the filter selects.
pub(crate) struct Scoped<'a> {
    pub scope: &'a Scope,
    pub to: &'a mut dyn Observer,
}

impl IoObserver for Scoped<'_> {
    fn shares(&self) -> bool {
        self.to.shares()
    }

    fn issued(&mut self, dev: DevId, now: Nanos, shares: &[Share]) {
        self.to.issued(dev, now, shares);
    }

    fn carried(&mut self, request: &Request, shares: &[Share], names: &Names) {
        self.to.carried(request, shares, names);
    }

    fn remapped(&mut self, child: &Remapped, names: &Names) {
        self.to.remapped(child, names);
    }

    fn request(&mut self, r: &Request, names: &Names) {
        match self.scope.block(Level::Request, r.dev, r.op, (names.text(r.task), r.tid)) {
            true => self.to.request(r, names),
            false => self.to.request_beside(r, names),
        }
    }

    fn bio(&mut self, b: &Bio, names: &Names) {
        match self.scope.block(Level::Bio, b.dev, b.op, (names.text(b.task), b.tid)) {
            true => self.to.bio(b, names),
            false => self.to.bio_beside(b, names),
        }
    }

    fn adopted(&mut self, child: BioNumber, parent: BioNumber) {
        self.to.adopted(child, parent);
    }

    fn plug(&mut self, plug: &Plug, names: &Names) {
        self.to.plug(plug, names);
    }

    fn in_flight(&mut self, dev: DevId, now: Nanos, in_flight: &ByClass<u32>) {
        self.to.in_flight(dev, now, in_flight);
    }
}

impl OperationObserver for Scoped<'_> {
    fn operation(&mut self, o: &Operation, account: Account, names: &Names, history: &History) {
        if o.is_storage && self.scope.operation(o, &account, names) {
            self.to.operation(o, account, names, history);
        }
    }

    fn sent_for(&mut self, request: &Request, sent: &SentFor, bytes: Bytes, names: &Names) {
        self.to.sent_for(request, sent, bytes, names);
    }

    fn outside(&mut self, outside: &Outside) {
        self.to.outside(outside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::Op;

    struct Names1;

    impl Called for Names1 {
        fn device(&self, dev: DevId) -> Vec<String> {
            vec![if dev == DevId(1) { "sda" } else { "sdb" }.into(), format!("8:{}", dev.0)]
        }
        fn mounts(&self, dev: DevId) -> Vec<String> {
            if dev == DevId(1) {
                vec!["/data".into()]
            } else {
                vec![]
            }
        }
        fn process(&self, tid: Tid) -> Option<Tid> {
            (tid == Tid(11)).then_some(Tid(10))
        }
        fn cgroup(&self, process: Tid) -> Option<String> {
            (process == Tid(10)).then(|| "/db.slice".into())
        }
        fn file(&self, _: &Operation) -> Option<String> {
            None
        }
    }

    fn scope(wanted: &[(By, &str)]) -> Scope {
        let asking = wanted
            .iter()
            .fold(Asking::default(), |asking, (by, value)| asking.any_of(*by, &[value.to_string()]));
        Scope::of(asking, Box::new(Names1)).expect("a question")
    }

    #[test]
    fn all_that_is_asked_for_must_hold_and_any_name_of_it_does() {
        let on = |s: &Scope, dev| s.block(Level::Request, DevId(dev), Op::Read, ("postgres", Tid(11)));
        let s = scope(&[(By::Device, "8:1"), (By::Task, "postgres")]);
        assert!(on(&s, 1) && !on(&s, 2) && s.check().is_ok());
        assert!(s.shows_device(DevId(1)) && !s.shows_device(DevId(2)));
        assert!(on(&scope(&[(By::Mount, "/data"), (By::Op, "read")]), 1));
        assert!(on(&scope(&[(By::Pid, "10"), (By::Cgroup, "/db.slice")]), 2));
        assert!(on(&scope(&[(By::Task, "fio"), (By::Task, "postgres")]), 2), "any of one kind");
        assert!(Scope::of(Asking::default(), Box::new(Names1)).is_none());
    }

    /// A read of postgres on sda, and a write of fio on sdb.
    fn both(s: &Scope) {
        s.block(Level::Request, DevId(1), Op::Read, ("postgres", Tid(11)));
        s.block(Level::Request, DevId(2), Op::Write, ("fio", Tid(5)));
    }

    #[test]
    fn of_kinds_that_did_not_occur_those_are_told_that_did_in_what_is_asked_about() {
        let told = |wanted: &[(By, &str)]| {
            let s = scope(wanted);
            both(&s);
            s.no_such_operation().map(|none| none.there)
        };
        assert_eq!(told(&[(By::Op, "flush")]).as_deref(), Some("there are requests: read (1), write (1)"));
        let of_fio = told(&[(By::Op, "flush"), (By::Task, "fio")]);
        assert_eq!(of_fio.as_deref(), Some("there are requests: write (1)"));
        assert_eq!(told(&[(By::Op, "flush"), (By::Op, "read")]), None);
        assert_eq!(told(&[(By::Task, "fio")]), None);
    }

    #[test]
    fn what_matches_nothing_lists_what_there_is() {
        let ask = |wanted: &[(By, &str)]| {
            let s = scope(wanted);
            both(&s);
            s.check().expect_err("nothing")
        };
        let nobody = ask(&[(By::Task, "redis")]);
        assert_eq!((&*nobody.what, &*nobody.there), ("no task is called redis", "recorded: fio, postgres"));
        assert_eq!(ask(&[(By::Device, "sdz")]).there, "recorded: sda, sdb");
        assert!(ask(&[(By::File, "/x")]).there.starts_with("no paths of files"));
        let apart = ask(&[(By::Task, "fio"), (By::Device, "sda")]);
        assert_eq!(apart.what, "nothing in this recording matches device sda, task fio together");
    }
}
