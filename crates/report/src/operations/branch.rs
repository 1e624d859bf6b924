//! An operation's account as a tree that can be folded: equal parts become one, with their count and their sum.
//!
//! Invariant: the parts of a branch sum to its time, to the nanosecond, before and after folding.

use ledger::Reason;
use life::{Class, Op};
use operation::{Done, Node, Part, Wait};
use stats::{Interfering, Ran, SampledOperation, Whose};
use std::collections::BTreeSet;
use trace::{Bytes, CommitPhase, DevId, Nanos, Sector, Tid};

/// One or several similar requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Their device.
    pub dev: DevId,
    /// Their operation.
    pub op: Op,
    /// The class they compete in.
    pub class: Class,
    /// The first sector; of several requests, the lowest one.
    pub start: Sector,
    /// The size of the smallest and of the largest request.
    pub each: (Bytes, Bytes),
    /// The sum of their sizes.
    pub bytes: Bytes,
    /// The name of the task that queued them.
    pub task: String,
    /// The number (tid) of that task; of several requests, of the first one.
    pub tid: Tid,
    /// The tasks whose data they wrote; empty if unknown.
    pub writers: BTreeSet<String>,
    /// The control groups whose data they wrote, if no task is known.
    pub groups: BTreeSet<u64>,
}

/// The kind of a branch.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A reason, without parts.
    Leaf(Reason),
    /// A sleep of a task.
    Wait {
        /// The kind of wait.
        wait: Wait,
        /// The kernel function that shows the kind of wait; empty without a stack.
        function: String,
    },
    /// Requests that were waited for.
    Request(Asked),
    /// Another task that was waited for.
    Task {
        /// Its thread number.
        tid: Tid,
        /// Its name; `?` if unknown.
        name: String,
    },
    /// A work item.
    Work {
        /// The function that it runs.
        function: String,
        /// The name of the worker that runs it.
        worker: String,
        /// The task that queued it, or `an interrupt`; `None` if that was not recorded.
        queuer: Option<String>,
    },
    /// A phase of a journal's commit.
    Commit(CommitPhase),
    /// Parts too short for lines of their own; its branches are their leaves, joined by reason.
    Rest,
}

/// A part of an operation's time, or several similar parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The kind of the part.
    pub what: What,
    /// Number of parts that it stands for.
    pub count: u64,
    /// The start of the first of them.
    pub from: Nanos,
    /// The sum of their lengths.
    pub time: Nanos,
    /// The shortest and the longest length.
    pub each: (Nanos, Nanos),
    /// I/O that the device completed meanwhile.
    pub met: Vec<Interfering>,
    /// Tasks that ran on the processor meanwhile.
    pub ran: Vec<Ran>,
    /// The parts within it; they sum to `time`.
    pub parts: Vec<Branch>,
}

impl Branch {
    /// The tree of an operation's account.
    pub fn all(sampled: &SampledOperation) -> Vec<Branch> {
        let mut at = 0;
        below(sampled, &mut at, 0)
    }

