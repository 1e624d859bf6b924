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
        let all = causes::all();
        let Some(name) = &self.name else {
            let wide = all.iter().map(|c| c.name().len()).max().unwrap_or(0);
            let mut text = String::new();
            for cause in all {
                let _ = writeln!(text, "{:<wide$}  {}", cause.name(), cause.title());
            }
            return print(&text);
        };
        match all.iter().find(|c| c.name() == name) {
            Some(cause) => print(cause.page()),
            None => Err(Failure::Other {
                what: format!("no cause is called {name}"),
                help: Some("`iowhy causes` lists them".into()),
            }),
        }
    }
}
