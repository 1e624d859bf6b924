//! The content of a text: its runs, settings, and what was not understood.

use super::claim::{Claim, Sum};
use super::doubt::Doubt;
use super::log_time::{LogForm, LogTime, LogTimes};
use super::machine::Machine;
use super::reading::Setting;
use super::run::Run;
use evidence::{At, Place, Spot};
use serde::Serialize;
use std::sync::Arc;

/// The content of a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolOutput {
    /// Name of the file.
    pub file: String,
    /// Runs in the order of the text.
    pub runs: Vec<Run>,
    /// Rates and sizes that the author states, except those in labels of runs.
    pub claims: Vec<Claim>,
    /// Divisions in the author's text.
    pub sums: Vec<Sum>,
    /// Settings of the machine: queues (`sda/queue/nr_requests`), `vm.`, mounts, md arrays.
    pub settings: Vec<Setting>,
    /// Machines named in the text.
    pub machines: Vec<Machine>,
    /// Total number of words.
    pub words: usize,
    /// Number of words printed by tools that were understood, including commands.
    pub understood: usize,
    /// Number of numbers whose meaning was not understood.
    pub left_out: usize,
    /// Place of the first of these; `None` if there is none.
    pub first_left_out: Option<Spot>,
    /// Whether the text is longer than 16 MiB; the rest was not read.
    pub cut: bool,
    /// Place of the first tool document in JSON that is truncated or invalid, and therefore left out.
    pub broken: Option<Spot>,
    /// Number of readings and settings left out because they repeat earlier ones, as quotes do.
    pub repeated: usize,
    /// Number of readings and settings above the limits.
    pub too_many: usize,
    /// Impossible numbers; they are in no reading.
    pub doubts: Vec<Doubt>,
    #[serde(skip)]
    pub(crate) log_times: LogTimes,
}

impl ToolOutput {
    /// Whether there is any reading with rows.
    pub fn has_readings(&self) -> bool {
        self.runs.iter().any(|run| run.readings.iter().any(|r| !r.rows.is_empty()))
    }

    /// Whether anything was understood: readings or settings.
    pub fn says_anything(&self) -> bool {
        self.has_readings() || !self.settings.is_empty()
    }

    /// The setting with this name that applies at a place: the last one before it, or the only one in the text.
    pub fn setting(&self, name: &str, at: Spot) -> Option<&Setting> {
        let mut all = self.settings.iter().filter(|s| s.name == name);
        let before = all.clone().filter(|s| s.at <= at).max_by_key(|s| s.at);
        before.or_else(|| all.next().filter(|_| all.next().is_none()))
    }

    /// A place in this text, with the file's name.
    pub fn at(&self, spot: Spot) -> At {
        At { file: Arc::from(self.file.as_str()), place: Place::Spot(spot) }
    }
}

impl ToolOutput {
    /// Time of a line in the kernel's log; `None` if it has none.
    pub fn log_time(&self, at: Spot) -> Option<LogTime> {
        self.log_times.lines.get(&at.line).map(|(time, _)| *time).filter(|_| at.column == 0)
    }

    /// Format of the time of a line in the kernel's log; `None` if it has none.
    pub fn log_form(&self, at: Spot) -> Option<LogForm> {
        self.log_times.lines.get(&at.line).map(|(_, form)| *form).filter(|_| at.column == 0)
    }

    /// Seconds from one line to another, which may come earlier; `None` if they are from different clocks or boots.
    pub fn log_between(&self, from: Spot, to: Spot) -> Option<f64> {
        let lines = from.line.min(to.line) + 1..=from.line.max(to.line);
        let whole = !self.log_times.back.iter().any(|line| lines.contains(line));
        self.log_time(to)?.after(self.log_time(from)?).filter(|_| whole)
    }

    /// Seconds from a line to the end of the kernel's log; `None` if unknown.
    pub fn log_goes_on(&self, at: Spot) -> Option<f64> {
        let whole = self.log_times.back.iter().all(|line| *line <= at.line);
        self.log_times.end?.after(self.log_time(at)?).filter(|seconds| *seconds >= 0.0 && whole)
    }
}
