//! `reclaim`: an operation needs memory, none is free, and it frees some itself before it goes on.
//!
//! Normally kswapd frees memory in the background. If a cgroup has reached its limit, or memory is used up faster than
//! kswapd frees it, the task that needs a page has to free some (`try_to_free_mem_cgroup_pages`, `try_to_free_pages`,
//! mm/vmscan.c), and may have to wait there until dirty pages are written.

use crate::case::Case;
use crate::cause::{Cause, Judge, Nature};
use crate::memory::dirty_limits::begins_after;
use crate::memory::group_memory;
use crate::paths::Waited;
use crate::remedy::{Action, Acts};
use crate::target::one_of;
use crate::verdict::Verdict;
use evidence::Mount;
use ledger::Reason;
use operation::{Wait, Waits};
use stats::Group;
use trace::Bytes;
use units::words::shell;

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "reclaim",
    title: "memory is short: operations reclaim memory themselves before they continue",
    nature: Nature::Everyday,
    page: include_str!("../../pages/reclaim.md"),
    judge: Judge::Waited(
        Waited::new("asleep in direct reclaim", |waits: Waits, reason| {
            waits.has(Wait::Reclaim) || reason == Reason::Reclaim
        }),
        found,
    ),
};

fn found(case: &Case, v: Verdict, groups: &[usize]) -> Verdict {
    let v = match group_memory::met(case, groups.iter().map(|number| &*case.focus.groups[*number].task)) {
        Some(limit) => group_memory::raise(v, limit),
        None => case.of_each(v, groups, |v, group| see_whose(v, case, group)),
    };
    v.when(
        begins_after(case, Bytes(67_108_864)),
        "start writeback earlier, so that there are clean pages to reclaim: writers are throttled sooner",
        Action::Sysctl(&[("vm.dirty_background_bytes", 67_108_864)]),
    )
    .when(
        may_keep_free(case),
        "wake kswapd earlier: this much stays free (in KiB) and is lost to caches",
        Action::Sysctl(&[("vm.min_free_kbytes", 262_144)]),
    )
    .unless("operations just as slow with memory to spare")
}

fn see_whose(v: Verdict, case: &Case, group: &Group) -> Verdict {
    v.try_this(
        "find out whether the machine or the task's cgroup is short of memory: the cgroup, if its own use is near its limit",
        Action::look(memory_use(case, &one_of(case, &group.task))),
    )
    .try_on(
        Acts::Victim,
        "more memory for its cgroup, if that is the reason (for a service also: systemctl set-property SERVICE \
         MemoryMax=MORE); MORE: than it has",
        memory_limit(case),
    )
}

/// How much kswapd is asked to keep free, and the least memory of a host for that: on less the kernel would kill for
/// lack of memory ("Setting this too high will OOM your machine instantly", Documentation/admin-guide/sysctl/vm.rst).
const KEPT_FREE: [Bytes; 2] = [Bytes(262_144 << 10), Bytes(8 << 30)];

/// Whether that is more than is kept free now, and a small part of memory; what is not known does not count against it.
fn may_keep_free(case: &Case) -> bool {
    let [free, least] = KEPT_FREE;
    let is_more = case.system.vm_number("min_free_kbytes").is_none_or(|now| now.value < free.0 >> 10);
    is_more && case.system.memory_bytes().is_none_or(|memory| memory.value >= least)
}

/// The command that shows how much memory a process's cgroup uses, and how much it may use.
fn memory_use(case: &Case, pid: &str) -> String {
    let (at, line, files) = match first_version(case) {
        Some(m) => (shell(&m.target), "[0-9]*:memory:", ["usage_in_bytes", "limit_in_bytes"]),
        None => ("/sys/fs/cgroup".into(), "0::", ["current", "max"]),
    };
    let [used, most] = files.map(|file| format!("$C/memory.{file}"));
    format!(
        "grep -H . /proc/pressure/memory; C={at}$(sed -n 's/^{line}//p' /proc/{pid}/cgroup); grep -H . {used} {most}"
    )
}

/// The mount of the memory controller of control groups version 1, if that is used.
fn first_version<'c>(case: &Case<'c>) -> Option<&'c Mount> {
    case.system.mounts.iter().find(|m| m.fstype == "cgroup" && m.option("memory").is_some())
}

/// The command that raises the memory limit of a cgroup, to be filled in by the user.
pub(crate) fn memory_limit(case: &Case) -> String {
    match first_version(case) {
        Some(m) => format!("echo MORE > {}/GROUP/memory.limit_in_bytes", shell(&m.target)),
        None => "echo MORE > /sys/fs/cgroup/GROUP/memory.max".into(),
    }
}
