//! Plugs: a task holds its requests back for a moment to send them together.
//!
//! The plug belongs to the task (`struct blk_plug` in its `task_struct`), not to the device as btt has it: two
//! tasks can hold a plug on one device at once. The first request under a plug makes a `P`; a `U` (or `UT`,
//! when the task is about to sleep) ends it. With no scheduler many plugs end without a word.

use rustc_hash::FxHashMap;
use serde::Serialize;
use trace::{DevId, Nanos, Tid};

/// A plug that was pulled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Plug {
    /// On which device the unplug was seen.
    pub dev: DevId,
    /// Whose.
    pub tid: Tid,
    /// When it began; `None` if that was not seen.
    pub from: Option<Nanos>,
    /// When it was pulled.
    pub to: Nanos,
    /// How many requests were sent.
    pub requests: u64,
    /// Whether because the task went to sleep.
    pub implicit: bool,
}

/// The plugs that are in.
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
