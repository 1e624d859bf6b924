//! What passed between moments in which a control group's limit released held I/O, by task.
//!
//! The limit counts what each group did in slices of time (block/blk-throttle.c). What exceeds it is held until the next slice and then sent by
//! `kthrotld`, a worker bound to a CPU. So for a task at its limit, what the task and that worker send between two such moments is what the
//! limit lets through in that time. Metadata sent by a worker is the file system's own.
//!
//! Example: each tenth of a second begins with a read of kworker/1:2, after which git sends 14: 150 reads a second.

use life::{Bio, Class};
use std::collections::BTreeMap;
use trace::{Bytes, Flags, Nanos};

/// Held I/O is released by a timer that counts ticks, at most 1000 a second (`CONFIG_HZ`). What follows within a tick
/// belongs to the same release.
const TICK: Nanos = Nanos(1_000_000);

/// What a task sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Number of bios.
    pub bios: u64,
    /// Bytes of the bios.
    pub bytes: Bytes,
    /// Time from queue to completion, summed.
    pub time: Nanos,
}

impl Passed {
    fn add(&mut self, other: Passed) {
        self.bios += other.bios;
        self.bytes += other.bytes;
        self.time += other.time;
    }
}

/// Releases of reads, or of writes, on one device.
#[derive(Clone, Debug, Default)]
pub struct LetGo {
    from: Option<Nanos>,
    to: Nanos,
    last: Nanos,
    rounds: u64,
    /// Counts until the last release; key `None`: what was released.
    counted: BTreeMap<Option<u32>, Passed>,
    /// Counts since the last release.
    since: BTreeMap<Option<u32>, Passed>,
}

impl LetGo {
    /// Adds a bio of a task, or (`None`) of a bound worker.
    pub(crate) fn record(&mut self, b: &Bio, task: Option<u32>) {
        let Some(queued) = b.time.queued else { return };
        if task.is_none() {
            if b.flags.has(Flags::META) {
                return;
            }
            if self.from.is_none() || queued.since(self.last) >= TICK {
                self.begin(queued);
            }
            self.last = self.last.max(queued);
        }
        if self.has_begun() {
            let passed = Passed { bios: 1, bytes: b.bytes, time: b.time.total() };
            self.since.entry(task).or_default().add(passed);
        }
    }

    /// Whether anything was released so far.
    pub(crate) fn has_begun(&self) -> bool {
        self.from.is_some()
    }

    fn begin(&mut self, at: Nanos) {
        match self.from {
            None => self.from = Some(at),
            Some(_) => self.rounds += 1,
        }
        self.to = at;
        for (task, passed) in std::mem::take(&mut self.since) {
            self.counted.entry(task).or_default().add(passed);
        }
    }

    /// Number of releases after the first one.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Time from the first release to the last.
    pub fn span(&self) -> Nanos {
        self.from.map_or(Nanos(0), |from| self.to.since(from))
    }

    /// What a task sent in that time, including everything that was released.
    pub fn of(&self, task: u32) -> Passed {
        let mut all = Passed::default();
        [None, Some(task)].iter().filter_map(|who| self.counted.get(who)).for_each(|passed| all.add(*passed));
        all
    }
}

/// Index of the direction of a class: 0 for reads, 1 for writes; `None` for the rest.
pub(crate) fn direction(class: Class) -> Option<usize> {
    match class {
        Class::Read => Some(0),
        Class::SyncWrite | Class::Background => Some(1),
        Class::Flush | Class::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::Op;

    fn bio(at_ms: u64, flags: Flags) -> Bio {
        let mut b = Bio { op: Op::Read, bytes: Bytes(4096), flags, ..Bio::default() };
        (b.time.queued, b.time.completed) = (Some(Nanos(at_ms * 1_000_000)), Nanos((at_ms + 1) * 1_000_000));
        b
    }

    /// Three reads in each tenth of a second, the first of them sent by a worker.
    #[test]
    fn whole_rounds_are_counted() {
        let mut let_go = LetGo::default();
        let_go.record(&bio(0, Flags::default()), Some(1));
        for round in 1..=11 {
            let at = round * 100;
            let_go.record(&bio(at, Flags::default()), None);
            let_go.record(&bio(at, Flags::default()), None);
            let_go.record(&bio(at + 2, Flags::default()), Some(1));
            let_go.record(&bio(at + 3, Flags::default()), Some(2));
            let_go.record(&bio(at + 50, Flags::META), None);
        }
        assert_eq!((let_go.rounds(), let_go.span()), (10, Nanos(1_000_000_000)));
        let passed = let_go.of(1);
        assert_eq!((passed.bios, passed.bytes, passed.time), (30, Bytes(30 * 4096), Nanos(30_000_000)));
        assert_eq!(let_go.of(3).bios, 20, "what was let go is of any task");
    }
}
