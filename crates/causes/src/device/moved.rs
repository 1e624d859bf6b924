//! How much a task moved on a device, and how much a journal wrote there for what it changed.

use crate::case::Case;
use crate::proof::{proof, Proof};
use crate::slow::Slow;
use operation::Purpose;
use stats::Whose;
use trace::Bytes;

/// What a task moved on the victim's device, and what all did.
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

/// What the journal on the victim's device wrote in commits that held changes of a task, and maybe of others.
fn committed(case: &Case, slow: &Slow, task: &str) -> Bytes {
    let holds_its =
        |whose: &Whose| matches!(whose, Whose::Tasks(all) if all.split(", ").any(|one| one == task));
    let sent = case.facts.operations.sent_for.iter();
    sent.filter(|((dev, purpose, whose), _)| {
        (*dev, *purpose) == (slow.on.id, Purpose::Journal) && holds_its(whose)
    })
    .map(|(_, sent)| sent.bytes)
    .sum()
}

/// Which of the two is more.
pub(crate) fn proof(case: &Case, slow: &Slow, task: &str) -> Proof {
    let name = case.name(slow.on.id);
    let (moved, whole) = moved(case, slow, task);
    let committed = committed(case, slow, task);
    match committed > moved {
        true => proof!("of the {whole} that {name} moved, {committed} were commits of its journal with changes of {task}", whole, name, committed, task),
        false => proof!("{task} moved {moved} of the {whole} that {name} moved", task, moved, whole, name),
    }
}
