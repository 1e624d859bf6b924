//! `worker-cpu`: a kernel thread computes what the operation waits for: compression, checksums, encryption.
//!
//! Claims the time in which a work item that an operation waits for was on a processor. Its waits for a processor are `cpu-wait`'s;
//! what dm-crypt, md and journals do in threads of their own belongs to other causes, which are asked before.
//!
//! Example: an fsync of 120 ms on btrfs with `compress-force=zstd:15`, of which a kworker compresses for 100 ms.

use crate::case::Case;
use crate::cause::{Cause, Judge, Nature};
use crate::paths::Waited;
use crate::proof::proof;
use crate::remedy::Action;
use crate::verdict::Verdict;
use evidence::Mount;
use ledger::Reason;
use units::words::shell;

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "worker-cpu",
    title: "a thread of the kernel computes for the operation: compression, checksums, encryption",
    nature: Nature::Everyday,
    page: include_str!("../../pages/worker-cpu.md"),
    judge: Judge::Waited(
        Waited::new("while a thread of the kernel computed for them", |waits, reason| {
            waits.has_work() && reason == Reason::OnCpu
        }),
        found,
    ),
};

/// Options by which file systems compress (btrfs(5); f2fs shows an algorithm whether or not it compresses, and by the
/// last option which files it compresses: Documentation/filesystems/f2fs.rst).
const COMPRESS: [&str; 3] = ["compress-force", "compress", "compress_extension"];

fn found(case: &Case, v: Verdict, groups: &[usize]) -> Verdict {
    let mount = groups.iter().find_map(|number| case.mount_of(&case.focus.groups[*number]));
    let v = match mount.and_then(|mount| Some((mount, compresses(mount)?))) {
        Some((mount, (option, with))) => {
            let mut v = v;
            let mounted = proof!(
                "{point} is mounted with {option}={with} ({at})",
                point = mount.target.clone(),
                option = Text(option.to_string()),
                with = Text(with.to_string()),
                at = mount.at.clone()
            );
            v.evidence.insert(0, mounted);
            match mount.fstype.as_str() {
                "btrfs" => v.try_this(
                    "compress nothing that is written from now on (compress=zstd:1 or lzo: less, and quicker); also in /etc/fstab",
                    Action::Remount { mount: shell(&mount.target), options: "compress=no".into() },
                ),
                _ => v,
            }
        }
        None => v,
    };
    v.try_this(
        "see what the kernel's threads compute",
        Action::look("perf top -g --sort symbol; top -H -b -n1 | grep kworker"),
    )
    .unless("operations just as slow while the kernel's threads do not run")
}

/// The option by which a mount compresses, and its value; `None` if it does not compress.
fn compresses(mount: &Mount) -> Option<(&'static str, &str)> {
    let told = COMPRESS.into_iter().find_map(|option| Some((option, mount.option(option)?)));
    told.filter(|(_, with)| *with != "no")
}
