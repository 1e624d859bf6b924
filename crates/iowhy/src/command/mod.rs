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

use crate::cli::{plain_command, Command};
use crate::failure::Failure;

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
        Command::Completions(c) => c.run(plain_command()),
        Command::Record(c) => c.run(),
        Command::Pack(c) => c.run(),
        Command::Man(c) => c.run(plain_command()),
        Command::Whatif(c) => c.run(),
    }
}
