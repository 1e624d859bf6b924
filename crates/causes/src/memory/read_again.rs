//! What was read from a disk although it had been in memory: the page cache did not keep it.
//!
//! Not a cause of its own: it says why pages are missing that had been read, and that memory would help; files that are
//! read for the first time have to be read in any case.

use crate::case::{Case, MIN_SHARE};
use crate::memory::group_memory;
use crate::proof::proof;
use crate::remedy::Action;
use crate::verdict::Verdict;
use trace::{Bytes, DevId};

/// Adds how much of what a device read it had read before, if that is a visible part, and what to look at.
pub(crate) fn told(v: Verdict, case: &Case, task: &str, dev: DevId) -> Verdict {
    let v = dropped(v, case);
    let Some((all, part)) = again(case, dev) else { return v };
    let v = v.because(proof!(
        "{part} of the {all} that {name} read had been read before in this recording: memory did not keep it",
        part = Share(part),
        all,
        name = case.name(dev)
    ));
    match group_memory::met(case, [task].into_iter()) {
        Some(limit) => group_memory::raise(v, limit),
        None => see_whose(v),
    }
}

/// Whether [`told`] adds that.
pub(crate) fn is_told(case: &Case, dev: DevId) -> bool {
    again(case, dev).is_some()
}

/// The bytes that a device read, and the part that it had read before, 0 to 1; `None` if the part is too small to report.
fn again(case: &Case, dev: DevId) -> Option<(Bytes, f64)> {
    let [all, again] = case.facts.device(dev)?.reread.bytes();
    let part = again.0 as f64 / all.0.max(1) as f64;
    (part >= MIN_SHARE).then_some((all, part))
}

fn see_whose(v: Verdict) -> Verdict {
    v.try_this(
        "see whose memory is too small for what it reads again: the limit of its control group, or the machine's (what came back soon after it \
         was dropped counts as refault); or whether somebody drops the cache (drop_pagecache; the kernel log says who)",
        Action::look(
            "grep -E 'workingset_refault|drop_pagecache' /proc/vmstat; dmesg | grep drop_caches | tail -3; grep -H . /sys/fs/cgroup/*/memory.max /sys/fs/cgroup/*/*/memory.max \
             /sys/fs/cgroup/memory/*/memory.limit_in_bytes 2>/dev/null",
        ),
    )
}

/// Adds that somebody dropped the caches during the recording, and how to find who: the kernel's log names task and pid
/// (fs/drop_caches.c), unless it was told not to.
fn dropped(v: Verdict, case: &Case) -> Verdict {
    let Some(times) = case.dropped.filter(|times| *times > 0) else { return v };
    v.because(proof!(
        "somebody dropped the kernel's caches {times} during this recording (/proc/sys/vm/drop_caches)",
        times = Counted(times, "time", "times")
    ))
    .try_this(
        "find who drops the caches and stop it: the kernel's log names task and pid, and what runs by a timer is in its files",
        Action::look("dmesg | grep drop_caches | tail -3; grep -rs drop_caches /etc/cron* /var/spool/cron /etc/systemd /usr/local/bin"),
    )
}
