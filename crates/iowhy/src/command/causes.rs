//! `iowhy causes`.

use super::style::style;
use crate::failure::Failure;
use crate::stdout::{print, print_json};
use clap::Args;
use report::wrap::wrap_into;
use report::KnownCauses;
use std::io::IsTerminal;

/// List the known causes, or describe one.
#[derive(Args)]
pub struct Causes {
    /// The cause to describe
    pub name: Option<String>,
    /// Print one JSON object (schema iowhy.causes/1)
    #[arg(long)]
    pub json: bool,
}

impl Causes {
    /// Prints the list of causes, or the page of one.
    pub fn run(&self) -> Result<(), Failure> {
        let Some(name) = &self.name else {
            if self.json {
                return print_json(&KnownCauses::all());
            }
            let wide = causes::all_pages().map(|(name, ..)| name.len()).max().unwrap_or(0);
            // In a pipe, each cause stays on one line, for tools like grep.
            let columns = if std::io::stdout().is_terminal() { style().width } else { usize::MAX };
            let (mut text, other) = (String::new(), " ".repeat(wide + 2));
            for (name, title, _) in causes::all_pages() {
                wrap_into(&mut text, title, columns, &format!("{name:<wide$}  "), &other);
            }
            return print(&text);
        };
        let unknown = || Failure::Usage { what: format!("unknown cause {name}"), help: Some(known(name)) };
        if self.json {
            return print_json(&KnownCauses::one(name).ok_or_else(unknown)?);
        }
        let (_, _, page) = causes::all_pages().find(|(n, ..)| n == name).ok_or_else(unknown)?;
        print(page)
    }
}

/// Advice for an unknown name: causes whose names share a word with it, or how to list all.
fn known(name: &str) -> String {
    let shares =
        |known: &str| name.split('-').any(|word| word.len() > 2 && known.split('-').any(|w| w == word));
    let near: Vec<&str> =
        causes::all_pages().map(|(known, ..)| known).filter(|known| shares(known)).collect();
    match near.is_empty() {
        true => "`iowhy causes` lists them".into(),
        false => format!("similar: {}; `iowhy causes` lists all", near.join(", ")),
    }
}
