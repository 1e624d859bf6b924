//! Reads lines about memory, processors and arrays that explain slow I/O without a fault of storage: the kernel's, and those of systemd and
//! earlyoom about processes that were killed.
//!
//! ```text
//! Out of memory: Killed process 15784 (python3) total-vm:11964kB, ...                mm/oom_kill.c
//! nginx invoked oom-killer: gfp_mask=0xd0, order=1, oom_adj=0                        who found none; one of the others follows
//! Memory cgroup out of memory: Killed process 812 (java) ...                         the limit of a control group
//! memory: usage 1048576kB, limit 1048576kB, failcnt 141                              mm/memcontrol.c; what was tried and refused
//! XFS: cp(812) possible memory allocation deadlock size 65552 in kmem_alloc (mode:0x250)    fs/xfs/kmem.c: each hundredth attempt
//! a.service: A process of this unit has been killed by the OOM killer.               systemd, core/unit.c; also for the slices above it
//! a.service: Failed with result 'oom-kill'.                                          core/service.c
//! Killed /user.slice/b.scope due to memory pressure for /user.slice being 78.42% > 50.00% for > 20s ...     systemd-oomd
//! sending SIGTERM to process 812 uid 1000 "chrome": badness 800, VmRSS 9 MiB         earlyoom, before memory is used up
//! watchdog: BUG: soft lockup - CPU#0 stuck for 197s! [kworker/0:1:23]                kernel/watchdog.c
//! BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 31s!         kernel/workqueue.c
//! rcu: INFO: rcu_sched self-detected stall on CPU                                    kernel/rcu/tree_stall.h
//! CPU0: Core temperature above threshold, cpu clock throttled (total events = 1)     drivers/thermal/intel/therm_throt.c
//! md: data-check of RAID array md3                                                   drivers/md/md.c; `md: md3: data-check done.` ends it
//! ```
//!
//! Each kind has a row with the number of its lines; lockups also with the longest. What md does with an array is a kind, `md3 data-check`,
//! unless it ended.
//!
//! **Versions**: Linux 2.6.32 to 6.12, systemd and systemd-oomd by published logs, earlyoom by its documentation.

use super::next_of_log;
use super::reader::{texts, Found, Tool};
use crate::output::number::{decimal, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;
use evidence::Spot;
use std::collections::BTreeMap;

pub struct KernelNotices;

/// Kinds of lines.
const KILLS: &str = "killed for memory";
const GROUP: &str = "killed at a limit";
/// Some task found no memory; a process may have been killed for it.
const CALLS: &str = "calls of the OOM killer";
const LIMIT: &str = "memory limits reached";
/// Units of systemd, and slices above them, of which a process was killed.
const UNITS: &str = "units killed for memory";
const SLICES: &str = "slices killed for memory";
/// A service that ended so; systemd says it after the line about its unit.
const SERVICES: &str = "services ended for memory";
/// Killed by a program before memory is used up.
const EARLY: &str = "killed before memory ends";
/// XFS finds no memory and tries again.
const RETRIES: &str = "allocations that XFS retries";
const LOCKUPS: &str = "stuck processors";
const HEAT: &str = "throttled by heat";

/// What md does with all data of an array, in its words.
const ACTIONS: [&str; 5] = ["data-check", "requested-resync", "resync", "recovery", "reshape"];

/// Limit on arrays of one log.
const MOST_ARRAYS: usize = 64;
/// Limit on words between two lines: others of the log.
const MOST_BETWEEN: usize = 400;
/// Limit on words up to `stuck`.
const MOST_OF_LOCKUP: usize = 12;
/// The longest stall that is believed, in seconds.
const LONGEST: f64 = 1e6;

impl Tool for KernelNotices {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let mut kinds: BTreeMap<&'static str, Lines> = BTreeMap::new();
        let mut arrays: BTreeMap<&str, (&str, Spot)> = BTreeMap::new();
        let (mut used, mut unknown) = (0, 0);
        loop {
            let rest = &words[used..];
            let most = if used == 0 { 1 } else { MOST_BETWEEN };
            let Some((skip, (said, length))) = next_of_log(rest, most, says) else { break };
            unknown += skip;
            used += skip + length;
            let (kind, stuck) = match said {
                Says::Notice(kind, stuck) => (kind, stuck),
                Says::Array(array, Some(action)) if arrays.len() < MOST_ARRAYS => {
                    arrays.insert(array, (action, rest[skip].spot));
                    continue;
                }
                Says::Array(array, _) => {
                    arrays.remove(array);
                    continue;
                }
            };
            let lines = kinds.entry(kind).or_insert(Lines { count: 0.0, longest: None, at: rest[skip].spot });
            lines.count += 1.0;
            lines.longest = lines.longest.into_iter().chain(stuck).reduce(f64::max);
        }
        let of_array = |(array, (action, at))| {
            let lines = Lines { count: 1.0, longest: None, at };
            lines.row(&format!("{array} {action}"))
        };
        let rows = kinds.into_iter().map(|(kind, lines)| lines.row(kind));
        let rows = rows.chain(arrays.into_iter().map(of_array)).collect();
        let at = words.first()?.spot;
        let reading = Reading { tool: "kernel notices", rows, at, ..Reading::default() };
        (used > 0).then_some(Found { reading: Some(reading), used, unknown })
    }
}

