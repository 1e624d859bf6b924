//! `access-time`: reads wait for the journal, because each one updates the file's access time.
//!
//! A read changes nothing but the access time. By default (relatime) that is written once a day at most; with
//! `strictatime` each read dirties the inode and needs a journal handle (`touch_atime`, fs/inode.c), for which it may
//! wait behind a commit. A read that waits for the journal is the proof: it has nothing else to do there.

use crate::case::Case;
use crate::cause::{Cause, Judge, Nature};
use crate::paths::Waited;
use crate::proof::proof;
use crate::remedy::Action;
use crate::verdict::{Answer, Verdict};
use ledger::Reason;
use operation::{Kind, Wait};
use stats::Group;
use trace::{Call, DevId};
use units::words::shell;

/// Waits that only operations have that change something.
const CHANGING: [Wait; 7] = [
    Wait::JournalHandle,
    Wait::JournalBuffer,
    Wait::JournalCommit,
    Wait::JournalUpdates,
    Wait::LogSpace,
    Wait::LogForce,
    Wait::LogPush,
];

/// Mount options with which access times are hardly ever written.
const SPARING: [&str; 3] = ["noatime", "relatime", "lazytime"];

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "access-time",
    title: "reads wait for the journal: each one updates the file's access time",
    nature: Nature::Everyday,
    page: include_str!("../../pages/access-time.md"),
    judge: Judge::Whole(judge),
};

fn judge(case: &mut Case) -> Verdict {
    let what = "waiting for the journal, which a read needs only to update the access time";
    let waited = Waited::new(what, |waits, reason| {
        CHANGING.iter().any(|w| waits.has(*w)) && reason != Reason::WaitCpu
    });
    let (mut v, found) = waited.of(reads).ask(case, CAUSE.name);
    if v.verdict != Answer::Found {
        let spared = case.focus.groups.iter().find_map(|g| sparing(case, g.dev));
        return match spared.filter(|_| v.verdict == Answer::Rejected) {
            Some(said) => Verdict::out_of_the_question(CAUSE.name, said),
            None => v,
        };
    }
    for number in found {
        let Some(mount) = case.mount_of(&case.focus.groups[number]) else { continue };
        v = v.because(proof!(
            "{target} is mounted without noatime or relatime ({at})",
            target = mount.target,
            at = mount.at
        ));
        v = v.try_this(
            "noatime: access times are no longer written, which matters only to programs that use them (some \
                 mail programs, tmpwatch)",
            Action::Remount { mount: shell(&mount.target), options: "noatime".into() },
        );
    }
    v.try_this(
        "make it permanent: noatime among the options of the file system in /etc/fstab",
        Action::look("findmnt -o TARGET,OPTIONS"),
    )
    .unless("reads just as slow with noatime")
}

/// Whether a group reads and updates access times: with a sparing option that happens once a day, too rarely for a load to wait.
fn reads(case: &Case, group: &Group) -> bool {
    let kind = group.op.map(|op| op.kind);
    let reads =
        matches!(kind, Some(Kind::Call(Call::Read | Call::Getdents) | Kind::RingRead | Kind::PageFault));
    reads && sparing(case, group.dev).is_none()
}

/// The option with which a device's file system hardly ever writes access times, in words; `None` if it has none.
fn sparing(case: &Case, dev: DevId) -> Option<String> {
    let mount = case.mount(dev)?;
    let option = SPARING.iter().find(|o| mount.options.iter().any(|m| m == *o))?;
    Some(format!("{} is mounted with {option} ({})", mount.target, mount.at))
}
