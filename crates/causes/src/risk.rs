//! What a remedy puts at risk: data, or the time in which a file system cannot be used. Remedies without risk come first.

/// What is at risk, from the least to the most.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// Nothing: it can be undone at once.
    #[default]
    Nothing,
    /// A power cut loses data that was reported as safe; the text of the remedy says so itself.
    PowerCut,
    /// The file system must be unmounted.
    Downtime,
    /// All data on these devices is lost.
    Data(&'static str),
}

impl Risk {
    /// The warning that is added to the remedy; `None` if it needs none.
    pub(crate) fn words(&self) -> Option<String> {
        match self {
            Risk::Nothing | Risk::PowerCut => None,
            Risk::Downtime => Some("the file system is unmounted meanwhile (downtime)".into()),
            Risk::Data(devices) => Some(format!("destroys all data on {devices}")),
        }
    }
}
