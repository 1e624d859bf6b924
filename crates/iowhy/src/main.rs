//! `iowhy`: why was this I/O slow, and what would make it fast?
//!
//! This crate has only what no other crate can own: arguments and exit status.

#[macro_use]
mod remark;

mod clean;
mod cli;
mod command;
mod failure;
mod help;
mod part;
mod question;
mod stdout;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::arguments().and_then(|arguments| command::run(arguments.command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
