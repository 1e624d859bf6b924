//! `swap`: a program touches memory that was moved to the swap device, and waits until it has been read back.
//!
//! The task sleeps in `do_swap_page` (mm/memory.c). What the device did meanwhile is in its ledger; swapping out competes for
//! the same device.

use crate::case::Case;
use crate::paths::Waited;
use crate::remedy::{Action, Acts};
use crate::verdict::Verdict;
use crate::{Cause, Judge, Nature};
use ledger::Reason;
use operation::{Wait, Waits};

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "swap",
    title: "programs wait for their own memory to be read back from swap",
    nature: Nature::Rare,
    page: include_str!("../../pages/swap.md"),
    judge: Judge::Waited(
        Waited::new("waiting for memory that had to be read back from swap", |waits: Waits, reason| {
            waits.has(Wait::Swap) && reason != Reason::WaitCpu
        }),
        found,
    ),
};

fn found(case: &Case, v: Verdict, _: &[usize]) -> Verdict {
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
    .try_this(
        "keep swapped pages compressed in memory: costs processor time, and memory for the pool",
        "echo 1 > /sys/module/zswap/parameters/enabled",
    )
    .unless("programs just as slow with nothing in swap")
}
