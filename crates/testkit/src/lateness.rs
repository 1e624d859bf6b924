//! Measures how late this machine wakes tasks, with a thread of high priority that only sleeps.
//!
//! A CPU that the host has given to another guest wakes no task, whatever its priority. If the host reports how much
//! CPU time it gave to others (steal, proc_stat(5)), that counts, too.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Length of each sleep.
const SLEEP: Duration = Duration::from_millis(1);
/// A wakeup is late by more than this. (On an idle machine of this kind one in a thousand is 0.7 ms late.)
const LATE: Duration = Duration::from_millis(1);
/// A real-time priority (SCHED_FIFO) above those that tests give to their disks.
const PRIORITY: &str = "50";

/// Measures from `begin` to `end`.
pub struct Lateness {
    end: Arc<AtomicBool>,
    thread: JoinHandle<f64>,
    before: Option<Ticks>,
}

impl Lateness {
    /// Starts measuring.
    pub fn begin() -> Lateness {
        let end = Arc::new(AtomicBool::new(false));
        let ended = end.clone();
        let thread = std::thread::spawn(move || {
            go_first();
            let (mut all, mut late) = (0u32, 0u32);
            while !ended.load(Ordering::Relaxed) {
                let begun = Instant::now();
                std::thread::sleep(SLEEP);
                all += 1;
                late += u32::from(begun.elapsed() > SLEEP + LATE);
            }
            f64::from(late) / f64::from(all.max(1))
        });
        Lateness { end, thread, before: ticks(&stat()) }
    }

    /// The share of its sleeps that ended late, or of CPU time that others had, whichever is larger.
    pub fn end(self) -> f64 {
        self.end.store(true, Ordering::Relaxed);
        let late = self.thread.join().unwrap_or(0.0);
        let taken = self.before.zip(ticks(&stat())).map_or(0.0, |(before, now)| now.taken_since(&before));
        late.max(taken)
    }
}

/// CPU time of all CPUs since boot, in ticks.
struct Ticks {
    all: u64,
    stolen: u64,
}

impl Ticks {
    fn taken_since(&self, before: &Ticks) -> f64 {
        let all = self.all.saturating_sub(before.all);
        self.stolen.saturating_sub(before.stolen) as f64 / all.max(1) as f64
    }
}

fn stat() -> String {
    std::fs::read_to_string("/proc/stat").unwrap_or_default()
}

/// `cpu  user nice system idle iowait irq softirq steal guest guest_nice`: the last two are in the first two.
fn ticks(stat: &str) -> Option<Ticks> {
    let words = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace().take(8);
    let ticks: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    Some(Ticks { all: ticks.iter().sum(), stolen: *ticks.get(7)? })
}

/// Sets the real-time priority of this thread. Without the permission to do so, it is late more often.
fn go_first() {
    let Ok(own) = std::fs::read_link("/proc/thread-self") else { return };
    let Some(thread) = own.file_name() else { return };
    let mut chrt = Command::new("chrt");
    chrt.args(["-f", "-p", PRIORITY]).arg(thread).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = chrt.status();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_host_took_is_a_part_of_all_time() {
        let before = ticks("cpu  10 0 10 70 5 0 5 0 9 9\ncpu0 1 1").unwrap();
        let now = ticks("cpu  20 0 20 140 5 0 5 10 9 9").unwrap();
        assert_eq!((before.all, now.taken_since(&before)), (100, 0.1));
        assert!(ticks("cpu  1 2 3").is_none());
    }

    #[test]
    fn it_is_a_part_of_all_sleeps() {
        let lateness = Lateness::begin();
        std::thread::sleep(Duration::from_millis(50));
        assert!((0.0..=1.0).contains(&lateness.end()));
    }
}
