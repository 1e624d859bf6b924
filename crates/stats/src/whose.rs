//! Whose data a task sends for another.

use life::Names;
use operation::SentFor;
use trace::Bytes;

/// Owner of data that another task sent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    /// These tasks, by name, joined with `, `.
    Tasks(String),
    /// Probably this task: it was written before the recording.
    Probably(String),
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
            (false, _) if sent.probably => Whose::Probably(who.join(", ")),
            (false, _) => Whose::Tasks(who.join(", ")),
            (true, Some(group)) => Whose::Group(group),
            (true, None) => Whose::Unknown,
        }
    }
}

/// Data of files that flushers, or a journal's thread, sent to a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenBack {
    /// All of it.
    pub all: Bytes,
    /// Of files that were written before the recording, if it is known who probably wrote them.
    pub probably: Bytes,
    /// Of files to which nobody was seen to write: before the recording, or through a mapping.
    pub unknown: Bytes,
}

impl WrittenBack {
    /// With this data, too.
    pub(crate) fn with(mut self, whose: &Whose, bytes: Bytes) -> WrittenBack {
        self.all += bytes;
        match whose {
            Whose::Probably(_) => self.probably += bytes,
            Whose::Unknown => self.unknown += bytes,
            Whose::Tasks(_) | Whose::Group(_) => {}
        }
        self
    }
}
