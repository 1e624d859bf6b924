//! `iowhy`: why was this I/O slow, and what would make it fast?
//!
//! Only what no other crate could own: arguments, progress, signals, exit status.

mod clean;
mod cli;
mod command;
mod failure;
mod interrupt;
mod part;
mod reading;
mod texts;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    match command::run(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
