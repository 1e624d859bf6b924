//! `iowhy events`.

use crate::failure::Failure;
use clap::Args;
use events::{Format, Formats, Mask, Options, OwnFormat, Printer, Window};
use explain::Input;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use trace::Quality;

/// Help on the `%` fields, shown below the options.
const FIELDS: &str = "\
Formats are blkparse's: %, perhaps - (left-aligned), perhaps a width, a letter;
a backslash before n, t, r, b or another one, as in C. No line end is added.
  %a action          %c CPU             %C task's name       %d kind (RWBS)
  %D major,minor     %e error           %m minor             %M major
  %n sectors         %N bytes           %p task's number     %P payload (hex)
  %s event's number  %S sector          %t nanoseconds       %T seconds
  %u the step's time in ns, with -t     %U number in the payload of U and X";

/// Print the events, as blkparse does.
#[derive(Args)]
#[command(after_help = FIELDS)]
pub struct Events {
    /// A folder with a recording, NAME (for NAME.blktrace.0, .1, ...), a file, blkparse's text, or - for a pipe
    #[arg(value_name = "CAPTURE")]
    pub capture: PathBuf,
    /// Format of all events (default: '%D %2c %8s %5T.%9t %5p %2a %3d' and what belongs to the action)
    #[arg(short, long, value_parser = Format::parse, allow_hyphen_values = true)]
    pub format: Option<Format>,
    /// Format of one action's events: its letter, a comma, a format; repeatable
    #[arg(short = 'F', long, value_name = "LETTER,FORMAT", value_parser = OwnFormat::parse)]
    pub format_spec: Vec<OwnFormat>,
    /// Only events of this kind, or of any of several: read write flush sync queue requeue issue complete fs pc
    /// notify ahead meta discard drv_data fua
    #[arg(short, long, value_name = "KIND", value_parser = Mask::of_names)]
    pub act_mask: Vec<Mask>,
    /// Kinds as a hexadecimal number (1 read, 2 write, 4 flush, ... in the order of -a)
    #[arg(short = 'A', long, value_name = "HEX", value_parser = Mask::of_hex)]
    pub set_mask: Option<Mask>,
    /// Only events in this span: END or START:END or START:, in seconds (1.5) or with a unit (1500ms, us, ns)
    #[arg(short = 'w', long, alias = "stopwatch", value_name = "SPAN", value_parser = Window::parse)]
    pub window: Option<Window>,
    /// Show how long the step that an event ends took: got to inserted, inserted to issued, issued to completed
    #[arg(short, long)]
    pub track_ios: bool,
    /// Count per task, too
    #[arg(short = 's', long)]
    pub per_program_stats: bool,
    /// Count tasks of one name together
    #[arg(long)]
    pub hash_by_name: bool,
    /// No summary
    #[arg(short, long)]
    pub quiet: bool,
    /// No events, only the summary
    #[arg(short = 'O', long)]
    pub no_text_output: bool,
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl Events {
    /// Prints the events, then the summary; remarks go to standard error.
    pub fn run(&self) -> Result<(), Failure> {
        if let Some(file) = &self.output {
            Failure::unless_it_replaces_a_recording(file, &[&self.capture])?;
        }
        let mut options = self.options();
        let input = Input::recording(&self.capture)?;
        options.devices = input.names();
        options.own_times = input.format() == "blkparse";
        let (out, name): (Box<dyn Write>, String) = match &self.output {
            Some(path) => (Box::new(create(path)?), path.display().to_string()),
            None => (Box::new(io::stdout().lock()), "standard output".into()),
        };
        let mut printer = Printer::new(out, options);
        let quality = input.read_while(|batch| printer.batch(batch).map_err(Failure::write(&name)))?;
        if let Some((first, last)) = printer.outside() {
            let outside = trace::Error::Outside { path: self.capture.clone(), first, last };
            return Err(explain::Error::from(outside).into());
        }
        printer.finish().map_err(Failure::write(&name))?;
        for remark in remarks(&quality) {
            remark!("iowhy: {}", crate::clean::clean(&remark.to_string()));
        }
        Ok(())
    }

    fn options(&self) -> Options {
        let mut formats = Formats::default();
        if let Some(format) = &self.format {
            formats.set_all(format.clone());
        }
        for own in &self.format_spec {
            formats.set_own(own.clone());
        }
        let masks = self.set_mask.iter().chain(&self.act_mask);
        Options {
            formats,
            mask: masks.fold(Mask::default(), |all, m| all.or(*m)),
            window: self.window.unwrap_or_default(),
            track: self.track_ios,
            per_task: self.per_program_stats,
            by_name: self.hash_by_name,
            quiet: self.quiet,
            no_events: self.no_text_output,
            ..Options::default()
        }
    }
}

fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(Failure::write(&path.display().to_string()))
}

/// Remarks on the quality of the recording, such as lost events.
fn remarks(quality: &Quality) -> Vec<String> {
    let counts = [
        (quality.lost_total(), "events are missing from the recording"),
        (quality.out_of_order, "events are out of order"),
        (quality.clock_steps, "times a CPU's clock went backwards"),
    ];
    let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
    counts.chain(quality.notes.iter().cloned()).collect()
}
