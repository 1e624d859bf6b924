//! `bench`: `iowhy explain` beside `blkparse -O -d` followed by `btt`, of a recording through tracefs beside `trace-cmd report`,
//! and whether memory grows with the trace.
//!
//! The two take turns on the same files after one unmeasured round each, so that both read from the page cache and
//! a busy moment of the machine hits both. Wall time is the median, memory the largest of all runs.

use crate::document;
use crate::files;
use crate::files::Size;
use crate::machine::about;
use crate::outcome::Outcome;
use crate::repeat::repeat;
use crate::run::{measure, median, Cost};
use clap::Args;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use units::words::count;

/// Events of the recording that is made if none is given.
const EVENTS: u64 = 6_000_000;
/// The median of some runs, with the fastest and the slowest.
type Runs = (Cost, Duration, Duration);

/// How much longer the trace of the memory check is.
const LONGER: u32 = 10;

/// Measure iowhy explain beside blkparse and btt, and its memory on a trace ten times longer
#[derive(Args)]
pub struct Bench {
    /// The iowhy to measure
    #[arg(long)]
    iowhy: PathBuf,
    /// A folder with a large recording; without it one is made of `--seed`
    #[arg(long)]
    capture: Option<PathBuf>,
    /// A folder with a trace.dat, to be read beside trace-cmd report as well
    #[arg(long)]
    trace: Option<PathBuf>,
    /// The short recording that is repeated where a long one is needed
    #[arg(long)]
    seed: PathBuf,
    /// A folder for what is made (4 GB at most, removed at the end)
    #[arg(long)]
    scratch: PathBuf,
    /// Measured runs of each
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// Where to write the tables
    #[arg(long)]
    out: PathBuf,
}

impl Bench {
    /// Measures, prints and writes the tables.
    pub fn run(&self) -> Outcome {
        document::measured((&self.out, "reading"), &self.scratch, |scratch| {
            let absolute = Bench {
                iowhy: whole(&self.iowhy)?,
                capture: self.capture.as_deref().map(whole).transpose()?,
                trace: self.trace.as_deref().map(whole).transpose()?,
                seed: whole(&self.seed)?,
                scratch: scratch.into(),
                runs: self.runs,
                out: self.out.clone(),
            };
            absolute.tables()
        })
    }

    fn tables(&self) -> Outcome<String> {
        let times = (EVENTS / files::size(&self.seed)?.events.max(1)).max(1) as u32;
        let made = self.scratch.join("made");
        eprintln!("making a recording: {} {times} times over", self.seed.display());
        let base = repeat(&self.seed, &made, times)?;
        let (capture, size, what) = match &self.capture {
            Some(given) => (given.as_path(), files::size(given)?, format!("`{}`", name(given))),
            None => (made.as_path(), base, format!("`{}`, {times} times over", name(&self.seed))),
        };
        let mut text = heading(self);
        let [ours, theirs] = self.side_by_side(capture, || blkparse_and_btt(capture, &self.scratch))?;
        let _ = writeln!(text, "## Beside blkparse and btt\n\n{}\n", recording(&what, size));
        text += "| | wall time, median (fastest to slowest) | time on processors | events per second | resident memory |\n";
        text += "|---|---|---|---|---|\n";
        row(&mut text, "`iowhy explain`", &ours, size);
        row(&mut text, "`blkparse -O -d`, then `btt`", &theirs, size);
        text += &ratio(&ours, &theirs);
        if let Some(trace) = &self.trace {
            text += &self.beside_trace_cmd(trace)?;
        }
        let seed = name(&self.seed);
        let _ =
            writeln!(text, "## Memory and the length of the trace\n\nThe bundled `{seed}`, over and over.\n");
        text += "| | events | wall time | resident memory |\n|---|---|---|---|\n";
        let long = self.scratch.join("long");
        eprintln!("making a recording {LONGER} times longer");
        let longer = repeat(&self.seed, &long, times * LONGER)?;
        for (folder, made) in [(&self.seed, None), (&made, Some(base)), (&long, Some(longer))] {
            let cost = measure(&self.explain(folder), &self.scratch)?;
            let made = made.map_or_else(|| files::size(folder), Ok)?;
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} |",
                megabytes(made.bytes),
                count(made.events),
                seconds(cost.wall),
                mebibytes(cost.resident)
            );
        }
        Ok(text)
    }

    /// Of a recording through tracefs: `trace-cmd report` prints its events.
    fn beside_trace_cmd(&self, trace: &Path) -> Outcome<String> {
        let mut report = Command::new("trace-cmd");
        report.args(["report", "-i"]).arg(trace.join("trace.dat"));
        let [ours, theirs] = self.side_by_side(trace, || measure(&report, &self.scratch))?;
        let bytes = fs::metadata(trace.join("trace.dat"))?.len();
        let mut text =
            format!("## Beside trace-cmd report\n\nRecording: `{}`; {}.\n\n", name(trace), megabytes(bytes));
        text += "| | wall time, median (fastest to slowest) | time on processors | resident memory |\n|---|---|---|---|\n";
        for (who, (cost, low, high)) in [("`iowhy explain`", &ours), ("`trace-cmd report`", &theirs)] {
            let [wall, low, high, cpu] = [cost.wall, *low, *high, cost.cpu].map(seconds);
            let _ =
                writeln!(text, "| {who} | {wall} ({low} to {high}) | {cpu} | {} |", mebibytes(cost.resident));
        }
        Ok(text + &ratio(&ours, &theirs))
    }

    /// The two in turn: ours, theirs, ours, theirs, ...
    fn side_by_side(&self, capture: &Path, theirs_once: impl Fn() -> Outcome<Cost>) -> Outcome<[Runs; 2]> {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..=self.runs {
            eprintln!("round {round} of {}{}", self.runs, if round == 0 { " (not measured)" } else { "" });
            let a = measure(&self.explain(capture), &self.scratch)?;
            let b = theirs_once()?;
            if round > 0 {
                ours.push(a);
                theirs.push(b);
            }
        }
        Ok([median(ours), median(theirs)])
    }

    fn explain(&self, capture: &Path) -> Command {
        let mut c = Command::new(&self.iowhy);
        c.arg("explain").arg(capture);
        c
    }
}

