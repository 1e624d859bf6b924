//! `iowhy export`.

use super::print;
use crate::failure::Failure;
use crate::part::Part;
use crate::reading;
use clap::{Args, ValueEnum};
use report::{BttExport, BttOptions};
use std::io;
use std::path::PathBuf;

/// Write a recording out for other programs.
#[derive(Args)]
pub struct Export {
    /// For which program
    #[arg(long, value_name = "PROGRAM")]
    pub to: Program,
    /// The folder to write into; files of the same names are replaced
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// A folder with a recording, NAME (for NAME.blktrace.0, .1, ...), a file, or - for a pipe
    #[arg(value_name = "CAPTURE")]
    pub capture: PathBuf,
    /// The part that is written
    #[command(flatten)]
    pub part: Part,
    /// btt -L: seconds over which latencies are averaged
    #[arg(long, value_name = "SECONDS", default_value_t = BttOptions::default().period, value_parser = positive)]
    pub period: f64,
    /// btt -d: seconds from which a pause ends a range of activity
    #[arg(long, value_name = "SECONDS", default_value_t = BttOptions::default().gap, value_parser = positive)]
    pub gap: f64,
    /// btt -a: measure seeks from the end of the last I/O, not from its nearer end
    #[arg(long)]
    pub absolute: bool,
}

/// Programs that recordings are written for.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Program {
    /// The .dat files of btt, right where btt is wrong
    Btt,
}

impl Export {
    /// Reads and writes.
    pub fn run(&self) -> Result<(), Failure> {
        let Program::Btt = self.to;
        let options = BttOptions { period: self.period, gap: self.gap, absolute: self.absolute };
        let recording = self.part.of(reading::open(&self.capture)?);
        let mut export = BttExport::create(&self.folder, options).map_err(failure)?;
        reading::read(recording, &self.capture, |batch| export.feed(batch))?;
        let files = export.finish().map_err(failure)?;
        let wide = files.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let list: String =
            files.iter().map(|(name, lines)| format!("  {name:<wide$} {lines:>10}\n")).collect();
        print(&format!("{} files in {}, with their lines:\n{list}", files.len(), self.folder.display()))
    }
}

fn failure((path, source): (PathBuf, io::Error)) -> Failure {
    Failure::Write { what: path.display().to_string(), source }
}

fn positive(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err("must be above 0".into())
    }
}
