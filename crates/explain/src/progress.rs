//! Shows progress on standard error, if that is a terminal and an operation takes long.

use indicatif::{ProgressBar, ProgressStyle};
use std::path::Path;
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Operations shorter than this show no progress.
const SHORT: Duration = Duration::from_millis(700);
/// Time between two steps of a spinner.
const TICK: Duration = Duration::from_millis(100);

/// A spinner while a recording is opened: a packed one is unpacked first, a stream is read to its end.
pub(crate) struct Waiting {
    over: Sender<()>,
    thread: JoinHandle<()>,
}

impl Waiting {
    pub(crate) fn begin(path: &Path) -> Waiting {
        let words = match path == Path::new("-") {
            true => "reading the stream".to_string(),
            false => format!("opening {}", path.display()),
        };
        let (over, wait) = channel();
        let thread = std::thread::spawn(move || {
            if wait.recv_timeout(SHORT).is_err_and(|e| e == RecvTimeoutError::Timeout) {
                let bar = ProgressBar::new_spinner();
                if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed}") {
                    bar.set_style(style);
                }
                bar.set_message(words);
                bar.enable_steady_tick(TICK);
                // Returns once the other end is dropped.
                let _ = wait.recv();
                bar.finish_and_clear();
            }
        });
        Waiting { over, thread }
    }

    pub(crate) fn end(self) {
        drop(self.over);
        let _ = self.thread.join();
    }
}

/// A progress bar on standard error, if that is a terminal and reading takes a while.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    began: Instant,
    size: Option<u64>,
    name: String,
}

impl Progress {
    pub(crate) fn new(size: Option<u64>, path: &Path) -> Progress {
        Progress { bar: None, began: Instant::now(), size, name: path.display().to_string() }
    }

    pub(crate) fn at(&mut self, position: u64) {
        if self.bar.is_none() && self.began.elapsed() > SHORT {
            let (bar, template) = match self.size {
                Some(size) => {
                    (ProgressBar::new(size), "{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left")
                }
                None => (ProgressBar::new_spinner(), "{msg} {bytes} read, {elapsed}"),
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.set_message(format!("reading {}", self.name));
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(position);
        }
    }

    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A progress bar while models of devices are fitted.
pub struct Fitting(ProgressBar);

impl Fitting {
    /// Shows the bar.
    pub fn begin() -> Fitting {
        let bar = ProgressBar::new(1000);
        if let Ok(style) = ProgressStyle::with_template("fitting devices {wide_bar} {percent} %, {eta} left")
        {
            bar.set_style(style);
        }
        Fitting(bar)
    }

    /// Sets the progress, 0 to 1.
    pub fn at(&self, part: f64) {
        self.0.set_position((part * 1000.0) as u64);
    }

    /// Removes the bar.
    pub fn end(self) {
        self.0.finish_and_clear();
    }
}
