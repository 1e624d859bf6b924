//! `bench-goals`: what iowhy promises to stay below, measured: a capture of 5 MB, and long streams in a pipe.
//!
//! A pipe has no end until its writer says so, and no place to go back to: memory must not depend on how much comes through it.
//! So each stream is read twice, once ten times as long. What is written into the pipe lies in the page cache.

use crate::document;
use crate::machine::about;
use crate::outcome::Outcome;
use crate::repeat::repeat;
use crate::repeat_trace::stream;
use crate::run::{measure, median, Cost};
use clap::Args;
use std::fmt::Write;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A capture of this length is explained in [`CAPTURE_IN`].
const CAPTURE_IN: Duration = Duration::from_millis(50);
/// Megabytes a second out of a pipe.
const PIPE_MB_S: f64 = 400.0;
/// Bytes of the shorter stream; the longer has ten times as many.
const STREAM: u64 = 150_000_000;
const LONGER: u32 = 10;

/// Measure what iowhy promises: a capture of 5 MB, and long streams in a pipe
#[derive(Args)]
pub struct Goals {
    /// The iowhy to measure
    #[arg(long)]
    iowhy: PathBuf,
    /// A packed capture, of about 5 MB when unpacked
    #[arg(long)]
    capture: PathBuf,
    /// The short recording of blktrace that is repeated
    #[arg(long)]
    seed: PathBuf,
    /// A folder for what is made (4 GB at most, removed at the end)
    #[arg(long)]
    scratch: PathBuf,
    /// Measured runs of each
    #[arg(long, default_value_t = 11)]
    runs: usize,
    /// Where to write the tables
    #[arg(long)]
    out: PathBuf,
}

impl Goals {
    /// Measures, prints and writes the tables.
    pub fn run(&self) -> Outcome {
        document::measured((&self.out, "goals"), &self.scratch, |scratch| self.tables(scratch))
    }

    fn tables(&self, scratch: &Path) -> Outcome<String> {
        let iowhy = fs::canonicalize(&self.iowhy)?;
        let mut text = format!(
            "# Benchmarks: goals\n\nWritten by `make bench-goals`; medians of {} runs, of the longer streams of 3.\n{}\n\n",
            self.runs,
            about(&[(&*iowhy.to_string_lossy(), "--version")])
        );
        let folder = scratch.join("capture");
        unpack(&fs::canonicalize(&self.capture)?, &folder)?;
        self.captures(&mut text, &iowhy, &folder, scratch)?;
        self.pipes(&mut text, &iowhy, &folder, scratch)?;
        Ok(text)
    }

    fn captures(&self, text: &mut String, iowhy: &Path, folder: &Path, scratch: &Path) -> Outcome {
        let bytes = fs::metadata(folder.join("trace.dat"))?.len();
        writeln!(
            text,
            "A capture whose trace.dat has {:.1} MB (goal: {} ms):\n",
            bytes as f64 / 1e6,
            CAPTURE_IN.as_millis()
        )?;
        *text += "| `iowhy explain` of | wall time, median (fastest to slowest) | time on processors | resident memory |\n|---|---|---|---|\n";
        let packed = fs::canonicalize(&self.capture)?;
        for (what, path) in [("the folder", folder), ("the packed file", &packed)] {
            let mut command = Command::new(iowhy);
            command.arg("explain").arg(path);
            let (cost, low, high) = self.often(self.runs, || measure(&command, scratch))?;
            let [wall, low, high, cpu] =
                [cost.wall, low, high, cost.cpu].map(|d| format!("{:.1} ms", d.as_secs_f64() * 1e3));
            writeln!(text, "| {what} | {wall} ({low} to {high}) | {cpu} | {} |", mebibytes(cost))?;
        }
        Ok(())
    }

