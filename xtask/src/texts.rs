//! `bench-texts`: how long 100 MB of text take to explain: a log of fio's, and blkparse's text.
//!
//! The log is made of numbers drawn so that latencies follow each other as a busy disk's do; the text is printed by blkparse of
//! a bundled recording, over and over. Both are read from the page cache.

use crate::document;
use crate::machine::about;
use crate::outcome::Outcome;
use crate::repeat::repeat;
use crate::run::{measure, median};
use clap::Args;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use units::words::count;

/// Bytes of each text.
const BYTES: u64 = 100_000_000;
/// Bytes that blkparse prints of an event, a little less than it really does.
const BYTES_OF_EVENT: u64 = 60;

/// Measure iowhy explain on 100 MB of fio's log and of blkparse's text
#[derive(Args)]
pub struct BenchTexts {
    /// The iowhy to measure
    #[arg(long)]
    iowhy: PathBuf,
    /// The short recording of which blkparse prints the text
    #[arg(long)]
    seed: PathBuf,
    /// A folder for what is made (400 MB, removed at the end)
    #[arg(long)]
    scratch: PathBuf,
    /// Measured runs of each
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Where to write the table
    #[arg(long)]
    out: PathBuf,
}

impl BenchTexts {
    /// Measures, prints and writes the table.
    pub fn run(&self) -> Outcome {
        document::measured((&self.out, "texts"), &self.scratch, |scratch| self.table(scratch))
    }

    fn table(&self, scratch: &Path) -> Outcome<String> {
        let iowhy = fs::canonicalize(&self.iowhy)?;
        let programs = [(&*iowhy.to_string_lossy(), "--version"), ("blkparse", "-V")];
        let mut text = format!(
            "# Benchmarks: texts\n\nWritten by `make bench-texts`: `iowhy explain FILE`, {} runs of each, files in the page cache.\n{}\n\n\
             | | lines | wall time, median (fastest to slowest) | time on processors | resident memory |\n|---|---|---|---|---|\n",
            self.runs,
            about(&programs)
        );
        let log = scratch.join("busy_clat.1.log");
        let events = scratch.join("events.txt");
        for (what, path, lines) in [
            ("a latency log of fio's", &log, write_log(&log)?),
            ("blkparse's text", &events, write_events(&self.seed, scratch, &events)?),
        ] {
            let mut command = Command::new(&iowhy);
            command.arg("explain").arg(path);
            let mut costs = vec![];
            for round in 0..=self.runs {
                let cost = measure(&command, scratch)?;
                if round > 0 {
                    costs.push(cost);
                }
            }
            let (cost, low, high) = median(costs);
            let [wall, low, high, cpu] =
                [cost.wall, low, high, cost.cpu].map(|d| format!("{:.2} s", d.as_secs_f64()));
            let bytes = fs::metadata(path)?.len();
            let _ = writeln!(
                text,
                "| {what}, {:.1} MB | {} | {wall} ({low} to {high}) | {cpu} | {:.1} MiB |",
                bytes as f64 / 1e6,
                count(lines),
                cost.resident as f64 / f64::from(1 << 20)
            );
        }
        Ok(text)
    }
}

/// `12, 77047, 0, 4096, 0, 0`: time in ms, nanoseconds, read or write, bytes, offset, priority.
fn write_log(path: &Path) -> Outcome<u64> {
    let mut out = BufWriter::new(File::create(path)?);
    let (mut bytes, mut lines) = (0, 0);
    // A linear congruential generator (Knuth's MMIX): any numbers will do, the same each time.
    let mut random = 1u64;
    let mut latency = 80_000u64;
    while bytes < BYTES {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        latency = (latency * 7 + 20_000 + (random >> 47)) / 8;
        let line = format!("{}, {latency}, {}, 4096, 0, 0\n", lines / 10, random >> 63);
        out.write_all(line.as_bytes())?;
        bytes += line.len() as u64;
        lines += 1;
    }
    out.flush()?;
    Ok(lines)
}

/// What blkparse prints of the seed, repeated until it is as long.
fn write_events(seed: &Path, scratch: &Path, path: &Path) -> Outcome<u64> {
    let made = scratch.join("made");
    let once = crate::files::size(seed)?.events.max(1);
    repeat(seed, &made, u32::try_from(BYTES / BYTES_OF_EVENT / once + 1)?)?;
    let mut blkparse = Command::new("blkparse");
    for device in crate::bench::devices(&made)? {
        blkparse.arg("-i").arg(device);
    }
    let status = blkparse
        .arg("-D")
        .arg(&made)
        .arg("-q")
        .arg("-o")
        .arg(path)
        .stdout(File::create(scratch.join("said"))?)
        .status()?;
    if !status.success() {
        return Err(format!("blkparse: {status}").into());
    }
    fs::remove_dir_all(&made)?;
    let file = File::options().write(true).open(path)?;
    let long = file.metadata()?.len();
    if long < BYTES {
        return Err(format!("blkparse printed {long} bytes only").into());
    }
    file.set_len(BYTES)?;
    Ok(fs::read(path)?.iter().filter(|b| **b == b'\n').count() as u64)
}
