//! Finds the threads in uninterruptible sleep at the start of a recording, and where in the kernel they sleep: a thread that sleeps
//! from before the recording until its end causes no event.
//!
//! For each thread, only files of /proc are read that take no lock on its memory: `stat`, `comm`, `schedstat`, `stack` and `syscall`
//! (fs/proc/array.c, fs/proc/base.c). The last two need root.

use crate::text;
use capture::Asleep;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Limit on kept threads: a stack takes about a kilobyte.
const MOST: usize = 1 << 10;

/// The sleeping threads at one moment.
#[derive(Debug, Default)]
pub struct Sleepers(Vec<Sleeper>);

/// A sleeping thread.
#[derive(Debug)]
struct Sleeper {
    tid: u32,
    /// Its folder, `/proc/PID/task/TID`.
    folder: PathBuf,
    /// Text of `schedstat` (run time and number of runs), which changes whenever it wakes; `None` if this kernel does not count them.
    ran: Option<String>,
    asleep: Asleep,
}

impl Sleepers {
    /// Examines all threads except those of this process. `proc_root` is /proc.
    pub fn look(proc_root: &Path) -> Sleepers {
        let processes = text::numbers(proc_root).filter(|pid| *pid != std::process::id());
        let threads = processes.flat_map(|pid| {
            let tasks = proc_root.join(pid.to_string()).join("task");
            text::numbers(&tasks).map(move |tid| (tid, tasks.join(tid.to_string())))
        });
        Sleepers(threads.filter_map(|(tid, folder)| Sleeper::at(tid, folder)).take(MOST).collect())
    }

    /// Examines the threads again and returns those that have slept without interruption.
    pub fn still(self) -> BTreeMap<u32, Asleep> {
        let same = |s: &Sleeper| {
            let now = Sleeper::at(s.tid, s.folder.clone());
            now.is_some_and(|now| now.ran == s.ran && now.asleep == s.asleep)
        };
        self.0.into_iter().filter(same).map(|s| (s.tid, s.asleep)).collect()
    }
}

impl Sleeper {
    /// The thread, if it is in uninterruptible sleep and its stack can be read.
    fn at(tid: u32, folder: PathBuf) -> Option<Sleeper> {
        let read = |name: &str| text::small(&folder.join(name));
        if !is_uninterruptible(&read("stat")?) {
            return None;
        }
        let ran = read("schedstat");
        let stack: Vec<String> = read("stack")?.lines().filter_map(function).collect();
        let task = read("comm").unwrap_or_default();
        let argument = read("syscall").and_then(|line| argument(&line));
        (!stack.is_empty()).then_some(Sleeper { tid, folder, ran, asleep: Asleep { task, stack, argument } })
    }
}

/// Whether `/proc/TID/stat` (proc_pid_stat(5)) has state D: `12 (a (b) c) D ...`.
fn is_uninterruptible(stat: &str) -> bool {
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.split_whitespace().next() == Some("D"))
}

/// The function in a line of `/proc/TID/stack`: `[<0>] jbd2_log_wait_commit+0xe7/0x140 [jbd2]`.
fn function(line: &str) -> Option<String> {
    let symbol = line.split_once("] ")?.1;
    symbol.split(['+', ' ']).next().filter(|name| !name.is_empty()).map(str::to_string)
}

/// The first argument in `/proc/TID/syscall`: `74 0x3 0x0 ...`; `None` outside a call (`-1 ...`, `running`).
fn argument(line: &str) -> Option<u64> {
    let mut words = line.split_whitespace();
    words.next()?.parse::<u32>().ok()?;
    u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_kernels_lines() {
        assert!(is_uninterruptible("12 (a) D) D 7 12 0"));
        assert!(!is_uninterruptible("12 (D) S 7 12 0") && !is_uninterruptible(""));
        assert_eq!(
            function("[<0>] jbd2_log_wait_commit+0xe7/0x140 [jbd2]").as_deref(),
            Some("jbd2_log_wait_commit")
        );
        assert_eq!((function("[<0>] "), function("x")), (None, None));
        assert_eq!(argument("74 0x3 0x0 0x7fff 0x0 0x0 0x0 0x7ffe 0x7f11"), Some(3));
        assert_eq!((argument("-1 0x7ffe 0x7f11"), argument("running"), argument("")), (None, None, None));
    }

    #[test]
    fn only_who_sleeps_from_the_first_look_to_the_second_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let thread = |tid: u32, state: &str| {
            let folder = dir.path().join(format!("70000001/task/{tid}"));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("stat"), format!("{tid} (dd) {state} 1 2")).unwrap();
            fs::write(folder.join("comm"), "dd\n").unwrap();
            fs::write(folder.join("schedstat"), "100 7 3\n").unwrap();
            fs::write(folder.join("stack"), "[<0>] io_schedule+0x46/0x80\n[<0>] __x64_sys_sync+0xe/0x20\n")
                .unwrap();
            fs::write(folder.join("syscall"), "162 0x9 0x0 0x0 0x0 0x0 0x0 0x7ffe 0x7f11\n").unwrap();
            folder
        };
        let (stays, wakes, ran) = (thread(70_000_001, "D"), thread(70_000_002, "D"), thread(70_000_003, "D"));
        let runs = thread(70_000_004, "R");
        let all = Sleepers::look(dir.path());
        assert_eq!(all.0.len(), 3);
        fs::write(wakes.join("stat"), "70000002 (dd) S 1 2").unwrap();
        // It was woken, and sleeps again.
        fs::write(ran.join("schedstat"), "108 7 4\n").unwrap();
        fs::write(runs.join("stat"), "70000004 (dd) D 1 2").unwrap();
        let still = all.still();
        assert_eq!(still.keys().collect::<Vec<_>>(), [&70_000_001]);
        let functions = ["io_schedule", "__x64_sys_sync"].map(String::from).to_vec();
        assert_eq!(still[&70_000_001], Asleep { task: "dd".into(), stack: functions, argument: Some(9) });
        drop(stays);
    }
}
