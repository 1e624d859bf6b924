//! The command line.

use crate::command::{
    causes, checkup, compare, completions, dist, events, explain, export, man, pack, plot, record, report,
    slow, view, whatif,
};
use clap::{Parser, Subcommand};

/// Why was this I/O slow, and what would make it fast?
///
/// Reads blktrace recordings (NAME.blktrace.N, `blkparse -d` files, pipes), accounts for the time of every I/O, names
/// the cause with its proof and says what to change.
#[derive(Parser)]
#[command(name = "iowhy", version, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Record what the kernel does with I/O, and leave the machine as it was
    Record(record::Record),
    /// Say what was slow, where its time went, why, what to try, and how far to trust it
    Explain(explain::Explain),
    /// Say whether it got better: two recordings, or two runs that texts tell of, side by side
    Compare(compare::Compare),
    /// Show where the time of the slowest operations went, to the nanosecond
    Slow(slow::Slow),
    /// Say what another setting of the I/O scheduler would have done, or why that cannot be said
    Whatif(whatif::WhatIf),
    /// Show how long operations took, by file system, as xfsdist and ext4dist do
    Dist(dist::Distributions),
    /// Print all numbers in tables; every table of btt has its counterpart, with percentiles
    Report(report::Report),
    /// Show a recording as pictures, in a browser on this machine
    View(view::View),
    /// Draw a recording: a picture for a paper or a mail, a film, or in the terminal
    Plot(plot::Plot),
    /// Write a recording out for other programs: Perfetto, tables, fio, HdrHistogram, btt
    Export(export::Export),
    /// Print the events, as blkparse does
    Events(events::Events),
    /// Make one compressed file of a capture, to send it
    Pack(pack::Pack),
    /// Try the loads that others suffered from on your own disk, and say what would bite
    Checkup(checkup::Checkup),
    /// Become a load: a checkup calls it
    #[command(hide = true)]
    CheckupLoad(checkup::Load),
    /// Restore a setting when a checkup is gone: a checkup calls it
    #[command(hide = true)]
    CheckupGuard(checkup::Guard),
    /// List the causes iowhy knows, or tell all about one
    Causes(causes::Causes),
    /// Print completions for a shell
    Completions(completions::Completions),
    /// Print the manual page of iowhy or of a command
    Man(man::Man),
}
