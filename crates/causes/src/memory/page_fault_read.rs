//! `page-fault-read`: a program touches memory that is a page of a file, and waits until it has been read.
//!
//! No system call shows it: the program runs its own code or looks at a mapped file, the page is not in memory (it
//! never was, or was evicted), and the task sleeps in `filemap_fault` until the device has delivered it. Claims what no
//! more specific cause has explained of that time: behind a flood of writes the flood is the cause.

use crate::case::Case;
use crate::cause::{Cause, Judge, Nature};
use crate::device::alone;
use crate::memory::{read_again, read_around};
use crate::paths::Waited;
use crate::proof::proof;
use crate::remedy::Action;
use crate::verdict::{Answer, Verdict};
use ledger::Reason;
use operation::{Kind, Wait};

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "page-fault-read",
    title: "programs wait for pages of mapped files, or of their own code, that are not in memory",
    nature: Nature::General,
    page: include_str!("../../pages/page-fault-read.md"),
    judge: Judge::Whole(judge),
};

fn judge(case: &mut Case) -> Verdict {
    let what = "waiting for a page of a file that was read from the disk";
    // Waits for swap belong to another cause.
    let waited = Waited::new(what, |waits, reason| {
        !waits.has(Wait::Swap) && !matches!(reason, Reason::WaitCpu | Reason::OnCpu)
    });
    let waited = waited.of(|_, group| group.op.is_some_and(|op| op.kind == Kind::PageFault));
    let throughout = alone::faults_throughout(case);
    let (mut v, found) = waited.ask(case, CAUSE.name);
    if v.verdict != Answer::Found {
        return v;
    }
    v.throughout.extend(throughout);
    for number in &found {
        let group = &case.focus.groups[*number];
        let name = case.name(group.dev);
        v = v.because(proof!(
            "{faults} waited for {name}",
            faults = Counted(group.operations, "page fault", "page faults"),
            name
        ));
        v = read_again::told(v, case, &group.task, group.dev);
    }
    for number in found {
        v = read_around::told(v, case, &case.focus.groups[number]);
    }
    v.try_this(
        "read the files into memory before they are needed, and again after they were evicted (vmtouch -t \
             does the same for folders)",
        "cat FILE > /dev/null",
    )
    .try_this(
        "protect the memory of the service that must not wait: up to 512 MiB of what it uses is not reclaimed",
        "systemctl set-property --runtime SERVICE MemoryMin=512M",
    )
    .try_this(
        "lock the program's pages in memory, if it can (mlockall): its code then never waits for a disk",
        Action::look("grep -E 'VmLck|VmExe|VmLib' /proc/PID/status"),
    )
    .unless("page faults just as slow with all files in memory")
}
