//! A capture that is shown on a page.

use super::events::Events;
use explain::{pictured, Answer, Explanation, Places};
use stats::Pictures;

/// A capture that is shown on a page.
pub struct Shown {
    /// The capture's name on the page.
    pub label: String,
    /// The explanation of the capture.
    pub explanation: Explanation,
    /// Its I/O over time.
    pub pictures: Pictures,
    /// The events of the slowest requests and operations; empty without a second reading.
    pub events: Events,
}

/// A capture with what several parts of the page need.
pub(crate) struct PageInput<'a> {
    pub shown: &'a Shown,
    pub answer: Answer,
    pub places: Places,
}

impl<'a> PageInput<'a> {
    pub fn of(shown: &'a Shown) -> PageInput<'a> {
        let e = &shown.explanation;
        PageInput { shown, answer: Answer::of(e), places: pictured::places(e) }
    }
}