/// The lines of one kind.
struct Lines {
    count: f64,
    /// For how long a processor was stuck, in seconds.
    longest: Option<f64>,
    /// The place of the first.
    at: Spot,
}

impl Lines {
    fn row(self, kind: &str) -> Row {
        let mut row = Row::of(kind);
        row.values.put("count", self.count, Unit::Count, self.at);
        if let Some(seconds) = self.longest {
            row.values.put("longest", seconds * 1e9, Unit::Nanoseconds, self.at);
        }
        row
    }
}

/// What a line says.
pub(super) enum Says<'a> {
    /// A kind, and for how long a processor was stuck, in seconds.
    Notice(&'static str, Option<f64>),
    /// An array, and what md does with it from now on, if anything.
    Array(&'a str, Option<&'a str>),
}

/// What a line says, and its number of words.
pub(super) fn says<'a>(words: &[Word<'a>]) -> Option<(Says<'a>, usize)> {
    let notice = line(words).map(|(kind, stuck, used)| (Says::Notice(kind, stuck), used));
    notice.or_else(|| array(words))
}

/// What md does with an array, and its number of words (drivers/md/md.c, `md_do_sync`).
fn array<'a>(words: &[Word<'a>]) -> Option<(Says<'a>, usize)> {
    let is_array = |name: &str| name.starts_with("md") && evidence::is_device_name(name);
    let begins = || match texts(words)? {
        ["md:", action, "of", "RAID", "array", name] if ACTIONS.contains(&action) && is_array(name) => {
            Some((Says::Array(name, Some(action)), 6))
        }
        _ => None,
    };
    let ends = || match texts(words)? {
        ["md:", name, action, "done." | "interrupted."] if ACTIONS.contains(&action) => {
            Some((Says::Array(name.trim_end_matches(':'), None), 4))
        }
        _ => None,
    };
    begins().or_else(ends)
}

/// The kind of a line, for how long a processor was stuck in seconds, and the number of words.
fn line(words: &[Word]) -> Option<(&'static str, Option<f64>, usize)> {
    match texts(words)? {
        // In lower case before Linux 2.6.36.
        ["Out", "of", "memory:", "Kill" | "Killed" | "kill"] => Some((KILLS, None, 4)),
        ["Memory", "cgroup", "out", "of"] if words.get(4)?.text == "memory:" => {
            texts(&words[5..])
                .filter(|[killed, process]| killed.starts_with("Kill") && *process == "process")?;
            Some((GROUP, None, 7))
        }
        ["invoked", "oom-killer:", ..] => Some((CALLS, None, 2)),
        ["possible", "memory", "allocation", "deadlock"] => Some((RETRIES, None, 4)),
        ["Killed", group, "due", "to"] if group.starts_with('/') && words.get(4)?.text == "memory" => {
            Some((EARLY, None, 5))
        }
        ["sending", "SIGTERM" | "SIGKILL", "to", "process"] if words.get(5)?.text == "uid" => {
            Some((EARLY, None, 6))
        }
        [unit, "Failed", "with", "result"] if words.get(4)?.text.starts_with("'oom-kill'") => {
            is_unit(unit).then_some((SERVICES, None, 5))
        }
        [unit, "A", "process", "of"] => {
            texts(&words[4..]).filter(|said| *said == ["this", "unit", "has", "been", "killed", "by"])?;
            let by: [&str; 3] = texts(&words[10..])?;
            (by[..2] == ["the", "OOM"] && by[2].starts_with("killer")).then_some(())?;
            is_unit(unit).then_some((if unit.ends_with(".slice:") { SLICES } else { UNITS }, None, 13))
        }
        ["memory:", "usage", _, "limit"] if words.get(5)?.text == "failcnt" => Some((LIMIT, None, 6)),
        ["BUG:", "soft" | "workqueue", "lockup", "-"] => {
            let at = words.iter().take(MOST_OF_LOCKUP).position(|w| w.text == "stuck")?;
            let stuck = decimal(words.get(at + 2)?.text.trim_end_matches('!').trim_end_matches('s'));
            Some((LOCKUPS, stuck.filter(|s| *s < LONGEST), at + 3))
        }
        ["self-detected", "stall", "on", "CPU"] | ["detected", "stalls", "on", "CPUs/tasks:"] => {
            Some((LOCKUPS, None, 4))
        }
        ["temperature", "above", "threshold,", "cpu"] => Some((HEAT, None, 4)),
        _ => None,
    }
}

