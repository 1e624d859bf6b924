//! How much a task moved on a device, and how much a journal wrote there for the task's changes.

use crate::case::Case;
use crate::proof::{proof, Proof};
use crate::slow::Slow;
use trace::Bytes;

/// The bytes that a task moved on the victim's device, and those that all tasks moved.
pub(crate) fn moved(case: &Case, slow: &Slow, task: &str) -> (Bytes, Bytes) {
    let (mut its, mut all) = (Bytes(0), Bytes(0));
    for (key, phases) in case.facts.cells.iter().filter(|(k, _)| k.dev == slow.on.id) {
        all += phases.bytes;
        if case.facts.tasks.name(key.task) == task {
            its += phases.bytes;
        }
    }
    (its, all)
}

/// The bytes of commits on the victim's device that are due to a task: it asked for them, or its changes made them large.
fn committed(case: &Case, slow: &Slow, task: &str) -> Bytes {
    case.facts.operations.committed.get(&(slow.on.id, task.into())).copied().unwrap_or_default()
}

/// Whether a task interferes by commits of its changes rather than by what it moves itself: the journal's thread sends
/// commits, with a priority and in a control group of its own.
pub(crate) fn is_by_commits(case: &Case, slow: &Slow, task: &str) -> bool {
    committed(case, slow, task) > moved(case, slow, task).0
}

/// Evidence of the larger of the two; `None` if both are 0, because others send what the task changes.
pub(crate) fn proof(case: &Case, slow: &Slow, task: &str) -> Option<Proof> {
    let name = case.name(slow.on.id);
    let (moved, whole) = moved(case, slow, task);
    let committed = committed(case, slow, task);
    (committed.0 + moved.0 > 0).then(|| match committed > moved {
        true => proof!(
            "of the {whole} that {name} moved, {committed} were commits of {task}'s changes",
            whole,
            name,
            committed,
            task
        ),
        false => proof!("{task} moved {moved} of the {whole} that {name} moved", task, moved, whole, name),
    })
}
