//! Operations that failed because of their storage, and whose they were.

use std::collections::BTreeMap;

/// Errors of a file system or its device, not of a program: their numbers (Linux, include/uapi/asm-generic/errno.h),
/// names, and meanings.
pub const OF_STORAGE: [(i64, &str, &str); 5] = [
    (5, "EIO", "an error of the device"),
    (28, "ENOSPC", "no space left"),
    (30, "EROFS", "the file system is read-only"),
    (117, "EUCLEAN", "the file system is damaged"),
    (122, "EDQUOT", "a quota is used up"),
];

/// The most tasks that are counted by name.
const MOST_TASKS: usize = 64;

/// Operations that failed with one error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failed {
    /// Number of operations.
    pub count: u64,
    /// The same by task, of the first [`MOST_TASKS`] tasks.
    tasks: BTreeMap<Box<str>, u64>,
}

impl Failed {
    /// Counts an operation of a task.
    pub fn add(&mut self, task: &str) {
        self.count += 1;
        if let Some(its) = self.tasks.get_mut(task) {
            *its += 1;
        } else if self.tasks.len() < MOST_TASKS {
            self.tasks.insert(task.into(), 1);
        }
    }

    /// The task with the most of them, and how many it had.
    pub fn most(&self) -> Option<(&str, u64)> {
        self.tasks.iter().map(|(task, n)| (&**task, *n)).max_by_key(|(_, n)| *n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted_and_the_first_tasks_by_name() {
        let mut failed = Failed::default();
        (0..MOST_TASKS + 1).for_each(|i| failed.add(&format!("task {i:02}")));
        failed.add("task 07");
        (0..3).for_each(|_| failed.add("task 64"));
        assert_eq!(failed.count, MOST_TASKS as u64 + 5);
        assert_eq!(failed.most(), Some(("task 07", 2)), "the last one had no place");
    }
}