/// Whether a word is a unit of systemd at the start of its message: `a.service:`.
fn is_unit(text: &str) -> bool {
    text.strip_suffix(':').is_some_and(|name| name.contains('.') && !name.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn each_kind_is_counted() {
        let text = "[  518.050606] Out of memory: Killed process 15784 (python3) total-vm:11964kB, anon-rss:4288kB\n\
            [  519.000000] Memory cgroup out of memory: Killed process 812 (java) total-vm:1kB\n\
            [  520.000000] watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [kworker/0:1:23]\n\
            [  548.000000] watchdog: BUG: soft lockup - CPU#1 stuck for 197s! [python3:23]\n\
            [  549.000000] BUG: workqueue lockup - pool cpus=0 flags=0x4 nice=0 stuck for 31s!\n\
            [  550.000000] rcu: INFO: rcu_sched self-detected stall on CPU\n\
            [  551.000000] CPU0: Core temperature above threshold, cpu clock throttled (total events = 1)\n";
        let reading = one(text, "kernel notices");
        let value = |of: &str, name: &str| reading.row(of).and_then(|row| row.value(name));
        assert_eq!(value("killed for memory", "count"), Some(1.0));
        assert_eq!(value("killed at a limit", "count"), Some(1.0));
        assert_eq!(value("stuck processors", "count"), Some(4.0));
        assert_eq!(value("stuck processors", "longest"), Some(197e9));
        assert_eq!(value("throttled by heat", "count"), Some(1.0));
        let old = "kernel: [5.0] Out of memory: kill process 15679 (nginx) score 15361 or a child\nkernel: [5.5] top invoked oom-killer: gfp_mask=0xd0, order=1, oom_adj=0\n";
        let reading = one(old, "kernel notices");
        let count = |of: &str| reading.row(of).and_then(|row| row.value("count"));
        assert_eq!(["killed for memory", "calls of the OOM killer"].map(count), [Some(1.0); 2]);
        let end = one("memory: usage 1048576kB, limit 1048576kB, failcnt 141\n", "kernel notices");
        assert_eq!(end.row("memory limits reached").and_then(|row| row.value("count")), Some(1.0));
        let checked = "[ 61.1] md: data-check of RAID array md3\n[ 61.2] md: resync of RAID array md4\n[ 99.0] md: md4: resync done.\n";
        let rows = one(checked, "kernel notices").rows;
        assert_eq!(rows.iter().map(|row| row.of.as_str()).collect::<Vec<_>>(), ["md3 data-check"]);
        assert!(all("We are out of memory and of patience\n", "kernel notices").is_empty());
    }

    #[test]
    fn what_systemd_and_earlyoom_killed_is_counted() {
        let text = "2026-02-08T00:40:07.1+00:00 host systemd[1]: system.slice: A process of this unit has been killed by the OOM killer.\n\
            2026-02-08T00:40:07.2+00:00 host systemd[1]: a@1.service: A process of this unit has been killed by the OOM killer.\n\
            2026-02-08T00:40:07.3+00:00 host systemd[1]: a@1.service: Failed with result 'oom-kill'.\n\
            Feb 08 00:41:07 host systemd-oomd[700]: Killed /user.slice/b.scope due to memory pressure for /user.slice being 78.42% > 50.00% for > 20s with reclaim activity\n\
            Feb 08 00:42:07 host systemd-oomd[700]: Killed /user.slice/c.scope due to memory used (8 G) / total (9 G) and swap used (1 G) / total (1 G) being more than 90.00%\n\
            Feb 08 00:43:07 host earlyoom[701]: sending SIGTERM to process 812 uid 1000 \"chrome\": badness 800, VmRSS 9 MiB\n\
            [  7.5] XFS: cp(812) possible memory allocation deadlock size 65552 in kmem_alloc (mode:0x250)\n";
        let reading = one(text, "kernel notices");
        let count = |of: &str| reading.row(of).and_then(|row| row.value("count"));
        let kinds = [
            "slices killed for memory",
            "units killed for memory",
            "services ended for memory",
            "killed before memory ends",
            "allocations that XFS retries",
        ];
        assert_eq!(kinds.map(count), [1.0, 1.0, 1.0, 3.0, 1.0].map(Some));
        for other in [
            "a.service: Failed with result 'exit-code'.\n",
            "Killed it due to memory of old times\n",
            "sending SIGTERM to process 812 now\n",
            "There: A process of this unit has been killed by the OOM killer.\n",
        ] {
            assert!(all(other, "kernel notices").is_empty(), "{other}");
        }
    }
}
