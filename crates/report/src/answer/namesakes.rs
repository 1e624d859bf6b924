//! Processes with the same name that are not distinguished: what one of them does to another counts as its own.

use explain::answer::{Sufferer, WORTH_SEEING};
use explain::Explanation;
use trace::{Nanos, Tid};
use units::words::count;
use waits::CulpritKind;

/// Maximal number of processes that are listed.
const LISTED: usize = 4;

/// Tells the reader if the victim's name belongs to several processes at once. `None` if it is a server, or if its own
/// requests have less than [`WORTH_SEEING`] of its lost time.
pub(super) fn namesakes(e: &Explanation, v: &Sufferer) -> Option<String> {
    let own = v.because.iter().filter(|b| b.culprit.kind == CulpritKind::Own && b.culprit.io.is_some());
    let own: Nanos = own.map(|b| b.time).sum();
    let matters = own.0 as f64 >= WORTH_SEEING * v.lost.0 as f64 && v.lost.0 > 0;
    (v.role.is_none() && matters).then_some(())?;
    told(&v.task, &e.facts.operations.at_once(&v.task))
}

/// The remark; `None` if there is only one process.
fn told(task: &str, processes: &[Tid]) -> Option<String> {
    let listed: Vec<String> = processes.iter().take(LISTED).map(|p| p.0.to_string()).collect();
    let more = if processes.len() > LISTED { ", ..." } else { "" };
    (processes.len() > 1).then(|| {
        format!(
            "{task} is {} processes (PIDs {}{more}): waits for one another count as its own",
            count(processes.len() as u64),
            listed.join(", ")
        )
    })
}

#[cfg(test)]
#[test]
fn only_several_are_told() {
    let of = |n: u32| told("dd", &(1..=n).map(Tid).collect::<Vec<_>>());
    assert_eq!(of(1), None);
    let two = "dd is 2 processes (PIDs 1, 2): waits for one another count as its own";
    assert_eq!(of(2).as_deref(), Some(two));
    assert!(of(7).is_some_and(|said| said.contains("(PIDs 1, 2, 3, 4, ...)")));
}
