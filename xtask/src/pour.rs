//! `bench-pour`: recordings too long for any disk, in a pipe: made on the way into it by this process, and read by `iowhy explain -`.
//!
//! What is asked is whether iowhy keeps up and whether its memory stays as it is, however much comes. Both processes share the machine,
//! so beside the time by the clock counts what iowhy itself was on processors. A tenth as much is read first, to compare memory with.

use crate::document;
use crate::goals::{mebibytes, merged, unpack};
use crate::machine::about;
use crate::outcome::Outcome;
use crate::repeat::repeat;
use crate::repeat_trace::stream;
use crate::run::measure;
use clap::Args;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// Megabytes a second of two processors' time.
const MB_S: f64 = 400.0;
/// Processors of the machine that this is promised for.
const PROCESSORS: f64 = 2.0;
const GB: u64 = 1_000_000_000;

/// Read a recording of 100 GB out of a pipe, made while it is read
#[derive(Args)]
pub struct Pour {
    /// The iowhy to measure
    #[arg(long)]
    iowhy: PathBuf,
    /// A packed capture with a trace.dat, which is repeated
    #[arg(long)]
    capture: PathBuf,
    /// The short recording of blktrace that is repeated
    #[arg(long)]
    seed: PathBuf,
    /// A folder for what is made (some MB, removed at the end)
    #[arg(long)]
    scratch: PathBuf,
    /// So many GB (10^9 bytes) of blktrace
    #[arg(long, default_value_t = 100)]
    gb: u64,
    /// So many GB of a capture, which iowhy lays on the disk
    #[arg(long, default_value_t = 10)]
    capture_gb: u64,
    /// Where to write the table
    #[arg(long)]
    out: PathBuf,
}

impl Pour {
    /// Measures, prints and writes the table.
    pub fn run(&self) -> Outcome {
        document::measured((&self.out, "pour"), &self.scratch, |scratch| self.table(scratch))
    }

    fn table(&self, scratch: &Path) -> Outcome<String> {
        let iowhy = fs::canonicalize(&self.iowhy)?;
        let folder = scratch.join("capture");
        unpack(&fs::canonicalize(&self.capture)?, &folder)?;
        let plain = merged(&fs::canonicalize(&self.seed)?, scratch)?;
        let mut text = format!(
            "# Benchmarks: {} GB in a pipe\n\nWritten by `make bench-pour`; one run of each. What is read is made while it is read, by a process \
            that takes part of the same\nprocessors. {}\n\nGoal: {MB_S} MB/s of {PROCESSORS} processors' time (half of what is on \
            processors), and memory that stays as it is.\nblktrace is read as it comes; the files of a capture are laid on the disk first, as \
            their names come last.\n\n",
            self.gb,
            about(&[(&*iowhy.to_string_lossy(), "--version")])
        );
        text += "| `iowhy explain -` of | bytes | by the clock | MB/s | time on processors | MB/s of two processors | resident memory |\n";
        text += "|---|---|---|---|---|---|---|\n";
        for bytes in [self.gb * GB / 10, self.gb * GB] {
            let (from, to) = (plain.clone(), scratch.join("poured"));
            let once = fs::metadata(plain.join("merged.blktrace.0"))?.len().max(1);
            let times = u32::try_from(bytes / once)?;
            row(
                &mut text,
                "blktrace",
                once * u64::from(times),
                &iowhy,
                &to.join("merged.blktrace.0"),
                move || repeat(&from, &to, times).map(drop),
            )?;
        }
        for bytes in [self.capture_gb * GB / 10, self.capture_gb * GB] {
            let (from, to) = (folder.clone(), scratch.join("poured/stream.tar"));
            let once = fs::metadata(folder.join("trace.dat"))?.len().max(1);
            let times = u32::try_from(bytes / once)?;
            let file = to.clone();
            row(
                &mut text,
                "a capture (`iowhy record -o -`)",
                once * u64::from(times),
                &iowhy,
                &file,
                move || stream(&from, &to, times),
            )?;
        }
        Ok(text)
    }
}

/// A line of the table: `pour` writes into the pipe while it is read.
fn row(
    text: &mut String,
    what: &str,
    bytes: u64,
    iowhy: &Path,
    pipe: &Path,
    pour: impl FnOnce() -> Outcome + Send + 'static,
) -> Outcome {
    let folder = pipe.parent().unwrap_or(pipe);
    fs::create_dir_all(folder)?;
    let made = Command::new("mkfifo").arg(pipe).status()?;
    if !made.success() {
        return Err(format!("mkfifo {}: {made}", pipe.display()).into());
    }
    // An error says nothing of its own that could go to another thread.
    let poured = thread::spawn(move || pour().map_err(|e| e.to_string()));
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$0\" explain - < \"$1\""]).arg(iowhy).arg(pipe);
    let cost = measure(&command, folder)?;
    poured.join().map_err(|_| "what writes into the pipe panicked")??;
    let mb = bytes as f64 / 1e6;
    writeln!(
        text,
        "| {what} | {:.0} GB | {:.0} s | {:.0} | {:.0} s | {:.0} | {} |",
        mb / 1e3,
        cost.wall.as_secs_f64(),
        mb / cost.wall.as_secs_f64(),
        cost.cpu.as_secs_f64(),
        mb / (cost.cpu.as_secs_f64() / PROCESSORS),
        mebibytes(cost)
    )?;
    fs::remove_dir_all(folder)?;
    Ok(())
}
