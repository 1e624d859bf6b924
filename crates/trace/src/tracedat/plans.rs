//! What is done with the records of each event, found out when the first of them comes: a recording may carry the layouts
//! of thousands of events, of which some dozen occur.

use super::cursor::Record;
use super::format::EventFormat;

/// Plans by event. Events without a plan are of no interest.
#[derive(Debug)]
pub struct Plans<P> {
    by_event: Vec<Option<Option<P>>>,
    find: fn(&EventFormat) -> Option<P>,
}

impl<P: Clone> Plans<P> {
    /// For so many events; `find` makes a plan from a layout.
    pub fn new(events: usize, find: fn(&EventFormat) -> Option<P>) -> Plans<P> {
        Plans { by_event: vec![None; events], find }
    }

    /// The plan for a record.
    #[inline]
    pub fn of(&mut self, record: &Record) -> Option<&P> {
        if self.by_event[record.index].is_none() {
            self.first(record);
        }
        self.by_event[record.index].as_ref()?.as_ref()
    }

    #[cold]
    fn first(&mut self, record: &Record) {
        // What a broken layout says is not believed in part: its records are counted as unknown (`Cursor::quality`).
        let plan = (self.find)(record.event).filter(|_| record.event.fields().is_ok());
        self.by_event[record.index] = Some(plan);
    }
}