    fn new(what: What, from: Nanos, time: Nanos) -> Branch {
        Branch {
            what,
            count: 1,
            from,
            time,
            each: (time, time),
            met: Vec::new(),
            ran: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// Joins parts too short for lines of their own into one; a single reason becomes a leaf.
    pub fn rest(short: Vec<Branch>) -> Branch {
        let from = short.iter().map(|b| b.from).min().unwrap_or_default();
        let mut rest = Branch::new(What::Rest, from, short.iter().map(|b| b.time).sum());
        rest.count = short.iter().map(|b| b.count).sum();
        for branch in short {
            branch.leaves(&mut |reason, leaf| {
                let mut part = Branch::new(What::Leaf(reason), leaf.from, leaf.time);
                part.count = leaf.count;
                match rest.parts.iter_mut().find(|p| p.what == part.what) {
                    Some(same) => same.join(part),
                    None => rest.parts.push(part),
                }
            });
        }
        rest.parts.sort_by_key(|p| std::cmp::Reverse(p.time));
        match rest.parts.len() {
            1 => rest.parts.remove(0),
            _ => rest,
        }
    }

    /// Calls `see` for each leaf.
    fn leaves(&self, see: &mut impl FnMut(Reason, &Branch)) {
        match self.what {
            What::Leaf(reason) => see(reason, self),
            _ => self.parts.iter().for_each(|p| p.leaves(see)),
        }
    }

    /// Whether two parts can be joined because their lines would begin with the same words.
    pub fn is_like(&self, other: &Branch) -> bool {
        match (&self.what, &other.what) {
            (What::Request(a), What::Request(b)) => {
                (a.dev, a.op, a.class, &a.task) == (b.dev, b.op, b.class, &b.task)
            }
            (a, b) => a == b,
        }
    }

    /// Joins another, similar branch to this one.
    pub fn join(&mut self, other: Branch) {
        self.count += other.count;
        self.time += other.time;
        self.from = self.from.min(other.from);
        self.each = (self.each.0.min(other.each.0), self.each.1.max(other.each.1));
        self.parts.extend(other.parts);
        for met in other.met {
            match self.met.iter_mut().find(|m| m.task == met.task && m.class == met.class) {
                Some(same) => {
                    same.requests += met.requests;
                    same.bytes += met.bytes;
                }
                None => self.met.push(met),
            }
        }
        for ran in other.ran {
            match self.ran.iter_mut().find(|r| r.task == ran.task) {
                Some(same) => same.time += ran.time,
                None => self.ran.push(ran),
            }
        }
        if let (What::Request(mine), What::Request(theirs)) = (&mut self.what, other.what) {
            mine.start = mine.start.min(theirs.start);
            mine.each = (mine.each.0.min(theirs.each.0), mine.each.1.max(theirs.each.1));
            mine.bytes += theirs.bytes;
            mine.writers.extend(theirs.writers);
            mine.groups.extend(theirs.groups);
        }
    }
}

/// The nodes from `at` on that are at least as deep as `depth`, as a tree.
fn below(sampled: &SampledOperation, at: &mut usize, depth: u8) -> Vec<Branch> {
    let mut all = Vec::new();
    while let Some(node) = sampled.account.nodes.get(*at).filter(|n| n.depth >= depth) {
        let place = *at;
        *at += 1;
        let mut branch = Branch::new(what(sampled, place, node), node.from, node.length());
        branch.met = sampled.met.get(&place).cloned().unwrap_or_default();
        branch.ran = sampled.ran.get(&place).cloned().unwrap_or_default();
        branch.parts = below(sampled, at, node.depth + 1);
        all.push(branch);
    }
    all
}

fn what(sampled: &SampledOperation, place: usize, node: &Node) -> What {
    let name = |tid: &Tid| sampled.names.get(tid).cloned().unwrap_or_else(|| "?".into());
    let text = |id| sampled.texts.get(id).map_or("", String::as_str);
    match &node.part {
        Part::Leaf(reason) => What::Leaf(*reason),
        Part::Wait { wait, stack } => {
            let stack = stack.as_ref().map_or("", text);
            What::Wait { wait: *wait, function: Wait::function_of(stack).to_string() }
        }
        Part::Request(entry) => {
            let (op, class, tid) = match &entry.done {
                Done::Request(r) => (r.op, r.class(), r.tid),
                Done::Bio(b) => (b.op, b.class(), b.tid),
            };
            let bytes = entry.done.bytes();
            let (mut writers, mut groups) = (BTreeSet::new(), BTreeSet::new());
            match sampled.writers.get(&place) {
                Some(Whose::Tasks(tasks)) => writers.extend(tasks.split(", ").map(str::to_string)),
                Some(Whose::Probably(task)) => writers.extend([format!("probably {task}")]),
                Some(Whose::Group(group)) => groups.extend([*group]),
                _ => {}
            }
            What::Request(Asked {
                dev: entry.done.dev(),
                op,
                class,
                start: entry.done.start(),
                each: (bytes, bytes),
                bytes,
                task: name(&tid),
                tid,
                writers,
                groups,
            })
        }
        Part::Task(tid) => What::Task { tid: *tid, name: name(tid) },
        Part::Work { function, worker, queued } => {
            let queuer = queued.map(|q| match q.context.is_interrupt() {
                true => "an interrupt".to_string(),
                false => name(&q.by),
            });
            What::Work { function: text(function).to_string(), worker: name(worker), queuer }
        }
        Part::Commit(phase) => What::Commit(*phase),
    }
}
