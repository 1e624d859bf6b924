//! The command line.

use crate::command::{
    causes, checkup, compare, completions, dist, events, explain, export, man, pack, plot, record, report,
    slow, view, whatif,
};
use crate::failure::Failure;
use crate::help;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command as Clap, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::path::Path;
use units::words::shell;

/// Why was this I/O slow, and what would make it fast?
///
/// Reads recordings (its own, blktrace's, trace-cmd's) and the output of fio, iostat and others; accounts for the time
/// of every operation; names who waited, because of what and whom, and what to change.
#[derive(Parser)]
#[command(name = "iowhy", version, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The command line without the examples that the help adds.
pub fn plain_command() -> Clap {
    Arguments::command()
}

/// The command line with its help: commands in groups, each with examples.
pub fn command() -> Clap {
    help::with_examples(plain_command())
}

/// The arguments of the program. Wrong usage ends it; only a path in place of a command is returned as an error.
pub fn arguments() -> Result<Arguments, Failure> {
    let matches = command().try_get_matches();
    match matches.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => Ok(arguments),
        Err(e) => Err(path_for_command(&e).unwrap_or_else(|| e.exit())),
    }
}

/// The error for a path of a recording or text where a command should be; `None` for any other wrong usage.
fn path_for_command(e: &clap::Error) -> Option<Failure> {
    let Some(ContextValue::String(given)) = e.get(ContextKind::InvalidSubcommand) else { return None };
    let is_path = e.kind() == ErrorKind::InvalidSubcommand && trace::is_there(Path::new(given));
    is_path.then(|| Failure::Usage {
        what: format!("{given} is a path, not a command"),
        help: Some(format!(
            "`iowhy explain {}` explains a recording or text; `iowhy --help` lists the commands",
            shell(given)
        )),
    })
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Record what the kernel does with I/O
    Record(record::Record),
    /// Explain why it was slow: who waited, because of whom, what to try
    Explain(explain::Explain),
    /// Compare two recordings or benchmark outputs
    Compare(compare::Compare),
    /// Show what the slowest operations waited for
    Slow(slow::Slow),
    /// Predict latencies without a task, or under other scheduler settings
    Whatif(whatif::WhatIf),
    /// Show latency histograms by file system
    Dist(dist::Distributions),
    /// Print all numbers as tables, or write a page with pictures
    Report(report::Report),
    /// Show the page in a browser on this machine
    View(view::View),
    /// Draw a picture or a film, to a file or in the terminal
    Plot(plot::Plot),
    /// Write files for Perfetto, fio, HdrHistogram, btt, CSV, JSON
    Export(export::Export),
    /// Print the events, as blkparse does
    Events(events::Events),
    /// Pack a capture into one file, to send it
    Pack(pack::Pack),
    /// Run known problem workloads on a disk and report weaknesses
    Checkup(checkup::Checkup),
    /// Run a load (internal, started by checkup)
    #[command(hide = true)]
    CheckupLoad(checkup::Load),
    /// Restore a setting when a checkup is gone (internal, started by checkup)
    #[command(hide = true)]
    CheckupGuard(checkup::Guard),
    /// List the known causes, or describe one
    Causes(causes::Causes),
    /// Print completions for a shell
    Completions(completions::Completions),
    /// Print the manual page of iowhy or of a command
    Man(man::Man),
}