fn blkparse_and_btt(capture: &Path, scratch: &Path) -> Outcome<Cost> {
    let merged = scratch.join("merged.bin");
    let mut blkparse = Command::new("blkparse");
    for device in devices(capture)? {
        blkparse.arg("-i").arg(device);
    }
    blkparse.arg("-D").arg(capture).args(["-O", "-d"]).arg(&merged);
    let mut btt = Command::new("btt");
    btt.arg("-i").arg(&merged);
    let first = measure(&blkparse, scratch)?;
    let second = measure(&btt, scratch)?;
    fs::remove_file(merged)?;
    Ok(first.then(second))
}

fn whole(path: &Path) -> Outcome<PathBuf> {
    fs::canonicalize(path).map_err(|e| format!("{}: {e}", path.display()).into())
}

/// `vda` for `vda.blktrace.0`, of all files in a folder.
pub(crate) fn devices(folder: &Path) -> Outcome<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let file = entry?.file_name().to_string_lossy().into_owned();
        names.extend(files::device_of(&file).map(str::to_string));
    }
    Ok(names)
}

fn heading(bench: &Bench) -> String {
    let given = [("CAPTURE", &bench.capture), ("TRACE", &bench.trace)];
    let given =
        given.into_iter().filter_map(|(what, path)| Some(format!(" {what}={}", name(path.as_deref()?))));
    let given: String = given.collect();
    let programs = [(&*bench.iowhy.to_string_lossy(), "--version"), ("blkparse", "-V"), ("btt", "-V")];
    format!(
        "# Benchmarks\n\nWritten by `make bench{given}`; run it to get your own machine's. {} runs of each, in turn, files in\n\
         the page cache; memory is the peak of what was resident, the largest of all runs.\n\n\
         {} iowhy uses two cores.\n\n",
        bench.runs,
        about(&programs)
    )
}

fn recording(what: &str, size: Size) -> String {
    format!("Recording: {what}; {} events, {}.", count(size.events), megabytes(size.bytes))
}

fn ratio(ours: &Runs, theirs: &Runs) -> String {
    format!(
        "\n`iowhy` is **{:.1} times** faster in wall time ({:.1} times by the fastest run of each).\n\n",
        theirs.0.wall.as_secs_f64() / ours.0.wall.as_secs_f64(),
        theirs.1.as_secs_f64() / ours.1.as_secs_f64()
    )
}

fn row(text: &mut String, who: &str, (cost, low, high): &Runs, size: Size) {
    let per_second = size.events as f64 / cost.wall.as_secs_f64() / 1e6;
    let _ = writeln!(
        text,
        "| {who} | {} ({} to {}) | {} | {per_second:.1} million | {} |",
        seconds(cost.wall),
        seconds(*low),
        seconds(*high),
        seconds(cost.cpu),
        mebibytes(cost.resident)
    );
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn seconds(d: Duration) -> String {
    format!("{:.2} s", d.as_secs_f64())
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / (1u64 << 20) as f64)
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
