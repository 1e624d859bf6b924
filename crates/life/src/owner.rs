//! The owner of data that another task sends.

use crate::task_name::TaskName;

/// The owner of data that another task sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner {
    /// The task that wrote the data, or changed what a journal commits.
    pub task: TaskName,
    /// Whether the data is a journal's own blocks.
    pub journal: bool,
}
