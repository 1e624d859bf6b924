//! Converts block tracepoints to the events that blktrace would have recorded.
//!
//! blktrace attaches to the same tracepoints (kernel/trace/blktrace.c), so each maps to one of its actions. Fields that differ
//! are converted:
//!
//! - the kind of I/O is given as letters ([`rwbs`](super::rwbs)); the category bits are added by action;
//! - an error is a negative errno; as in blktrace, only the low 16 bits are kept;
//! - `block_split` has no size: it is computed as the distance to the start of the second part;
//! - `block_plug` and `block_unplug` name no device: the device of the thread's last request is used;
//! - `block_unplug` does not say whether the thread was about to sleep: it is always [`Action::Unplug`].
//!
//! A completed flush keeps the sector 2^64-1 from the tracepoint (blktrace has 0). `block_io_start`,
//! `block_io_done`, `block_rq_error` (`block_rq_complete` has the error too) and buffer events do not exist in
//! blktrace: they are only counted.

use super::cursor::{Record, Step};
use super::format::{EventFormat, Formats, Slot};
use super::names::{naming, Names, Naming};
use super::plans::Plans;
use super::rwbs;
use crate::event::{Action, Batch, Detail, Event, Flags};
use rustc_hash::FxHashMap;
use units::{Bytes, DevId, Sector, Tid};

/// Limit on threads whose last device is kept; at the limit, all are forgotten.
const MAX_THREADS: usize = 1 << 16;

/// How one tracepoint becomes an [`Event`]: the fields to read.
#[derive(Clone, Copy, Debug)]
struct Plan {
    action: Action,
    /// Category bits of the action.
    category: Flags,
    /// Whether it is about a request (not a bio); it is then from a file system unless it is passthrough.
    request: bool,
    dev: Slot,
    sector: Slot,
    sectors: Slot,
    bytes: Slot,
    rwbs: Slot,
    error: Slot,
    comm: Slot,
    new_sector: Slot,
    old_dev: Slot,
    old_sector: Slot,
    requests: Slot,
}

/// The blktrace equivalent of a block tracepoint: the action, its category bits, and whether it is
/// about a request (not a bio).
pub(crate) fn action_of(name: &str) -> Option<(Action, Flags, bool)> {
    let (q, none) = (Flags::QUEUE, Flags(0));
    Some(match name {
        "block_bio_queue" => (Action::Queue, q, false),
        "block_getrq" => (Action::Get, q, false),
        "block_sleeprq" => (Action::SleepForRequest, q, false),
        "block_rq_insert" => (Action::Insert, q, true),
        "block_rq_issue" => (Action::Issue, Flags::ISSUE, true),
        "block_rq_complete" => (Action::Complete, Flags::COMPLETE, true),
        "block_rq_requeue" => (Action::Requeue, Flags::REQUEUE, true),
        "block_rq_merge" => (Action::BackMerge, q, true),
        "block_rq_remap" => (Action::Remap, q, false),
        "block_rq_abort" => (Action::Abort, q, true),
        "block_bio_backmerge" => (Action::BackMerge, q, false),
        "block_bio_frontmerge" => (Action::FrontMerge, q, false),
        "block_bio_remap" | "block_remap" => (Action::Remap, q, false),
        "block_bio_bounce" => (Action::Bounce, none, false),
        "block_bio_complete" => (Action::Complete, Flags::COMPLETE, false),
        "block_split" => (Action::Split, none, false),
        "block_plug" => (Action::Plug, q, false),
        "block_unplug" | "block_unplug_io" => (Action::Unplug, q, false),
        "block_unplug_timer" => (Action::UnplugImplicit, q, false),
        _ => return None,
    })
}

impl Plan {
    fn of(event: &EventFormat) -> Option<Plan> {
        if &*event.system != "block" {
            return None;
        }
        let (action, category, request) = action_of(&event.name)?;
        Some(Plan {
            action,
            category,
            request,
            dev: event.slot(&["dev"]),
            sector: event.slot(&["sector"]),
            sectors: event.slot(&["nr_sector", "nr_sectors"]),
            bytes: event.slot(&["bytes"]),
            rwbs: event.slot(&["rwbs"]),
            error: event.slot(&["error", "errors"]),
            comm: event.slot(&["comm"]),
            new_sector: event.slot(&["new_sector"]),
            old_dev: event.slot(&["old_dev"]),
            old_sector: event.slot(&["old_sector"]),
            requests: event.slot(&["nr_rq"]),
        })
    }
}

/// The device in a `dev_t` field: tracepoints store the kernel's internal format, 12 and 20 bits.
#[inline]
fn dev(record: &Record, slot: Slot) -> DevId {
    DevId(record.int(slot) as u32)
}

