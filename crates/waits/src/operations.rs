//! Converts an operation's account to rows: each leaf with the chain of waits around it and its culprit.
//!
//! A leaf in the device is split like the device's time. Time that another task spent is charged to that task; time of a kernel thread
//! is charged to the task whose data it processed.

use crate::chain::{ChainId, FunctionId, Link};
use crate::culprit::{Culprit, CulpritId, CulpritKind};
use crate::links::{request_link, FLUSH};
use crate::parts::Parts;
use crate::phase::Phase;
use crate::table::{Table, Waiting};
use crate::victim::VictimId;
use crate::victim::{Asked, Victim};
use crate::who::{flush_of, runner, By};
use device::{Behind, Holder};
use ledger::Reason;
use life::{Contention, Holding, Io, Names, Op, TaskName};
use operation::{
    flushing, served_by, Account, Done, Entry, History, Kind, Node, Operation, Part as Of, Wait,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use trace::{DevId, Fs, Nanos, TextId, Tid};

mod senders;

/// Shorter waits are not attributed to a task: the cost would exceed the benefit.
const WORTH_ASKING: Nanos = Nanos(100_000);

/// Maximal number of victims whose table numbers are cached.
pub(crate) const MAX_REMEMBERED: usize = 1 << 14;

/// The context of a leaf in the account's tree.
#[derive(Clone, Copy)]
struct Around<'a> {
    depth: u8,
    chain: ChainId,
    request: Option<&'a Entry>,
    /// The task that did it, if not the operation's own.
    doer: Option<Tid>,
    wait: Option<Wait>,
}

/// Adds accounts to a table; caches the table's numbers of victims, functions and culprits.
#[derive(Clone, Debug, Default)]
pub struct Accounts {
    victims: FxHashMap<(TaskName, Kind, Fs, DevId), VictimId>,
    recent: Option<((TaskName, Kind, Fs, DevId), VictimId)>,
    functions: FxHashMap<TextId, FunctionId>,
    /// Culprits by holder; holders are numbered from 1 on.
    holders: Vec<Option<(Holding, CulpritId)>>,
    kernel: FxHashMap<TaskName, bool>,
    /// The last wait for a processor of which it was asked who ran meanwhile: the operations that a task takes together waited together.
    ran: Option<(Tid, Nanos, Nanos, CulpritId)>,
    parts: Parts,
    epoch: u32,
}

/// An operation that is being added.
struct Adding<'a> {
    o: &'a Operation,
    names: &'a Names,
    history: &'a History,
}

impl Accounts {
    /// Adds an operation on a device.
    pub fn add(
        &mut self,
        table: &mut Table,
        o: &Operation,
        dev: DevId,
        account: &Account,
        names: &Names,
        history: &History,
    ) {
        self.follow(table);
        let victim = self.victim(table, o, dev, names);
        self.parts.clear();
        let adding = Adding { o, names, history };
        let mut around: SmallVec<[Around; 16]> = SmallVec::new();
        let mut cut = None;
        let outside = Around { depth: 0, chain: ChainId(0), request: None, doer: None, wait: None };
        for node in &account.nodes {
            while around.last().is_some_and(|a| a.depth >= node.depth) {
                around.pop();
            }
            let above = around.last().copied().unwrap_or(outside);
            let mut here = Around { depth: node.depth, ..above };
            match &node.part {
                Of::Leaf(reason) => {
                    if let Some(entry) = above.request {
                        // On stacked devices the lowest one counts: the devices above pass their time there.
                        table.waited_on(victim, entry.done.dev(), node.length());
                    }
                    self.leaf(table, &adding, node, *reason, &above);
                    continue;
                }
                Of::Wait { wait, stack } => {
                    let function = self.function(table, *stack, history);
                    here.chain = table.chain(above.chain, Link::Wait(*wait, function));
                    (here.wait, here.request) = (Some(*wait), None);
                }
                Of::Task(tid) => (here.doer, here.request) = (Some(*tid), None),
                Of::Work { function, worker, .. } => {
                    let function = table.function_number(history.texts.text(*function));
                    here.chain = table.chain(above.chain, Link::Work(function));
                    (here.doer, here.request) = (Some(*worker), None);
                }
                Of::Commit(phase) => here.chain = table.chain(above.chain, Link::Commit(*phase)),
                Of::Request(entry) => {
                    here.chain = table.chain(above.chain, request_link(&entry.done));
                    here.request = Some(entry);
                    if let Done::Request(r) = &entry.done {
                        cut = cut.max(r.split.then_some(r.piece.0.max(1)));
                    }
                }
            }
            around.push(here);
        }
        let bytes = if o.moves_bytes() && o.result > 0 { o.result as u64 } else { 0 };
        if let Some(piece) = cut {
            // For reads and writes the number of bytes that were requested at once is known; for others only that there were at least two pieces.
            let asked = bytes.max(piece.saturating_mul(2));
            table.was_cut(victim, asked.div_ceil(piece), asked);
        }
        let in_device = self.parts.in_device;
        self.parts.add(table, Waiting { victim, end: o.to, total: o.total(), bytes, in_device });
    }

