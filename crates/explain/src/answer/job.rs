//! Whether a job notices what delays it. A job runs as long as it takes: only the sum of its waits matters, not how long each of them is.
//!
//! Example: `gzip` compresses files for 2.4 s. Each of its 165 reads that miss the cache takes 2 ms, longer than on flash, but all together
//! take 4 % of that time: what `gzip` needs is a processor.

use super::rank;
use super::thresholds::NOTICED;
use super::victim::Sufferer;
use crate::explanation::Explanation;
use trace::{is_kernel_thread, Nanos};

/// Whether a cause has a tenth of the time in which a job was active, by the clock; always for other tasks.
pub(super) fn notices(e: &Explanation, v: &Sufferer, cause: &str) -> bool {
    let is_job = e.subject.roles.is_job(&v.task) && !is_kernel_thread(&v.task);
    !is_job || is_noticed(rank::of_the_clock(e, v, v.due_to(cause)), active(e, &v.task))
}

/// The time from a task's first operation to its last, without the time between its processes; at most that of the recording.
fn active(e: &Explanation, task: &str) -> Nanos {
    let recorded = e.facts.duration();
    e.facts.operations.active(task).map_or(recorded, |active| active.min(recorded))
}

fn is_noticed(part: Nanos, active: Nanos) -> bool {
    part.0 as f64 >= NOTICED * active.0 as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_the_time_is_noticed() {
        assert!(is_noticed(Nanos(100), Nanos(1000)) && !is_noticed(Nanos(99), Nanos(1000)));
    }
}
