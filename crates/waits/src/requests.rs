//! Rows of bios: where only the block layer was recorded, the tasks that submitted reads, synchronous writes and flushes waited.
//! No task waits for writeback, and for read-ahead only a task that sent nothing since ([`Asked::is_foreground`]).

use crate::chain::{ChainId, Link};
use crate::culprit::{Culprit, CulpritId, CulpritKind};
use crate::links::{is_ragged, FLUSH};
use crate::operations::{Accounts, MAX_REMEMBERED};
use crate::parts::Parts;
use crate::phase::Phase;
use crate::table::{Table, VictimId, Waiting};
use crate::victim::{Asked, Victim};
use crate::who::flush_of;
use device::largest_remainder;
use ledger::{Ledger, Reason};
use life::{Bio, Class, Io, Names, Op, TaskName};
use rustc_hash::FxHashMap;
use smallvec::smallvec;
use trace::{DevId, Flags, Fs, Nanos};

/// Victims that are found again by comparing, by what they asked for: a task reads and writes in turn.
const RECENT: usize = Class::COUNT + 1;

/// What a victim is found by.
type Key = (TaskName, Asked, DevId);

/// Adds bios to a table.
#[derive(Clone, Debug, Default)]
pub struct Bios {
    victims: FxHashMap<Key, VictimId>,
    recent: [Option<(Key, VictimId)>; RECENT],
    accounts: Accounts,
    parts: Parts,
    epoch: u32,
}

impl Bios {
    /// Adds a bio with its ledger.
    ///
    /// `no_tag` is the part of its wait for a request in which all tags were taken.
    pub fn add(&mut self, table: &mut Table, b: &Bio, ledger: &Ledger, no_tag: Nanos, names: &Names) {
        let asked =
            if b.flags.has(Flags::AHEAD) && !b.awaited { Asked::Ahead } else { Asked::Bio(b.class()) };
        if self.epoch != table.epoch() || self.victims.len() > MAX_REMEMBERED {
            *self = Bios { epoch: table.epoch(), ..Bios::default() };
        }
        let victim = self.victim(table, b, asked, names);
        self.parts.clear();
        let ragged = b.op == Op::Write && is_ragged(b.start, b.bytes);
        let chain = table.chain(ChainId(0), Link::Request(b.op, b.pieces > 1, ragged));
        for segment in &ledger.segments {
            let time = segment.length();
            match segment.reason {
                Reason::Device => {
                    table.waited_on(victim, b.dev, time);
                    self.in_device(table, b, chain, time, names);
                }
                Reason::GetRequest => {
                    let full = no_tag.min(time);
                    self.held_up(table, b, chain, Phase::NoTag, full, names);
                    self.held_up(table, b, chain, Phase::Reason(segment.reason), time.since(full), names);
                }
                Reason::Scheduler => {
                    let refused = b.company.refused.min(time);
                    let device = table.plain(CulpritKind::Device, None);
                    self.parts.put(table, chain, Phase::Refused, device, refused);
                    self.held_up(table, b, chain, Phase::Reason(segment.reason), time.since(refused), names);
                }
                Reason::Preflush | Reason::Postflush | Reason::FlushQueue => {
                    self.flush(table, b, chain, segment.reason, time, names);
                }
                reason => {
                    let kind = match reason {
                        Reason::Prepare | Reason::Completion => CulpritKind::Own,
                        Reason::Unexplained => CulpritKind::Unknown,
                        _ => CulpritKind::Kernel,
                    };
                    let who = table.plain(kind, None);
                    self.parts.put(table, chain, Phase::Reason(reason), who, time);
                }
            }
        }
        if b.pieces > 1 {
            table.was_cut(victim, u64::from(b.pieces), b.bytes.0);
        }
        let (end, total) = (b.time.completed, ledger.total());
        self.parts.add(table, Waiting { victim, end, total, bytes: b.bytes.0 });
    }

    fn victim(&mut self, table: &mut Table, b: &Bio, asked: Asked, names: &Names) -> VictimId {
        let key = (b.task, asked, b.dev);
        let place = if asked == Asked::Ahead { Class::COUNT } else { b.class().index() };
        match self.recent[place] {
            Some((recent, id)) if recent == key => return id,
            _ => {}
        }
        let id = *self.victims.entry(key).or_insert_with(|| {
            let task = names.text(b.task).into();
            table.victim(&Victim { task, asked, fs: Fs::Unknown, dev: b.dev })
        });
        self.recent[place] = Some((key, id));
        id
    }

