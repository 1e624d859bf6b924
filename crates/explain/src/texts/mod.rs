//! Texts of other tools: reads and judges them, alone or beside a recording.

mod machine;
mod opened;
pub(crate) mod shape;
mod sorting;

pub(crate) use opened::Opened;
pub(crate) use sorting::{ctf_folder, nothing_in, shorten_names, sort, unrecognised, Sorted};
pub use sorting::{in_folder, read};

use crate::trust::Trust;
use causes::{judge_counters, Answer, Verdict};
use tooltext::ToolOutput;

/// Texts with what they show.
#[derive(Default)]
pub struct Texts {
    /// The texts, in the order given.
    pub outputs: Vec<ToolOutput>,
    /// How many of them were named on the command line; the others are in the recording's folder.
    pub named: usize,
    /// Verdicts from the texts' counters.
    pub verdicts: Vec<Verdict>,
    /// Remarks on texts that are not, or not certainly, of the recorded machine.
    pub remarks: Vec<String>,
}

impl Texts {
    /// Judges texts alone.
    pub fn alone(outputs: Vec<ToolOutput>) -> Texts {
        let verdicts = judge_counters(&outputs);
        Texts { named: outputs.len(), outputs, verdicts, remarks: vec![] }
    }

    /// Texts without any tool's output are unusable; all others are trusted.
    pub fn trust(&self) -> Trust {
        match self.outputs.iter().any(ToolOutput::has_readings) {
            true => Trust::Good,
            false => Trust::Unusable,
        }
    }

    /// Whether there is more than settings.
    pub fn is_measured(&self) -> bool {
        self.outputs.iter().flat_map(|output| &output.runs).any(|run| !run.readings.is_empty())
    }

    /// Adds the texts' verdicts to those on a recording. For a cause that the recording could not judge, the text's verdict replaces it; if both
    /// agree, the text adds its evidence.
    pub(crate) fn add_to(&self, verdicts: &mut Vec<Verdict>) {
        for told in &self.verdicts {
            match verdicts.iter_mut().find(|v| v.cause == told.cause) {
                None => verdicts.push(told.clone()),
                Some(v) if v.verdict == Answer::CannotTell => *v = told.clone(),
                Some(v) if v.verdict == told.verdict => v.evidence.extend(told.evidence.iter().cloned()),
                Some(_) => {}
            }
        }
    }
}

/// The tools whose output was found, each once.
pub fn tools(outputs: &[ToolOutput]) -> Vec<&'static str> {
    let mut tools: Vec<&'static str> = vec![];
    for reading in outputs.iter().flat_map(|m| &m.runs).flat_map(|r| &r.readings) {
        if !tools.contains(&reading.tool) {
            tools.push(reading.tool);
        }
    }
    tools
}

/// The devices for which texts of iostat, sar and the like have numbers.
pub fn devices(outputs: &[ToolOutput]) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    for reading in outputs.iter().flat_map(|m| &m.runs).flat_map(|r| &r.readings) {
        for row in &reading.rows {
            let device =
                ["iostat", "sar"].contains(&reading.tool) && row.of != "cpu" || row.get("read.ios").is_some();
            if device && !names.contains(&row.of) {
                names.push(row.of.clone());
            }
        }
    }
    names
}
