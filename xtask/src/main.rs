//! The project's own tools, run as `cargo xtask ...`: cutting bundled recordings out of long ones, making a long
//! one out of a bundled one, measuring, drawing the picture of the README.

mod bench;
mod cost;
mod cut;
mod cut_trace;
mod document;
mod files;
mod goals;
mod load;
mod machine;
mod mails;
mod outcome;
mod pause;
mod picture;
mod pour;
mod record;
mod repeat;
mod repeat_trace;
mod run;
mod texts;
mod tracecmd;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The project's own tools.
#[derive(Parser)]
#[command(name = "cargo xtask", max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    Cut(cut::Cut),
    CutTrace(cut_trace::CutTrace),
    Repeat(repeat::Repeat),
    Bench(bench::Bench),
    BenchTexts(texts::BenchTexts),
    BenchGoals(goals::Goals),
    BenchPour(pour::Pour),
    RecordingCost(cost::RecordingCost),
    Mails(mails::Mails),
    #[command(hide = true)]
    Measure(run::Measure),
    Picture(picture::Picture),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().task {
        Task::Cut(t) => t.run(),
        Task::CutTrace(t) => t.run(),
        Task::Repeat(t) => t.run(),
        Task::Bench(t) => t.run(),
        Task::BenchTexts(t) => t.run(),
        Task::BenchGoals(t) => t.run(),
        Task::BenchPour(t) => t.run(),
        Task::RecordingCost(t) => t.run(),
        Task::Mails(t) => t.run(),
        Task::Measure(t) => t.run(),
        Task::Picture(t) => t.run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("xtask: {e}");
            ExitCode::FAILURE
        }
    }
}
