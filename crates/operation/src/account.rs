//! The account of an operation: a tree of parts that divides its time.
//!
//! Invariant: the parts within a part touch, never overlap, and cover it exactly; the leaves cover the whole
//! operation. Each leaf has one [`Reason`].
//!
//! ```text
//! depth 0  wait: the journal's commit                        10 ms
//!       1    task jbd2/sda1-8                                10 ms
//!       2      wait: other files' data first                  7 ms
//!       3        request W 1280 KiB                           7 ms
//!       4          leaf: in the device                        6 ms
//!       4          leaf: from completion to wake-up           1 ms
//!       2      leaf: on a processor                           3 ms
//! ```

use crate::served::Entry;
use crate::stretch::Wake;
use crate::wait::Wait;
use ledger::Reason;
use smallvec::SmallVec;
use trace::{CommitPhase, DevId, Nanos, TextId, Tid};

/// Kind of a part. All kinds but leaves contain parts.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// A part without parts, with its reason.
    Leaf(Reason),
    /// A sleep. The parts within show what ended it.
    Wait {
        /// What the sleep was for, by the rules for its stack.
        wait: Wait,
        /// The kernel's functions; `None` if no stack was recorded.
        stack: Option<TextId>,
    },
    /// A request. The parts within are the request's own ledger.
    Request(Box<Entry>),
    /// Another task that was waited for. The parts within are what that task did.
    Task(Tid),
    /// A work item. The parts within show how it came to run, and what it did.
    Work {
        /// The kernel function of the work item.
        function: TextId,
        /// The kworker that ran it.
        worker: Tid,
        /// What queued it; `None` if that was not seen.
        queued: Option<Wake>,
    },
    /// A phase of a journal's commit. The parts within are what the journal's thread did.
    Commit(CommitPhase),
}

/// A part of an operation's time.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// A leaf, or a part that contains others.
    pub part: Part,
    /// Number of parts that contain it; 0 at the top.
    pub depth: u8,
    /// Where it begins: at the end of the part before it.
    pub from: Nanos,
    /// Where it ends, later than `from`.
    pub to: Nanos,
}

impl Node {
    /// `to - from`.
    pub fn length(&self) -> Nanos {
        self.to.since(self.from)
    }
}

/// A wakeup of a task, or the queueing of a work item, within an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wakeup {
    /// Time of the wakeup, or of queueing the work item.
    pub at: Nanos,
    /// The waking task.
    pub by: Tid,
    /// Whether the wakeup came from an interrupt.
    pub interrupt: bool,
    /// The task that was woken, or the worker.
    pub who: Tid,
    /// Time from being woken (or queued) to running.
    pub latency: Nanos,
    /// Whether it ran on another CPU than the waking one.
    pub crossed: bool,
}

/// The set of waits that contain a leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Waits(pub u64);

impl Waits {
    /// Bit for a leaf within a work item. The bits below belong to waits.
    pub const WORK: u64 = 1 << 63;

    /// Whether the leaf lies within a work item.
    pub fn has_work(self) -> bool {
        self.0 & Waits::WORK != 0
    }

    /// The bits of a commit's phase: in that which writes file data first, all is a wait for other files' data, whatever delays it.
    pub fn of_commit(phase: CommitPhase) -> u64 {
        if phase == CommitPhase::Flushing {
            Wait::OrderedData.bit()
        } else {
            0
        }
    }

    /// Whether the leaf lies within this wait.
    pub fn has(self, wait: Wait) -> bool {
        self.0 & wait.bit() != 0
    }
}

/// Where the time of one operation went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    /// When the operation began.
    pub from: Nanos,
    /// When the operation ended.
    pub to: Nanos,
    /// The parts, each before the parts within it.
    pub nodes: Vec<Node>,
    /// Wakeups and queued work items, in the order in which the walk found them.
    pub hops: Vec<Wakeup>,
}

impl Account {
    /// An account without any explanation.
    pub(crate) fn unexplained(from: Nanos, to: Nanos) -> Account {
        let leaf = Node { part: Part::Leaf(Reason::Unexplained), depth: 0, from, to };
        let nodes = if from < to { vec![leaf] } else { Vec::new() };
        Account { from, to, nodes, hops: Vec::new() }
    }

    /// `to - from`: the sum of all leaves.
    pub fn total(&self) -> Nanos {
        self.to.since(self.from)
    }

    /// The leaves, in order of time.
    pub fn leaves(&self) -> impl Iterator<Item = (Reason, &Node)> {
        self.nodes.iter().filter_map(|n| match n.part {
            Part::Leaf(reason) => Some((reason, n)),
            _ => None,
        })
    }

