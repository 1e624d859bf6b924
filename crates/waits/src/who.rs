//! Determines who issued a request, whose data it carries, and which task ran during a wait.

use device::Behind;
use ledger::Reason;
use life::{Flushed, Holding, Io, Names, Op, Owner, TaskName, Timeline};
use operation::{runners, History, Node};
use trace::{Nanos, Tid};

/// The sender and the owner of a request in the device.
pub(crate) struct By {
    pub tid: Tid,
    pub task: TaskName,
    pub owner: Option<Owner>,
    pub op: Op,
    pub holding: Holding,
}

/// Whether a holder's requests belong to the victim's own job: the job issued them, or they carry its data.
pub(crate) fn is_of(h: &Holding, task: TaskName, names: &Names) -> bool {
    h.io != Io::Journal && (names.is_one_job(h.task, task) || names.is_one_job(h.owner, task))
}

/// The task that had the processor for most of a wait.
pub(crate) fn runner(history: &History, names: &Names, tid: Tid, node: &Node) -> Option<Box<str>> {
    let (who, _) = runners(history, tid, node.from, node.to).into_iter().next()?;
    Some(names.text(names.of(who)).into())
}

/// Splits the time of a flush that a request waited for. For the wait before the flush's turn, the part behind a task's data between two
/// flushes.
pub(crate) fn flush_of(t: Option<&Timeline>, reason: Reason, time: Nanos) -> Flushed {
    let all = Flushed { own: time, ..Flushed::default() };
    let Some(t) = t else { return all };
    let waited = match reason {
        Reason::FlushQueue => {
            let queued = [t.preflush, t.postflush].into_iter().flatten().map(|flush| flush.queued);
            let longest = queued.max_by_key(|q| q.time).unwrap_or_default();
            let queued = Behind { time: longest.time.min(time), ..longest };
            let behind = [queued, Behind::default()];
            return Flushed { behind, own: time.since(queued.time), ..Flushed::default() };
        }
        Reason::Preflush => t.preflush,
        Reason::Postflush => t.postflush,
        _ => None,
    };
    waited.map_or(all, |waited| waited.last(time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::FlushWait;

    /// A flush of 12 ms: the device paused for 6 ms; 1 ms each behind two holders and behind others.
    #[test]
    fn a_flush_before_the_data_is_split_as_one_after_it() {
        let ms = |ms: u64| Nanos(ms * 1_000_000);
        let behind = Behind { time: ms(1), ..Behind::default() };
        let (second, others) = (behind, ms(1));
        let queued = Behind { time: ms(2), ..Behind::default() };
        let flush =
            FlushWait { queued, issued: ms(5), completed: ms(17), paused: ms(6), behind, second, others };
        let split = |t: &Timeline, reason| {
            let parts = flush_of(Some(t), reason, ms(12));
            let [first, second] = parts.behind.map(|b| b.time);
            [parts.paused, first, second, parts.others, parts.own].map(|t| t.0 / 1_000_000)
        };
        let before = Timeline { preflush: Some(flush), ..Timeline::default() };
        let after = Timeline { postflush: Some(flush), ..Timeline::default() };
        assert_eq!(split(&before, Reason::Preflush), [6, 1, 1, 1, 3]);
        assert_eq!(split(&after, Reason::Postflush), [6, 1, 1, 1, 3]);
        // For a flush that the request did not wait for, nothing is known; while queued for a flush it is not in the device yet.
        assert_eq!(split(&after, Reason::Preflush), [0, 0, 0, 0, 12]);
        assert_eq!(split(&before, Reason::FlushQueue), [0, 2, 0, 0, 10]);
    }
}
