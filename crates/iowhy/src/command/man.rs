//! `iowhy man`.

use super::print;
use crate::cli::Arguments;
use crate::failure::Failure;
use clap::{Args, CommandFactory};
use std::path::PathBuf;

/// Print the manual page of iowhy or of a command: `iowhy man explain | man -l -`.
#[derive(Args)]
pub struct Man {
    /// The command; without it the page of iowhy itself
    pub command: Option<String>,
    /// Write all pages into this folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub all: Option<PathBuf>,
}

impl Man {
    /// Prints a page, or writes all.
    pub fn run(&self) -> Result<(), Failure> {
        let mut top = Arguments::command();
        top.build();
        if let Some(dir) = &self.all {
            let what = dir.display().to_string();
            return clap_mangen::generate_to(top, dir).map_err(Failure::write(&what));
        }
        let page = match &self.command {
            None => top,
            Some(name) => top.find_subcommand(name).cloned().ok_or_else(|| Failure::Other {
                what: format!("no command is called {name}"),
                help: Some("`iowhy help` lists them".into()),
            })?,
        };
        let mut text = Vec::new();
        clap_mangen::Man::new(page).render(&mut text).map_err(Failure::write("standard output"))?;
        print(&String::from_utf8_lossy(&text))
    }
}
