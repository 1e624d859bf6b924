//! What was read: a recording with the settings and samples beside it.

use crate::places;
use crate::roles::Roles;
use crate::which::Which;
use events::Window;
use evidence::{Samples, System};
use operation::Scope;
use trace::{DevId, Nanos, Quality};

/// The input, and the settings and samples beside it.
#[derive(Default)]
pub struct Subject {
    /// The filter, if one was given.
    pub scope: Option<Scope>,
    /// The operations that the answer is about: all, or the slowest.
    pub which: Which,
    /// The part of the recording that was read; `None` if all of it.
    pub window: Option<Window>,
    /// Formats of the sources. Example: `blktrace`. Empty if there is no recording.
    pub sources: Vec<String>,
    /// Device names that are derived from file names.
    pub file_names: Vec<(DevId, String)>,
    /// The kernel's version, if the trace has it; `system` may have it too.
    pub kernel: Option<String>,
    /// Settings from files beside the trace.
    pub system: System,
    /// The kernel's counters for each second; empty if they were not recorded.
    pub samples: Samples,
    /// Lost, odd or unreadable parts of the trace.
    pub quality: Quality,
    /// How long the recorder watched all tasks, if it missed nothing: longer than from the first event to the last. Else `None`.
    pub watched: Option<Nanos>,
    /// Whether the recorder recorded the operations of tasks.
    pub of_operations: bool,
    /// The devices that the recording was limited to; empty if there was no limit.
    pub only: Vec<String>,
    /// The roles of tasks: server, job, recorder.
    pub roles: Roles,
}

impl Subject {
    /// A device's name. Example: `sda`.
    pub fn name(&self, dev: DevId) -> String {
        places::device(&self.system, &self.file_names, dev)
    }
}
