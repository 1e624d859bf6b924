//! Waits for the end of a recording: a duration, a command, a signal.

use crate::plan::Stop;
use capture::EndedBy;
use capture::{Error, Result};
use rustix::process::{kill_process, Pid, Signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::SigId;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time for a command to end by itself after a signal: with the terminal's Ctrl-C the command got the signal,
/// too, and a second one makes programs like fio quit without a result.
const GRACE: Duration = Duration::from_secs(1);
/// Interval between checks on a command.
const LOOK: Duration = Duration::from_millis(10);

/// Catches the signals that end a recording, as long as this value lives.
#[derive(Debug)]
pub struct Signals {
    last: Arc<AtomicUsize>,
    ids: Vec<SigId>,
}

impl Signals {
    /// Catches SIGINT, SIGTERM and SIGHUP from now on.
    pub fn catch() -> Result<Signals> {
        let last = Arc::new(AtomicUsize::new(0));
        let mut signals = Signals { last: last.clone(), ids: Vec::new() };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let id = signal_hook::flag::register_usize(signal, last.clone(), signal as usize);
            let id =
                id.map_err(|e| Error::refused(format!("signals cannot be caught: {e}"), "this is a bug"))?;
            signals.ids.push(id);
        }
        Ok(signals)
    }

    /// The last signal received; `None` if there was none.
    pub fn caught(&self) -> Option<Signal> {
        Signal::from_named_raw(self.last.load(Ordering::Relaxed) as i32)
    }

    /// The last signal received, which is then forgotten.
    fn take(&self) -> Option<Signal> {
        Signal::from_named_raw(self.last.swap(0, Ordering::Relaxed) as i32)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for id in self.ids.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}

/// What a recording waits for.
#[derive(Debug)]
pub enum Running {
    /// A duration; `None` waits for a signal.
    Time(Option<Duration>),
    /// A command, and its status after it exited.
    Command(Child, Option<ExitStatus>),
}

impl Running {
    /// Starts the command, if there is one. With `keep_stdout`, its output goes to standard error, because
    /// standard output carries the capture.
    pub fn start(stop: &Stop, keep_stdout: bool) -> Result<Running> {
        let words = match stop {
            Stop::After(time) => return Ok(Running::Time(Some(*time))),
            Stop::Signal => return Ok(Running::Time(None)),
            Stop::Command(words) => words,
        };
        let Some((program, args)) = words.split_first() else {
            return Err(Error::refused("no command was given", "write it after --"));
        };
        let mut command = Command::new(program);
        command.args(args);
        if keep_stdout {
            let stderr = std::io::stderr().as_fd().try_clone_to_owned();
            command.stdout(stderr.map_or(Stdio::null(), Stdio::from));
        }
        let child = command.spawn().map_err(|e| {
            let what = format!("{} cannot be run: {e}", program.to_string_lossy());
            Error::refused(what, "check the command's name and path")
        })?;
        Ok(Running::Command(child, None))
    }

    /// Whether it waits for a command.
    pub fn is_command(&self) -> bool {
        matches!(self, Running::Command(..))
    }

    /// Whether the duration has elapsed or the command has exited.
    pub fn over(&mut self, elapsed: Duration) -> bool {
        match self {
            Running::Time(time) => time.is_some_and(|t| elapsed >= t),
            Running::Command(_, Some(_)) => true,
            Running::Command(child, status) => match child.try_wait() {
                Ok(s) => {
                    *status = s;
                    s.is_some()
                }
                Err(_) => true,
            },
        }
    }

    /// Sleeps for `time`; with a command in short steps, to notice its exit at once.
    pub fn wait(&mut self, time: Duration) {
        let until = Instant::now() + time;
        let step = if self.is_command() { LOOK } else { time };
        while !self.over(Duration::ZERO) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(step));
        }
    }

    /// After the recording, waits for the command to exit, forwards signals to it, and returns its exit status
    /// as in a shell. A command that received no signal runs to its own end. `None` without a command.
    pub fn end(self, by: EndedBy, signals: &Signals) -> Option<i32> {
        let Running::Command(mut child, mut status) = self else { return None };
        let mut pending = if by == EndedBy::Signal { signals.take() } else { None };
        let mut when = Instant::now() + GRACE;
        while status.is_none() {
            status = match child.try_wait() {
                Ok(s) => s,
                Err(_) => return None,
            };
            if let Some(again) = signals.take() {
                (pending, when) = (Some(again), Instant::now());
            }
            if status.is_none() {
                if let Some(signal) = pending.filter(|_| Instant::now() >= when) {
                    let _ = kill_process(Pid::from_child(&child), signal);
                    pending = None;
                }
                std::thread::sleep(LOOK);
            }
        }
        status.map(shell_status)
    }
}

/// The exit code, or 128 plus the signal's number.
fn shell_status(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str]) -> Running {
        Running::start(&Stop::Command(words.iter().map(Into::into).collect()), false).unwrap()
    }

    #[test]
    fn exit_status_as_a_shell_says_it() {
        let signals = Signals::catch().unwrap();
        assert_eq!(run(&["sh", "-c", "exit 7"]).end(EndedBy::Command, &signals), Some(7));
        assert_eq!(run(&["sh", "-c", "kill -9 $$"]).end(EndedBy::Command, &signals), Some(137));
    }

    #[test]
    fn no_such_command() {
        let e = Running::start(&Stop::Command(vec!["/no/such/program".into()]), false).unwrap_err();
        assert!(e.to_string().starts_with("/no/such/program cannot be run"), "{e}");
    }

    #[test]
    fn time_passes() {
        let mut r = Running::start(&Stop::After(Duration::from_secs(5)), false).unwrap();
        assert!(!r.over(Duration::from_secs(4)));
        assert!(r.over(Duration::from_secs(5)));
        assert!(!Running::Time(None).over(Duration::MAX));
    }
}