/// Converts records to events.
#[derive(Debug)]
pub struct Blocks {
    plans: Plans<Plan>,
    namings: Plans<Naming>,
    names: Names,
    /// The device of each thread's last request.
    last_dev: FxHashMap<u32, DevId>,
    /// For each event, the tracing instance that it is read from.
    owner: Vec<Option<u16>>,
    /// Block events skipped because a second instance recorded them too.
    pub twice: u64,
}

impl Blocks {
    /// `cmdlines`: the text of the kernel's `saved_cmdlines`.
    pub fn new(formats: &Formats, cmdlines: &[u8]) -> Blocks {
        Blocks {
            plans: Plans::new(formats.events().len(), Plan::of),
            namings: Plans::new(formats.events().len(), naming),
            names: Names::new(cmdlines),
            last_dev: FxHashMap::default(),
            owner: vec![None; formats.events().len()],
            twice: 0,
        }
    }

    /// Converts a step of the cursor: appends at most one event to `batch`, after notes of new task names.
    #[inline]
    pub fn take(&mut self, step: &Step, batch: &mut Batch) {
        match step {
            Step::Record(record) => {
                if let Some(plan) = self.plans.of(record).copied() {
                    self.block(&plan, record, batch);
                } else if let Some(naming) = self.namings.of(record).copied() {
                    for (comm, tid) in naming.into_iter().flatten() {
                        self.name(record.int(tid) as u32, record.bytes(comm), record, batch);
                    }
                }
            }
            &Step::Lost { time, cpu, count } => {
                let detail = Detail::Lost(count);
                let flags = Flags::NOTE;
                batch.events.push(Event {
                    time,
                    cpu,
                    action: Action::Lost,
                    flags,
                    detail,
                    ..Event::default()
                });
            }
        }
    }

    #[inline]
    fn block(&mut self, plan: &Plan, record: &Record, batch: &mut Batch) {
        let owner = self.owner[record.index].get_or_insert(record.buffer);
        if *owner != record.buffer {
            self.twice += 1;
            return;
        }
        if plan.comm.present {
            self.name(record.tid.0, record.bytes(plan.comm), record, batch);
        } else if let Some(name) = self.names.remember(record.tid.0) {
            tell(record.tid, &name, record, batch);
        }
        let sectors = record.int(plan.sectors);
        let sector = Sector(record.int(plan.sector));
        let mut event = Event {
            time: record.time,
            cpu: record.cpu,
            tid: record.tid,
            sector,
            bytes: Bytes(record.int(plan.bytes).max(Bytes::from_sectors(sectors).0)),
            dev: dev(record, plan.dev),
            error: record.int(plan.error) as u16,
            flags: rwbs::flags(record.text(plan.rwbs), sectors > 0).with(plan.category),
            action: plan.action,
            ..Event::default()
        };
        if plan.request && !event.flags.has(Flags::PASSTHROUGH) {
            event.flags = event.flags.with(Flags::FS);
        }
        match plan.action {
            Action::Split => {
                let second = Sector(record.int(plan.new_sector));
                event.bytes = Bytes::from_sectors(second.0.saturating_sub(sector.0));
                event.detail = Detail::Split(second);
            }
            Action::Remap => {
                let dev = dev(record, plan.old_dev);
                event.detail = Detail::Remap { dev, sector: Sector(record.int(plan.old_sector)) };
            }
            Action::Get => {
                if self.last_dev.len() >= MAX_THREADS {
                    self.last_dev.clear();
                }
                self.last_dev.insert(record.tid.0, event.dev);
            }
            Action::Plug | Action::Unplug | Action::UnplugImplicit => {
                event.dev = self.last_dev.get(&record.tid.0).copied().unwrap_or_default();
                if plan.requests.present {
                    event.detail = Detail::Requests(record.int(plan.requests));
                }
            }
            _ => {}
        }
        batch.events.push(event);
    }

    #[inline]
    fn name(&mut self, tid: u32, comm: &[u8], record: &Record, batch: &mut Batch) {
        if self.names.learn(tid, comm) {
            tell(Tid(tid), super::bytes::until_nul(comm), record, batch);
        }
    }
}

#[cold]
fn tell(tid: Tid, name: &[u8], record: &Record, batch: &mut Batch) {
    let detail = batch.store(name);
    batch.events.push(Event {
        time: record.time,
        cpu: record.cpu,
        tid,
        action: Action::TaskName,
        flags: Flags::NOTE,
        detail,
        ..Event::default()
    });
}
