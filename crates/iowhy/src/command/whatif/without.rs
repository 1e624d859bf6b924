//! `iowhy whatif --without cp`, `--without cp,rsync`, `--without writeback`, `--without /backup.slice`, `--alone postgres`: predictions
//! from the table of waits.

use crate::command::style::style;
use crate::failure::Failure;
use crate::stdout::{print, print_json};
use explain::answer::{in_the_way, tasks_of_cgroup, without_somebody, Absent, Those, Without};
use explain::{Explanation, Input};
use life::Io;
use report::what_if::Supposed;

/// The word for removing the cost of flushes.
const FLUSHES: &str = "flushes";
/// The words for kinds of I/O that others send.
const KINDS: [(&str, Io); 5] = [
    ("reads", Io::Read),
    ("writes", Io::SyncWrite),
    ("writeback", Io::BackgroundWrite),
    ("discards", Io::Discard),
    ("journal", Io::Journal),
];
/// Maximal number of interfering tasks that an error names.
const NAMED: usize = 5;

/// What is removed, and whose latencies are predicted.
pub struct Question<'a> {
    /// The argument of --without: tasks, kinds of I/O, control groups.
    without: Option<&'a str>,
    /// The argument of --alone: the task whose latencies are predicted without any other task.
    alone: Option<&'a str>,
}

impl<'a> Question<'a> {
    /// The question of the two options; `None` if neither is given.
    pub fn of(without: Option<&'a str>, alone: Option<&'a str>) -> Option<Question<'a>> {
        (without.is_some() || alone.is_some()).then_some(Question { without, alone })
    }

    /// Reads the recording and prints the answer. `open` opens the recording: to find the tasks of a control group, it is read twice.
    pub fn answer(
        &self,
        open: impl Fn() -> Result<Input<'static>, Failure>,
        json: bool,
    ) -> Result<(), Failure> {
        let absent = self.absent(&open)?;
        let input = match &absent {
            Absent::Those(those) => open()?.without(those.clone()),
            _ => open()?,
        };
        let e = input.explain()?;
        let mut victims = without_somebody(&e, &absent);
        victims.retain(|(number, _)| self.alone.is_none_or(|task| e.focus.groups[*number].task == task));
        if let Some(why) = self.refused(&e, &absent, &victims) {
            return Err(why);
        }
        match json {
            true => print_json(&Supposed::without(&e, &victims)),
            false => print(&report::without(&e, &absent, &victims, style().width)),
        }
    }

    /// What is removed, from the argument of --without or --alone.
    fn absent(&self, open: impl Fn() -> Result<Input<'static>, Failure>) -> Result<Absent, Failure> {
        let words: Vec<&str> = match self.without {
            None => return Ok(Absent::Everybody),
            Some(FLUSHES) => return Ok(Absent::Flushes),
            Some(names) => names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect(),
        };
        if words.is_empty() {
            return Err(Failure::Other {
                what: "--without names nobody".into(),
                help: Some("tasks, control groups (/backup.slice), reads, writes, writeback, discards, journal, or flushes".into()),
            });
        }
        let mut those = Those::default();
        for word in &words {
            match KINDS.iter().find(|(name, _)| name == word) {
                Some((_, io)) => drop(those.kinds.insert(*io)),
                None if word.starts_with('/') => those.tasks.extend(in_group(open()?, word)?),
                None => drop(those.tasks.insert((*word).into())),
            }
        }
        Ok(match (those.tasks.len(), those.kinds.len()) {
            (1, 0) => Absent::Task(those.tasks.pop_first().unwrap_or_default()),
            _ => Absent::Those(those),
        })
    }

    /// An error if nothing can be shown: what is removed delayed no task, or no task waited.
    fn refused(&self, e: &Explanation, absent: &Absent, victims: &[(usize, Without)]) -> Option<Failure> {
        let costs = in_the_way(e);
        let known = match absent {
            Absent::Task(name) => costs.iter().any(|(who, _)| who == &**name),
            _ => true,
        };
        let what = match (absent, self.alone) {
            (Absent::Task(name), _) if !known => format!("no task waited because of {name}"),
            (_, Some(task)) if victims.is_empty() => format!("{task} did not wait for I/O in this recording"),
            _ if victims.is_empty() => "no task waited for I/O in this recording".into(),
            _ => return None,
        };
        let names: Vec<&str> = costs.iter().take(NAMED).map(|(who, _)| who.as_str()).collect();
        let help = match names.is_empty() {
            true => "no task made another one wait here".into(),
            false => format!("tasks that made others wait: {}", names.join(", ")),
        };
        Some(Failure::Other { what, help: Some(help) })
    }
}

/// The tasks of a control group that did I/O; an error if there are none.
fn in_group(input: Input, path: &str) -> Result<Vec<Box<str>>, Failure> {
    let e = input.explain()?;
    let tasks: Vec<Box<str>> = tasks_of_cgroup(&e, path).map(Into::into).collect();
    match tasks.is_empty() {
        true => Err(Failure::Other {
            what: format!(
                "no task of the control group {path} did I/O in this recording, or groups were not recorded"
            ),
            help: Some(
                "iowhy record saves each process' group (system.json); name the task instead: --without cp"
                    .into(),
            ),
        }),
        false => Ok(tasks),
    }
}
