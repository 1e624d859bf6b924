//! `journal-cpu`: the journal's commit waits for a processor, not for the device.
//!
//! One kernel thread writes the journal. On a host with busy processors, every fsync waits until that thread gets a
//! processor, several times per commit.

use crate::case::Case;
use crate::cause::{Cause, Judge, Nature};
use crate::hardware::Hardware;
use crate::journal::durable;
use crate::paths::Waited;
use crate::verdict::Verdict;
use ledger::Reason;
use operation::{Wait, Waits};
use stats::Group;

/// Common file systems without jbd2.
const OTHERS: [&str; 3] = ["xfs", "btrfs", "f2fs"];

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "journal-cpu",
    title: "the journal's thread waits for a processor while others wait for its commit",
    nature: Nature::Everyday,
    page: include_str!("../../pages/journal-cpu.md"),
    judge: Judge::Waited(
        Waited::new("while the journal's thread ran or waited for a processor", |waits, reason| {
            in_journal(waits) && matches!(reason, Reason::WaitCpu | Reason::OnCpu)
        })
        .of(has_journal),
        found,
    ),
};

fn in_journal(waits: Waits) -> bool {
    [Wait::JournalCommit, Wait::JournalHandle, Wait::JournalBuffer].iter().any(|w| waits.has(*w))
}

/// Whether the file system has jbd2: on XFS and btrfs, what seems to wait for such a thread is about another file system.
fn has_journal(case: &Case, group: &Group) -> bool {
    !case.mount_of(group).is_some_and(|m| OTHERS.contains(&m.fstype.as_str()))
}

fn found(case: &Case, v: Verdict, groups: &[usize]) -> Verdict {
    case.of_each(v, groups, |v, group| before_others(v, case, group))
        .try_this(
            "leave a processor free: fewer busy tasks, or those in a cgroup with less weight",
            "systemctl set-property BUSY.service CPUWeight=20",
        )
        .unless("fsyncs just as slow on idle processors")
}

/// Adds less work and a priority for the thread of a group's journal.
fn before_others(v: Verdict, case: &Case, group: &Group) -> Verdict {
    // The thread is named after the mounted device, `jbd2/sda1-8`; if that is not known, after the disk or one of its partitions.
    let mounted = case.mount_of(group).and_then(|m| m.source.strip_prefix("/dev/"));
    let by_name = mounted.filter(|name| !name.contains('/')).map(|name| format!("{name}-"));
    let disk = case.name(group.dev);
    let thread = by_name.unwrap_or_else(|| {
        Hardware::pattern(&disk).map_or(String::new(), |disk| format!("{disk}(p?[0-9]+)?-"))
    });
    let v = match durable::of_all_data(case, group) {
        Some(mount) => durable::all_data(v, mount, &disk),
        None => v,
    };
    v.try_this(
        match thread.is_empty() {
            true => "let the journals' threads (which of them is not known) run before others; chrt -o -p 0 undoes it",
            false => "let the journal's thread run before others; chrt -o -p 0 undoes it",
        },
        format!("for p in $(pgrep '^jbd2/{thread}'); do chrt -r -p 1 $p; done"),
    )
}