    /// Calls `see` for each leaf, with the waits and the request that contain it.
    pub fn each(&self, mut see: impl FnMut(&Node, Reason, Waits, Option<&Entry>)) {
        let mut around: SmallVec<[(u8, Waits, Option<&Entry>); 16]> = SmallVec::new();
        for node in &self.nodes {
            while around.last().is_some_and(|(depth, ..)| *depth >= node.depth) {
                around.pop();
            }
            let (waits, request) = around.last().map_or((Waits(0), None), |(_, w, r)| (*w, *r));
            match &node.part {
                Part::Leaf(reason) => see(node, *reason, waits, request),
                Part::Wait { wait, .. } => around.push((node.depth, Waits(waits.0 | wait.bit()), request)),
                Part::Request(entry) => around.push((node.depth, waits, Some(entry))),
                Part::Work { .. } => around.push((node.depth, Waits(waits.0 | Waits::WORK), request)),
                Part::Commit(phase) => {
                    around.push((node.depth, Waits(waits.0 | Waits::of_commit(*phase)), request))
                }
                _ => around.push((node.depth, waits, request)),
            }
        }
    }

    /// Sum of the leaves with this reason.
    pub fn of(&self, reason: Reason) -> Nanos {
        self.leaves().filter(|(r, _)| *r == reason).map(|(_, n)| n.length()).sum()
    }

    /// The device that the operation's task itself waited for: the one whose requests have the most time. Within another task's
    /// part, only requests queued by the operation's task count, because a worker may end a read (btrfs).
    pub fn own_device(&self, task: Tid) -> Option<DevId> {
        let mut found: SmallVec<[(DevId, Nanos); 4]> = SmallVec::new();
        let (mut in_request, mut in_task) = (u8::MAX, u8::MAX);
        for node in self.nodes.iter() {
            if node.depth > in_request {
                continue;
            }
            in_request = u8::MAX;
            if node.depth <= in_task {
                in_task = u8::MAX;
            }
            match &node.part {
                Part::Request(entry) => {
                    in_request = node.depth;
                    if in_task != u8::MAX && entry.done.queuer() != task {
                        continue;
                    }
                    let dev = entry.done.dev();
                    match found.iter_mut().find(|(d, _)| *d == dev) {
                        Some((_, time)) => *time += node.length(),
                        None => found.push((dev, node.length())),
                    }
                }
                Part::Task(_) => in_task = in_task.min(node.depth),
                _ => {}
            }
        }
        found.into_iter().max_by_key(|(_, time)| *time).map(|(dev, _)| dev)
    }

    /// Describes an imbalance, for tests; `None` if the parts cover every part exactly.
    pub fn imbalance(&self) -> Option<String> {
        self.covers(0, 0, self.from, self.to).err()
    }

    /// Checks that the parts at `depth` from index `at` on cover `from` to `to`. Returns the index after them.
    fn covers(&self, mut at: usize, depth: u8, from: Nanos, to: Nanos) -> Result<usize, String> {
        let mut now = from;
        while let Some(node) = self.nodes.get(at).filter(|n| n.depth == depth) {
            if node.from != now || node.to <= node.from {
                return Err(format!("part {at} is {}..{}, expected from {}", node.from.0, node.to.0, now.0));
            }
            now = node.to;
            at = match node.part {
                Part::Leaf(_) => at + 1,
                _ => self.covers(at + 1, depth + 1, node.from, node.to)?,
            };
        }
        if now != to {
            return Err(format!("parts before {at} at depth {depth} end at {}, not {}", now.0, to.0));
        }
        Ok(at)
    }

    /// Number of wakeups of tasks that then ran on another CPU.
    pub fn crossings(&self) -> usize {
        self.hops.iter().filter(|h| h.crossed).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The journal's thread also waits for tags while it sends files' data, and for what its own blocks need.
    #[test]
    fn what_a_commit_does_while_flushing_is_a_wait_for_other_files_data() {
        let node = |part, depth, from, to| Node { part, depth, from: Nanos(from), to: Nanos(to) };
        let tag = Part::Wait { wait: Wait::Tag, stack: None };
        let nodes = vec![
            node(Part::Wait { wait: Wait::JournalCommit, stack: None }, 0, 0, 30),
            node(Part::Commit(CommitPhase::Flushing), 1, 0, 20),
            node(tag.clone(), 2, 0, 15),
            node(Part::Leaf(Reason::GetRequest), 3, 0, 15),
            node(Part::Leaf(Reason::WaitCpu), 2, 15, 20),
            node(Part::Commit(CommitPhase::Logging), 1, 20, 30),
            node(tag, 2, 20, 30),
            node(Part::Leaf(Reason::GetRequest), 3, 20, 30),
        ];
        let mut seen = vec![];
        let account = Account { from: Nanos(0), to: Nanos(30), nodes, hops: vec![] };
        account.each(|_, reason, waits, _| {
            seen.push((reason, waits.has(Wait::OrderedData), waits.has(Wait::Tag)))
        });
        let tagged = |ordered| (Reason::GetRequest, ordered, true);
        assert_eq!(seen, [tagged(true), (Reason::WaitCpu, true, false), tagged(false)]);
    }
}
