//! Plugs: a task holds its requests back for a moment to send them together.
//!
//! A plug belongs to the task (`struct blk_plug` in its `task_struct`), not to the device as in btt: two tasks can
//! hold a plug on one device at once. The first request under a plug makes a `P`; a `U` (or `UT`, when the task is
//! about to sleep) ends it. Without a scheduler many plugs end without an event.

use rustc_hash::FxHashMap;
use serde::Serialize;
use trace::{DevId, Nanos, Tid};

/// A plug that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Plug {
    /// Device on which the unplug was seen.
    pub dev: DevId,
    /// Task that held the plug.
    pub tid: Tid,
    /// When it began; `None` if that was not seen.
    pub from: Option<Nanos>,
    /// When it ended.
    pub to: Nanos,
    /// Number of requests sent, as the unplug event reports it.
    pub requests: u64,
    /// Whether it ended because the task was about to sleep (`UT`).
    pub implicit: bool,
}

/// Plugs that are held now, by device and task.
#[derive(Debug, Default)]
pub(crate) struct Plugs {
    open: FxHashMap<(DevId, Tid), Nanos>,
}

impl Plugs {
    const MAX: usize = 1 << 16;

    pub fn plug(&mut self, dev: DevId, tid: Tid, now: Nanos) {
        if self.open.len() >= Self::MAX {
            self.open.clear();
        }
        self.open.insert((dev, tid), now);
    }

    pub fn unplug(&mut self, dev: DevId, tid: Tid, now: Nanos, requests: u64, implicit: bool) -> Plug {
        Plug { dev, tid, from: self.open.remove(&(dev, tid)), to: now, requests, implicit }
    }
}
