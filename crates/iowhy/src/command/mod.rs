//! One file per command: its arguments and what it does with the other crates.

pub mod causes;
pub mod compare;
pub mod completions;
pub mod dist;
pub mod events;
pub mod explain;
pub mod export;
mod html;
pub mod man;
pub mod pack;
pub mod record;
pub mod report;
pub mod slow;
pub mod view;

use crate::clean::clean;
use crate::cli::Command;
use crate::failure::Failure;
use std::io::Write;

/// Runs a command.
pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Explain(c) => c.run(),
        Command::Compare(c) => c.run(),
        Command::Slow(c) => c.run(),
        Command::Dist(c) => c.run(),
        Command::Report(c) => c.run(),
        Command::View(c) => c.run(),
        Command::Export(c) => c.run(),
        Command::Events(c) => c.run(),
        Command::Causes(c) => c.run(),
        Command::Completions(c) => c.run(),
        Command::Record(c) => c.run(),
        Command::Pack(c) => c.run(),
        Command::Man(c) => c.run(),
    }
}

/// Writes to standard output; a reader that has gone away is a normal end.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(clean(text).as_bytes())
        .and_then(|()| out.flush())
        .map_err(Failure::write("standard output"))
}
