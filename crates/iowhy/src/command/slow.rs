//! `iowhy slow`.

use super::print;
use crate::failure::Failure;
use crate::part::Part;
use crate::reading;
use clap::Args;
use evidence::System;
use life::{Lives, Op};
use report::{Slowest, Wanted};
use std::path::PathBuf;
use trace::Batch;

/// Show the slowest requests with their life, event by event.
#[derive(Args)]
pub struct Slow {
    /// A folder with a recording, NAME (for NAME.blktrace.0, .1, ...), or a file
    #[arg(value_name = "CAPTURE")]
    pub capture: PathBuf,
    /// How many
    #[arg(short = 'n', default_value_t = 10, value_name = "N")]
    pub number: usize,
    /// Only this operation: read, write, flush, discard, passthrough
    #[arg(long, value_parser = operation)]
    pub op: Option<Op>,
    /// Only requests of this task
    #[arg(long, value_name = "NAME")]
    pub task: Option<String>,
    /// The part that is searched
    #[command(flatten)]
    pub part: Part,
    /// Print one JSON object (schema iowhy.slow/1)
    #[arg(long)]
    pub json: bool,
}

impl Slow {
    /// Finds the slowest in a first reading and gathers their events in a second.
    pub fn run(&self) -> Result<(), Failure> {
        let recording = self.part.of(reading::open(&self.capture)?);
        let place = recording.place.clone();
        let system = place.as_deref().map(System::read);
        let names = recording.names.clone();
        let wanted = Wanted { op: self.op, task: self.task.clone(), number: self.number };
        let mut slowest = Slowest::new(wanted, names, system.unwrap_or_default());
        let mut lives = Lives::default();
        reading::read(recording, &self.capture, |batch: &Batch| {
            slowest.watch(batch);
            lives.feed(batch, &mut slowest);
        })?;
        slowest.chosen();
        if let Some(place) = place {
            let again = self.part.of(reading::open(&place)?);
            reading::read(again, &self.capture, |batch: &Batch| slowest.gather(batch))?;
        }
        if self.json {
            print(&(serde_json::to_string_pretty(&slowest.json()).unwrap_or_default() + "\n"))
        } else {
            print(&slowest.render())
        }
    }
}

fn operation(name: &str) -> Result<Op, String> {
    let names = || Op::ALL.map(Op::name).join(", ");
    Op::ALL.into_iter().find(|o| o.name() == name).ok_or_else(|| format!("one of {}", names()))
}
