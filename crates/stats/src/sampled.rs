//! The slowest operations of a group, kept in full: their accounts with the names of that time.

use crate::whose::Whose;
use ledger::Reason;
use life::{Class, Names};
use operation::{contenders, runners, Account, Done, History, Kind, Operation, Part};
use serde::Serialize;
use std::collections::BTreeMap;
use trace::{Bytes, Nanos, TextId, Tid};

/// Shortest device time for which interfering requests are looked up.
const WORTH_A_LOOK: Nanos = Nanos(500_000);

/// Requests of one task that the device served while it had a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interfering {
    /// The task that sent the requests.
    pub task: String,
    /// The class of the requests.
    pub class: Class,
    /// The number of requests.
    pub requests: u64,
    /// The bytes moved.
    pub bytes: Bytes,
}

/// A task that ran while another waited for the CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ran {
    /// The task that ran.
    pub task: String,
    /// Running time in nanoseconds.
    #[serde(rename = "ns")]
    pub time: Nanos,
}

/// A slow operation with everything needed to print it.
#[derive(Clone, Debug)]
pub struct SampledOperation {
    /// The operation.
    pub operation: Operation,
    /// Its account.
    pub account: Account,
    /// Name of its task at that time.
    pub task: String,
    /// Names of the tasks in the account.
    pub names: BTreeMap<Tid, String>,
    /// Functions and stacks in the account.
    pub texts: BTreeMap<TextId, String>,
    /// For parts in the device, by index in the account: what the device served in that time.
    pub met: BTreeMap<usize, Vec<Interfering>>,
    /// For waits for a CPU, by index in the account: which tasks had it.
    pub ran: BTreeMap<usize, Vec<Ran>>,
    /// For requests that one task sent for others, by index in the account: the owner of the data.
    pub writers: BTreeMap<usize, Whose>,
    /// Owners of the data: for writeback those that wrote the file, for a commit those that changed what it writes.
    pub whose: Option<String>,
}

impl SampledOperation {
    /// Samples an operation: looks up everything that will be forgotten.
    pub fn new(operation: Operation, account: Account, names: &Names, history: &History) -> SampledOperation {
        let mut sampled = SampledOperation {
            task: names.text(operation.task).to_string(),
            operation,
            account: Account::default(),
            names: BTreeMap::new(),
            texts: BTreeMap::new(),
            met: BTreeMap::new(),
            ran: BTreeMap::new(),
            writers: BTreeMap::new(),
            whose: whose(&operation, names, history),
        };
        let mut request = None;
        // Tasks around a part, by depth: the innermost one waits.
        let mut tasks = vec![(None, operation.tid)];
        for (at, node) in account.nodes.iter().enumerate() {
            while tasks.last().is_some_and(|(depth, _)| depth.is_some_and(|d| d >= node.depth)) {
                tasks.pop();
            }
            if let Part::Task(tid) | Part::Work { worker: tid, .. } = &node.part {
                tasks.push((Some(node.depth), *tid));
            }
            match &node.part {
                Part::Wait { stack: Some(id), .. } => sampled.text(*id, history),
                Part::Work { function, worker, queued } => {
                    sampled.text(*function, history);
                    sampled.name(*worker, names);
                    queued.iter().for_each(|q| sampled.name(q.by, names));
                }
                Part::Task(tid) => sampled.name(*tid, names),
                Part::Request(entry) => {
                    request = Some((node.depth, entry));
                    let (tid, task) = match &entry.done {
                        Done::Request(r) => (r.tid, r.task),
                        Done::Bio(b) => (b.tid, b.task),
                    };
                    sampled.names.entry(tid).or_insert_with(|| names.text(task).to_string());
                    let sent = entry.sent_for.as_ref().map(|sent| Whose::of(sent, names));
                    if let Some(whose) = sent.filter(|w| *w != Whose::Unknown) {
                        sampled.writers.insert(at, whose);
                    }
                }
                Part::Leaf(Reason::Device | Reason::Preflush | Reason::Postflush | Reason::FlushQueue)
                    if node.length() >= WORTH_A_LOOK =>
                {
                    let Some((_, entry)) = request.filter(|(depth, _)| *depth + 1 == node.depth) else {
                        continue;
                    };
                    let met = contenders(history, entry, node.from, node.to).into_iter().take(3).map(|c| {
                        Interfering {
                            task: names.text(c.task).to_string(),
                            class: c.class,
                            requests: c.requests,
                            bytes: c.bytes,
                        }
                    });
                    sampled.met.insert(at, met.collect());
                }
                Part::Leaf(Reason::WaitCpu) if node.length() >= WORTH_A_LOOK => {
                    let tid = tasks.last().map_or(operation.tid, |(_, tid)| *tid);
                    let ran = runners(history, tid, node.from, node.to).into_iter().take(3);
                    let named = |(tid, time)| Ran { task: names.text(names.of(tid)).to_string(), time };
                    sampled.ran.insert(at, ran.map(named).collect());
                }
                _ => {}
            }
        }
        for hop in &account.hops {
            sampled.name(hop.by, names);
            sampled.name(hop.who, names);
        }
        sampled.account = account;
        sampled
    }

    fn text(&mut self, id: TextId, history: &History) {
        self.texts.entry(id).or_insert_with(|| history.texts.text(id).to_string());
    }

    fn name(&mut self, tid: Tid, names: &Names) {
        self.names.entry(tid).or_insert_with(|| names.text(names.of(tid)).to_string());
    }
}

/// Owners of the data of a background operation.
fn whose(o: &Operation, names: &Names, history: &History) -> Option<String> {
    let tasks = match o.kind {
        Kind::Writeback => history.writers.of(o.dev, o.inode),
        Kind::JournalCommit => history.writers.committing(o.dev),
        _ => return None,
    };
    let mut tasks: Vec<&str> = tasks.iter().map(|t| names.text(*t)).collect();
    tasks.sort_unstable();
    Some(tasks.join(", ")).filter(|t| !t.is_empty())
}
