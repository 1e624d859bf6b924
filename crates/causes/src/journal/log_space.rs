//! `log-space`: a change to XFS waits for room in the log, until older changes have been written in place.
//!
//! The log is a ring. A transaction reserves what it may write there before it begins; if the reservation does not fit,
//! it sleeps in `xlog_grant_head_wait` (fs/xfs/xfs_log.c) while the AIL's thread writes the oldest metadata in place,
//! which moves the log's tail. Claims the time in that sleep, whatever worked meanwhile, except for waits for a
//! processor. Refuted if no task slept there.

use crate::case::Case;
use crate::cause::{Cause, Judge, Nature};
use crate::paths::Waited;
use crate::proof::proof;
use crate::remedy::Action;
use crate::risk::Risk;
use crate::verdict::Verdict;
use ledger::Reason;
use operation::{Wait, Waits};
use units::words::shell;

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "log-space",
    title: "the log of XFS is full: changes wait until older ones are written in place",
    nature: Nature::Everyday,
    page: include_str!("../../pages/log-space.md"),
    judge: Judge::Waited(
        Waited::new("waiting for room in the log of XFS (xlog_grant_head_wait)", |waits: Waits, reason| {
            waits.has(Wait::LogSpace) && reason != Reason::WaitCpu
        }),
        found,
    ),
};

fn found(case: &Case, mut v: Verdict, groups: &[usize]) -> Verdict {
    for &number in groups {
        let Some(mount) = case.mount_of(&case.focus.groups[number]) else { continue };
        v = v
            .because(proof!(
                "{target} is mounted with {options}",
                target = mount.target,
                options = mount.options.join(",")
            ))
            .try_this(
                format!(
                    "see how large the log of {} is (the line \"log\": bsize times blocks)",
                    mount.target
                ),
                Action::look(format!("xfs_info {}", shell(&mount.target))),
            );
    }
    v.try_this(
        "make a new file system with a larger log, from a backup: a log cannot grow in place. It costs its \
             space, and more time to recover after a crash",
        Risk::Data("/dev/NEW").of("mkfs.xfs -f -l size=512m /dev/NEW"),
    )
    .try_this(
        "put the log on a device of its own (FAST): it has all space there, and its writes do not delay those \
             that make room",
        Risk::Data("/dev/NEW and /dev/FAST").of("mkfs.xfs -l logdev=/dev/FAST,size=512m /dev/NEW"),
    )
    .unless("operations just as slow with a larger log")
}
