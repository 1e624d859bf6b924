//! `iowhy explain`.

use super::print;
use crate::failure::Failure;
use crate::reading;
use clap::Args;
use evidence::{Recorded, Samples, Skipped, System, SAMPLES_JSONL};
use report::{Explanation, Style, Subject};
use stats::{Analysis, Flow};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use trace::Batch;

/// Say what was slow, where its time went, why, what to try, and how far to trust it.
#[derive(Args)]
pub struct Explain {
    /// A folder with a recording, NAME (for NAME.blktrace.0, .1, ...), a file, or - for a pipe
    #[arg(value_name = "CAPTURE")]
    pub capture: PathBuf,
    /// Print one JSON object (schema iowhy.explain/1)
    #[arg(long)]
    pub json: bool,
}

impl Explain {
    /// Reads, judges, prints.
    pub fn run(&self) -> Result<(), Failure> {
        let explanation = explain(&self.capture)?;
        if self.json {
            let json = serde_json::to_string_pretty(&report::to_json(&explanation)).unwrap_or_default();
            print(&(json + "\n"))
        } else {
            print(&report::render(&explanation, style()))
        }
    }
}

/// Reads a recording once and judges it.
pub fn explain(capture: &Path) -> Result<Explanation, Failure> {
    explain_with(capture, |_| {})
}

/// The same, with each batch given to `also`.
pub fn explain_with(capture: &Path, mut also: impl FnMut(&Batch)) -> Result<Explanation, Failure> {
    let recording = reading::open(capture)?;
    let place = recording.place.clone();
    let (system, samples, recorded) = place.as_deref().map_or_else(Default::default, beside);
    let sources = vec![recording.format.to_string()];
    let (file_names, kernel) = (recording.names.clone(), recording.kernel.clone());
    let mut analysis = Analysis::default();
    let take = |batch: &Batch| {
        analysis.feed(batch);
        also(batch);
        Ok(())
    };
    let (mut quality, mut flow) =
        reading::read_counting(recording, capture, Flow::default(), Flow::feed, take)?;
    if let Some(recorded) = recorded {
        recorded.judge(&mut quality);
        flow.wall = flow.wall.or_else(|| recorded.began());
    }
    let subject = Subject { sources, file_names, kernel, system, samples, quality };
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
