//! What wakes tasks: a completion on the same processor just before, another task, or the task that queued a work
//! item. Where wakeups were not recorded, a task that slept uninterruptibly is taken to have waited for the last completion of what it
//! sent itself.

use crate::stretch::{Wake, Work};
use rustc_hash::FxHashMap;
use trace::{Context, Cpu, Nanos, TaskEvent, TextId, Tid};

/// A wake-up belongs to a completion on the same processor if the same task was interrupted, or completed it itself, has not left
/// the processor since, and no more time passed. Completions of a whole batch take microseconds each; a softirq may run for 2 ms
/// (`MAX_SOFTIRQ_TIME`).
const SAME_TURN: Nanos = Nanos(2_000_000);

/// Work items that wait in queues and are remembered at most.
const MAX_QUEUED: usize = 1 << 16;

/// Tasks whose last completion is remembered at most.
const MAX_SENDERS: usize = 1 << 16;

/// The last completion on a processor.
#[derive(Clone, Copy, Debug)]
struct Completion {
    time: Nanos,
    tid: Tid,
    /// In [`Served`](crate::Served).
    number: u64,
}

/// What may wake a task next.
#[derive(Debug, Default)]
pub(crate) struct Wakers {
    completions: FxHashMap<Cpu, Completion>,
    /// Work items in queues, by the address of the item.
    queued: FxHashMap<u64, Wake>,
    /// Whether wakeups are recorded: who sleeps is woken before it runs again, so the first sleep shows it.
    are_recorded: bool,
    /// Until a wakeup is seen: the last completion of what each task sent, as what may have woken it.
    own: FxHashMap<Tid, Wake>,
}

impl Wakers {
    /// A request that `sender` sent was completed on a processor, where a task ran or was interrupted.
    pub fn completed(&mut self, cpu: Cpu, tid: Tid, time: Nanos, number: u64, sender: Tid) {
        self.completions.insert(cpu, Completion { time, tid, number });
        if !self.are_recorded && (self.own.len() < MAX_SENDERS || self.own.contains_key(&sender)) {
            let wake = Wake { time, by: tid, context: Context(Context::HARD), cpu, served: Some(number) };
            self.own.insert(sender, wake);
        }
    }

    /// A wakeup is recorded.
    pub fn wakes(&mut self, e: &TaskEvent) -> Wake {
        if !self.are_recorded {
            (self.are_recorded, self.own) = (true, FxHashMap::default());
        }
        self.wake(e)
    }

    /// What may have woken a task that fell asleep at a moment, where wakeups are not recorded.
    pub fn unrecorded(&self, tid: Tid, asleep: Nanos) -> Option<Wake> {
        self.own.get(&tid).filter(|wake| wake.time >= asleep).copied()
    }

    /// A task leaves a processor: what it does when it is back is not the end of that completion.
    pub fn left(&mut self, cpu: Cpu, tid: Tid) {
        if self.completions.get(&cpu).is_some_and(|c| c.tid == tid) {
            self.completions.remove(&cpu);
        }
    }

    /// The event as a wakeup, with the completion that it belongs to.
    pub fn wake(&self, e: &TaskEvent) -> Wake {
        let same = |c: &&Completion| c.tid == e.tid && e.time.since(c.time) <= SAME_TURN && c.time <= e.time;
        let served = self.completions.get(&e.cpu).filter(same).map(|c| c.number);
        Wake { time: e.time, by: e.tid, context: e.context, cpu: e.cpu, served }
    }

    /// A work item is put into a queue.
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
