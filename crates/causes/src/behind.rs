//! Which cause lies behind another: the place of a wait is not always its root.
//!
//! Example: reads wait for a tag (`tag-exhaustion`) because each is cut into 32 pieces that fill the tags (`request-size`).

use crate::case::{Case, MIN_SHARE};
use crate::verdict::{Answer, Verdict};
use trace::Nanos;

/// What fills a device, and with it every queue in front of it.
const FILLS: [&str; 5] =
    ["rate-limit", "device-stall", "background-task", "writeback-flood", "discard-stall"];

/// Causes that can lie behind one.
fn behind(cause: &str) -> &'static [&'static str] {
    match cause {
        // Completions are late where tasks wait for processors, too.
        "completion-cpu" => &["cpu-wait"],
        "tag-exhaustion" => {
            &["request-size", "rate-limit", "device-stall", "background-task", "writeback-flood"]
        }
        "writeback-throttle" | "scheduler-throttle" | "inode-lock" | "journal-space" | "log-space" => &FILLS,
        _ => &[],
    }
}

/// Names the root of each cause found: of those that can lie behind it the one with the most time, if it has a visible part of the
/// slowest operations of a group in which this one was found.
pub(crate) fn name_roots(case: &Case, verdicts: &mut [Verdict]) {
    let found: Vec<(&'static str, Vec<(usize, Nanos)>)> = verdicts
        .iter()
        .filter(|v| v.verdict == Answer::Found)
        .map(|v| (v.cause, v.claims.iter().map(|c| (c.group, c.time)).collect()))
        .collect();
    for v in verdicts.iter_mut().filter(|v| v.verdict == Answer::Found) {
        let its = |group: usize| v.claims.iter().any(|c| c.group == group);
        let time = |claims: &[(usize, Nanos)]| -> Nanos {
            claims.iter().filter(|(group, _)| its(*group)).map(|(_, time)| *time).sum()
        };
        let mut groups: Vec<usize> = v.claims.iter().map(|c| c.group).collect();
        groups.sort_unstable();
        groups.dedup();
        let whole: Nanos = groups.iter().map(|g| case.focus.groups[*g].tail.sum.time.total).sum();
        let roots = found.iter().filter(|(cause, _)| behind(v.cause).contains(cause));
        let heaviest = roots.map(|(cause, claims)| (*cause, time(claims))).max_by_key(|(_, time)| *time);
        v.root =
            heaviest.filter(|(_, time)| time.0 as f64 >= MIN_SHARE * whole.0 as f64).map(|(cause, _)| cause);
    }
}
