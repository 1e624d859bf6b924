//! Causes judged from the output of other tools, without a trace: what counters alone can show.
//!
//! A trace shows where each operation's time passed; counters have only sums, so a cause shows as a difference between
//! runs or between devices. Each sentence of evidence contains its arithmetic and the place of its numbers. If sums
//! cannot show something, the answer is *cannot tell*, with what to record.
//!
//! **Invariant**: nothing here depends on the names of hosts, devices or files, nor on one author's words; words that
//! are searched for ("bitmap", "w/o") only tell which of two runs is which.

mod advice;
mod asleep;
mod btrfs_stats;
mod busy;
mod ceph;
mod checkpoints;
mod checksums;
mod drive;
mod elsewhere;
mod failed_calls;
mod file_system;
mod flush_times;
mod flushing;
mod fsync;
mod fsync_calls;
mod hang;
mod hung;
mod kernel_errors;
mod kswapd;
mod log_force;
mod logged;
mod mount;
mod multipath;
mod new_name;
mod no_space;
mod notices;
mod own_queue;
mod page_cleaner;
mod place;
mod pool;
mod pressure;
mod raid;
mod raid_runs;
mod remote;
mod request_limit;
mod request_size;
mod same_rate;
mod say;
mod scheduler_starvation;
mod settings;
mod slow_member;
mod slow_syncs;
mod stable_page;
mod steps;
mod swap;
mod tasks;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_drives;
#[cfg(test)]
mod tests_of_evidence;
#[cfg(test)]
mod tests_of_file_systems;
#[cfg(test)]
mod tests_of_hangs;
#[cfg(test)]
mod tests_of_links;
#[cfg(test)]
mod tests_of_logs;
#[cfg(test)]
mod tests_of_sums;
mod thresholds;
mod writeback_flood;

use crate::verdict::{Answer, Verdict};
use tooltext::ToolOutput;

/// Causes that only texts show: name, title, page.
pub(crate) const PAGES: [(&str, &str, &str); 4] = [
    (
        "file-system-error",
        "a file system, or the pool below it, stopped or found its data damaged",
        include_str!("../../pages/file-system-error.md"),
    ),
    (
        "hung",
        "tasks hang: the kernel reports that they are blocked, and where",
        include_str!("../../pages/hung.md"),
    ),
    (
        "link-reset",
        "a device, the link to it or its server did not answer or was reset; all its I/O waits meanwhile",
        include_str!("../../pages/link-reset.md"),
    ),
    (
        "slow-member",
        "one disk of several with the same work takes much longer than the others",
        include_str!("../../pages/slow-member.md"),
    ),
];

/// The verdicts of causes that the texts say something about: found, then *cannot tell*, then rejected.
pub fn judge_counters(outputs: &[ToolOutput]) -> Vec<Verdict> {
    let stuck = notices::processors(outputs);
    let processors = if stuck.is_none() { pressure::processors(outputs) } else { None };
    let hung = hung::judge(outputs);
    // What a task waited for at one moment says less than any other suspicion.
    let moment =
        if hung.is_none() { hung::at_one_moment(outputs).or_else(|| asleep::judge(outputs)) } else { None };
    let errors = surest([kernel_errors::errors(outputs), pool::errors(outputs)]);
    let failed = if errors.is_none() { failed_calls::judge(outputs) } else { None };
    let causes = [
        stuck,
        errors,
        surest([
            kernel_errors::resets(outputs).map(|v| new_name::told(v, outputs)),
            pool::gone(outputs),
            multipath::judge(outputs),
            ceph::inactive(outputs),
        ]),
        surest([
            file_system::judge(outputs),
            pool::damaged(outputs),
            checksums::suspected(outputs),
            file_system::beyond(outputs),
            mount::judge(outputs),
            ceph::full(outputs),
            no_space::judge(outputs),
        ]),
        surest([pool::scan(outputs), notices::resync(outputs)]),
        hung,
        surest([writeback_flood::judge(outputs), checkpoints::judge(outputs)]),
        stable_page::judge(outputs),
        request_size::judge(outputs),
        scheduler_starvation::judge(outputs),
        log_force::judge(outputs),
        raid::bitmap(outputs).or_else(|| raid_runs::judge(outputs)),
        raid::stripe_cache(outputs),
        raid::read_modify_write(outputs),
        same_rate::judge(outputs),
        fsync::judge(outputs).or_else(|| flushing::judge(outputs)).or_else(|| slow_syncs::judge(outputs)),
        slow_member::judge(outputs),
        busy::stalled(outputs),
        surest([
            busy::saturated(outputs),
            pressure::io(outputs),
            own_queue::judge(outputs),
            page_cleaner::judge(outputs),
            ceph::late(outputs),
            remote::waits_to_be_sent(outputs),
        ]),
        remote::answers_late(outputs),
        swap::judge(outputs),
        pressure::memory(outputs).or_else(|| notices::memory(outputs)).or_else(|| kswapd::judge(outputs)),
        processors,
        failed,
        moment,
    ];
    let mut verdicts: Vec<Verdict> = causes.into_iter().flatten().collect();
    // What says less than any other text about the same cause.
    for told in [steps::judge(outputs), btrfs_stats::errors(outputs), btrfs_stats::damage(outputs)]
        .into_iter()
        .flatten()
    {
        if verdicts.iter().all(|v| v.cause != told.cause) {
            verdicts.push(told);
        }
    }
    verdicts.sort_by_key(rank);
    verdicts
}

/// Of what several kinds of texts say of one cause: what is found before what is suspected; of equals the first.
fn surest<const N: usize>(all: [Option<Verdict>; N]) -> Option<Verdict> {
    all.into_iter().flatten().min_by_key(rank)
}

fn rank(v: &Verdict) -> u8 {
    match v.verdict {
        Answer::Found => 0,
        Answer::CannotTell => 1,
        Answer::Rejected => 2,
    }
}
