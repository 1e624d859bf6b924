//! Whose data a task sends for another.

use life::Names;
use operation::SentFor;

/// Owner of data that another task sent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    /// These tasks, by name, joined with `, `.
    Tasks(String),
    /// Some task of this control group (its directory's inode number), which wrote before the recording.
    Group(u64),
    /// Not known: the data was written before the recording, or through a mapping.
    Unknown,
}

impl Whose {
    /// The owner with names.
    pub fn of(sent: &SentFor, names: &Names) -> Whose {
        let mut who: Vec<&str> = sent.tasks.iter().map(|w| names.text(*w)).collect();
        who.sort_unstable();
        match (who.is_empty(), sent.cgroup) {
            (false, _) => Whose::Tasks(who.join(", ")),
            (true, Some(group)) => Whose::Group(group),
            (true, None) => Whose::Unknown,
        }
    }
}
