//! Tasks without a name, by which a missing file of a processor is told: blktrace notes a task's name before its first event, in
//! the file of the processor it runs on (`trace_note_tsk`, kernel/trace/blktrace.c). The numbers of files tell only of holes.

use crate::event::{Action, Event};
use rustc_hash::{FxHashMap, FxHashSet};
use units::Tid;

/// From as many bios of tasks without a name, and as large a part of all, it is no accident.
const LEAST: u64 = 10;
const PART: f64 = 0.02;
/// Tasks that are followed.
const MOST: usize = 1 << 16;

/// Who queues how much, and whose name was noted.
#[derive(Default)]
pub struct Unnamed {
    named: FxHashSet<Tid>,
    queued: FxHashMap<Tid, u64>,
    /// The task that queued last, and how much since another one did: within a batch.
    recent: (Tid, u64),
    /// Whether events were lost: a name may be among them.
    lost: bool,
}

impl Unnamed {
    /// Takes in what was read.
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

    /// What is said of files that are missing; without any name none were asked for.
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
