//! `cut-trace`: a short trace.dat out of a long one, by time.
//!
//! trace-cmd splits the pages. What remains is mostly head, of which [`lab::shrink`] keeps what the
//! remaining records need. What comes out is a trace.dat like any other, version 7, compressed.

use crate::files::copy_settings;
use crate::outcome::Outcome;
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use trace::tracedat::{open, Step};

/// Cut a trace.dat down by time, with the settings beside it; needs trace-cmd
#[derive(Args)]
pub struct CutTrace {
    /// Folder with a trace.dat
    from: PathBuf,
    /// Folder to write trace.dat into
    to: PathBuf,
    /// First moment, in seconds since the first event
    #[arg(long)]
    begin: f64,
    /// Last moment, in seconds since the first event
    #[arg(long)]
    end: f64,
}

impl CutTrace {
    /// Cuts.
    pub fn run(&self) -> Outcome {
        let scratch = tempfile::tempdir()?;
        let at = |name: &str| scratch.path().join(name);
        let long = self.from.join("trace.dat");
        let first = first_time(&long)?;
        let moment = |seconds: f64| format!("{:.6}", first + seconds);
        let part = at("part").display().to_string();
        let source = long.display().to_string();
        trace_cmd(&["split", "-i", &source, "-o", &part, &moment(self.begin), &moment(self.end)])?;
        let (split, plain) = (at("part.1"), at("plain"));
        convert(&split, &plain, "6", "none")?;
        let small = at("small");
        lab::shrink(&plain, &small).map_err(|e| -> Box<dyn std::error::Error> { e })?;
        fs::create_dir_all(&self.to)?;
        let to = self.to.join("trace.dat");
        convert(&small, &to, "7", "any")?;
        println!("{}: {} of {} bytes", to.display(), fs::metadata(&to)?.len(), fs::metadata(&long)?.len());
        copy_settings(&self.from, &self.to)
    }
}

/// The time of the first record, in seconds.
fn first_time(path: &Path) -> Outcome<f64> {
    let mut dat = open(path)?;
    match dat.cursor().step()? {
        Some(Step::Record(r)) => Ok(r.time.seconds()),
        Some(Step::Lost { time, .. }) => Ok(time.seconds()),
        None => Err("there is no event".into()),
    }
}

pub fn convert(from: &Path, to: &Path, version: &str, compression: &str) -> Outcome {
    let (from, to) = (from.display().to_string(), to.display().to_string());
    trace_cmd(&["convert", "-i", &from, "-o", &to, "--file-version", version, "--compression", compression])
}

fn trace_cmd(arguments: &[&str]) -> Outcome {
    let out = Command::new("trace-cmd").args(arguments).output().map_err(|e| format!("trace-cmd: {e}"))?;
    match out.status.success() {
        true => Ok(()),
        false => Err(format!("trace-cmd {arguments:?}: {}", String::from_utf8_lossy(&out.stderr)).into()),
    }
}
