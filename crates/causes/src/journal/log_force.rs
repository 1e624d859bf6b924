//! `log-force`: an operation waits until the log (XFS, btrfs) is on disk up to its change.
//!
//! Its flushes are `flush-cost`; the rest is the writing of the log itself, gathering changes (CIL push), and other
//! tasks' forces that go first: there is one log, and its buffers are written in order.

use crate::case::{is_named, Case};
use crate::cause::{Cause, Judge, Nature};
use crate::journal::again::Again;
use crate::journal::growing;
use crate::paths::Waited;
use crate::proof::proof;
use crate::remedy::{Action, Acts};
use crate::risk::Risk;
use crate::target::count_syncs;
use crate::verdict::Verdict;
use evidence::Mount;
use ledger::Reason;
use operation::{Wait, Waits};
use stats::Group;
use units::words::shell;

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "log-force",
    title: "operations wait until the file system's log is written (log force)",
    nature: Nature::Everyday,
    page: include_str!("../../pages/log-force.md"),
    judge: Judge::Waited(
        Waited::new(
            "waiting for the log to be on disk (log force, flushes included)",
            |waits: Waits, reason| {
                (waits.has(Wait::LogForce) || waits.has(Wait::LogPush)) && !matches!(reason, Reason::WaitCpu)
            },
        )
        .own(),
        found,
    ),
};

fn found(case: &Case, mut v: Verdict, groups: &[usize]) -> Verdict {
    let mounts: Vec<&Mount> =
        groups.iter().filter_map(|number| case.mount_of(&case.focus.groups[*number])).collect();
    for mount in &mounts {
        v = v.because(proof!(
            "{target} is mounted with {options}",
            target = mount.target,
            options = mount.options.join(",")
        ));
    }
    let v = case.of_each(v, groups, |v, group| fewer(v, case, group));
    let v = match mounts.last() {
        Some(mount) if mount.fstype == "btrfs" => of_btrfs(v, mount),
        mount => of_xfs(v, mount.copied()),
    };
    v.unless("operations that force no log but are just as slow")
}

/// Adds fewer syncs, if it is for these that a group waits. Others wait for the log while they read or change the file system.
fn fewer(v: Verdict, case: &Case, group: &Group) -> Verdict {
    if !group.op.is_some_and(|op| op.kind.makes_safe()) {
        return v;
    }
    growing::told(v, case, group).try_on(
        Acts::Victim,
        "fsync less often: one for several changes forces the log once (group commit)",
        count_syncs(case, group, Some(&*group.task).filter(|task| is_named(task))),
    )
}

/// btrfs keeps its log in a tree of metadata, which a file system on one device stores twice by default (mkfs.btrfs(8), "PROFILES").
fn of_btrfs(v: Verdict, mount: &Mount) -> Verdict {
    v.try_this(
        "see whether metadata is kept twice (\"Metadata, DUP\"): each force then writes the log's blocks twice",
        Action::look(format!("btrfs filesystem df {}", shell(&mount.target))),
    )
}

fn of_xfs(v: Verdict, mount: Option<&Mount>) -> Verdict {
    let v = match mount.is_some_and(|mount| mount.options.iter().any(|option| option == "logbsize=256k")) {
        true => v,
        false => v.try_this(
            "larger log buffers, from the next mount on: fewer writes per force where many changes come together, \
                 no gain where each force has few",
            Risk::Downtime.of(Again::of(mount, "DEV").with("logbsize=256k")),
        ),
    };
    v.try_this(
        "put the log on a device of its own with power-loss protection (FAST): forces wait only for that \
             device",
        Risk::Data("/dev/NEW and /dev/FAST").of("mkfs.xfs -l logdev=/dev/FAST,size=512m /dev/NEW"),
    )
}
