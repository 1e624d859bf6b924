//! `journal-cpu`: the journal's commit waits for a processor, not for the device.
//!
//! The journal is written by one kernel thread. On a host whose processors are busy, every fsync waits until that thread
//! gets one, several times per commit.

use crate::case::Case;
use crate::paths;
use crate::verdict::{Answer, Verdict};
use crate::Cause;
use ledger::Reason;
use operation::Wait;
use stats::Group;
use trace::DevId;

/// File systems that are asked about often and have no jbd2.
const OTHERS: [&str; 3] = ["xfs", "btrfs", "f2fs"];

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "journal-cpu",
    title: "the journal's thread waits for a processor while everybody waits for its commit",
    page: include_str!("../../pages/journal-cpu.md"),
    judge,
};

fn judge(case: &mut Case) -> Verdict {
    let what = "while the journal's thread ran or waited for a processor";
    let in_journal = |waits: operation::Waits| {
        [Wait::JournalCommit, Wait::JournalHandle, Wait::JournalBuffer].iter().any(|w| waits.has(*w))
    };
    let pick = |waits, reason| in_journal(waits) && matches!(reason, Reason::WaitCpu | Reason::OnCpu);
    // XFS and btrfs have no such thread: what seems to wait for one there is about another file system's.
    let others: Vec<DevId> =
        case.focus.groups.iter().map(|g| g.dev).filter(|dev| other_journal(case, *dev)).collect();
    let has_journal = |group: &Group| !others.contains(&group.dev);
    let (v, found) = paths::judge_kinds(case, CAUSE.name, what, has_journal, pick);
    if v.verdict != Answer::Found {
        return v;
    }
    let name = found.first().map_or_else(String::new, |n| case.name(case.focus.groups[*n].dev));
    v.try_this(
        "let the journal's thread go before others; chrt -o -p 0 takes it back",
        format!("for p in $(pgrep '^jbd2/{name}'); do chrt -r -p 1 $p; done"),
    )
    .try_this(
        "leave a processor free: fewer busy tasks, or those in a cgroup with less weight",
        "systemctl set-property BUSY.service CPUWeight=20",
    )
    .unless("fsyncs as slow on idle processors")
}

/// Whether the file system on a device is known, and is one whose journal is not jbd2's.
fn other_journal(case: &Case, dev: DevId) -> bool {
    case.mount(dev).is_some_and(|m| OTHERS.contains(&m.fstype.as_str()))
}
