//! Controls one recording from start to end.
//!
//! The order matters: everything that may be refused is tried before tracing is enabled; the instance is
//! removed as soon as its last page is read, before the slower assembly of the capture. An early
//! return drops the [`Instance`], which ends the tracing.

use crate::plan::Plan;
use crate::running::Signals;
use crate::session::Session;
use crate::tracefs::Tracefs;
use capture::Capture;
use capture::Result;
use std::path::PathBuf;
use std::time::Duration;
use trace::Bytes;

/// Progress of a recording, reported once per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Time since the start.
    pub time: Duration,
    /// Events recorded so far.
    pub events: u64,
    /// Event rate since the previous report.
    pub events_per_second: f64,
    /// Bytes of pages moved so far.
    pub bytes: Bytes,
    /// Events lost so far.
    pub lost: u64,
}

/// A report during a recording.
#[derive(Clone, Debug)]
pub enum Report<'a> {
    /// A remark in words.
    Note(&'a str),
    /// Recording has started.
    Started,
    /// Progress, once per second.
    Progress(Progress),
}

/// The result of a recording.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The folder of the capture; `None` for a stream.
    pub folder: Option<PathBuf>,
    /// The content of `capture.json`.
    pub capture: Capture,
}

/// Roots of the machine's virtual file systems. Tests use folders of their own.
#[derive(Clone, Debug)]
pub struct Host {
    /// The tracefs to record with.
    pub tracefs: Tracefs,
    /// Root of /proc.
    pub proc: PathBuf,
    /// Root of /sys.
    pub sys: PathBuf,
}

impl Host {
    /// Those of this machine.
    pub fn here() -> Result<Host> {
        Ok(Host { tracefs: Tracefs::find()?, proc: "/proc".into(), sys: "/sys".into() })
    }
}

/// Makes a recording. `tell` receives reports on its progress.
pub fn record(host: &Host, plan: &Plan, tell: &mut dyn FnMut(Report)) -> Result<Recorded> {
    // From before anything exists that a signal could leave behind, until everything is written.
    let signals = Signals::catch()?;
    let (mut session, instance) = Session::prepare(host, plan, tell)?;
    let outcome = session.run(instance, &signals);
    if outcome.is_err() {
        session.keep.discard(&session.cpus);
    }
    let (capture, head, drained) = outcome?;
    session.finish(capture, head, drained)
}
