//! `iowhy completions`.

use super::print;
use crate::cli;
use crate::failure::Failure;
use clap::Args;
use clap_complete::Shell;

/// Print completions for a shell: `iowhy completions bash > /etc/bash_completion.d/iowhy`.
#[derive(Args)]
pub struct Completions {
    /// Which shell
    pub shell: Shell,
}

impl Completions {
    /// Prints them.
    pub fn run(&self) -> Result<(), Failure> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut cli::plain_command(), "iowhy", &mut text);
        print(&String::from_utf8_lossy(&text))
    }
}
