//! The limit on memory that a task's control group has: what it reads into the page cache counts, too
//! (Documentation/admin-guide/cgroup-v2.rst, "Memory").

use crate::case::Case;
use crate::proof::proof;
use crate::remedy::Acts;
use crate::verdict::Verdict;
use crate::words::{counted, shell, size};
use evidence::{Limit, Limited};
use trace::Bytes;

/// Whether a task met such a limit.
pub(crate) fn is_met(case: &Case, task: &str) -> bool {
    met_by(case, task).is_some()
}

fn met_by<'c>(case: &'c Case, task: &str) -> Option<&'c Limited> {
    case.system.memory_limit_met(case.facts.operations.processes_of(task))
}

/// The same for the first of these groups' tasks that met one.
pub(crate) fn of_groups(mut v: Verdict, case: &Case, groups: &[usize]) -> Result<Verdict, Verdict> {
    for number in groups {
        v = match told(v, case, &case.focus.groups[*number].task) {
            Err(v) => v,
            told => return told,
        };
    }
    Err(v)
}

/// Says which limit a task met most often while it was recorded, and has it raised; `Err` where it is not known to have met one.
pub(crate) fn told(v: Verdict, case: &Case, task: &str) -> Result<Verdict, Verdict> {
    let Some(Limited { file, limit: Limit::Memory { bytes, met }, .. }) = met_by(case, task) else {
        return Err(v);
    };
    let more = bytes.0.saturating_mul(2);
    Ok(v.because(proof!(
        "the control group of {task} may have {bytes} of memory, its page cache included ({file}), and met that limit {met} meanwhile",
        task = task.to_string(),
        bytes = *bytes,
        file = Text(file.clone()),
        met = Counted(*met, "time", "times")
    ))
    .try_on(
        Acts::Victim,
        format!(
            "more memory for its control group, which met its limit of {} {} here: {} (of a service: systemctl set-property SERVICE MemoryMax=); \
             others have so much less",
            size(*bytes),
            counted(*met, "time", "times"),
            size(Bytes(more))
        ),
        format!("echo {more} > {}", shell(file)),
    ))
}
