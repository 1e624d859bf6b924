//! `swap`: a program touches memory that was moved to the swap device, and waits until it has been read back.
//!
//! The task sleeps in `do_swap_page` (mm/memory.c). Its ledger has what the device did meanwhile; swapping out competes
//! for the same device.

use crate::case::Case;
use crate::cause::{Cause, Judge, Nature};
use crate::memory::group_memory;
use crate::paths::Waited;
use crate::remedy::{Action, Acts};
use crate::thresholds::alone::MOSTLY;
use crate::verdict::Verdict;
use ledger::Reason;
use operation::{Wait, Waits};
use stats::Group;
use trace::Nanos;
use waits::Selection;

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "swap",
    title: "programs wait for their own memory to be read back from swap",
    nature: Nature::Rare,
    page: include_str!("../../pages/swap.md"),
    judge: Judge::Waited(
        Waited::new("waiting for memory that had to be read back from swap", is_read_back),
        found,
    ),
};

fn is_read_back(waits: Waits, reason: Reason) -> bool {
    waits.has(Wait::Swap) && reason != Reason::WaitCpu
}

/// The part of the time of all of a group's operations, 0 to 1. With enough memory none of it is needed, even if the device is at its best.
fn of_all(case: &Case, group: &Group) -> f64 {
    let rows = group.rows(&case.facts.waits, Selection::default());
    let its: Nanos = rows.iter().filter(|row| is_read_back(row.waits, row.reason)).map(|row| row.time).sum();
    its.0 as f64 / group.all.time.total.0.max(1) as f64
}

fn found(case: &Case, mut v: Verdict, groups: &[usize]) -> Verdict {
    let is_new = |number: &usize| v.throughout.iter().all(|(known, _)| known != number);
    let parts = groups.iter().copied().filter(is_new).map(|n| (n, of_all(case, &case.focus.groups[n])));
    let most: Vec<(usize, f64)> = parts.filter(|(_, part)| *part >= MOSTLY).collect();
    v.throughout.extend(most);
    let v = match group_memory::met(case, groups.iter().map(|number| &*case.focus.groups[*number].task)) {
        Some(limit) => group_memory::raise(v, limit),
        None => see_who_swaps(v, case),
    };
    v.try_this(
        "keep swapped pages compressed in memory: costs processor time, and memory for the pool",
        "echo 1 > /sys/module/zswap/parameters/enabled",
    )
    .unless("programs just as slow with nothing in swap")
}

fn see_who_swaps(v: Verdict, case: &Case) -> Verdict {
    v.try_this(
        "see who has most in swap",
        Action::look("grep -H VmSwap /proc/[0-9]*/status | sort -k2 -n | tail -5; swapon --show"),
    )
    .try_on(
        Acts::Victim,
        "more memory for the task's cgroup, if its limit causes the swapping (for a service also: systemctl set-property \
         SERVICE MemoryHigh=MORE MemoryMax=MORE); MORE: than it has",
        crate::memory::reclaim::memory_limit(case),
    )
}
