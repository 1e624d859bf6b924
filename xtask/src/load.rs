//! Loads of system calls, whose events a recording has to keep up with.

use crate::outcome::Outcome;
use std::fs::File;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A call is an event when it is entered and one when it is left.
const EVENTS_OF_A_CALL: u64 = 2;
/// A paced load makes so many calls, and then waits for its time.
const BURST: u64 = 100;

/// A program that makes as many system calls as it can, until it is dropped.
pub struct Flood(Child);

impl Flood {
    /// Starts it.
    pub fn start() -> Outcome<Flood> {
        let mut dd = Command::new("dd");
        dd.args(["if=/dev/zero", "of=/dev/null", "bs=1"]).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Flood(dd.spawn()?))
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A thread whose reads make so many events a second and no more, until it is dropped.
pub struct Paced {
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Paced {
    /// Starts it.
    pub fn start(events_per_second: u64) -> Outcome<Paced> {
        let mut zero = File::open("/dev/zero")?;
        let end = Arc::new(AtomicBool::new(false));
        let ended = end.clone();
        let apart = Duration::from_nanos(1_000_000_000 * EVENTS_OF_A_CALL * BURST / events_per_second.max(1));
        let thread = std::thread::spawn(move || {
            let mut next = Instant::now();
            while !ended.load(Ordering::Relaxed) {
                for _ in 0..BURST {
                    let _ = zero.read(&mut [0]);
                }
                next += apart;
                std::thread::sleep(next.saturating_duration_since(Instant::now()));
            }
        });
        Ok(Paced { end, thread: Some(thread) })
    }
}

impl Drop for Paced {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
