//! How late this machine is: what a thread sees that goes before all others, and only sleeps.
//!
//! A processor that another guest of the same host has at the moment wakes nobody up, whatever his priority.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// It sleeps so long,
const SLEEP: Duration = Duration::from_millis(1);
/// and is late if it wakes up so much after that. (On an idle machine of this kind one in a thousand is 0.7 ms late.)
const LATE: Duration = Duration::from_millis(1);
/// A real-time priority (SCHED_FIFO) above those that tests give to their disks.
const PRIORITY: &str = "50";

/// Looks until it is asked.
pub struct Lateness {
    end: Arc<AtomicBool>,
    thread: JoinHandle<f64>,
}

impl Lateness {
    /// Begins.
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
        Lateness { end, thread }
    }

    /// The part of its sleeps that ended late.
    pub fn end(self) -> f64 {
        self.end.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or(0.0)
    }
}

/// Who may not is late more often.
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
    fn it_is_a_part_of_all_sleeps() {
        let lateness = Lateness::begin();
        std::thread::sleep(Duration::from_millis(50));
        assert!((0.0..=1.0).contains(&lateness.end()));
    }
}
