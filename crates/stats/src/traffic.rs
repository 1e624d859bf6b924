//! Traffic: distances, sizes and messages, counted event by event without following any I/O.
//!
//! Separate from the trackers, so that it can be counted on another thread.

use crate::distribution::Distribution;
use crate::messages::Messages;
use life::{Class, Op};
use rustc_hash::FxHashMap;
use trace::{Action, Batch, Detail, DevId, Event, Nanos, Sector, What};

/// The traffic of one device.
#[derive(Debug)]
pub struct Traffic {
    /// Time of the first and the last event.
    pub span: Option<(Nanos, Nanos)>,
    /// Number of bios with data that were queued after another one.
    pub queued: u64,
    /// Number of these that begin where the one before ended.
    pub queued_in_sequence: u64,
    /// Sizes of issued requests, in bytes, by class.
    pub issue_sizes: [Distribution; Class::COUNT],
    /// Issues directly after, or directly before, the extent of the previous issue of the same class. Before: a task's
    /// plug is emptied from its end (`blk_mq_plug_issue_direct`, Linux 5.16 on).
    pub contiguous: [u64; Class::COUNT],
    /// Issues by class, without flushes.
    pub issues: [u64; Class::COUNT],
    /// Number of splits (`X`).
    pub splits: u64,
    /// Kernel messages.
    pub messages: Messages,
    /// End of the last bio queued.
    queue_end: Option<Sector>,
    last_extent: [Option<(Sector, Sector)>; Class::COUNT],
}

impl Default for Traffic {
    fn default() -> Traffic {
        Traffic {
            span: None,
            queued: 0,
            queued_in_sequence: 0,
            issue_sizes: Default::default(),
            contiguous: [0; Class::COUNT],
            issues: [0; Class::COUNT],
            splits: 0,
            messages: Messages::default(),
            queue_end: None,
            last_extent: [None; Class::COUNT],
        }
    }
}

impl Traffic {
    /// Time between the first and the last event.
    pub fn duration(&self) -> Nanos {
        self.span.map_or(Nanos(0), |(a, b)| b.since(a))
    }

    fn record(&mut self, e: &Event, batch: &Batch) {
        extend(&mut self.span, e.time);
        match e.action {
            Action::Queue if e.bytes.sectors() > 0 => {
                if let Some(end) = self.queue_end.replace(e.sector.after(e.bytes)) {
                    self.queued += 1;
                    self.queued_in_sequence += u64::from(end == e.sector);
                }
            }
            Action::Issue => self.issued(e),
            Action::Split => self.splits += 1,
            Action::Message => self.messages.record(batch.text(e)),
            _ => {}
        }
    }

    fn issued(&mut self, e: &Event) {
        let op = Op::of(e);
        if op == Op::Flush {
            return;
        }
        let class = Class::of(op, e.flags).index();
        self.issue_sizes[class].record(e.bytes.0);
        self.issues[class] += 1;
        let end = e.sector.after(e.bytes);
        let adjacent = |(start, to): (Sector, Sector)| to == e.sector || start == end;
        if self.last_extent[class].replace((e.sector, end)).is_some_and(adjacent) {
            self.contiguous[class] += 1;
        }
    }
}

/// The traffic of all devices.
#[derive(Debug, Default)]
pub struct Flow {
    devices: Vec<(DevId, Traffic)>,
    which: FxHashMap<DevId, usize>,
    recent: Option<(DevId, usize)>,
    /// Time of the first and the last event of any device.
    pub span: Option<(Nanos, Nanos)>,
    /// Time of the first and the last event of any task.
    pub tasks: Option<(Nanos, Nanos)>,
    /// Wall-clock time (seconds and nanoseconds since 1970) and trace time at one moment.
    pub wall: Option<(u32, u32, Nanos)>,
    /// Events by [`Action::index`].
    actions: [u64; Action::KINDS],
}

impl Flow {
    /// Takes in the events of a batch.
    pub fn feed(&mut self, batch: &Batch) {
        for e in &batch.events {
            self.actions[e.action.index()] += 1;
            if let (Action::WallClock, Detail::Wall { seconds, nanos }) = (e.action, e.detail) {
                self.wall.get_or_insert((seconds, nanos, e.time));
            }
            if e.action.is_note() && e.action != Action::Message {
                continue;
            }
            extend(&mut self.span, e.time);
            if let Some(at) = self.device(e.dev) {
                self.devices[at].1.record(e, batch);
            }
        }
        // A text may be defined at any time, even outside the selected part of a recording.
        let mut of_tasks = batch.tasks.iter().filter(|t| !matches!(t.what, What::Text { .. }));
        for end in [of_tasks.next(), of_tasks.next_back()].into_iter().flatten() {
            extend(&mut self.tasks, end.time);
        }
    }

    /// Takes out the devices, in the order in which they appeared.
    pub fn take_devices(&mut self) -> Vec<(DevId, Traffic)> {
        self.which.clear();
        self.recent = None;
        std::mem::take(&mut self.devices)
    }

    /// Number of events with this action.
    pub fn events(&self, action: Action) -> u64 {
        self.actions[action.index()]
    }

    #[inline]
    fn device(&mut self, id: DevId) -> Option<usize> {
        match self.recent {
            Some((recent, at)) if recent == id => Some(at),
            _ => self.device_after_switch(id),
        }
    }

    #[inline(never)]
    fn device_after_switch(&mut self, id: DevId) -> Option<usize> {
        let at = match self.which.get(&id) {
            Some(at) => *at,
            None if self.devices.len() >= life::MAX_DEVICES => return None,
            None => {
                self.devices.push((id, Traffic::default()));
                self.which.insert(id, self.devices.len() - 1);
                self.devices.len() - 1
            }
        };
        self.recent = Some((id, at));
        Some(at)
    }
}

fn extend(span: &mut Option<(Nanos, Nanos)>, t: Nanos) {
    match span {
        Some((from, to)) => {
            *from = t.min(*from);
            *to = t.max(*to);
        }
        None => *span = Some((t, t)),
    }
}
