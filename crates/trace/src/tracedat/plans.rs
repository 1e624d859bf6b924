//! How to process the records of each event, determined at the first record: a recording may have the layouts
//! of thousands of events, but only some dozen occur.

use super::cursor::Record;
use super::format::EventFormat;

/// Plans by event. Events without a plan are ignored.
#[derive(Debug)]
pub struct Plans<P> {
    by_event: Vec<Option<Option<P>>>,
    find: fn(&EventFormat) -> Option<P>,
}

impl<P: Clone> Plans<P> {
    /// For `events` events; `find` makes a plan from a layout.
    pub fn new(events: usize, find: fn(&EventFormat) -> Option<P>) -> Plans<P> {
        Plans { by_event: vec![None; events], find }
    }

    /// The plan for a record; `None` if its event is ignored.
    #[inline]
    pub fn of(&mut self, record: &Record) -> Option<&P> {
        if self.by_event[record.index].is_none() {
            self.first(record);
        }
        self.by_event[record.index].as_ref()?.as_ref()
    }

    #[cold]
    fn first(&mut self, record: &Record) {
        // A broken layout is not used even in part: its records are counted as unknown (`Cursor::quality`).
        let plan = (self.find)(record.event).filter(|_| record.event.fields().is_ok());
        self.by_event[record.index] = Some(plan);
    }
}
