//! The tape: what the tracking thread notes for another thread to count.

use crate::note::Note;
use ledger::Ledger;
use life::{Bio, Names, NamesSeen, News, Request};
use trace::{DevId, Nanos};
use waits::BioParts;

/// A change of a device's depth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    /// Number of requests on the tape that were completed before it.
    pub after: u32,
    pub dev: DevId,
    pub now: Nanos,
    pub depth: u64,
}

/// Completed requests, changes of depth, and completed bios, each in order.
#[derive(Debug, Default)]
pub struct Tape {
    pub(crate) requests: Vec<Note>,
    pub(crate) changes: Vec<Change>,
    pub(crate) bios: BioParts,
    pub(crate) news: News,
}

impl Tape {
    /// Whether nothing is on it. New names also count: the counting thread must get them in order.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.changes.is_empty() && self.bios.is_empty() && self.news.is_empty()
    }

    /// Notes a completed request; `task` is its number in [`Tasks`](crate::Tasks).
    #[inline]
    pub(crate) fn request(&mut self, r: &Request, task: u32) {
        self.requests.push(Note::of(r, task));
    }

    /// Notes a completed bio; `no_tag` is the time that it waited while all tags were taken.
    pub(crate) fn bio(&mut self, b: &Bio, ledger: &Ledger, no_tag: Nanos) {
        self.bios.add(b, ledger, no_tag);
    }

    /// Notes that a device has `depth` requests from `now` on.
    #[inline]
    pub(crate) fn depth(&mut self, dev: DevId, now: Nanos, depth: u64) {
        let after = self.requests.len() as u32;
        self.changes.push(Change { after, dev, now, depth });
    }

    /// Notes names and holders that are new to the counting thread.
    pub(crate) fn names(&mut self, names: &Names, names_seen: &mut NamesSeen) {
        self.news.add(names.news(names_seen));
    }

    pub(crate) fn clear(&mut self) {
        self.requests.clear();
        self.changes.clear();
        self.bios.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Analysis;
    use crate::traffic::Flow;
    use testkit::Script;

    /// The reading thread has two tapes: it writes on one while the other is counted. Names arrive in order, although
    /// nothing was completed when the first one came.
    #[test]
    fn names_heard_before_anything_is_completed_are_counted_in_their_order() {
        let script = Script::of(
            "0 name first tid=1\n\
             1 name second tid=2\n2 Q R 64+8 tid=2\n4 D R 64+8 tid=2\n9 C R 64+8 tid=0\n",
        );
        let (mut analysis, mut other) = (Analysis::default(), Tape::default());
        let batches = script.batches(1);
        for batch in &batches {
            analysis.feed(batch);
            std::mem::swap(analysis.tape(), &mut other);
            if !other.is_empty() {
                analysis.counts().count(&mut other);
            }
        }
        let facts = analysis.finish(Flow::default());
        let who: Vec<&str> = facts.waits.victims().map(|(_, v, _)| &*v.task).collect();
        assert_eq!(who, ["second"]);
    }
}
