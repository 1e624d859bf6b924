//! `iowhy causes`.

use super::print;
use crate::failure::Failure;
use clap::Args;
use std::fmt::Write;

/// List the causes iowhy knows, or tell all about one.
#[derive(Args)]
pub struct Causes {
    /// The cause to tell about
    pub name: Option<String>,
}

impl Causes {
    /// Prints the list or a page.
    pub fn run(&self) -> Result<(), Failure> {
        let Some(name) = &self.name else {
            let wide = causes::pages().map(|(name, ..)| name.len()).max().unwrap_or(0);
            let mut text = String::new();
            for (name, title, _) in causes::pages() {
                let _ = writeln!(text, "{name:<wide$}  {title}");
            }
            return print(&text);
        };
        match causes::pages().find(|(n, ..)| n == name) {
            Some((_, _, page)) => print(page),
            None => Err(Failure::Other {
                what: format!("unknown cause {name}"),
                help: Some(format!(
                    "causes are {}",
                    causes::pages().map(|(n, ..)| n).collect::<Vec<_>>().join(", ")
                )),
            }),
        }
    }
}
