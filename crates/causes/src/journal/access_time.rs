//! `access-time`: reads wait for the journal, because each one notes when the file was read.
//!
//! Reading changes nothing, except the access time. By default (relatime) it is written once a day at most; with
//! `strictatime` each read dirties the inode and takes a place in the journal (`touch_atime`, fs/inode.c), where it can wait
//! for a commit. A read that waits for the journal is the proof: it has nothing else to do there.

use crate::case::Case;
use crate::paths;
use crate::proof::proof;
use crate::remedy::Action;
use crate::verdict::{Answer, Verdict};
use crate::words::shell;
use crate::Cause;
use ledger::Reason;
use operation::{Kind, Wait, Waits};
use stats::Group;
use trace::{Call, DevId};

/// Waits that only a change has.
const CHANGING: [Wait; 7] = [
    Wait::JournalHandle,
    Wait::JournalBuffer,
    Wait::JournalCommit,
    Wait::JournalUpdates,
    Wait::LogSpace,
    Wait::LogForce,
    Wait::LogPush,
];

/// Options of mount with which access times are hardly ever written.
const SPARING: [&str; 3] = ["noatime", "relatime", "lazytime"];

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "access-time",
    title: "reads wait for the journal: each one writes when the file was read",
    page: include_str!("../../pages/access-time.md"),
    judge,
};

fn judge(case: &mut Case) -> Verdict {
    let what = "waiting for the journal, which a read needs only to note when the file was read";
    // With one of the sparing options the time is written once a day: nothing that a load waits for.
    let spared: Vec<(DevId, String)> =
        case.focus.groups.iter().filter_map(|g| Some((g.dev, sparing(case, g.dev)?))).collect();
    let reading = |group: &Group| {
        let kind = group.op.map(|op| op.kind);
        let reads =
            matches!(kind, Some(Kind::Call(Call::Read | Call::Getdents) | Kind::RingRead | Kind::PageFault));
        reads && spared.iter().all(|(dev, _)| *dev != group.dev)
    };
    let pick = |waits: Waits, reason| CHANGING.iter().any(|w| waits.has(*w)) && reason != Reason::WaitCpu;
    let (mut v, found) = paths::judge_kinds(case, CAUSE.name, what, reading, pick);
    if v.verdict != Answer::Found {
        return match spared.into_iter().next() {
            Some((_, said)) if v.verdict == Answer::Rejected => {
                Verdict::out_of_the_question(CAUSE.name, said)
            }
            _ => v,
        };
    }
    for number in found {
        let Some(mount) = case.mount(case.focus.groups[number].dev) else { continue };
        v = v.because(proof!(
            "{target} is mounted without noatime or relatime ({at})",
            target = Text(mount.target.to_string()),
            at = Source(mount.at.to_string())
        ));
        v = v.try_this(
            "noatime: access times are not written any more; only programs that ask when a file was last read mind (some \
             mail programs, tmpwatch)",
            Action::Remount { mount: shell(&mount.target), options: "noatime".into() },
        );
    }
    v.try_this(
        "the same for good: noatime among the options of the file system in /etc/fstab",
        "findmnt -o TARGET,OPTIONS",
    )
    .unless("reads as slow with noatime")
}

/// The option with which a device's file system hardly ever writes access times, if it has one.
fn sparing(case: &Case, dev: DevId) -> Option<String> {
    let mount = case.mount(dev)?;
    let option = SPARING.iter().find(|o| mount.options.iter().any(|m| m == *o))?;
    Some(format!("{} is mounted with {option} ({})", mount.target, mount.at))
}
