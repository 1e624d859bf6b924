//! The commands, one file each: arguments, and how the command uses the other crates.

pub mod causes;
pub mod checkup;
pub mod compare;
pub mod completions;
pub mod dist;
pub mod events;
pub mod explain;
pub mod export;
mod html;
pub mod man;
pub mod pack;
pub mod plot;
pub mod record;
pub mod report;
pub mod slow;
mod style;
pub mod view;
pub mod whatif;

use crate::clean::clean;
use crate::cli::Command;
use crate::failure::Failure;
use serde::Serialize;
use std::io::Write;

/// Runs the command that was chosen on the command line.
pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Explain(c) => c.run(),
        Command::Compare(c) => c.run(),
        Command::Slow(c) => c.run(),
        Command::Dist(c) => c.run(),
        Command::Report(c) => c.run(),
        Command::View(c) => c.run(),
        Command::Plot(c) => c.run(),
        Command::Export(c) => c.run(),
        Command::Events(c) => c.run(),
        Command::Checkup(c) => c.run(),
        Command::CheckupLoad(c) => c.run(),
        Command::CheckupGuard(c) => c.run(),
        Command::Causes(c) => c.run(),
        Command::Completions(c) => c.run(),
        Command::Record(c) => c.run(),
        Command::Pack(c) => c.run(),
        Command::Man(c) => c.run(),
        Command::Whatif(c) => c.run(),
    }
}

/// Writes a text to standard output, without harmful characters; a closed pipe is a normal end.
pub fn print(text: &str) -> Result<(), Failure> {
    print_as_it_is(&clean(text))
}

/// Writes a document to standard output as indented JSON.
pub fn print_json(document: &impl Serialize) -> Result<(), Failure> {
    print(&(serde_json::to_string_pretty(document).unwrap_or_default() + "\n"))
}

/// Writes a text to standard output that is safe already, such as one with colours of its own.
pub fn print_as_it_is(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::write("standard output"))
}
