//! A recording, written line by line.

use crate::line::told;
use crate::scripted_event::ScriptedEvent;
use trace::{Batch, Bytes, Detail, DevId, Event, Nanos, Sector};

/// A recording: events in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The events.
    pub told: Vec<ScriptedEvent>,
}

impl Script {
    /// Reads a script with one event per line (see the table in `line.rs`). Lines may be indented; text after a `#` is
    /// a comment. The order is kept as written, even if times go backwards.
    pub fn of(text: &str) -> Script {
        let bare = |l: &str| l.split('#').next().unwrap_or_default().trim().to_string();
        Script { told: text.lines().map(bare).filter(|l| !l.is_empty()).map(|l| told(&l)).collect() }
    }

    /// The script repeated `times` times, every `every`, each time `stride` sectors further.
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

    /// Both scripts together, in order of time.
    pub fn and(mut self, other: Script) -> Script {
        self.told.extend(other.told);
        self.in_order()
    }

    /// The script on another device.
    pub fn on(mut self, dev: DevId) -> Script {
        self.told.iter_mut().for_each(|t| t.event.dev = dev);
        self
    }

    /// The script delayed by `delay`.
    pub fn after(mut self, delay: Nanos) -> Script {
        self.told.iter_mut().for_each(|t| t.event.time += delay);
        self
    }

    /// The script with every event changed.
    pub fn each(mut self, change: impl Fn(&mut Event)) -> Script {
        self.told.iter_mut().for_each(|t| change(&mut t.event));
        self
    }

    /// The script without the events that `forgotten` selects.
    pub fn forgetting(mut self, forgotten: impl Fn(&Event) -> bool) -> Script {
        self.told.retain(|t| !forgotten(&t.event));
        self
    }

    /// Sorted by time; events of the same time keep their order.
    pub fn in_order(mut self) -> Script {
        self.told.sort_by_key(|t| t.event.time);
        self
    }

    /// The script in batches of `size` events.
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

    /// Total bytes of the bios queued.
    pub fn bytes_queued(&self) -> Bytes {
        self.told.iter().filter(|t| t.event.action == trace::Action::Queue).map(|t| t.event.bytes).sum()
    }
}
