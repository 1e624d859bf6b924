//! `log-force`: an operation waits until the log (XFS, btrfs) is on disk up to its change.
//!
//! The flushes within are `flush-cost`; what is left is the writing of the log itself, gathering the changes (CIL push),
//! and others' forces that go first: there is one log, and its buffers are written in order.

use crate::case::Case;
use crate::paths;
use crate::proof::proof;
use crate::remedy::Acts;
use crate::verdict::{Answer, Verdict};
use crate::words::shell;
use crate::Cause;
use ledger::Reason;
use operation::{Wait, Waits};

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "log-force",
    title: "operations wait until the file system's log is written (log force)",
    page: include_str!("../../pages/log-force.md"),
    judge,
};

fn judge(case: &mut Case) -> Verdict {
    let what = "waiting until the log was on disk (log force), its flushes included";
    let in_log = |waits: Waits| waits.has(Wait::LogForce) || waits.has(Wait::LogPush);
    let pick = |waits, reason| in_log(waits) && !matches!(reason, Reason::WaitCpu);
    let (mut v, found) = paths::judge_own(case, CAUSE.name, what, pick);
    if v.verdict != Answer::Found {
        return v;
    }
    let mut remount = "umount /MOUNTPOINT && mount -o logbsize=256k /dev/DEV /MOUNTPOINT".to_string();
    for number in found {
        let Some(mount) = case.mount(case.focus.groups[number].dev) else { continue };
        v = v.because(proof!(
            "{target} is mounted with {options}",
            target = Text(mount.target.to_string()),
            options = Text(mount.options.join(",").to_string())
        ));
        remount = format!(
            "umount {0} && mount -o logbsize=256k {1} {0}",
            shell(&mount.target),
            shell(&mount.source)
        );
    }
    v.try_on(
Acts::Victim,

        "fsync less often: one for several changes forces the log once (group commit)",
        "strace -f -c -e trace=fsync,fdatasync -p PID",
    )
    .try_this(
        "larger log buffers, from the next mount on: fewer writes per force where many changes come together; of no use where each \
         force has few",
        remount,
    )
    .try_this(
        "the log on a device of its own with power-loss protection (FAST): forces wait for that one only",
        "mkfs.xfs -l logdev=/dev/FAST,size=512m /dev/NEW",
    )
    .unless("operations as slow that force no log")
}
