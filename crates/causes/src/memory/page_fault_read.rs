//! `page-fault-read`: a program touches memory that is a page of a file, and waits until it has been read.
//!
//! No call says so: the program runs its own code or looks at a mapped file, the page is not in memory (it never was, or has
//! been given to something else), and the task sleeps in `filemap_fault` until the device has delivered it. Claimed is what
//! no more particular cause has explained of that time: behind a flood of writes the flood is the cause.

use crate::case::Case;
use crate::device::alone;
use crate::paths;
use crate::proof::proof;
use crate::verdict::{Answer, Verdict};
use crate::Cause;
use ledger::Reason;
use operation::Kind;
use stats::Group;

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "page-fault-read",
    title: "programs wait for pages of mapped files, or of their own code, that are not in memory",
    page: include_str!("../../pages/page-fault-read.md"),
    judge,
};

fn judge(case: &mut Case) -> Verdict {
    let what = "waiting for a page of a file that was read from the disk";
    let fault = |group: &Group| group.op.is_some_and(|op| op.kind == Kind::PageFault);
    // Waiting in swap is another cause.
    let pick = |waits: operation::Waits, reason| {
        !waits.has(operation::Wait::Swap) && !matches!(reason, Reason::WaitCpu | Reason::OnCpu)
    };
    let throughout = alone::faults_throughout(case);
    let (mut v, found) = paths::judge_kinds(case, CAUSE.name, what, fault, pick);
    if v.verdict != Answer::Found {
        return v;
    }
    v.throughout = throughout;
    for number in found {
        let group = &case.focus.groups[number];
        let name = case.name(group.dev);
        v = v.because(proof!(
            "{faults} waited for {name}",
            faults = Counted(group.operations, "page fault", "page faults"),
            name = Text(name.to_string())
        ));
    }
    v.try_this(
        "read the files into memory before they are needed, again after they were pushed out (vmtouch -t does the same for folders)",
        "cat FILE > /dev/null",
    )
    .try_this(
        "keep the memory of the service that must not wait: what it uses of up to 512 MiB is not given to others",
        "systemctl set-property --runtime SERVICE MemoryMin=512M",
    )
    .try_this(
        "lock the program's pages in memory, if it can (mlockall): its code then never waits for a disk",
        "grep -E 'VmLck|VmExe|VmLib' /proc/PID/status",
    )
    .unless("page faults as slow with all files in memory")
}
