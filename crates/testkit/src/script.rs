//! A recording, told line by line.

use crate::line::told;
use std::fmt;
use trace::{Batch, Bytes, Detail, DevId, Event, Nanos, Sector};

/// The disk that events are on unless they say otherwise.
pub const DISK: DevId = DevId(8 << 20);

/// One event and its text.
#[derive(Clone, PartialEq, Eq)]
pub struct ScriptedEvent {
    /// The event; a text's place in it is that in `text`.
    pub event: Event,
    /// Its text: a name, a message.
    pub text: Vec<u8>,
}

/// Close to the line it would be told in, because property tests print whole stories.
impl fmt::Debug for ScriptedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let e = &self.event;
        let (time, act, sectors) = (e.time.0, e.action, e.bytes.sectors());
        write!(
            f,
            "{time}ns {act:?} {:#x} {}+{sectors} ({} B) {:?}",
            e.flags.0, e.sector.0, e.bytes.0, e.detail
        )?;
        write!(f, " dev={} cpu={} tid={}", e.dev, e.cpu.0, e.tid.0)
    }
}

/// A recording: events in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// What happened.
    pub told: Vec<ScriptedEvent>,
}

impl Script {
    /// Reads a story of one event per line (see the table in `line.rs`). Lines may be indented; what follows a `#`
    /// is a remark. The order is kept as written, also where times go backwards.
    pub fn of(text: &str) -> Script {
        let bare = |l: &str| l.split('#').next().unwrap_or_default().trim().to_string();
        Script { told: text.lines().map(bare).filter(|l| !l.is_empty()).map(|l| told(&l)).collect() }
    }

    /// The story `times` times over, one every `every`, each `stride` sectors further on.
    pub fn repeated(&self, times: u64, every: Nanos, stride: u64) -> Script {
        let mut all = Script::default();
        for i in 0..times {
            for t in &self.told {
                let mut t = t.clone();
                t.event.time += Nanos(every.0 * i);
                t.event.sector = Sector(t.event.sector.0 + stride * i);
                match &mut t.event.detail {
                    Detail::Split(at) | Detail::Remap { sector: at, .. } => at.0 += stride * i,
                    _ => {}
                }
                all.told.push(t);
            }
        }
        all.in_order()
    }

    /// Both stories together, in order of time.
    pub fn and(mut self, other: Script) -> Script {
        self.told.extend(other.told);
        self.in_order()
    }

    /// The story on another device.
    pub fn on(mut self, dev: DevId) -> Script {
        self.told.iter_mut().for_each(|t| t.event.dev = dev);
        self
    }

    /// The story so much later.
    pub fn after(mut self, delay: Nanos) -> Script {
        self.told.iter_mut().for_each(|t| t.event.time += delay);
        self
    }

    /// The story with every event changed.
    pub fn each(mut self, change: impl Fn(&mut Event)) -> Script {
        self.told.iter_mut().for_each(|t| change(&mut t.event));
        self
    }

    /// The story without the events that `forgotten` picks.
    pub fn forgetting(mut self, forgotten: impl Fn(&Event) -> bool) -> Script {
        self.told.retain(|t| !forgotten(&t.event));
        self
    }

    /// Sorted by time; what happened at the same time stays as it was.
    pub fn in_order(mut self) -> Script {
        self.told.sort_by_key(|t| t.event.time);
        self
    }

    /// The story in batches of `size` events.
    pub fn batches(&self, size: usize) -> Vec<Batch> {
        self.told
            .chunks(size.max(1))
            .map(|chunk| {
                let mut batch = Batch::default();
                for t in chunk {
                    let mut event = t.event;
                    if let Detail::Text(_) = event.detail {
                        event.detail = batch.store(&t.text);
                    }
                    batch.events.push(event);
                }
                batch
            })
            .collect()
    }

    /// Bytes of the bios queued.
    pub fn bytes_queued(&self) -> Bytes {
        self.told.iter().filter(|t| t.event.action == trace::Action::Queue).map(|t| t.event.bytes).sum()
    }
}
