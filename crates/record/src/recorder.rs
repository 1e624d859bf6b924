//! One recording from beginning to end.
//!
//! The order matters: everything that can be refused is tried before anything is switched on; the instance is
//! removed as soon as its last page is out, before the slower work of putting the capture together. Whatever
//! returns early drops the [`Instance`], and with it the tracing.

use crate::plan::Plan;
use crate::running::Signals;
use crate::session::Session;
use crate::tracefs::Tracefs;
use capture::Capture;
use capture::Result;
use std::path::PathBuf;
use std::time::Duration;
use trace::Bytes;

/// How a recording goes, once a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Since the start.
    pub time: Duration,
    /// Events so far.
    pub events: u64,
    /// In the last second.
    pub events_per_second: f64,
    /// Bytes kept so far.
    pub bytes: Bytes,
    /// Events lost so far.
    pub lost: u64,
}

/// What is told while it happens.
#[derive(Clone, Debug)]
pub enum Report<'a> {
    /// Something to know, in words.
    Note(&'a str),
    /// Recording has begun.
    Started,
    /// Another second.
    Progress(Progress),
}

/// What came of a recording.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The folder; none for a stream.
    pub folder: Option<PathBuf>,
    /// What `capture.json` says.
    pub capture: Capture,
}

/// Where the machine's files are. Tests give folders of their own.
#[derive(Clone, Debug)]
pub struct Host {
    /// tracefs.
    pub tracefs: Tracefs,
    /// /proc.
    pub proc: PathBuf,
    /// /sys.
    pub sys: PathBuf,
}

impl Host {
    /// This machine.
    pub fn here() -> Result<Host> {
        Ok(Host { tracefs: Tracefs::find()?, proc: "/proc".into(), sys: "/sys".into() })
    }
}

/// Makes a recording. `tell` hears how it goes.
pub fn record(host: &Host, plan: &Plan, tell: &mut dyn FnMut(Report)) -> Result<Recorded> {
    // Before there is anything that a signal could leave behind, and until all is written.
    let signals = Signals::catch()?;
    let (mut session, instance) = Session::prepare(host, plan, tell)?;
    let outcome = session.run(instance, &signals);
    if outcome.is_err() {
        session.keep.discard(&session.cpus);
    }
    let (capture, head, drained) = outcome?;
    session.finish(capture, head, drained)
}
