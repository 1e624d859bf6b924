//! `iowhy export`.

use crate::failure::Failure;
use crate::question::{Question, QUESTION};
use crate::stdout::print;
use clap::{Args, ValueEnum};
use evidence::Recorded;
use explain::blame;
use explain::{check, Input};
use export::{BttExport, BttOptions};
use export::{DeviceNames, Fio, Folder, Form, HdrLog, Perfetto, Rows};
use report::Selection;
use stats::Details;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};
use trace::{Batch, Nanos};
use units::words::count;

/// Write a recording out for other programs.
#[derive(Args)]
#[command(override_usage = "iowhy export [OPTIONS] --to <PROGRAM> [DIR] <CAPTURE>")]
pub struct Export {
    /// Format to write
    #[arg(long, value_name = "PROGRAM")]
    pub to: Program,
    /// DIR is the folder to write into; files of the same names are replaced. folded needs none and then goes to standard output.
    /// CAPTURE is a folder with a recording, NAME (for NAME.blktrace.0, .1, ...), a file, or - for a pipe
    #[arg(value_name = "DIR CAPTURE", required = true, num_args = 1..=2)]
    pub paths: Vec<PathBuf>,
    /// btt -L: seconds over which latencies are averaged
    #[arg(long, value_name = "SECONDS", default_value_t = BttOptions::default().period, value_parser = positive)]
    pub period: f64,
    /// btt -d: shortest pause, in seconds, that ends a range of activity
    #[arg(long, value_name = "SECONDS", default_value_t = BttOptions::default().gap, value_parser = positive)]
    pub gap: f64,
    /// btt -a: measure seeks from the end of the last I/O, not from its nearer end
    #[arg(long)]
    pub absolute: bool,
    /// What is written
    #[command(flatten, next_help_heading = QUESTION)]
    pub question: Question,
}

/// Programs that recordings are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Program {
    /// The .dat files of btt, correct where btt is wrong
    Btt,
    /// A trace for ui.perfetto.dev: requests and operations as slices, depth and throughput as counters, arrows from
    /// the blocking task to the waiting one
    Perfetto,
    /// Every table of report, and a row for each request and operation, as comma-separated values
    Csv,
    /// The same as JSON, one object in each line
    Jsonl,
    /// The bios sent to each device, as logs that fio replays (read_iolog, version 3), with a job file
    Fio,
    /// Latencies of each second by kind, as a HdrHistogram log
    Hdr,
    /// Who waited, for what, because of whom, as folded stacks in nanoseconds, for flame graphs
    Folded,
}

/// The files that were written, each with its number of entries (lines, rows, ...); and remarks for the screen.
type Written = (Vec<(String, u64)>, Vec<String>);

impl Export {
    /// Reads the recording and writes the files.
    pub fn run(&self) -> Result<(), Failure> {
        self.can_be_asked()?;
        if self.to == Program::Folded && self.paths.len() == 1 {
            return print(&export::folded(&self.stacks()?));
        }
        let ((files, remarks), entries) = match self.to {
            Program::Btt => (self.btt()?, "lines"),
            Program::Perfetto => (self.perfetto()?, "packets"),
            Program::Csv => (self.tables(Form::Csv)?, "rows"),
            Program::Jsonl => (self.tables(Form::Jsonl)?, "rows"),
            Program::Fio => (self.fio()?, "bios"),
            Program::Hdr => (self.hdr()?, "histograms"),
            Program::Folded => (self.folded()?, "stacks"),
        };
        let wide = files.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let list: String = files.iter().map(|(name, n)| format!("  {name:<wide$} {n:>10}\n")).collect();
        let s = if files.len() == 1 { "" } else { "s" };
        let there = self.folder()?.display();
        let remarks: String = remarks.iter().map(|r| format!("{r}\n")).collect();
        print(&format!("{} file{s} in {there}, with their {entries}:\n{list}{remarks}", files.len()))
    }

    /// An error if a filter does not apply to the format: formats of whole devices take only --window; --tail is for stacks only.
    fn can_be_asked(&self) -> Result<(), Failure> {
        match self.to {
            Program::Btt => self.question.only_a_part("btt's files are of all I/O of each device"),
            Program::Fio => self.question.only_a_part("a replay needs all I/O of each device"),
            Program::Folded => Ok(()),
            _ => self.question.not_of_the_tail(),
        }
    }

    fn btt(&self) -> Result<Written, Failure> {
        let options = BttOptions { period: self.period, gap: self.gap, absolute: self.absolute };
        let input = self.open()?;
        let mut export = BttExport::create(self.folder()?, options).map_err(failure)?;
        input.read(|batch| export.feed(batch))?;
        Ok((export.finish().map_err(failure)?, vec![]))
    }

