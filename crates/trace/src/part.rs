//! A part of a recording, selected by time, as if the recording had been started later and stopped earlier.
//!
//! Names (of tasks, functions, stacks) and the wall clock pass whatever their time is, since they remain valid
//! afterwards. All other events outside the part are dropped on purpose. I/O in flight at the start of the part has lost its
//! beginning, as in any recording that is started on a busy disk.
//!
//! **Invariant**: a task event keeps its position relative to the remaining block events.

use crate::error::Error;
use crate::event::{Action, Batch, Event};
use crate::quality::Quality;
use crate::source::Source;
use crate::task_event::{TaskEvent, What};
use std::path::{Path, PathBuf};
use units::Nanos;

/// Passes only a range of time of another source. Times count from the first block event.
pub struct Part {
    inner: Box<dyn Source>,
    /// The path that the user gave, for an error.
    path: PathBuf,
    from: Nanos,
    to: Nanos,
    /// Time of the last event of the whole recording, as far as it was read.
    last: Nanos,
    /// Time of the first block event of the whole recording; `None` before it is read.
    zero: Option<Nanos>,
    events: u64,
    /// Whether the part has any event other than names and the wall clock.
    any: bool,
    /// Whether the recording continues after the part.
    goes_on: bool,
}

impl Part {
    /// `from` and `to` count from the first block event; both ends are included. `path`: what the user gave, for an error.
    pub fn new(inner: Box<dyn Source>, path: &Path, from: Nanos, to: Nanos) -> Part {
        let (zero, path) = (None, path.to_path_buf());
        Part { inner, path, from, to, last: Nanos(0), zero, events: 0, any: false, goes_on: false }
    }

    /// An error if the part begins after the last event. A part within the recording in which nothing happened is none.
    fn is_inside(&self) -> Result<(), Error> {
        match self.zero {
            Some(_) if !self.any && self.last < self.from => {
                Err(Error::Outside { path: self.path.clone(), first: Nanos(0), last: self.last })
            }
            _ => Ok(()),
        }
    }

    fn holds(&mut self, e: &Event) -> bool {
        match e.action {
            Action::TaskName | Action::WallClock => true,
            Action::Lost if self.zero.is_none() => false,
            _ => {
                let zero = *self.zero.get_or_insert(e.time);
                self.within(e.time, zero)
            }
        }
    }

    fn holds_task(&mut self, t: &TaskEvent) -> bool {
        // Anything before the first block event counts as at zero.
        matches!(t.what, What::Text { .. }) || self.within(t.time, self.zero.unwrap_or(t.time))
    }

    fn within(&mut self, time: Nanos, zero: Nanos) -> bool {
        let since = time.since(zero);
        let within = self.from <= since && since <= self.to;
        self.any |= within;
        self.goes_on |= self.to < since;
        self.last = self.last.max(since);
        within
    }

    /// Removes events outside the part from a batch.
    fn cut(&mut self, batch: &mut Batch) {
        // For each index into `batch.events`: how many of the events before it remain.
        let mut left = vec![0];
        let mut count = 0;
        batch.events.retain(|e| {
            let holds = self.holds(e);
            count += holds as u32;
            left.push(count);
            holds
        });
        batch.tasks.retain_mut(|t| {
            t.after = left[(t.after as usize).min(left.len() - 1)];
            self.holds_task(t)
        });
    }
}

