//! Who sent a request, whose it is, and who ran meanwhile.

use device::Behind;
use ledger::Reason;
use life::{Holding, Io, Names, Op, Owner, TaskName, Timeline};
use operation::{runners, History, Node};
use trace::{Nanos, Tid};

/// Who sent what is in the device.
pub(crate) struct By {
    pub tid: Tid,
    pub task: TaskName,
    pub owner: Option<Owner>,
    pub op: Op,
    pub holding: Holding,
}

/// Whether a holder is the victim's own job: it issued them, or they are its data.
pub(crate) fn is_of(h: &Holding, task: TaskName, names: &Names) -> bool {
    h.io != Io::Journal && (names.is_one_job(h.task, task) || names.is_one_job(h.owner, task))
}

/// Who had the processor for most of a wait.
pub(crate) fn runner(history: &History, names: &Names, tid: Tid, node: &Node) -> Option<Box<str>> {
    let (who, _) = runners(history, tid, node.from, node.to).into_iter().next()?;
    Some(names.text(names.of(who)).into())
}

/// The flush that passed in a stretch of a request's time: how long the device paused, how long it was behind which holder, and
/// the rest.
pub(crate) fn flush_of(t: &Timeline, reason: Reason, time: Nanos) -> (Nanos, Behind, Nanos) {
    let waited = match reason {
        Reason::Preflush => t.preflush,
        Reason::Postflush => t.postflush,
        _ => None,
    };
    let Some(waited) = waited else { return (Nanos(0), Behind::default(), time) };
    let [paused, behind, flush] = waited.last(time);
    (paused, Behind { time: behind, ..waited.behind }, flush)
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::FlushWait;

    /// A flush of 10 ms, of which the device paused for 6 and was behind somebody for 1.
    #[test]
    fn a_flush_before_the_data_is_split_as_one_after_it() {
        let ms = |ms: u64| Nanos(ms * 1_000_000);
        let behind = Behind { time: ms(1), ..Behind::default() };
        let flush = FlushWait { issued: ms(5), completed: ms(15), paused: ms(6), behind };
        let split = |t: &Timeline, reason| {
            let (paused, behind, flush) = flush_of(t, reason, ms(10));
            [paused, behind.time, flush].map(|t| t.0 / 1_000_000)
        };
        let before = Timeline { preflush: Some(flush), ..Timeline::default() };
        let after = Timeline { postflush: Some(flush), ..Timeline::default() };
        assert_eq!(split(&before, Reason::Preflush), [6, 1, 3]);
        assert_eq!(split(&after, Reason::Postflush), [6, 1, 3]);
        // Of one that it did not wait for nothing is known; in line for one it is not in the device yet.
        assert_eq!(split(&after, Reason::Preflush), [0, 0, 10]);
        assert_eq!(split(&before, Reason::FlushQueue), [0, 0, 10]);
    }
}