    /// Clears the cache if the table's numbers are no longer valid.
    fn follow(&mut self, table: &Table) {
        if self.epoch != table.epoch() || self.victims.len() > MAX_REMEMBERED {
            *self = Accounts { epoch: table.epoch(), ..Accounts::default() };
        }
    }

    fn victim(&mut self, table: &mut Table, o: &Operation, dev: DevId, names: &Names) -> VictimId {
        let key = (o.task, o.kind, o.fs, dev);
        match self.recent {
            Some((recent, id)) if recent == key => return id,
            _ => {}
        }
        let id = *self.victims.entry(key).or_insert_with(|| {
            let victim =
                Victim { task: names.text(o.task).into(), asked: Asked::Operation(o.kind), fs: o.fs, dev };
            table.victim(&victim)
        });
        self.recent = Some((key, id));
        id
    }

    fn function(&mut self, table: &mut Table, stack: Option<TextId>, history: &History) -> FunctionId {
        let Some(stack) = stack else { return FunctionId(0) };
        *self
            .functions
            .entry(stack)
            .or_insert_with(|| table.function_number(Wait::function_of(history.texts.text(stack))))
    }

    /// Adds a leaf as one or several rows.
    fn leaf(&mut self, table: &mut Table, a: &Adding, node: &Node, reason: Reason, above: &Around) {
        let time = node.length();
        match (reason, above.request.map(|e| &e.done)) {
            (Reason::Device, Some(Done::Request(r))) => {
                let by = By { tid: r.tid, task: r.task, owner: r.owner, op: r.op, holding: Holding::of(r) };
                self.in_device(table, a, time, &by, &r.contention, above);
            }
            (Reason::Device, Some(Done::Bio(b))) if b.by_request => {
                let holding = Holding::of_bio(b);
                let by = By { tid: b.tid, task: b.task, owner: b.owner, op: b.op, holding };
                self.in_device(table, a, time, &by, &b.contention, above);
            }
            (Reason::FlushQueue, None) => self.behind_a_flush(table, a, node, above),
            (Reason::Preflush | Reason::Postflush | Reason::FlushQueue, done) => {
                let flushed = flush_of(done.map(Done::timeline), reason, time);
                let flushes = table.passes(above.chain, |link| link == FLUSH);
                let chain = if flushes { above.chain } else { table.chain(above.chain, FLUSH) };
                let device = table.plain(CulpritKind::Device, None);
                self.parts.put(table, chain, Phase::Paused, device, flushed.paused);
                self.behind(table, a, chain, &flushed.behind, flushed.others);
                let who = table.plain(CulpritKind::Device, Some(Io::Flush));
                self.parts.put(table, chain, Phase::Flush, who, flushed.own);
            }
            (Reason::OnCpu, _) => {
                let who = self.doer(table, a, above.doer, None);
                self.parts.put(table, above.chain, Phase::Reason(reason), who, time);
            }
            (Reason::WaitCpu, _) => {
                let who = match time >= WORTH_ASKING {
                    true => self.ran_meanwhile(table, a, above.doer.unwrap_or(a.o.tid), node),
                    false => table.plain(CulpritKind::Cpu, None),
                };
                self.parts.put(table, above.chain, Phase::Reason(reason), who, time);
            }
            (
                Reason::GetRequest
                | Reason::Scheduler
                | Reason::WritebackThrottle
                | Reason::DirtyThrottle
                | Reason::CgroupLimit
                | Reason::Reclaim,
                _,
            ) => self.held_up(table, a, node, reason, above),
            _ => {
                let kind = match reason {
                    Reason::WorkQueue | Reason::WakeUp | Reason::Completion => CulpritKind::Cpu,
                    Reason::Prepare => CulpritKind::Own,
                    Reason::LowerRead | Reason::LowerWrite | Reason::Stacking | Reason::Requeue => {
                        CulpritKind::Kernel
                    }
                    Reason::QueueFreeze => CulpritKind::Limit,
                    // The file system sleeps for a tick and checks again (`shrink_delalloc`, fs/btrfs/space-info.c).
                    Reason::Timer if above.wait == Some(Wait::SpaceReserved) => CulpritKind::Kernel,
                    _ => CulpritKind::Unknown,
                };
                let who = table.plain(kind, None);
                self.parts.put(table, above.chain, Phase::Reason(reason), who, time);
            }
        }
    }

