//! `iowhy explain`.

use super::print;
use super::whatif::remedies;
use crate::failure::Failure;
use crate::part::Part;
use crate::{reading, texts};
use clap::Args;
use evidence::{Recorded, Samples, Skipped, System, SAMPLES_JSONL};
use report::{Explanation, Style, Subject, Told};
use stats::Analysis;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use tooltext::Mail;
use trace::{Batch, Recording};

/// Say what was slow, where its time went, why, what to try, and how far to trust it.
#[derive(Args)]
pub struct Explain {
    /// A folder with a recording, NAME (for NAME.blktrace.0, .1, ...), a file, or - for a pipe; texts with the output of
    /// fio, iostat and others, or a folder of them, alone or beside it
    #[arg(value_name = "CAPTURE", required = true)]
    pub files: Vec<PathBuf>,
    /// The part that is asked about
    #[command(flatten)]
    pub part: Part,
    /// Beside a remedy that sets the I/O scheduler, say what it would have done (iowhy whatif): takes seconds
    #[arg(long)]
    pub predict: bool,
    /// Print one JSON object (schema iowhy.explain/1)
    #[arg(long)]
    pub json: bool,
}

impl Explain {
    /// Reads, judges, prints.
    pub fn run(&self) -> Result<(), Failure> {
        let (recording, mut mails) = texts::sort(&self.files)?;
        let named = mails.len();
        if let Some(folder) = recording.as_deref().filter(|path| path.is_dir()) {
            // Settings there are the recorded machine's, which is read below.
            mails.extend(texts::in_folder(folder).into_iter().filter(Mail::has_readings));
        }
        texts::shorten_names(&mut mails);
        let Some(capture) = recording else {
            let told = Told::new(mails);
            return match self.json {
                true => print_json(&told.to_json()),
                false => print(&told.render(style())),
            };
        };
        let mut explanation = explain(&capture, self.part)?;
        let (told, remarks) = Told::beside(mails, &explanation);
        told.add_to(&mut explanation.verdicts);
        let predicted = match self.predict {
            true => remedies::predict(&mut explanation.verdicts, &capture, self.part)?,
            false => Vec::new(),
        };
        if self.json {
            let mut json = report::to_json(&explanation);
            if let Some(fields) = json.as_object_mut().filter(|_| self.predict) {
                fields.insert("predictions".into(), predicted.into());
            }
            if let Some(fields) = json.as_object_mut().filter(|_| !told.mails.is_empty()) {
                fields.insert("texts".into(), told.texts().into());
                fields.insert("texts_remarks".into(), remarks.into());
            }
            return print_json(&json);
        }
        print(&report::render(&explanation, style()))?;
        match told.mails.is_empty() {
            true => Ok(()),
            false => print(&told.render_numbers(named, &remarks, style())),
        }
    }
}

fn print_json(json: &serde_json::Value) -> Result<(), Failure> {
    print(&(serde_json::to_string_pretty(json).unwrap_or_default() + "\n"))
}

/// Reads a part of a recording once and judges it.
pub fn explain(capture: &Path, part: Part) -> Result<Explanation, Failure> {
    explain_with(capture, part, |_| {})
}

/// The same, with each batch given to `also`.
pub fn explain_with(capture: &Path, part: Part, also: impl FnMut(&Batch)) -> Result<Explanation, Failure> {
    explain_by(Analysis::default(), capture, part, also)
}

/// The same by an analysis that was set up otherwise.
pub fn explain_by(
    analysis: Analysis,
    capture: &Path,
    part: Part,
    also: impl FnMut(&Batch),
) -> Result<Explanation, Failure> {
    explain_opened(analysis, reading::open(capture)?, capture, part, also)
}

/// The same of a recording that was opened before: a pipe is opened once.
pub fn explain_opened(
    analysis: Analysis,
    recording: Recording,
    capture: &Path,
    part: Part,
    mut also: impl FnMut(&Batch),
) -> Result<Explanation, Failure> {
    explain_feeding(analysis, recording, capture, part, |analysis, batch| {
        analysis.feed(batch);
        also(batch);
    })
}

/// The same, `feed` giving each batch to the analysis, and to whoever follows the lives along with it.
pub fn explain_feeding(
    mut analysis: Analysis,
    recording: Recording,
    capture: &Path,
    part: Part,
    mut feed: impl FnMut(&mut Analysis, &Batch),
) -> Result<Explanation, Failure> {
    let recording = part.of(recording);
    let place = recording.place.clone();
    let (system, samples, recorded) = place.as_deref().map_or_else(Default::default, beside);
    let sources = vec![recording.format.to_string()];
    let (file_names, kernel) = (recording.names.clone(), recording.kernel.clone());
    analysis.knows(report::known(&system));
    let take = |batch: &Batch| {
        feed(&mut analysis, batch);
        Ok(())
    };
    let (mut quality, mut flow) = reading::read_counting(recording, capture, take)?;
    if let Some(recorded) = recorded {
        recorded.judge(&mut quality);
        flow.wall = flow.wall.or_else(|| recorded.began());
    }
    let window = part.window;
    let subject = Subject { window, sources, file_names, kernel, system, samples, quality };
    Ok(Explanation::new(subject, analysis.finish(flow)))
}

/// What lies beside a trace. What cannot be read is told.
fn beside(place: &Path) -> (System, Samples, Option<Recorded>) {
    let mut system = System::read(place);
    let samples = Samples::read(place).unwrap_or_else(|e| {
        system.skipped.push(Skipped { file: SAMPLES_JSONL.into(), why: e.to_string() });
        None
    });
    let recorded = Recorded::read(place).unwrap_or_else(|skipped| {
        system.skipped.push(skipped);
        None
    });
    (system, samples.unwrap_or_default(), recorded)
}

/// Colour only on a terminal and only if `NO_COLOR` is not set (no-color.org).
pub fn style() -> Style {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    Style { colour: wanted && std::io::stdout().is_terminal(), ..Style::default() }
}
