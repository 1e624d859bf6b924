//! Adds bios to the table. In a recording of the block layer, the tasks that submitted reads, synchronous writes and flushes are the victims.
//! No task waits for writeback, and for read-ahead only a task that submitted nothing since ([`Asked::is_foreground`]).

use crate::bio_parts::{Because, BioPart, BioParts, Head};
use crate::chain::ChainId;
use crate::culprit::{Culprit, CulpritId, CulpritKind};
use crate::links::FLUSH;
use crate::operations::{Accounts, MAX_REMEMBERED};
use crate::parts::Parts;
use crate::phase::Phase;
use crate::table::{Table, Waiting};
use crate::victim::VictimId;
use crate::victim::{Asked, Victim};
use device::Holder;
use life::{Class, Names, TaskName};
use rustc_hash::FxHashMap;
use trace::{DevId, Fs};

/// Number of recent victims that are compared before hashing, by kind of I/O: a task reads and writes in turn.
const RECENT: usize = Class::COUNT + 1;

/// The key of a victim.
type Key = (TaskName, Asked, DevId);

/// Adds bios to a table; remembers the numbers of victims.
#[derive(Clone, Debug, Default)]
pub struct Bios {
    victims: FxHashMap<Key, VictimId>,
    recent: [Option<(Key, VictimId)>; RECENT],
    accounts: Accounts,
    parts: Parts,
    epoch: u32,
}

impl Bios {
    /// Adds bios in the order in which they ended. `names`: the names of their tasks and holders.
    pub fn add(&mut self, table: &mut Table, bios: &BioParts, names: &Names) {
        for (head, parts) in bios.each() {
            self.add_one(table, head, parts, names);
        }
    }

    fn add_one(&mut self, table: &mut Table, head: &Head, parts: &[BioPart], names: &Names) {
        if self.epoch != table.epoch() || self.victims.len() > MAX_REMEMBERED {
            *self = Bios { epoch: table.epoch(), ..Bios::default() };
        }
        let victim = self.victim(table, head, names);
        if head.in_device.0 > 0 {
            table.waited_on(victim, head.dev, head.in_device);
        }
        let chain = table.chain(ChainId(0), head.link);
        self.parts.clear();
        for part in parts {
            let chain = if part.in_flush { table.chain(chain, FLUSH) } else { chain };
            let who = match part.because {
                Because::Of(kind, io) => table.plain(kind, io),
                Because::Holder(holder) => self.holder(table, head.task, holder, names),
                Because::Others => table.culprit(&Culprit::others()),
            };
            match part.phase {
                Phase::Behind => self.parts.behind(table, chain, who, part.time),
                phase => self.parts.put(table, chain, phase, who, part.time),
            }
        }
        self.parts.unknown = head.unknown;
        if head.pieces > 1 {
            table.was_cut(victim, u64::from(head.pieces), head.bytes.0);
        }
        let in_device = self.parts.in_device;
        let (end, total, bytes) = (head.end, head.total, head.bytes.0);
        self.parts.add(table, Waiting { victim, end, total, bytes, in_device });
    }

    fn victim(&mut self, table: &mut Table, head: &Head, names: &Names) -> VictimId {
        let key = (head.task, head.asked, head.dev);
        let place = match head.asked {
            Asked::Ahead => Class::COUNT,
            asked => asked.class().index(),
        };
        match self.recent[place] {
            Some((recent, id)) if recent == key => return id,
            _ => {}
        }
        let id = *self.victims.entry(key).or_insert_with(|| {
            let task = names.text(head.task).into();
            table.victim(&Victim { task, asked: head.asked, fs: Fs::Unknown, dev: head.dev })
        });
        self.recent[place] = Some((key, id));
        id
    }

    fn holder(&mut self, table: &mut Table, task: TaskName, holder: Holder, names: &Names) -> CulpritId {
        match names.holding(holder) {
            Some(h) if h.task == task => table.plain(CulpritKind::Own, Some(h.io)),
            Some(h) => self.accounts.known(table, holder, h, names),
            None => table.culprit(&Culprit::others()),
        }
    }
}
