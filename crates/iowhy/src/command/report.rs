//! `iowhy report`.

use super::explain::explain_with;
use super::print;
use crate::failure::Failure;
use crate::part::Part;
use clap::Args;
use report::{Selection, KINDS};
use stats::Details;
use std::path::PathBuf;

/// Print all numbers in tables; every table of `btt -A` has its counterpart, with percentiles.
#[derive(Args)]
#[command(after_help = tables_help())]
pub struct Report {
    /// A folder with a recording, NAME (for NAME.blktrace.0, .1, ...), a file, or - for a pipe
    #[arg(value_name = "CAPTURE")]
    pub capture: PathBuf,
    /// Only these tables (see below)
    #[arg(value_name = "TABLE", value_parser = clap::builder::PossibleValuesParser::new(KINDS.iter().map(|k| k.name)), hide_possible_values = true)]
    pub tables: Vec<String>,
    /// Only this device, by name or major,minor; may be repeated
    #[arg(long, value_name = "NAME")]
    pub device: Vec<String>,
    /// Only this task, in the tables that are told by task
    #[arg(long, value_name = "NAME")]
    pub task: Option<String>,
    /// The part that is counted
    #[command(flatten)]
    pub part: Part,
    /// Print one JSON object (schema iowhy.report/1) with the same numbers in nanoseconds and bytes
    #[arg(long)]
    pub json: bool,
}

impl Report {
    /// Reads, counts, prints.
    pub fn run(&self) -> Result<(), Failure> {
        let wanted =
            Selection { tables: self.tables.clone(), devices: self.device.clone(), task: self.task.clone() };
        let mut details = Details::default();
        let explanation = explain_with(&self.capture, self.part, |batch| details.feed(batch))?;
        details.finish();
        let tables = report::tables(&explanation, &details, &wanted)
            .map_err(|what| Failure::Other { what, help: None })?;
        if self.json {
            let json = report::tables_json(&explanation, &tables);
            print(&(serde_json::to_string_pretty(&json).unwrap_or_default() + "\n"))
        } else if tables.is_empty() {
            print("nothing of what was asked for is in this recording\n")
        } else {
            print(&report::tables_text(&tables))
        }
    }
}

fn tables_help() -> String {
    let wide = KINDS.iter().map(|k| k.name.len()).max().unwrap_or(0);
    let rows: Vec<String> = KINDS.iter().map(|k| format!("  {:<wide$}  {}", k.name, k.about)).collect();
    format!("Tables, all of which are printed if none is named:\n{}", rows.join("\n"))
}
