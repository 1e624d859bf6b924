//! What wakes tasks: a completion on the same CPU just before, another task, or the task that queued a work item. If
//! wakeups were not recorded, a task that slept uninterruptibly is assumed to have waited for the last completion of
//! what it sent itself.

use crate::history::History;
use crate::stretch::{State, Wake, Work};
use rustc_hash::FxHashMap;
use trace::{Context, Cpu, Left, Nanos, TaskEvent, TextId, Tid};

/// Longest time between a completion and a wakeup that belongs to it. Both are on the same CPU, with the same task
/// running or interrupted, which has not left the CPU in between. Completions of a whole batch take microseconds each;
/// a softirq may run for 2 ms (`MAX_SOFTIRQ_TIME`).
const SAME_TURN: Nanos = Nanos(2_000_000);

/// Largest number of queued work items remembered.
const MAX_QUEUED: usize = 1 << 16;

/// Largest number of tasks whose last completion is remembered.
const MAX_SENDERS: usize = 1 << 16;

/// The last completion on a CPU.
#[derive(Clone, Copy, Debug)]
struct Completion {
    time: Nanos,
    tid: Tid,
    /// Its number in [`Served`](crate::Served).
    number: u64,
}

/// What may wake a task next.
#[derive(Debug, Default)]
pub(crate) struct Wakers {
    completions: FxHashMap<Cpu, Completion>,
    /// Queued work items, by address.
    queued: FxHashMap<u64, Wake>,
    /// Whether wakeups are recorded. A sleeping task is woken before it runs again, so the first sleep shows it.
    are_recorded: bool,
    /// Until a wakeup is seen: the last completion of what each task sent, which may have woken it.
    own: FxHashMap<Tid, Wake>,
}

impl Wakers {
    /// A request that `sender` sent was completed on a CPU where task `tid` ran or was interrupted.
    pub fn completed(&mut self, cpu: Cpu, tid: Tid, time: Nanos, number: u64, sender: Tid) {
        self.completions.insert(cpu, Completion { time, tid, number });
        if !self.are_recorded && (self.own.len() < MAX_SENDERS || self.own.contains_key(&sender)) {
            let wake = Wake { time, by: tid, context: Context(Context::HARD), cpu, served: Some(number) };
            self.own.insert(sender, wake);
        }
    }

    /// A wakeup is recorded: returns it with its completion.
    pub fn wakes(&mut self, e: &TaskEvent) -> Wake {
        if !self.are_recorded {
            (self.are_recorded, self.own) = (true, FxHashMap::default());
        }
        self.wake(e)
    }

    /// What may have woken a task that fell asleep at `asleep`, if wakeups are not recorded.
    pub fn unrecorded(&self, tid: Tid, asleep: Nanos) -> Option<Wake> {
        self.own.get(&tid).filter(|wake| wake.time >= asleep).copied()
    }

    /// A processor goes from one task to another.
    pub fn switch(&mut self, h: &mut History, e: &TaskEvent, left: Left, next: Tid) {
        h.sees_switches = true;
        self.left(e.cpu, e.tid);
        if let Some(thread) = h.thread_mut(e.tid) {
            let state = if left == Left::Preempted { State::Preempted } else { State::Asleep(left) };
            thread.becomes(e.time, state, e.cpu);
        }
        if let Some(thread) = h.thread_mut(next) {
            let asleep = thread.asleep_in_io();
            if let Some(wake) = asleep.and_then(|from| self.unrecorded(next, from)) {
                thread.woken(wake);
            }
            thread.runs(e.time, e.cpu);
        }
    }

    /// A task leaves a CPU: what it does after its return does not belong to that completion.
    pub fn left(&mut self, cpu: Cpu, tid: Tid) {
        if self.completions.get(&cpu).is_some_and(|c| c.tid == tid) {
            self.completions.remove(&cpu);
        }
    }

    /// An event as a wakeup, with the completion that it belongs to.
    pub fn wake(&self, e: &TaskEvent) -> Wake {
        let same = |c: &&Completion| c.tid == e.tid && e.time.since(c.time) <= SAME_TURN && c.time <= e.time;
        let served = self.completions.get(&e.cpu).filter(same).map(|c| c.number);
        Wake { time: e.time, by: e.tid, context: e.context, cpu: e.cpu, served }
    }

    /// A work item is queued.
    pub fn queue(&mut self, item: u64, e: &TaskEvent) {
        if self.queued.len() >= MAX_QUEUED {
            self.queued.clear();
        }
        let wake = self.wake(e);
        self.queued.insert(item, wake);
    }

    /// A worker takes a work item out of its queue.
    pub fn start(&mut self, item: u64, function: TextId, from: Nanos) -> Work {
        Work { from, to: None, function, queued: self.queued.remove(&item) }
    }
}
