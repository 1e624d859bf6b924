//! What goes beside the program into its packages: of what parts it is made (CycloneDX), and under which licences they are.
//!
//! Both are made of what cargo says of the crates that are linked in, and of a short list of what is in the program and is no
//! crate (`others.rs`). The same sources give the same bytes.

mod licences;
mod others;
mod outcome;
mod parts;
mod sbom;
mod unsafe_code;

use clap::{Parser, Subcommand};
use outcome::Outcome;
use std::path::PathBuf;
use std::process::ExitCode;

/// The parts of the program and their licences.
#[derive(Parser)]
struct Arguments {
    /// For this target
    #[arg(long, default_value = "x86_64-unknown-linux-gnu", global = true)]
    target: String,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Write the list of parts, as CycloneDX 1.5
    Sbom {
        /// The file
        out: PathBuf,
    },
    /// Write the licences of all parts
    Licences {
        /// The file
        out: PathBuf,
    },
    /// Print which parts have unsafe code, and at how many places
    Unsafe,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("packaging: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Outcome {
    let program = parts::Program::read(&arguments.target)?;
    let (out, text) = match arguments.what {
        What::Sbom { out } => (out, sbom::text(&program)?),
        What::Licences { out } => (out, licences::text(&program)?),
        What::Unsafe => {
            for (name, count) in unsafe_code::counted(&program)? {
                println!("{name} {count}");
            }
            return Ok(());
        }
    };
    std::fs::write(&out, text).map_err(|e| format!("{}: {e}", out.display()).into())
}
