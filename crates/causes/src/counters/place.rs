//! Where a number stands: in which run of which text.

use tooltext::{Number, Reading, Row, Run, ToolOutput};

/// A run, and the text that contains it.
#[derive(Clone, Copy)]
pub(super) struct In<'a> {
    pub output: &'a ToolOutput,
    pub run: &'a Run,
}

/// The runs of all texts.
pub(super) fn runs(outputs: &[ToolOutput]) -> impl Iterator<Item = In<'_>> {
    outputs.iter().flat_map(|output| output.runs.iter().map(move |run| In { output, run }))
}

/// The readings of this tool in all texts, each with its run.
pub(super) fn readings<'a>(
    outputs: &'a [ToolOutput],
    tool: &'a str,
) -> impl Iterator<Item = (In<'a>, &'a Reading)> {
    runs(outputs).flat_map(move |place| place.run.of(tool).map(move |reading| (place, reading)))
}

/// The rows of these readings, each with its run.
pub(super) fn rows<'a>(outputs: &'a [ToolOutput], tool: &'a str) -> impl Iterator<Item = (In<'a>, &'a Row)> {
    readings(outputs, tool).flat_map(|(place, reading)| reading.rows.iter().map(move |row| (place, row)))
}

impl In<'_> {
    /// The place of a number: `output.txt:215`.
    pub fn at(&self, number: Number) -> String {
        self.output.at(number.at).to_string()
    }

    /// The run's label in quotes, or its place if it has none.
    pub fn name(&self) -> String {
        match self.run.label.as_str() {
            "" => format!("the run at {}", self.output.at(self.run.at)),
            label => format!("\"{label}\""),
        }
    }
}
