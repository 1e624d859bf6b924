//! `reclaim`: an operation needs memory, there is none, and it frees some itself before it goes on.
//!
//! Normally kswapd frees memory in the background. Where a cgroup has reached its limit, or memory goes faster than kswapd can
//! free it, whoever asks for a page has to (`try_to_free_mem_cgroup_pages`, `try_to_free_pages`, mm/vmscan.c), and may have to
//! wait there until dirty pages are written.

use crate::case::Case;
use crate::paths;
use crate::remedy::{Action, Acts};
use crate::verdict::{Answer, Verdict};
use crate::words::shell;
use crate::Cause;
use ledger::Reason;
use operation::{Wait, Waits};

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "reclaim",
    title: "memory is short: operations free memory themselves before they go on",
    page: include_str!("../../pages/reclaim.md"),
    judge,
};

fn judge(case: &mut Case) -> Verdict {
    let what = "asleep while they freed memory (direct reclaim)";
    let pick = |waits: Waits, reason| waits.has(Wait::Reclaim) || reason == Reason::Reclaim;
    let (v, _) = paths::judge(case, CAUSE.name, what, pick);
    if v.verdict != Answer::Found {
        return v;
    }
    v.try_this(
        "is it the machine or the task's cgroup that is short of memory: the cgroup, if its own use is near its limit",
        "grep -H . /proc/pressure/memory; C=/sys/fs/cgroup/$(sed -n 's/^0:://p' /proc/PID/cgroup); grep -H . $C/memory.current $C/memory.max $C/memory.high",
    )
    .try_on(
Acts::Victim,

        "more memory for its cgroup, if that is it (of a service also: systemctl set-property SERVICE MemoryMax=2G)",
        memory_limit(case),
    )
    .try_this(
        "let write-back begin earlier, so that there are clean pages to free: writers are held back sooner",
        Action::Sysctl(&[("vm.dirty_background_bytes", 67_108_864)]),
    )
    .try_this(
        "wake kswapd earlier: this much stays free (in KiB); it is lost for caches",
        Action::Sysctl(&[("vm.min_free_kbytes", 262_144)]),
    )
    .unless("operations as slow with memory to spare")
}

/// Raises the limit of a cgroup that the user knows.
pub(crate) fn memory_limit(case: &Case) -> String {
    let v1 = case.system.mounts.iter().find(|m| m.fstype == "cgroup" && m.option("memory").is_some());
    match v1 {
        Some(m) => format!("echo 2G > {}/GROUP/memory.limit_in_bytes", shell(&m.target)),
        None => "echo 2G > /sys/fs/cgroup/GROUP/memory.max".into(),
    }
}
