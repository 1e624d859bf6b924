//! `iowhy whatif --without cp`, `--alone postgres`: read off the table of waits.

use crate::command::print;
use crate::failure::Failure;
use explain::answer::{in_the_way, without_somebody, Absent, Without};
use explain::{Explanation, Input};

/// What the flushes' absence is asked by.
const FLUSHES: &str = "flushes";
/// So many who could be asked about are named.
const NAMED: usize = 5;

/// Who is taken away, and of whom it is asked.
pub struct Question<'a> {
    /// Who would be gone.
    pub absent: Absent,
    /// Whose latencies, if not everybody's.
    pub of: Option<&'a str>,
}

impl<'a> Question<'a> {
    /// Of the two options.
    pub fn of(without: Option<&str>, alone: Option<&'a str>) -> Option<Question<'a>> {
        match (without, alone) {
            (Some(FLUSHES), _) => Some(Question { absent: Absent::Flushes, of: None }),
            (Some(task), _) => Some(Question { absent: Absent::Task(task.into()), of: None }),
            (None, Some(task)) => Some(Question { absent: Absent::Everybody, of: Some(task) }),
            (None, None) => None,
        }
    }

    /// Reads and prints.
    pub fn answer(&self, input: Input, json: bool) -> Result<(), Failure> {
        let e = input.explain()?;
        let mut victims = without_somebody(&e, &self.absent);
        victims.retain(|(number, _)| self.of.is_none_or(|task| e.focus.groups[*number].task == task));
        if let Some(why) = self.refused(&e, &victims) {
            return Err(why);
        }
        match json {
            true => super::print_json(&report::without_somebody_json(&e, &victims)),
            false => print(&report::without(&e, &self.absent, &victims)),
        }
    }

    /// Why there is nothing to tell.
    fn refused(&self, e: &Explanation, victims: &[(usize, Without)]) -> Option<Failure> {
        let costs = in_the_way(e);
        let known = match &self.absent {
            Absent::Task(name) => costs.iter().any(|(who, _)| who == &**name),
            _ => true,
        };
        let what = match (&self.absent, self.of) {
            (Absent::Task(name), _) if !known => format!("nobody waited because of {name}"),
            (_, Some(task)) if victims.is_empty() => format!("{task} did not wait for I/O in this recording"),
            _ if victims.is_empty() => "nobody waited for I/O in this recording".into(),
            _ => return None,
        };
        let names: Vec<&str> = costs.iter().take(NAMED).map(|(who, _)| who.as_str()).collect();
        let help = match names.is_empty() {
            true => "no task kept another one waiting here".into(),
            false => format!("those who kept others waiting: {}", names.join(", ")),
        };
        Some(Failure::Other { what, help: Some(help) })
    }
}
