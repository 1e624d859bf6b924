//! `cgroup-limit`: bios wait because their cgroup may do no more.
//!
//! block/blk-throttle.c holds a bio before `block_bio_queue` is recorded (from Linux 5.17 on), so the block layer's own
//! latency looks healthy; only the task's sleep shows it. The bio goes on from a work item,
//! `blk_throtl_dispatch_work_fn`.

use crate::case::Case;
use crate::paths::Waited;
use crate::proof::proof;
use crate::verdict::{Answer, Verdict};
use crate::{Cause, Judge};
use ledger::Reason;
use trace::DevId;

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "cgroup-limit",
    title: "a limit of the task's cgroup throttles its I/O (io.max, io.latency, io.cost)",
    page: include_str!("../../pages/cgroup-limit.md"),
    judge: Judge::Whole(judge),
};

/// What takes all limits of io.max away.
const NO_LIMIT: &str = "riops=max wiops=max rbps=max wbps=max";

fn judge(case: &mut Case) -> Verdict {
    let what = "throttled by their cgroup's limit, before the block layer queued them";
    let waited = Waited::new(what, |_, reason| reason == Reason::CgroupLimit);
    let (mut v, found) = waited.ask(case, CAUSE.name);
    if v.verdict == Answer::Rejected {
        return v;
    }
    let groups = &case.system.cgroups;
    let limits = groups.iter().flat_map(|g| g.settings.iter().map(move |(file, limit)| (g, file, limit)));
    let limits: Vec<_> = limits
        .filter(|(_, file, limit)| is_limit(file, &limit.value))
        .map(|(g, file, limit)| {
            (format!("/sys/fs/cgroup/{}/{file}", g.path.trim_matches('/')), file.as_str(), limit)
        })
        .filter(|(.., limit)| v.verdict == Answer::Found || is_of_recorded(case, &limit.value))
        .collect();
    for (path, _, limit) in &limits {
        v = v.because(proof!(
            "{path} says {replace} ({at})",
            path,
            replace = limit.value.trim().replace('\n', "; "),
            at = limit.at
        ));
    }
    if v.verdict != Answer::Found {
        return v;
    }
    for number in found {
        let dev = case.focus.groups[number].dev;
        let (major, minor, name) = (dev.major(), dev.minor(), case.name(dev));
        let of_it = format!("{major}:{minor} ");
        let is_of_it = |limit: &str| limit.lines().any(|line| line.starts_with(&of_it));
        // Of cgroup v1 each limit has a file of its own, and 0 takes it away; io.latency holds others back, for this one's sake.
        let nothing = |file: &str| match file {
            "io.max" => Some(NO_LIMIT),
            _ => file.starts_with("blkio.").then_some("0"),
        };
        let lifts: Vec<String> = limits
            .iter()
            .filter(|(_, _, limit)| is_of_it(&limit.value))
            .filter_map(|(path, file, _)| Some(format!("echo '{of_it}{}' > {path}", nothing(file)?)))
            .collect();
        v = match lifts.is_empty() {
            false => v.try_this(
                format!("lift the limits of the task's cgroup for {name}, or set higher ones"),
                lifts.join("; "),
            ),
            true => v.try_this(
                format!(
                    "raise or lift the limit of the task's cgroup for {name} (its path: cat \
                     /proc/PID/cgroup)"
                ),
                format!("echo '{of_it}{NO_LIMIT}' > /sys/fs/cgroup/CGROUP/io.max"),
            ),
        };
    }
    v.try_this(
        "see which limits are set, and for which cgroups",
        "grep -r . /sys/fs/cgroup --include=io.max --include=io.latency \
         --include=blkio.throttle.*_device 2>/dev/null",
    )
    .unless("the task just as slow outside its cgroup")
}

/// Whether a limit is one of a device that was recorded.
fn is_of_recorded(case: &Case, limit: &str) -> bool {
    let of = |dev: DevId| format!("{}:{} ", dev.major(), dev.minor());
    case.facts.devices.iter().any(|d| limit.lines().any(|line| line.starts_with(&of(d.id))))
}

/// Whether a file of a cgroup holds a limit that is set.
fn is_limit(file: &str, value: &str) -> bool {
    let named = file == "io.max" || file == "io.latency" || file.starts_with("blkio.throttle.");
    named && value.contains(|c: char| c.is_ascii_digit())
}