    fn perfetto(&self) -> Result<Written, Failure> {
        let input = self.open()?;
        let scope = input.scope();
        let mut export = Perfetto::create(&self.create()?, names(&input))
            .map_err(failure)?
            .follows(input.follow(scope.clone()));
        input.read(|batch| export.feed(batch))?;
        check(scope.as_ref())?;
        let (file, left_out) = export.finish().map_err(failure)?;
        let mut remarks = vec!["open it at https://ui.perfetto.dev (it stays on this machine)".to_string()];
        remarks.extend(more(left_out, "requests or operations are not in it: too many at once"));
        Ok((vec![file], remarks))
    }

    /// Writes rows of requests and operations while the recording is read, and the tables at its end.
    fn tables(&self, form: Form) -> Result<Written, Failure> {
        let input = self.open()?;
        let folder = self.create()?;
        let mut rows =
            Rows::create(&folder, form, names(&input)).map_err(failure)?.follows(input.follow(input.scope()));
        let mut details = Details::default();
        let also = |batch: &Batch| {
            details.feed(batch);
            rows.feed(batch);
        };
        let explanation = input.also(also).explain()?;
        details.finish();
        let tables = report::tables(&explanation, &details, &self.selection())
            .map_err(|what| Failure::Usage { what, help: None })?;
        let mut files = export::write_tables(&folder, &tables, form).map_err(failure)?;
        files.extend(rows.finish().map_err(failure)?);
        Ok((files, vec![]))
    }

    fn fio(&self) -> Result<Written, Failure> {
        let input = self.open()?;
        let mut export = Fio::create(&self.create()?, names(&input));
        input.read(|batch| export.feed(batch))?;
        let (written, left_out) = export.finish().map_err(failure)?;
        let mut remarks: Vec<String> = written
            .iter()
            .map(|w| format!("fio {} replays {}; its first lines tell how", w.job, w.log))
            .collect();
        remarks.extend(more(left_out, "bios are not in it: commands that fio cannot send"));
        Ok((written.into_iter().map(|w| (w.log, w.asked)).collect(), remarks))
    }

    fn hdr(&self) -> Result<Written, Failure> {
        let input = self.open()?;
        let recorded = input.place().as_deref().and_then(|place| Recorded::read(place).ok().flatten());
        let began = recorded.and_then(|r| r.began());
        let began = began.map(|(s, ns, _)| UNIX_EPOCH + Duration::new(s.into(), ns.min(999_999_999)));
        let scope = input.scope();
        let export = HdrLog::create(&self.create()?, names(&input), began).map_err(failure)?;
        let mut export = export.follows(input.follow(scope.clone()));
        input.read(|batch| export.feed(batch))?;
        check(scope.as_ref())?;
        let (file, left_out) = export.finish().map_err(failure)?;
        Ok((vec![file], more(left_out, "latencies are not in it: of too many kinds").into_iter().collect()))
    }

    fn open<'a>(&self) -> Result<Input<'a>, Failure> {
        self.question.of_recording(self.capture())
    }

    fn folded(&self) -> Result<Written, Failure> {
        let folder = self.create()?;
        Ok((vec![export::write_folded(&folder, &self.stacks()?).map_err(failure)?], vec![]))
    }

    fn stacks(&self) -> Result<BTreeMap<String, Nanos>, Failure> {
        Ok(blame::stacks(&self.open()?.explain()?, self.question.which()))
    }

    fn selection(&self) -> Selection {
        Selection { tasks: self.question.task.clone(), ..Selection::default() }
    }

    fn create(&self) -> Result<Folder, Failure> {
        Folder::create(self.folder()?).map_err(failure)
    }

    /// The recording: the last of the paths; clap requires at least one.
    fn capture(&self) -> &Path {
        self.paths.last().map_or(Path::new("-"), PathBuf::as_path)
    }

    /// The folder to write into: the path before the recording; an error if there is none.
    fn folder(&self) -> Result<&Path, Failure> {
        match &self.paths[..] {
            [folder, _] => Ok(folder),
            _ => Err(Failure::Usage {
                what: "a folder to write into is missing".into(),
                help: Some(
                    "iowhy export --to PROGRAM DIR CAPTURE; only folded goes to standard output".into(),
                ),
            }),
        }
    }
}

/// The names of devices, as `explain` shows them.
fn names(input: &Input) -> DeviceNames {
    let places = input.places();
    Box::new(move |dev| places.device(dev))
}

fn more(n: u64, what: &str) -> Option<String> {
    (n > 0).then(|| format!("{} {what}", count(n)))
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
