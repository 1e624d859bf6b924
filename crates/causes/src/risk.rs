//! What a remedy puts at risk: data, or the time in which the file system cannot be used. What risks nothing comes first.

use crate::remedy::Action;

/// What is at risk, the least first.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// Nothing that cannot be undone at once.
    #[default]
    Nothing,
    /// What was reported safe is gone after a power cut; the remedy says so itself.
    PowerCut,
    /// The file system must be unmounted.
    Downtime,
    /// What is on these devices is gone.
    Data(&'static str),
}

impl Risk {
    /// What is said of it.
    pub(crate) fn words(&self) -> Option<String> {
        match self {
            Risk::Nothing | Risk::PowerCut => None,
            Risk::Downtime => Some("the file system is unmounted meanwhile (downtime)".into()),
            Risk::Data(devices) => Some(format!("destroys all data on {devices}")),
        }
    }

    /// A command that risks it.
    pub(crate) fn of(self, command: impl Into<String>) -> Action {
        Action::Run { command: command.into(), risk: self }
    }
}
