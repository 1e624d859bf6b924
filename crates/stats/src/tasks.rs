//! Task names, as tables group them.
//!
//! Kernel workers are merged: `kworker/u8:3` and `kworker/1:1H` only tell which worker happened to run, not who owns
//! the I/O.

use life::{Names, TaskName};

/// Number for tasks that are not distinguished because there are too many.
pub const OTHERS: u32 = 0;

/// Common name of all kernel workers.
pub const WORKERS: &str = "kworker";

/// Task names for tables, each with a number.
#[derive(Clone, Debug)]
pub struct Tasks {
    names: Vec<String>,
    /// Numbers by [`TaskName`].
    of: Vec<u32>,
}

impl Default for Tasks {
    fn default() -> Tasks {
        Tasks { names: vec!["(others)".into()], of: vec![] }
    }
}

impl Tasks {
    /// Largest number of names. More cannot be read in one table.
    const MAX: usize = 512;

    /// The number of a name.
    #[inline]
    pub fn number(&mut self, task: TaskName, names: &Names) -> u32 {
        match self.of.get(task.0 as usize) {
            Some(n) if *n != u32::MAX => *n,
            _ => self.learn(task, names),
        }
    }

    fn learn(&mut self, task: TaskName, names: &Names) -> u32 {
        let text = group(names.text(task));
        let n = match self.names.iter().position(|n| n == text) {
            Some(known) => known as u32,
            None if self.names.len() >= Self::MAX => OTHERS,
            None => {
                self.names.push(text.to_string());
                self.names.len() as u32 - 1
            }
        };
        if self.of.len() <= task.0 as usize {
            self.of.resize(task.0 as usize + 1, u32::MAX);
        }
        self.of[task.0 as usize] = n;
        n
    }

    /// All numbers with their names.
    pub fn all(&self) -> impl Iterator<Item = (u32, &str)> {
        self.names.iter().enumerate().map(|(number, name)| (number as u32, name.as_str()))
    }

    /// The name of a number; `?` if there is none.
    pub fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("?", String::as_str)
    }
}

/// The name under which a task is counted.
fn group(name: &str) -> &str {
    if name.strip_prefix(WORKERS).is_some_and(|rest| rest.starts_with('/')) {
        WORKERS
    } else {
        name
    }
}
