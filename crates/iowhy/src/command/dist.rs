//! `iowhy dist`.

use crate::command::record::some_time;
use crate::failure::Failure;
use crate::part::Part;
use crate::stdout::{print, print_json};
use clap::Args;
use explain::dist::{Dist, Question, Unit};
use explain::{began, Input};
use record::{record, Detail, Host, Output, Plan, Stop};
use report::dist;
use std::path::{Path, PathBuf};
use std::time::Duration;
use trace::{Fs, Nanos};

/// Show latency histograms of operations by file system, as xfsdist and ext4dist do
#[derive(Args)]
#[command(after_help = WHAT_IT_COUNTS)]
pub struct Distributions {
    /// A folder with a recording, or a file, or - for a pipe; one with system calls (iowhy record)
    #[arg(value_name = "CAPTURE", required_unless_present = "live", conflicts_with = "live")]
    pub capture: Option<PathBuf>,
    /// Record now and keep nothing; needs root
    #[arg(long, requires = "duration")]
    pub live: bool,
    /// With --live: how long: 10s, 1min
    #[arg(long = "for", value_name = "TIME", value_parser = some_time, requires = "live")]
    pub duration: Option<Duration>,
    /// Only file systems of this kind: xfs, ext4, btrfs, f2fs
    #[arg(long, value_name = "KIND", value_parser = file_system)]
    pub fs: Option<Fs>,
    /// The part that is counted
    #[command(flatten)]
    pub part: Part,
    /// Histograms in milliseconds
    #[arg(short, long)]
    pub milliseconds: bool,
    /// Histograms for each interval of this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = interval)]
    pub interval: Option<Nanos>,
    /// Print one JSON object (schema iowhy.dist/1)
    #[arg(long)]
    pub json: bool,
}

const WHAT_IT_COUNTS: &str =
    "An operation is a whole system call, or one of io_uring from submission to completion. \
The tools of bcc measure the file system's function within the call, which is a little less.";

impl Distributions {
    /// Reads the recording, or records now, and prints the distributions.
    pub fn run(&self) -> Result<(), Failure> {
        let Some(capture) = &self.capture else { return self.live() };
        self.of(capture)
    }

    fn of(&self, capture: &Path) -> Result<(), Failure> {
        let input = Input::recording(capture)?.window(self.part.window);
        let mut places = input.places();
        let unit = if self.milliseconds { Unit::Millis } else { Unit::Micros };
        let mut dist = Dist::new(Question { fs: self.fs, unit, interval: self.interval });
        let (mut follow, mut first) = (input.follow(None), None);
        input.read(|batch| {
            first = first.or_else(|| began(batch));
            first.into_iter().for_each(|t| dist.begins(t));
            follow.feed(batch, &mut dist);
        })?;
        if !follow.sees_tasks() {
            return Err(Failure::Other {
                what: format!("{}: only block events were recorded, no operations", capture.display()),
                help: Some(
                    "`iowhy record` records system calls; `iowhy report CAPTURE` has the requests".into(),
                ),
            });
        }
        places.began = first.unwrap_or_default();
        dist.finish(follow.stacked());
        if self.json {
            print_json(&dist::json(&dist, &places))
        } else {
            print(&dist::render(&dist, &places))
        }
    }

    /// Records into a temporary folder, which is removed afterwards.
    fn live(&self) -> Result<(), Failure> {
        let folder = tempfile::Builder::new()
            .prefix("iowhy-dist-")
            .tempdir()
            .map_err(|source| Failure::Write { what: "making a folder for the recording".into(), source })?;
        let capture = folder.path().join("capture");
        let plan = Plan {
            detail: Detail::Path,
            devices: Vec::new(),
            buffer_kib: None,
            output: Output::Folder(capture.clone()),
            stop: Stop::After(self.duration.unwrap_or_default()),
        };
        let recorded = record(&Host::here()?, &plan, &mut |report| {
            if let record::Report::Note(words) = report {
                remark!("iowhy: {words}");
            }
        })?;
        if recorded.capture.lost > 0 {
            remark!("iowhy: {} events were lost: some operations are missing", recorded.capture.lost);
        }
        self.of(&capture)
    }
}

fn file_system(name: &str) -> Result<Fs, String> {
    match Fs::by_name(name) {
        Fs::Unknown => Err("one of xfs, ext4, btrfs, f2fs".into()),
        fs => Ok(fs),
    }
}

fn interval(text: &str) -> Result<Nanos, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    nanoseconds(seconds).ok_or_else(|| "must be above 0".into())
}

/// Seconds in nanoseconds; `None` below 1 ns or beyond `u64`.
fn nanoseconds(seconds: f64) -> Option<Nanos> {
    let ns = seconds * 1e9;
    (ns >= 1.0 && ns < u64::MAX as f64).then_some(Nanos(ns as u64))
}
