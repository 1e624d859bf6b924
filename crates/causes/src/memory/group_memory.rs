//! The limit on memory that a task's control group has: what it reads into the page cache counts, too
//! (Documentation/admin-guide/cgroup-v2.rst, "Memory").

use crate::case::Case;
use crate::proof::proof;
use crate::remedy::Acts;
use crate::verdict::Verdict;
use crate::words::{counted, shell, size};
use evidence::{Limit, Limited};
use trace::Bytes;

/// The limit that these tasks met most often while it was recorded, if they are known to have met one.
pub(crate) fn met<'c, 't>(case: &Case<'c>, tasks: impl Iterator<Item = &'t str>) -> Option<&'c Limited> {
    case.system.memory_limit_met(tasks.flat_map(|task| case.facts.operations.processes_of(task)))
}

/// Says which limit that is, and has it raised.
pub(crate) fn raise(v: Verdict, limited: &Limited) -> Verdict {
    let Limited { file, limit: Limit::Memory { bytes, met }, .. } = limited else { return v };
    let more = bytes.0.saturating_mul(2).max(1 << 20);
    let (property, but) = match file.ends_with("/memory.high") {
        true => ("MemoryHigh", "not above memory.max, where processes are killed"),
        false => ("MemoryMax", "others have so much less"),
    };
    v.because(proof!(
        "its control group may have {bytes} of memory, page cache included ({file}), and met that limit {met} meanwhile",
        bytes = *bytes,
        file = Text(file.clone()),
        met = Counted(*met, "time", "times")
    ))
    .try_on(
        Acts::Victim,
        format!(
            "more memory for its control group, which met its limit of {} {} here: {} (of a service: systemctl set-property SERVICE \
             {property}={more}); {but}",
            size(*bytes),
            counted(*met, "time", "times"),
            size(Bytes(more))
        ),
        format!("echo {more} > {}", shell(file)),
    )
}
