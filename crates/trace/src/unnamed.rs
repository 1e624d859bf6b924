//! Detects a missing per-CPU file by tasks without a name: blktrace notes a task's name before its first event, in
//! the file of the processor it runs on (`trace_note_tsk`, kernel/trace/blktrace.c). File numbers show only gaps, not a missing last file.

use crate::event::{Action, Event};
use rustc_hash::{FxHashMap, FxHashSet};
use units::Tid;

/// I/O of unnamed tasks is significant from this number of bios and this part of all bios (the next constant).
const LEAST: u64 = 10;
const PART: f64 = 0.02;
/// Limit on tracked tasks.
const MOST: usize = 1 << 16;

/// Counts queued bios per task and collects the tasks whose names were noted.
#[derive(Default)]
pub struct Unnamed {
    named: FxHashSet<Tid>,
    queued: FxHashMap<Tid, u64>,
    /// The task that queued last, and its bios in succession, within a batch.
    recent: (Tid, u64),
    /// Whether events were lost: a name may be among them.
    lost: bool,
}

impl Unnamed {
    /// Counts the events of a batch.
    pub fn hear(&mut self, events: &[Event]) {
        for e in events {
            match e.action {
                Action::Lost => self.lost = true,
                Action::TaskName if self.named.len() < MOST => {
                    self.named.insert(e.tid);
                }
                Action::Queue if e.tid == self.recent.0 => self.recent.1 += 1,
                Action::Queue => {
                    let (tid, n) = std::mem::replace(&mut self.recent, (e.tid, 1));
                    self.count(tid, n);
                }
                _ => {}
            }
        }
        let (tid, n) = std::mem::take(&mut self.recent);
        self.count(tid, n);
    }

    fn count(&mut self, tid: Tid, n: u64) {
        if n > 0 && self.queued.len() < MOST {
            *self.queued.entry(tid).or_default() += n;
        }
    }

    /// The warning about missing files, if any. Without a single name in the trace, names were not recorded, so there is no warning.
    pub fn note(&self) -> Option<String> {
        let all: u64 = self.queued.values().sum();
        let of_nobody = |(tid, _): &(&Tid, &u64)| !self.named.contains(tid);
        let unnamed: u64 = self.queued.iter().filter(of_nobody).map(|(_, n)| n).sum();
        let many =
            !self.lost && unnamed >= LEAST && unnamed as f64 >= PART * all as f64 && !self.named.is_empty();
        many.then(|| {
            format!(
                "{unnamed} of {all} queued I/Os are of tasks whose name is not in it, though each gives it to its processor's file: \
                 per-CPU files are missing"
            )
        })
    }
}
