//! `cgroup-limit`: bios wait because their cgroup may do no more.
//!
//! block/blk-throttle.c holds a bio before `block_bio_queue` is recorded (from Linux 5.17 on), so the block layer's own
//! latency looks healthy; only the task's sleep shows it. The bio goes on from a work item,
//! `blk_throtl_dispatch_work_fn`.

use crate::case::Case;
use crate::paths;
use crate::proof::proof;
use crate::remedy::Acts;
use crate::verdict::{Answer, Verdict};
use crate::Cause;
use ledger::Reason;

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "cgroup-limit",
    title: "a limit of the task's cgroup holds its I/O back (io.max, io.latency, io.cost)",
    page: include_str!("../../pages/cgroup-limit.md"),
    judge,
};

fn judge(case: &mut Case) -> Verdict {
    let what = "held back by their cgroup's limit, before the block layer had them";
    let pick = |_, reason| reason == Reason::CgroupLimit;
    let (mut v, found) = paths::judge(case, CAUSE.name, what, pick);
    if v.verdict != Answer::Found {
        return v;
    }
    let groups = &case.system.cgroups;
    let limits = groups.iter().flat_map(|g| g.settings.iter().map(move |(file, limit)| (g, file, limit)));
    let limits: Vec<_> = limits
        .filter(|(_, file, limit)| is_limit(file, &limit.value))
        .map(|(g, file, limit)| {
            (format!("/sys/fs/cgroup/{}/{file}", g.path.trim_matches('/')), file.as_str(), limit)
        })
        .collect();
    for (path, _, limit) in &limits {
        v = v.because(proof!(
            "{path} says {replace} ({at})",
            path = Text(path.to_string()),
            replace = Text(limit.value.trim().replace('\n', "; ").to_string()),
            at = Source(limit.at.to_string())
        ));
    }
    for number in found {
        let dev = case.focus.groups[number].dev;
        let (major, minor, name) = (dev.major(), dev.minor(), case.name(dev));
        let of_it = format!("{major}:{minor} ");
        let lift = limits.iter().find(|(_, _, limit)| limit.value.lines().any(|l| l.starts_with(&of_it)));
        let all = "riops=max wiops=max rbps=max wbps=max";
        v = match lift {
            // Of cgroup v1, where 0 takes the limit away.
            Some((path, file, _)) if file.starts_with("blkio.") => v.try_on(
Acts::Victim,

                format!("lift the limit of the task's cgroup for {name}, or write a higher one"),
                format!("echo '{major}:{minor} 0' > {path}"),
            ),
            Some((path, "io.max", _)) => v.try_this(
                format!("lift the limit of the task's cgroup for {name}, or write a higher one"),
                format!("echo '{major}:{minor} {all}' > {path}"),
            ),
            _ => v.try_this(
                format!("raise or lift the limit of the task's cgroup for {name} (its path: cat /proc/PID/cgroup)"),
                format!("echo '{major}:{minor} {all}' > /sys/fs/cgroup/CGROUP/io.max"),
            ),
        };
    }
    v.try_this("see what is set for whom", "grep -r . /sys/fs/cgroup --include=io.max --include=io.latency --include=blkio.throttle.*_device 2>/dev/null")
        .unless("the task as slow outside of its cgroup")
}

/// Whether a file of a cgroup holds a limit that is set.
fn is_limit(file: &str, value: &str) -> bool {
    let named = file == "io.max" || file == "io.latency" || file.starts_with("blkio.throttle.");
    named && value.contains(|c: char| c.is_ascii_digit())
}
