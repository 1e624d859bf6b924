//! `iowhy completions`.

use crate::failure::Failure;
use crate::stdout::print;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Args, Command};
use clap_complete::Shell;

/// Print completions for a shell: `iowhy completions bash > /etc/bash_completion.d/iowhy`.
#[derive(Args)]
pub struct Completions {
    /// Which shell
    pub shell: Shell,
}

impl Completions {
    /// Prints the completions for the shell.
    pub fn run(&self, command: clap::Command) -> Result<(), Failure> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut with_names(command), "iowhy", &mut text);
        print(&String::from_utf8_lossy(&text))
    }
}

/// Adds the possible values of arguments that commands check themselves, because their errors say more than a list.
fn with_names(command: Command) -> Command {
    let causes: Vec<&'static str> = causes::all_pages().map(|(name, ..)| name).collect();
    let tables: Vec<&'static str> = report::KINDS.iter().map(|kind| kind.name).collect();
    let one_of =
        |names: Vec<&'static str>| move |arg: Arg| arg.value_parser(PossibleValuesParser::new(names));
    command
        .mut_subcommand("causes", |c| c.mut_arg("name", one_of(causes)))
        .mut_subcommand("report", |c| c.mut_arg("tables", one_of(tables)))
}
