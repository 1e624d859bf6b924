//! `iowhy explain`.

use super::style::style;
use crate::failure::Failure;
use crate::question::{Question, QUESTION};
use crate::stdout::{print, print_json};
use clap::Args;
use explain::Input;
use report::{Detail, Style};
use std::path::PathBuf;

/// Say what was slow, where its time went, why, what to try, and how far to trust the answer.
#[derive(Args)]
pub struct Explain {
    /// A folder with a recording, NAME (for NAME.blktrace.0, .1, ...), a file, or - for a pipe; texts with the output of
    /// fio, iostat and others, or a folder of them, alone or beside it
    #[arg(value_name = "CAPTURE", required = true)]
    pub files: Vec<PathBuf>,
    /// Predict what remedies that set the I/O scheduler would do (iowhy whatif); takes seconds
    #[arg(long)]
    pub predict: bool,
    /// Only the answer, in one sentence
    #[arg(long, conflicts_with = "verbose")]
    pub brief: bool,
    /// Also show where the time went, more evidence and what was ruled out; twice: everything that was judged
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Print one JSON object (schema iowhy.explain/2)
    #[arg(long)]
    pub json: bool,
    /// With --json: include the numbers of texts beside a recording (texts alone: always)
    #[arg(long, requires = "json")]
    pub with_texts: bool,
    /// What is asked
    #[command(flatten, next_help_heading = QUESTION)]
    pub question: Question,
}

impl Explain {
    /// Reads the inputs, explains them, prints the answer.
    pub fn run(&self) -> Result<(), Failure> {
        let input = self.question.of(Input::open(&self.files)?);
        let explanation = input.predict(self.predict).explain()?;
        match (self.json, self.with_texts) {
            (false, _) => print(&report::render(&explanation, Style { detail: self.detail(), ..style() })),
            (true, false) => print_json(&report::to_json(&explanation)),
            (true, true) => print_json(&report::to_json_with_texts(&explanation)),
        }
    }

    fn detail(&self) -> Detail {
        match (self.brief, self.verbose) {
            (true, _) => Detail::Brief,
            (_, 0) => Detail::Screen,
            (_, 1) => Detail::More,
            _ => Detail::All,
        }
    }
}
