//! The meaning of a sleep in the kernel, from the functions on its stack.
//!
//! The stack of an uninterruptible sleep names its wait. The innermost functions show how the task waits (a bit, a queue, a completion), the
//! functions around them what for. Rules are tried in order, specific ones first: `folio_wait_writeback` under a write is a stable page, and
//! under `fsync` the file's own data. A function without a rule is shown as it is.

mod below_files;
mod rules;
mod zfs;

use crate::wait::Wait;
use rules::{BTRFS_COMMITTER, THEMSELVES};
use trace::{is_flusher, is_journal};

/// A rule: a function; functions of which at least one must also be on the stack (unless empty); the meaning.
type Rule = (&'static str, &'static [&'static str], Wait);

/// Functions in which any task sleeps, whatever the reason (kernel/sched/core.c, kernel/time/sleep_timeout.c).
const SLEEPING: &[&str] = &[
    "__switch_to",
    "__schedule",
    "rt_mutex_schedule",
    "schedule",
    "io_schedule",
    "io_schedule_timeout",
    "schedule_timeout",
    "schedule_preempt_disabled",
    "schedule_hrtimeout_range",
    "schedule_hrtimeout_range_clock",
    "wait_for_completion",
    "wait_for_completion_state",
    "wait_for_completion_io",
    "wait_for_completion_timeout",
    "wait_for_completion_io_timeout",
    "__wait_for_common",
    "wait_for_common",
    "do_wait_for_common",
    "bit_wait",
    "bit_wait_io",
    "__wait_on_bit",
    "out_of_line_wait_on_bit",
    "wait_woken",
];

/// Those of the scheduler itself.
const SCHEDULER: &[&str] = &["__switch_to", "__schedule", "rt_mutex_schedule", "schedule"];

/// The name of the thread that is [`BTRFS_COMMITTER`], as far as the kernel keeps it.
const BTRFS_COMMITTERS_NAME: &str = "btrfs-transacti";

/// The function that called the scheduler. Not in `/proc/PID/stack`, which leaves out all functions in which tasks sleep.
fn sleeper(stack: &str) -> Option<&str> {
    let mut functions = stack.split('\n').skip_while(|f| SCHEDULER.contains(f));
    functions.next().filter(|first| !stack.starts_with(first))
}

/// The first rule that matches.
fn rule_of(stack: &str) -> Option<&'static Rule> {
    let on = |name: &str| stack.split('\n').any(|f| f == name);
    let is_under = |under: &[&str]| under.is_empty() || under.iter().any(|u| on(u));
    let itself = |sleeper| THEMSELVES.iter().find(|rule| rule.0 == sleeper && is_under(rule.1));
    if let Some(rule) = sleeper(stack).and_then(itself) {
        return Some(rule);
    }
    let commits = on(BTRFS_COMMITTER);
    let fits = |(function, under, wait): &&Rule| {
        on(function) && is_under(under) && !(commits && *wait == Wait::JournalCommit)
    };
    [below_files::RULES, zfs::RULES, rules::RULES].iter().find_map(|rules| rules.iter().find(fits))
}

impl Wait {
    /// The wait of a stack: functions, innermost first, with `\n` in between.
    pub fn of_stack(stack: &str) -> Wait {
        rule_of(stack).map_or(Wait::Unknown, |rule| rule.2)
    }

    /// As [`Wait::of_stack`], of a task with this name, whose stack may be cut off: a thread that commits or writes back reads no file, so the
    /// page that it waits for is being written.
    /// Whoever commits btrfs does not wait for the commit.
    pub fn of_task(name: &str, stack: &str) -> Wait {
        match Wait::of_stack(stack) {
            Wait::JournalCommit if name.starts_with(BTRFS_COMMITTERS_NAME) => {
                Wait::of_stack(&format!("{stack}\n{BTRFS_COMMITTER}"))
            }
            Wait::PageRead if is_journal(name) => Wait::OrderedData,
            Wait::PageRead if is_flusher(name) => Wait::OwnData,
            wait => wait,
        }
    }

    /// The function that identifies the wait of a stack. If no rule matches, the innermost function that is not one in
    /// which any task sleeps, or the outermost one if there are only such.
    pub fn function_of(stack: &str) -> &str {
        let known = rule_of(stack).map(|rule| rule.0);
        let sleeps = |f: &&str| SLEEPING.contains(f) || zfs::SLEEPING.contains(f);
        let telling = || stack.split('\n').find(|f| !sleeps(f));
        known.or_else(telling).or_else(|| stack.rsplit('\n').next()).unwrap_or(stack)
    }
}

#[cfg(test)]
mod tests;
