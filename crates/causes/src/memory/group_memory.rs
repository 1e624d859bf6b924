//! The memory limit of a task's control group, which includes what the task reads into the page cache
//! (Documentation/admin-guide/cgroup-v2.rst, "Memory").

use crate::case::Case;
use crate::proof::proof;
use crate::remedy::Acts;
use crate::verdict::Verdict;
use evidence::{Limit, Limited};
use trace::Bytes;
use units::words::{counted, shell, size};

/// The limit that these tasks met most often during the recording; `None` if they are not known to have met one.
pub(crate) fn met<'c, 't>(case: &Case<'c>, tasks: impl Iterator<Item = &'t str>) -> Option<&'c Limited> {
    case.system.memory_limit_met(tasks.flat_map(|task| case.facts.operations.processes_of(task)))
}

/// Adds which limit that is, and a remedy that doubles it.
pub(crate) fn raise(v: Verdict, limited: &Limited) -> Verdict {
    let Limited { file, limit: Limit::Memory { bytes, met, above }, .. } = limited else { return v };
    let more = bytes.0.saturating_mul(2).max(1 << 20);
    // A limit of a group above moves with it: version 1 refuses to exceed that one, and version 2 kills there.
    let above = above.as_ref().filter(|(_, limit)| limit.0 <= more);
    let most = above.map(|(file, limit)| (file, limit.0.saturating_add(more - bytes.0)));
    let property = match (file.ends_with("/memory.high"), most) {
        (true, Some((_, most))) => format!("MemoryMax={most} MemoryHigh={more}"),
        (true, None) => format!("MemoryHigh={more}"),
        (false, _) => format!("MemoryMax={more}"),
    };
    let first = most.map_or(String::new(), |(file, most)| format!("echo {most} > {}; ", shell(file)));
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
             {property}); others have so much less",
            size(*bytes),
            counted(*met, "time", "times"),
            size(Bytes(more))
        ),
        format!("{first}echo {more} > {}", shell(file)),
    )
}