    /// The time of a flush before its data or after it, as the flush's own request had it in the device.
    fn flush(
        &mut self,
        table: &mut Table,
        b: &Bio,
        chain: ChainId,
        reason: Reason,
        time: Nanos,
        names: &Names,
    ) {
        let chain = table.chain(chain, FLUSH);
        let (paused, behind, flush) = flush_of(&b.time, reason, time);
        let device = table.plain(CulpritKind::Device, None);
        self.parts.put(table, chain, Phase::Paused, device, paused);
        if behind.time.0 > 0 {
            let who = self.holder(table, b, behind.holder, names);
            self.parts.put(table, chain, Phase::Behind, who, behind.time);
        }
        let who = table.plain(CulpritKind::Device, Some(Io::Flush));
        self.parts.put(table, chain, Phase::Flush, who, flush);
    }

    fn in_device(&mut self, table: &mut Table, b: &Bio, chain: ChainId, time: Nanos, names: &Names) {
        let late = b.company.late.min(time);
        let split = b.company.split.last(time.since(late));
        let cpu = table.plain(CulpritKind::Cpu, None);
        self.parts.put(table, chain, Phase::Late, cpu, late);
        let device = table.plain(CulpritKind::Device, None);
        let flush = b.op == Op::Flush;
        let own = table.plain(CulpritKind::Own, None);
        let of = |phase| if flush { Phase::Flush } else { phase };
        self.parts.put(table, chain, of(Phase::Service), if flush { device } else { own }, split.own);
        self.parts.put(table, chain, of(Phase::Varies), device, split.varied);
        self.parts.put(table, chain, of(Phase::Slow), device, split.slow);
        let paused = if flush && !split.known { Phase::Flush } else { Phase::Paused };
        self.parts.put(table, chain, paused, device, split.paused);
        for behind in split.behind.iter().filter(|behind| behind.time.0 > 0) {
            let who = self.holder(table, b, behind.holder, names);
            self.parts.put(table, chain, Phase::Behind, who, behind.time);
        }
        if split.others.0 > 0 {
            let who = table.culprit(&Culprit::others());
            self.parts.put(table, chain, Phase::Behind, who, split.others);
        }
        self.parts.unknown += if split.known { Nanos(0) } else { split.total() };
    }

    /// Those that were in the device beside it had what it waited for before.
    fn held_up(
        &mut self,
        table: &mut Table,
        b: &Bio,
        chain: ChainId,
        phase: Phase,
        time: Nanos,
        names: &Names,
    ) {
        if time.0 == 0 {
            return;
        }
        let behind = &b.company.split.behind;
        let parts = match behind.map(|b| b.time.0) {
            [0, 0, 0] => {
                let who = table.plain(CulpritKind::Unknown, overtaker(b, phase));
                return self.parts.put(table, chain, phase, who, time);
            }
            [_, 0, 0] => smallvec![time],
            weights => largest_remainder(time, &weights),
        };
        for (holder, part) in behind.iter().zip(parts).filter(|(_, part)| part.0 > 0) {
            let who = self.holder(table, b, holder.holder, names);
            self.parts.put(table, chain, phase, who, part);
        }
    }

    fn holder(&mut self, table: &mut Table, b: &Bio, holder: device::Holder, names: &Names) -> CulpritId {
        match names.holding(holder) {
            Some(h) if h.task == b.task => table.plain(CulpritKind::Own, Some(h.io)),
            Some(h) => self.accounts.known(table, holder, h, names),
            None => table.culprit(&Culprit::others()),
        }
    }
}

/// The kind of I/O of which most was issued while a bio waited in the scheduler.
fn overtaker(b: &Bio, phase: Phase) -> Option<Io> {
    let by = &b.company.overtaken_by;
    let most = Class::ALL.into_iter().max_by_key(|c| by[c.index()])?;
    (phase == Phase::Reason(Reason::Scheduler) && by[most.index()] > 0).then(|| Io::of(most))
}