impl Source for Part {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        while self.inner.fill(batch)? {
            self.cut(batch);
            if !batch.is_empty() {
                let blocks = batch.events.iter().filter(|e| e.action != Action::Lost).count();
                self.events += (blocks + batch.tasks.len()) as u64;
                return Ok(true);
            }
        }
        self.is_inside()?;
        Ok(false)
    }

    fn without_symbols(&mut self) {
        self.inner.without_symbols();
    }

    fn position(&self) -> u64 {
        self.inner.position()
    }

    fn size(&self) -> Option<u64> {
        self.inner.size()
    }

    /// Events and losses count within the part (losses by second); all other counts are of the whole recording.
    fn quality(&self) -> Quality {
        let mut q = self.inner.quality();
        q.events = if self.any { self.events } else { 0 };
        let zero = self.zero.unwrap_or_default();
        let on_clock = |t: Nanos| Nanos(zero.0.saturating_add(t.0));
        let second = |t: Nanos| on_clock(t).0 / Nanos::SECOND.0;
        let within = second(self.from)..=second(self.to);
        q.until = self.goes_on.then(|| on_clock(self.to));
        q.lost.retain(|at, _| within.contains(&at.second));
        q
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task_event::{Context, TextId};
    use units::{Cpu, DevId, Tid};

    /// A batch for each list of events.
    struct Batches(Vec<Vec<(u64, Action)>>);

    impl Source for Batches {
        fn fill(&mut self, batch: &mut Batch) -> Result<bool, Error> {
            batch.clear();
            if self.0.is_empty() {
                return Ok(false);
            }
            let event = |(s, action)| Event { time: Nanos(s * Nanos::SECOND.0), action, ..Event::default() };
            batch.events.extend(self.0.remove(0).into_iter().map(event));
            Ok(true)
        }

        fn position(&self) -> u64 {
            7
        }

        fn size(&self) -> Option<u64> {
            Some(8)
        }

        fn quality(&self) -> Quality {
            let mut q = Quality { events: 100, unknown: 1, ..Quality::default() };
            for s in [101, 105, 109] {
                q.lose(DevId(1), Cpu(0), Nanos(s * Nanos::SECOND.0), 1);
            }
            q
        }
    }

    fn part(told: Vec<Vec<(u64, Action)>>, from: u64, to: u64) -> Part {
        Part::new(Box::new(Batches(told)), Path::new("slow"), Nanos(from), Nanos(to))
    }

    #[test]
    fn what_lies_outside_is_left_out_and_names_are_kept() {
        use Action::*;
        let told = vec![
            vec![(50, WallClock), (99, TaskName), (100, Queue), (101, Lost), (103, Issue)],
            vec![(103, Complete)],
            vec![(104, Queue), (105, Lost), (106, Complete), (107, TaskName), (107, Queue)],
        ];
        let mut part = part(told, 4 * Nanos::SECOND.0, 6 * Nanos::SECOND.0);
        let (mut batch, mut seen) = (Batch::default(), vec![]);
        while part.fill(&mut batch).unwrap() {
            assert!(!batch.events.is_empty());
            seen.extend(batch.events.iter().map(|e| (e.time.0 / Nanos::SECOND.0, e.action)));
        }
        let wanted =
            [(50, WallClock), (99, TaskName), (104, Queue), (105, Lost), (106, Complete), (107, TaskName)];
        assert_eq!(seen, wanted);
        let q = part.quality();
        assert_eq!((q.events, q.lost_total(), q.unknown), (5, 1, 1));
        assert_eq!(q.until, Some(Nanos(106 * Nanos::SECOND.0)), "the recording goes on behind it");
        assert_eq!((part.position(), part.size()), (7, Some(8)));
    }

    #[test]
    fn a_part_in_which_nothing_happened_is_empty_and_one_behind_the_end_an_error() {
        use Action::*;
        let told = || vec![vec![(9, TaskName), (10, Queue)], vec![(13, Complete)]];
        let mut batch = Batch::default();
        let mut none = part(told(), 1, 2);
        assert!(none.fill(&mut batch).unwrap() && batch.events.len() == 1);
        assert!(!none.fill(&mut batch).unwrap());
        let q = none.quality();
        assert_eq!(
            (q.events, q.until),
            (0, Some(Nanos(10 * Nanos::SECOND.0 + 2))),
            "a name is no event of the part"
        );
        let after = Nanos::SECOND.0 * 3;
        let mut behind = part(told(), after + 1, after + 2);
        assert!(behind.fill(&mut batch).unwrap());
        let error = behind.fill(&mut batch).unwrap_err().to_string();
        assert_eq!(error, "slow: the window lies outside the recording, which covers 0 to 3 s");
        let mut at_the_end = part(told(), after, after + 2);
        while at_the_end.fill(&mut batch).unwrap() {}
        // Without a block event there is nothing that the window counts from.
        let mut nothing = part(vec![vec![(9, TaskName)]], 1, 2);
        while nothing.fill(&mut batch).unwrap() {}
    }

    #[test]
    fn what_tasks_did_stands_behind_the_same_events() {
        let event = |s: u64| Event { time: Nanos(s), action: Action::Queue, ..Event::default() };
        let text = What::Text { id: TextId(1), text: crate::span::Span { start: 0, len: 0 } };
        let task = |s: u64, after: u32, what: What| TaskEvent {
            time: Nanos(s),
            after,
            tid: Tid(1),
            cpu: Cpu(0),
            context: Context(0),
            what,
        };
        let mut part = part(vec![], 5, 9);
        let mut batch = Batch::default();
        batch.events.extend([100, 104, 105, 107, 110].map(event));
        batch.tasks.extend([
            task(99, 0, What::WritebackEnd),
            task(101, 1, text),
            task(104, 2, What::WorkEnd),
            task(106, 3, What::Gone),
            task(108, 4, What::WritebackEnd),
            task(110, 5, What::Gone),
            task(108, 99, What::WorkEnd),
        ]);
        part.cut(&mut batch);
        assert_eq!(batch.events.iter().map(|e| e.time.0).collect::<Vec<_>>(), [105, 107]);
        let left: Vec<_> = batch.tasks.iter().map(|t| (t.time.0, t.after, t.what)).collect();
        let wanted =
            [(101, 0, text), (106, 1, What::Gone), (108, 2, What::WritebackEnd), (108, 2, What::WorkEnd)];
        assert_eq!(left, wanted);
    }
}
