//! The name of a task, as a number.

/// A task name as a small number; [`Names::text`](crate::Names::text) gives the text. If several jobs have the same
/// name at once, all but the first get numbers of their own, and their texts contain the job's first process:
/// `dd:4711` ([`trace::program`] of it is `dd`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskName(pub u32);
