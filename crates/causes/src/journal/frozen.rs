//! `frozen`: a file system is frozen (for a snapshot), and changes to it wait until it thaws.
//!
//! `freeze_super` (fs/super.c) admits no new writers; they sleep in `sb_start_write`. Claims the time in that sleep.
//! Refuted if no task slept there.

use crate::case::Case;
use crate::cause::{Cause, Judge, Nature};
use crate::paths::{awakener, Waited};
use crate::proof::proof;
use crate::remedy::Action;
use crate::verdict::Verdict;
use ledger::Reason;
use operation::{Node, Part, Wait, Waits};

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "frozen",
    title: "the file system is frozen: changes wait until it is thawed",
    nature: Nature::Rare,
    page: include_str!("../../pages/frozen.md"),
    judge: Judge::Waited(
        Waited::new("waiting for the file system to thaw (sb_start_write)", |waits: Waits, reason| {
            waits.has(Wait::Frozen) && reason != Reason::WaitCpu
        }),
        found,
    ),
};

fn found(case: &Case, mut v: Verdict, groups: &[usize]) -> Verdict {
    for &number in groups {
        let Some(mount) = case.mount_of(&case.focus.groups[number]) else { continue };
        v = v.because(proof!("{target} was frozen", target = mount.target));
    }
    if let Some((who, times)) = who(case, groups) {
        v = v.because(proof!(
            "{who} thawed it for the slowest of them {times}",
            who,
            times = Counted(times, "time", "times")
        ));
    }
    v.try_this(
        "see what freezes it: backup agents and snapshots call fsfreeze, qemu-ga for the host, or dmsetup suspend",
        freezers(),
    )
    .unless("operations just as slow while nobody freezes the file system")
}

/// What shows who may freeze a file system.
pub(crate) fn freezers() -> Action {
    Action::look("pgrep -ax 'fsfreeze|xfs_freeze|qemu-ga|dmsetup'; systemctl list-timers --all")
}

/// The task that woke most of the sampled operations that slept in a frozen file system, and how often: it thawed the
/// file system (`thaw_super`, fs/super.c), and often it also froze it.
fn who(case: &Case, groups: &[usize]) -> Option<(String, u64)> {
    awakener(case, groups, |kept, woken| {
        let slept = |n: &&Node| matches!(n.part, Part::Wait { wait: Wait::Frozen, .. });
        let mut sleeps = kept.account.nodes.iter().filter(slept);
        woken.who == kept.operation.tid && sleeps.any(|n| n.from < woken.at && woken.at <= n.to)
    })
}
