//! `cgroup-limit`: bios wait because their cgroup has reached its limit.
//!
//! block/blk-throttle.c holds a bio before `block_bio_queue` is recorded (from Linux 5.17 on), so the block layer's own
//! latency looks healthy; only the task's sleep shows the wait. A work item, `blk_throtl_dispatch_work_fn`, sends the
//! bio on. If no sleep was recorded, the pace may show the limit ([`at_limit`](crate::block::at_limit)).

use crate::block::at_limit::{limits, Limit};
use crate::block::let_go;
use crate::case::Case;
use crate::cause::{Cause, Judge, Nature};
use crate::paths::Waited;
use crate::proof::proof;
use crate::remedy::Action;
use crate::verdict::{Answer, Confidence, Verdict};
use evidence::{Fact, System};
use ledger::Reason;
use trace::{is_kernel_thread, Bytes, DevId, Nanos};
use units::words::{count, size};

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "cgroup-limit",
    title: "a limit of the task's cgroup throttles its I/O (io.max, io.latency, io.cost; cgroup v1: blkio.throttle)",
    nature: Nature::Limit,
    page: include_str!("../../pages/cgroup-limit.md"),
    judge: Judge::Whole(judge),
};

/// The value of io.max that lifts all limits.
const NO_LIMIT: &str = "riops=max wiops=max rbps=max wbps=max";

/// A file of a control group, with a limit that is set.
struct Set<'a> {
    path: String,
    file: &'a str,
    value: &'a Fact<String>,
}

fn judge(case: &mut Case) -> Verdict {
    let what = "throttled by their cgroup's limit, before the block layer queued them";
    let waited = Waited::new(what, |_, reason| reason == Reason::CgroupLimit);
    let (v, found, met) = match by_pace(case) {
        Some(paced) => (paced.verdict, paced.groups, paced.limits),
        None => {
            let (v, found) = waited.ask(case, CAUSE.name);
            (v, found, vec![])
        }
    };
    if v.verdict == Answer::Rejected {
        return v;
    }
    let sets = sets(case.system);
    let is_told = |set: &&Set| v.verdict == Answer::Found || is_of_recorded(case, &set.value.value);
    let mut told: Vec<&Set> = sets.iter().filter(is_told).collect();
    let is_met =
        |set: &&Set| met.iter().any(|(dev, limit)| limits(set.file, &set.value.value, *dev).contains(limit));
    told.sort_by_key(|set| !is_met(set));
    let v = told.iter().fold(v.clone(), |v, set| {
        v.because(proof!(
            "{path} says {replace} ({at})",
            path = set.path,
            replace = set.value.value.trim().replace('\n', "; "),
            at = set.value.at
        ))
    });
    match v.verdict {
        Answer::Found => remedies(v, case, &told, found),
        _ => let_go::proof(case).into_iter().fold(v, Verdict::because),
    }
}

/// The files of all limits that are set.
fn sets(system: &System) -> Vec<Set<'_>> {
    let all =
        system.cgroups.iter().flat_map(|g| g.settings.iter().map(move |(file, value)| (g, file, value)));
    all.filter(|(_, file, value)| is_limit(file, &value.value))
        .map(|(g, file, value)| {
            let path = format!("/sys/fs/cgroup/{}/{file}", g.path.trim_matches('/'));
            Set { path, file, value }
        })
        .collect()
}

/// Groups whose pace is set by limits.
struct Paced {
    verdict: Verdict,
    /// The groups, as indexes into `Focus::groups`.
    groups: Vec<usize>,
    /// The limits that set the pace, each with its device.
    limits: Vec<(DevId, Limit)>,
}

/// Found if only blocks were recorded, and a group's I/O comes at just the rate of a limit.
fn by_pace(case: &Case) -> Option<Paced> {
    if !case.facts.operations.is_empty() {
        return None;
    }
    let sets = sets(case.system);
    let mut v = Verdict::found(CAUSE.name, Nanos(0), Confidence::Medium);
    let mut met = vec![];
    // I/O that is held back before it is seen loses little of what is seen: so all groups count that are not too few.
    for (number, group) in case.focus.groups.iter().enumerate().filter(|(_, g)| !g.is_thin(case.facts)) {
        let limits = sets.iter().flat_map(|set| limits(set.file, &set.value.value, group.dev));
        let limits: Vec<Limit> = limits.filter(|limit| limit.is_of(group.class)).collect();
        // One of many limits would match by chance. The task must be known, because its cgroup is not.
        let only = |limit: &&Limit| limits.iter().all(|other| other.bytes != limit.bytes || other == *limit);
        let pace = |limit: &Limit| limit.sets_the_pace_of(&group.task, group.dev, case.facts);
        let held = limits.iter().filter(only).find_map(|limit| Some((limit, pace(limit)?)));
        let Some((limit, pace)) = held.filter(|_| !is_kernel_thread(&group.task)) else { continue };
        let said = |n: u64| match limit.bytes {
            true => size(Bytes(n)),
            false => format!("{} operations", count(n)),
        };
        v = v.about(number).because(proof!(
            "{what} of {task} on {name} came at {rate} a second, which is what a limit lets through ({limit}; counted {when}), and were in \
             {name} for {in_device} of the time",
            task = group.task,
            what = group.words(),
            name = case.name(group.dev),
            rate = Text(said(pace.rate)),
            when = Text(pace.when.into()),
            limit = Text(said(limit.a_second)),
            in_device = Share(pace.in_device)
        ));
        met.push((group.dev, *limit));
        v.throughout.push((number, 1.0 - pace.in_device));
    }
    let groups: Vec<usize> = v.throughout.iter().map(|(number, _)| *number).collect();
    (!groups.is_empty()).then(|| Paced { verdict: v.about_all(), groups, limits: met })
}

fn remedies(mut v: Verdict, case: &Case, told: &[&Set], found: Vec<usize>) -> Verdict {
    for number in found {
        let dev = case.focus.groups[number].dev;
        let (major, minor, name) = (dev.major(), dev.minor(), case.name(dev));
        let of_it = format!("{major}:{minor} ");
        let is_of_it = |limit: &str| limit.lines().any(|line| line.starts_with(&of_it));
        // In cgroup v1 each limit has a file of its own, and 0 lifts it; io.latency holds back other cgroups for the sake of this one.
        let nothing = |file: &str| match file {
            "io.max" => Some(NO_LIMIT),
            _ => file.starts_with("blkio.").then_some("0"),
        };
        let lifts: Vec<String> = told
            .iter()
            .filter(|set| is_of_it(&set.value.value))
            .filter_map(|set| Some(format!("echo '{of_it}{}' > {}", nothing(set.file)?, set.path)))
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
        Action::look(
            "grep -r . /sys/fs/cgroup --include=io.max --include=io.latency \
         --include=blkio.throttle.*_device 2>/dev/null",
        ),
    )
    .unless("the task just as slow outside its cgroup")
}

/// Whether a limit applies to a device that was recorded.
fn is_of_recorded(case: &Case, limit: &str) -> bool {
    let of = |dev: DevId| format!("{}:{} ", dev.major(), dev.minor());
    case.facts.devices.iter().any(|d| limit.lines().any(|line| line.starts_with(&of(d.id))))
}

/// Whether a file of a cgroup holds a limit that is set.
fn is_limit(file: &str, value: &str) -> bool {
    let named = file == "io.max" || file == "io.latency" || file.starts_with("blkio.throttle.");
    named && value.contains(|c: char| c.is_ascii_digit())
}
