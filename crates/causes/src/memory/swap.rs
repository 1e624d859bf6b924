//! `swap`: a program touches memory that was moved to the swap device, and waits until it has been read back.
//!
//! The task sleeps in `do_swap_page` (mm/memory.c). What the device did meanwhile is in its ledger; swapping out competes for
//! the same device.

use crate::case::Case;
use crate::paths;
use crate::remedy::Acts;
use crate::verdict::{Answer, Verdict};
use crate::Cause;
use ledger::Reason;
use operation::{Wait, Waits};

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "swap",
    title: "programs wait for their own memory, which lies in swap",
    page: include_str!("../../pages/swap.md"),
    judge,
};

fn judge(case: &mut Case) -> Verdict {
    let what = "waiting for memory that had to be read back from swap";
    let pick = |waits: Waits, reason| waits.has(Wait::Swap) && reason != Reason::WaitCpu;
    let (v, _) = paths::judge(case, CAUSE.name, what, pick);
    if v.verdict != Answer::Found {
        return v;
    }
    v.try_this(
        "who has most in swap",
        "grep -H VmSwap /proc/[0-9]*/status | sort -k2 -n | tail -5; swapon --show",
    )
    .try_on(
Acts::Victim,

        "more memory for the cgroup of the task, if it is its limit that pushes it out (of a service also: systemctl set-property \
         SERVICE MemoryHigh=2G MemoryMax=2G)",
        crate::memory::reclaim::memory_limit(case),
    )
    .try_this(
        "keep what is swapped in memory, compressed: costs processor time, and memory for the pool",
        "echo 1 > /sys/module/zswap/parameters/enabled",
    )
    .unless("programs as slow with nothing in swap")
}