    fn pipes(&self, text: &mut String, iowhy: &Path, folder: &Path, scratch: &Path) -> Outcome {
        writeln!(text, "\nOut of a pipe (goal: {PIPE_MB_S} MB/s, and memory that stays as it is):\n")?;
        *text += "| `cat STREAM \\| iowhy explain -` | bytes | wall time, median (fastest to slowest) | MB/s | time on processors | resident memory |\n";
        *text += "|---|---|---|---|---|---|\n";
        let merged = merged(&fs::canonicalize(&self.seed)?, scratch)?;
        let once = fs::metadata(merged.join("merged.blktrace.0"))?.len().max(1);
        for longer in [1, LONGER] {
            let to = scratch.join("long");
            repeat(&merged, &to, (STREAM / once).max(1) as u32 * longer)?;
            self.pipe(text, "blktrace", longer, iowhy, &to.join("merged.blktrace.0"))?;
            fs::remove_dir_all(&to)?;
        }
        let once = fs::metadata(folder.join("trace.dat"))?.len().max(1);
        for longer in [1, LONGER] {
            let to = scratch.join("stream.tar");
            stream(folder, &to, (STREAM / once).max(1) as u32 * longer)?;
            self.pipe(text, "a capture (`iowhy record -o -`)", longer, iowhy, &to)?;
            fs::remove_file(&to)?;
        }
        Ok(())
    }

    fn pipe(&self, text: &mut String, what: &str, longer: u32, iowhy: &Path, file: &Path) -> Outcome {
        let mut command = Command::new("sh");
        command.args(["-c", "cat \"$1\" | \"$0\" explain -"]).arg(iowhy).arg(file);
        let scratch = file.parent().unwrap_or(file);
        let runs = if longer == 1 { self.runs } else { 3 };
        let (cost, low, high) = self.often(runs, || measure(&command, scratch))?;
        let bytes = fs::metadata(file)?.len() as f64 / 1e6;
        let [wall, low, high, cpu] =
            [cost.wall, low, high, cost.cpu].map(|d| format!("{:.2} s", d.as_secs_f64()));
        writeln!(
            text,
            "| {what} | {bytes:.0} MB | {wall} ({low} to {high}) | {:.0} | {cpu} | {} |",
            bytes / cost.wall.as_secs_f64(),
            mebibytes(cost)
        )?;
        Ok(())
    }

    /// So many runs, after one that only brings files into the page cache.
    fn often(&self, runs: usize, once: impl Fn() -> Outcome<Cost>) -> Outcome<(Cost, Duration, Duration)> {
        once()?;
        Ok(median((0..runs.max(1)).map(|_| once()).collect::<Outcome<Vec<_>>>()?))
    }
}

pub(crate) fn mebibytes(cost: Cost) -> String {
    format!("{:.1} MiB", cost.resident as f64 / f64::from(1 << 20))
}

/// The files of a packed capture, without the folder that they are in.
pub(crate) fn unpack(packed: &Path, to: &Path) -> Outcome {
    fs::create_dir_all(to)?;
    let status = Command::new("tar")
        .args(["--zstd", "--strip-components=1", "-xf"])
        .arg(packed)
        .arg("-C")
        .arg(to)
        .status()?;
    status.success().then_some(()).ok_or_else(|| format!("tar -xf {}: {status}", packed.display()).into())
}

/// A recording as one file in order of time, as blktrace sends it into a pipe: blkparse merges it.
pub(crate) fn merged(seed: &Path, scratch: &Path) -> Outcome<PathBuf> {
    let (plain, to) = (scratch.join("plain"), scratch.join("merged"));
    repeat(seed, &plain, 1)?;
    fs::create_dir_all(&to)?;
    let mut blkparse = Command::new("blkparse");
    for device in crate::bench::devices(&plain)? {
        blkparse.arg("-i").arg(device);
    }
    blkparse.arg("-D").arg(&plain).args(["-q", "-O", "-d"]).arg(to.join("merged.blktrace.0"));
    let status = blkparse.stdout(File::create(scratch.join("said"))?).status()?;
    status.success().then_some(to).ok_or_else(|| format!("blkparse: {status}").into())
}
