//! A part of a recording by time: as if it had been started later and stopped earlier.
//!
//! Names of tasks and the wall clock are let through whenever they were told, since they hold from then on. Everything
//! else outside is left out, as it was asked for; what was on its way at the first moment loses its beginning, as in any
//! recording that is started while the disk is busy.

use crate::error::Error;
use crate::event::{Action, Batch, Event};
use crate::quality::Quality;
use crate::source::Source;
use crate::units::Nanos;

/// A source of which only a stretch of time is wanted. Times count from the first event.
pub struct Part {
    inner: Box<dyn Source>,
    from: Nanos,
    to: Nanos,
    /// The first event of the whole recording.
    zero: Option<Nanos>,
    events: u64,
    /// Whether anything else than names and the clock lies in it.
    any: bool,
}

impl Part {
    /// Both ends are included.
    pub fn new(inner: Box<dyn Source>, from: Nanos, to: Nanos) -> Part {
        Part { inner, from, to, zero: None, events: 0, any: false }
    }

    fn holds(&mut self, e: &Event) -> bool {
        match e.action {
            Action::TaskName | Action::WallClock => true,
            Action::Lost if self.zero.is_none() => false,
            _ => {
                let since = e.time.since(*self.zero.get_or_insert(e.time));
                let holds = self.from <= since && since <= self.to;
                self.any |= holds;
                holds
            }
        }
    }
}

impl Source for Part {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        while self.inner.fill(batch)? {
            batch.events.retain(|e| self.holds(e));
            if !batch.events.is_empty() {
                self.events += batch.events.iter().filter(|e| e.action != Action::Lost).count() as u64;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn position(&self) -> u64 {
        self.inner.position()
    }

    fn size(&self) -> Option<u64> {
        self.inner.size()
    }

    /// Of the part: its events and the losses in its seconds. Of the whole: everything else.
    fn quality(&self) -> Quality {
        let mut q = self.inner.quality();
        q.events = if self.any { self.events } else { 0 };
        let zero = self.zero.unwrap_or_default().0;
        let second = |t: Nanos| zero.saturating_add(t.0) / Nanos::SECOND.0;
        let within = second(self.from)..=second(self.to);
        q.lost.retain(|at, _| within.contains(&at.second));
        q
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Cpu, DevId};

    /// A batch for each list of events.
    struct Told(Vec<Vec<(u64, Action)>>);

    impl Source for Told {
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

    #[test]
    fn what_lies_outside_is_left_out_and_names_are_kept() {
        use Action::*;
        let told = vec![
            vec![(50, WallClock), (99, TaskName), (100, Queue), (101, Lost), (103, Issue)],
            vec![(103, Complete)],
            vec![(104, Queue), (105, Lost), (106, Complete), (107, TaskName), (107, Queue)],
        ];
        let mut part =
            Part::new(Box::new(Told(told)), Nanos(4 * Nanos::SECOND.0), Nanos(6 * Nanos::SECOND.0));
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
        let mut none = Part::new(Box::new(Told(vec![vec![(9, TaskName), (10, Queue)]])), Nanos(1), Nanos(2));
        assert!(none.fill(&mut batch).unwrap() && batch.events.len() == 1);
        assert!(!none.fill(&mut batch).unwrap());
        assert_eq!(none.quality().events, 0, "a name alone is no event of the part");
        assert_eq!((part.position(), part.size()), (7, Some(8)));
    }
}