    /// Adds the device's time for a request, or its last part.
    fn in_device(
        &mut self,
        table: &mut Table,
        a: &Adding,
        time: Nanos,
        r: &By,
        contention: &Contention,
        above: &Around,
    ) {
        let chain = above.chain;
        let late = contention.late.min(time);
        if late.0 > 0 {
            let who = table.plain(CulpritKind::Cpu, None);
            self.parts.put(table, chain, Phase::Late, who, late);
        }
        let split = contention.split.last(time.since(late));
        let device = table.plain(CulpritKind::Device, None);
        if split.own.0 > 0 {
            match r.op {
                Op::Flush => {
                    let who = table.plain(CulpritKind::Device, Some(Io::Flush));
                    self.parts.put(table, chain, Phase::Flush, who, split.own);
                }
                _ => {
                    let who = self.sender(table, a, r, above.doer);
                    match r.tid != a.o.tid && is_for_a_holder(table, chain, who) {
                        true => {
                            let whose = self.of_holding(table, a, &r.holding);
                            self.parts.behind(table, chain, whose, split.own);
                        }
                        false => self.parts.put(table, chain, Phase::Service, who, split.own),
                    }
                }
            }
        }
        if !split.known {
            self.parts.unknown += split.total();
        }
        for (phase, time) in Phase::alone(&split, r.op == Op::Flush) {
            self.parts.put(table, chain, phase, device, time);
        }
        self.behind(table, a, chain, &split.behind, split.others);
    }

    /// Adds time behind some holders, and behind others that are not distinguished.
    fn behind(&mut self, table: &mut Table, a: &Adding, chain: ChainId, some: &[Behind], others: Nanos) {
        for Behind { holder, time } in some.iter().filter(|b| b.time.0 > 0 || b.holder != Holder(0)) {
            let who = self.holder(table, a, *holder);
            self.parts.behind(table, chain, who, *time);
        }
        if others.0 > 0 {
            let who = table.culprit(&Culprit::others());
            self.parts.put(table, chain, Phase::Behind, who, others);
        }
    }

    /// Adds the wait in a queue for a flush, while the device had another flush or data between two flushes: behind the owner of the data and the
    /// holders beside it. The rest is the cost of flushes, whichever task requested them.
    fn behind_a_flush(&mut self, table: &mut Table, a: &Adding, node: &Node, above: &Around) {
        let (chain, mut left) = (above.chain, node.length());
        let dev = Some(a.o.dev).filter(|d| *d != DevId(0));
        let [device, flush] = [None, Some(Io::Flush)].map(|io| table.plain(CulpritKind::Device, io));
        for (r, time) in flushing(a.history, dev, [node.from, node.to], a.o.to) {
            let split = r.contention.split.last(time);
            let own = split.own + split.varied + split.slow;
            match r.op {
                Op::Flush => self.parts.put(table, chain, Phase::Flush, flush, own),
                _ => {
                    let whose = self.of_holding(table, a, &Holding::of(r));
                    self.parts.behind(table, chain, whose, own);
                }
            }
            self.parts.put(table, chain, Phase::Paused, device, split.paused);
            self.behind(table, a, chain, &split.behind, split.others);
            left = left.since(time);
        }
        self.parts.put(table, chain, Phase::Flush, flush, left);
    }

