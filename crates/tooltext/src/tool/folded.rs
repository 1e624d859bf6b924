//! Reads off-CPU time as folded stacks, which offcputime -f (bcc, libbpf-tools) prints for flame graphs: task, stack, and
//! microseconds.
//!
//! ```text
//! fio;[unknown];fsync;entry_SYSCALL_64_after_hwframe;...;jbd2_log_wait_commit;schedule;__schedule 12345678
//! ```
//!
//! Folded stacks of a profile look alike, but off-CPU stacks end in the scheduler, unlike those of running tasks. Each pair of a task
//! and the function that it waits in has a row with the sum; the longest comes first.
//!
//! **Versions**: bcc 0.1.8 to 0.37 (`tools/offcputime.py -f`).

use super::reader::{Found, Tool};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;
use evidence::Spot;
use std::collections::HashMap;

pub struct Folded;

/// Limit on rows; those with the longest times are kept.
const MOST_ROWS: usize = 64;
const MOST_STACKS: usize = 1 << 16;
/// Limit on words of a task name.
const LONGEST_NAME: usize = 4;
/// Functions of the scheduler, which only show that a task sleeps.
const SCHEDULER: [&str; 9] = [
    "__schedule",
    "schedule",
    "io_schedule",
    "schedule_timeout",
    "io_schedule_timeout",
    "schedule_hrtimeout_range",
    "schedule_hrtimeout_range_clock",
    "finish_task_switch",
    "schedule_preempt_disabled",
];

impl Tool for Folded {
    fn read(&self, words: &[Word]) -> Option<Found> {
        words.first()?.first.then_some(())?;
        let mut sums: HashMap<String, (f64, Spot)> = HashMap::new();
        let mut used = 0;
        for _ in 0..MOST_STACKS {
            let Some((of, us, length)) = stack(&words[used..]) else { break };
            match of {
                Some(of) => sums.entry(of).or_insert((0.0, words[used].spot)).0 += us,
                // A profile is rejected at its first line.
                None if used == 0 => return None,
                None => {}
            }
            used += length;
        }
        (!sums.is_empty()).then_some(())?;
        let mut all: Vec<(String, (f64, Spot))> = sums.into_iter().collect();
        all.sort_by(|a, b| b.1 .0.total_cmp(&a.1 .0).then_with(|| a.0.cmp(&b.0)));
        let rows = all.into_iter().take(MOST_ROWS).map(|(of, (us, at))| {
            let mut row = Row::of(of);
            row.values.put("off processors", us * 1e3, Unit::Nanoseconds, at);
            row
        });
        let rows = rows.collect();
        Found::all(Reading { tool: "offcputime", rows, at: words[0].spot, ..Reading::default() }, used)
    }
}

/// Parses a line: task and function (`None` if the stack does not end in the scheduler), microseconds, number of words.
fn stack(words: &[Word]) -> Option<(Option<String>, f64, usize)> {
    let at = words.iter().take(LONGEST_NAME).position(|w| w.text.matches(';').count() >= 2)?;
    words[1..=at].iter().all(|w| !w.first).then_some(())?;
    let number = words.get(at + 1).filter(|w| !w.first)?;
    let us: u64 = number.text.parse().ok()?;
    let frames: Vec<&str> = words[at].text.split(';').collect();
    let name: Vec<&str> = words[..at].iter().map(|w| w.text).chain(frames.first().copied()).collect();
    let plain =
        |frame: &str| frame.trim_end_matches("_[k]").split(['+', '.']).next().unwrap_or("").to_owned();
    let kernel: Vec<String> = frames[1..].iter().map(|f| plain(f)).collect();
    let sleeps = kernel.last().is_some_and(|f| SCHEDULER.contains(&f.as_str()));
    let waits_in = kernel.iter().rev().find(|f| !SCHEDULER.contains(&f.as_str()));
    let of = waits_in.filter(|_| sleeps).map(|function| format!("{} in {function}", name.join(" ")));
    Some((of, us as f64, at + 2))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn who_sleeps_where_is_summed() {
        let text = "fio;fsync;do_syscall_64;jbd2_log_wait_commit;schedule;__schedule 5000\n\
            fio;write;do_syscall_64;folio_wait_bit_common;io_schedule;schedule;__schedule 7000\n\
            fio;fsync;do_syscall_64;ext4_sync_file;jbd2_log_wait_commit;schedule;__schedule 4000\n";
        let reading = one(text, "offcputime");
        let rows: Vec<_> = reading.rows.iter().map(|r| (r.of.as_str(), r.value("off processors"))).collect();
        assert_eq!(
            rows,
            [("fio in jbd2_log_wait_commit", Some(9e6)), ("fio in folio_wait_bit_common", Some(7e6))]
        );
        assert!(all("fio;main;compute;multiply 500\n", "offcputime").is_empty());
    }
}
