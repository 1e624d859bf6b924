//! Controls one recording from start to end.
//!
//! The order matters: everything that may be refused is tried before tracing is enabled; the instance is
//! removed as soon as its last page is read, before the slower assembly of the capture. An early
//! return drops the [`Instance`], which ends the tracing.

use crate::host::Host;
use crate::plan::Plan;
use crate::report::Report;
use crate::running::Signals;
use crate::session::Session;
use capture::Capture;
use capture::Result;
use std::path::PathBuf;

/// The result of a recording.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The folder of the capture; `None` for a stream.
    pub folder: Option<PathBuf>,
    /// The content of `capture.json`.
    pub capture: Capture,
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