    /// The task that ran while `tid` waited for a processor.
    fn ran_meanwhile(&mut self, table: &mut Table, a: &Adding, tid: Tid, node: &Node) -> CulpritId {
        // Of operations that are taken together, the oldest comes first, and has all of the wait.
        let is_same = |t: Tid, from: Nanos, to: Nanos| (t, to) == (tid, node.to) && from <= node.from;
        let known = self.ran.filter(|(t, from, to, _)| a.o.kind.overlaps() && is_same(*t, *from, *to));
        if let Some((.., who)) = known {
            return who;
        }
        let name = runner(a.history, a.names, tid, node);
        let who = table.culprit(&Culprit { name, ..Culprit::of(CulpritKind::Cpu) });
        self.ran = Some((tid, node.from, node.to, who));
        who
    }

    /// Throttled in favour of others: charged to the tasks whose requests the device served meanwhile.
    fn held_up(&mut self, table: &mut Table, a: &Adding, node: &Node, reason: Reason, above: &Around) {
        let (mut time, mut phase) = (node.length(), Phase::Reason(reason));
        if reason == Reason::GetRequest && above.wait == Some(Wait::Tag) {
            phase = Phase::NoTag;
        }
        let contention = match above.request.map(|e| &e.done) {
            Some(Done::Request(r)) => Some(&r.contention),
            Some(Done::Bio(b)) if b.by_request => Some(&b.contention),
            _ => None,
        };
        if let (Reason::Scheduler, Some(contention)) = (reason, contention) {
            let refused = contention.refused.min(time);
            let who = table.plain(CulpritKind::Device, None);
            self.parts.put(table, above.chain, Phase::Refused, who, refused);
            time = time.since(refused);
        }
        if reason == Reason::CgroupLimit {
            let who = table.plain(CulpritKind::Limit, None);
            return self.parts.put(table, above.chain, phase, who, time);
        }
        let dev = above.request.map(|e| e.done.dev()).or(Some(a.o.dev)).filter(|d| *d != DevId(0));
        let mut shares: SmallVec<[(CulpritId, u64); 4]> = SmallVec::new();
        if time >= WORTH_ASKING {
            for (holding, weight) in served_by(a.history, dev, node.from, node.to) {
                let who = self.of_holding(table, a, &holding);
                match shares.iter_mut().find(|(c, _)| *c == who) {
                    Some((_, w)) => *w += weight,
                    None => shares.push((who, weight)),
                }
            }
        }
        if shares.is_empty() {
            let kind = match reason {
                Reason::WritebackThrottle | Reason::DirtyThrottle => CulpritKind::Limit,
                _ => CulpritKind::Unknown,
            };
            let who = table.plain(kind, None);
            return self.parts.put(table, above.chain, phase, who, time);
        }
        shares.sort_by_key(|(_, w)| std::cmp::Reverse(*w));
        let weights: SmallVec<[u64; 4]> = shares.iter().map(|(_, w)| *w).collect();
        for ((who, _), part) in shares.iter().zip(device::largest_remainder(time, &weights)) {
            self.parts.put(table, above.chain, phase, *who, part);
        }
    }
}

/// Whether another operation of the victim's own job has the device and holds the lock that this operation waits for.
fn is_for_a_holder(table: &Table, chain: ChainId, who: CulpritId) -> bool {
    let is_lock = |link| matches!(link, Link::Wait(wait, _) if wait.is_lock());
    table.culprit_of(who).kind == CulpritKind::Own && table.passes(chain, is_lock)
}
