//! Rows of bios: where only the block layer was recorded, whoever submitted reads, synchronous writes and flushes waited.
//! Nobody waits for write-back, and for read-ahead only whoever sent nothing since ([`Asked::is_foreground`]).

use crate::chain::{ChainId, Link};
use crate::culprit::{Culprit, CulpritId, CulpritKind};
use crate::links::is_ragged;
use crate::operations::{Accounts, MAX_REMEMBERED};
use crate::phase::Phase;
use crate::table::{Part, Table, VictimId, Waiting};
use crate::victim::{Asked, Victim};
use crate::who::flush_of;
use device::largest_remainder;
use ledger::{Ledger, Reason};
use life::{Bio, Class, Io, Names, Op, TaskName};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use trace::{DevId, Flags, Fs, Nanos};

/// Adds bios to a table.
#[derive(Clone, Debug, Default)]
pub struct Bios {
    victims: FxHashMap<(TaskName, Asked, DevId), VictimId>,
    recent: Option<((TaskName, Asked, DevId), VictimId)>,
    accounts: Accounts,
    parts: SmallVec<[Part; 8]>,
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
        let mut unknown = Nanos(0);
        for segment in &ledger.segments {
            let time = segment.length();
            match segment.reason {
                Reason::Device => {
                    table.waited_on(victim, b.dev, time);
                    self.in_device(table, b, chain, time, names, &mut unknown);
                }
                Reason::GetRequest => {
                    let full = no_tag.min(time);
                    self.held_up(table, b, chain, Phase::NoTag, full, names);
                    self.held_up(table, b, chain, Phase::Reason(segment.reason), time.since(full), names);
                }
                Reason::Scheduler => {
                    let refused = b.company.refused.min(time);
                    let device = table.plain(CulpritKind::Device, None);
                    self.put(table, chain, Phase::Refused, device, refused);
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
                    self.put(table, chain, Phase::Reason(reason), who, time);
                }
            }
        }
        let total = ledger.total();
        if b.pieces > 1 {
            table.was_cut(victim, u64::from(b.pieces), b.bytes.0);
        }
        let is_lost = |p: &&Part| !table.is_own(p.chain, p.culprit);
        let lost = self.parts.iter().filter(is_lost).map(|p| p.time).sum();
        table.add(
            Waiting { victim, end: b.time.completed, total, bytes: b.bytes.0 },
            &self.parts,
            lost,
            unknown,
        );
    }

    fn victim(&mut self, table: &mut Table, b: &Bio, asked: Asked, names: &Names) -> VictimId {
        let key = (b.task, asked, b.dev);
        match self.recent {
            Some((recent, id)) if recent == key => return id,
            _ => {}
        }
        let id = *self.victims.entry(key).or_insert_with(|| {
            let task = names.text(b.task).into();
            table.victim(&Victim { task, asked, fs: Fs::Unknown, dev: b.dev })
        });
        self.recent = Some((key, id));
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
        let (paused, behind, flush) = flush_of(&b.time, reason, time);
        let device = table.plain(CulpritKind::Device, None);
        self.put(table, chain, Phase::Paused, device, paused);
        if behind.time.0 > 0 {
            let who = self.holder(table, b, behind.holder, names);
            self.put(table, chain, Phase::Behind, who, behind.time);
        }
        let who = table.plain(CulpritKind::Device, Some(Io::Flush));
        self.put(table, chain, Phase::Flush, who, flush);
    }

    #[allow(clippy::too_many_arguments)]
    fn in_device(
        &mut self,
        table: &mut Table,
        b: &Bio,
        chain: ChainId,
        time: Nanos,
        names: &Names,
        unknown: &mut Nanos,
    ) {
        let late = b.company.late.min(time);
        let split = b.company.split.last(time.since(late));
        let cpu = table.plain(CulpritKind::Cpu, None);
        self.put(table, chain, Phase::Late, cpu, late);
        let device = table.plain(CulpritKind::Device, None);
        let flush = b.op == Op::Flush;
        let own = table.plain(CulpritKind::Own, None);
        let of = |phase| if flush { Phase::Flush } else { phase };
        self.put(table, chain, of(Phase::Service), if flush { device } else { own }, split.own);
        self.put(table, chain, of(Phase::Varies), device, split.varied);
        self.put(table, chain, of(Phase::Slow), device, split.slow);
        let paused = if flush && !split.known { Phase::Flush } else { Phase::Paused };
        self.put(table, chain, paused, device, split.paused);
        for behind in split.behind.iter().filter(|behind| behind.time.0 > 0) {
            let who = self.holder(table, b, behind.holder, names);
            self.put(table, chain, Phase::Behind, who, behind.time);
        }
        if split.others.0 > 0 {
            let who = table.culprit(&Culprit::others());
            self.put(table, chain, Phase::Behind, who, split.others);
        }
        *unknown += if split.known { Nanos(0) } else { split.total() };
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
        let split = &b.company.split;
        let behind: SmallVec<[_; 4]> = split.behind.iter().filter(|b| b.time.0 > 0).copied().collect();
        if behind.is_empty() {
            let who = table.plain(CulpritKind::Unknown, overtaker(b, phase));
            return self.put(table, chain, phase, who, time);
        }
        let weights: SmallVec<[u64; 4]> = behind.iter().map(|b| b.time.0).collect();
        for (holder, part) in behind.iter().zip(largest_remainder(time, &weights)) {
            let who = self.holder(table, b, holder.holder, names);
            self.put(table, chain, phase, who, part);
        }
    }

    fn holder(&mut self, table: &mut Table, b: &Bio, holder: device::Holder, names: &Names) -> CulpritId {
        let culprit = match names.holding(holder) {
            Some(h) if h.task == b.task => return table.plain(CulpritKind::Own, Some(h.io)),
            Some(h) => self.accounts.culprit(h, names),
            None => Culprit::others(),
        };
        table.culprit(&culprit)
    }

    fn put(&mut self, table: &mut Table, chain: ChainId, phase: Phase, culprit: CulpritId, time: Nanos) {
        if time.0 == 0 {
            return;
        }
        let chain = table.chain(chain, Link::Phase(phase));
        match self.parts.iter_mut().find(|p| p.chain == chain && p.culprit == culprit) {
            Some(part) => part.time += time,
            None => self.parts.push(Part { chain, culprit, time }),
        }
    }
}
/// The kind of I/O of which most was issued while a bio waited in the scheduler.
fn overtaker(b: &Bio, phase: Phase) -> Option<Io> {
    let by = &b.company.overtaken_by;
    let most = Class::ALL.into_iter().max_by_key(|c| by[c.index()])?;
    (phase == Phase::Reason(Reason::Scheduler) && by[most.index()] > 0).then(|| Io::of(most))
}
