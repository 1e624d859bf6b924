//! `iowhy report`.

use super::html;
use crate::failure::Failure;
use crate::question::{Question, QUESTION};
use crate::stdout::{print, print_json};
use clap::Args;
use report::{Selection, KINDS};
use stats::Details;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Print all numbers in tables; every table of `btt -A` has its counterpart, with percentiles.
#[derive(Args)]
#[command(after_help = tables_help())]
pub struct Report {
    /// A folder with a recording, NAME (for NAME.blktrace.0, .1, ...), a file, or - for a pipe
    #[arg(value_name = "CAPTURE")]
    pub capture: PathBuf,
    /// Only these tables (see below); with --html further recordings, drawn over the first
    #[arg(value_name = "TABLE", value_parser = table_or_capture)]
    pub tables: Vec<String>,
    /// Write a page with the answer and its pictures, one file that needs nothing else; recordings may be labelled:
    /// before=A after=B
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub html: Option<PathBuf>,
    /// Print one JSON object (schema iowhy.report/1) with the same numbers in nanoseconds and bytes
    #[arg(long)]
    pub json: bool,
    /// What is counted
    #[command(flatten, next_help_heading = QUESTION)]
    pub question: Question,
}

impl Report {
    /// Reads the recording, prints the tables or writes the page.
    pub fn run(&self) -> Result<(), Failure> {
        if let Some(file) = &self.html {
            let captures =
                std::iter::once(self.capture.as_os_str()).chain(self.tables.iter().map(OsStr::new));
            return html::write(&captures.collect::<Vec<_>>(), &self.question, file);
        }
        if let Some(other) = self.tables.iter().find(|t| !is_table(t)) {
            return Err(Failure::Usage {
                what: format!("unknown table {other}"),
                help: Some(
                    "several recordings only with --html FILE; iowhy report --help lists the tables".into(),
                ),
            });
        }
        let wanted = Selection { tables: self.tables.clone(), tasks: self.question.task.clone() };
        let mut details = Details::default();
        let input = self.question.of_recording(&self.capture)?;
        let explanation = input.also(|batch| details.feed(batch)).explain()?;
        details.finish();
        let tables = report::tables(&explanation, &details, &wanted)
            .map_err(|what| Failure::Usage { what, help: None })?;
        if self.json {
            print_json(&report::tables_json(&explanation, &tables))
        } else if tables.is_empty() {
            print("nothing in this recording matches\n")
        } else {
            print(&report::tables_text(&tables))
        }
    }
}

fn is_table(name: &str) -> bool {
    KINDS.iter().any(|k| k.name == name)
}

/// Accepts the name of a table or, for --html, an argument that may be a recording.
fn table_or_capture(name: &str) -> Result<String, String> {
    let may_be_capture = name.contains('=') || Path::new(name).exists();
    if is_table(name) || may_be_capture {
        return Ok(name.to_string());
    }
    let known: Vec<&str> = KINDS.iter().map(|k| k.name).collect();
    Err(format!("neither a recording nor one of {}", known.join(", ")))
}

fn tables_help() -> String {
    let wide = KINDS.iter().map(|k| k.name.len()).max().unwrap_or(0);
    let rows: Vec<String> = KINDS.iter().map(|k| format!("  {:<wide$}  {}", k.name, k.about)).collect();
    format!("Tables, all of which are printed if none is named:\n{}", rows.join("\n"))
}
