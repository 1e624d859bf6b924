//! `iowhy man`.

use crate::failure::Failure;
use crate::help::{topic, Topic};
use crate::stdout::print;
use clap::{Args, Command};
use clap_mangen::Man as Page;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::{self, Stdio};

/// Show the manual page of iowhy or of a command; into a pipe or a file it is written as man(1) reads it
#[derive(Args)]
pub struct Man {
    /// The command; without it the page of iowhy itself
    pub command: Option<String>,
    /// Write all pages into this folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub all: Option<PathBuf>,
}

impl Man {
    /// Prints a page, shows it by man(1), or writes all pages.
    pub fn run(&self, command: clap::Command) -> Result<(), Failure> {
        let mut top = command.disable_help_subcommand(true);
        top.build();
        if let Some(dir) = &self.all {
            let commands = top.get_subcommands().filter(|c| !c.is_hide_set()).cloned();
            for page in commands.chain([top.clone()]) {
                let file = dir.join(Page::new(page.clone()).get_filename());
                let what = file.display().to_string();
                std::fs::write(&file, text(page).map_err(Failure::write(&what))?)
                    .map_err(Failure::write(&what))?;
            }
            return Ok(());
        }
        let page = match &self.command {
            None => top,
            Some(name) => top.find_subcommand(name).cloned().ok_or_else(|| Failure::Usage {
                what: format!("unknown command {name}"),
                help: Some(format!("commands are {}", names(&top))),
            })?,
        };
        let text = text(page).map_err(Failure::write("standard output"))?;
        match std::io::stdout().is_terminal() && is_shown(&text) {
            true => Ok(()),
            false => print(&String::from_utf8_lossy(&text)),
        }
    }
}

/// Whether man(1) exists and showed the page.
fn is_shown(page: &[u8]) -> bool {
    let man = process::Command::new("man").args(["-l", "-"]).stdin(Stdio::piped()).spawn();
    man.is_ok_and(|mut man| {
        // A reader may quit before the end of the page.
        let _ = man.stdin.take().map(|mut to| to.write_all(page));
        man.wait().is_ok_and(|status| status.success())
    })
}

/// Names of commands in a line.
const IN_A_LINE: usize = 8;

fn names(top: &Command) -> String {
    let visible = top.get_subcommands().filter(|c| !c.is_hide_set());
    let names: Vec<&str> = visible.map(Command::get_name).collect();
    names.chunks(IN_A_LINE).map(|line| line.join(", ")).collect::<Vec<_>>().join(",\n")
}

/// The roff text of a page: what clap knows about the command, then examples, exit status, files and related pages.
fn text(command: Command) -> io::Result<Vec<u8>> {
    let (name, version) = (command.get_name().to_string(), command.get_version().map(str::to_string));
    let has_commands = command.get_subcommands().any(|c| !c.is_hide_set());
    let extra = command.get_after_help().is_some();
    let page = Page::new(command);
    let mut out = Vec::new();
    page.render_title(&mut out)?;
    page.render_name_section(&mut out)?;
    page.render_synopsis_section(&mut out)?;
    page.render_description_section(&mut out)?;
    page.render_options_section(&mut out)?;
    if has_commands {
        page.render_subcommands_section(&mut out)?;
    }
    if extra {
        page.render_extra_section(&mut out)?;
    }
    out.extend(sections(topic(&name).unwrap_or(&TOP)).into_bytes());
    if version.is_some() {
        page.render_version_section(&mut out)?;
    }
    Ok(out)
}

/// The examples and related pages of iowhy itself.
const TOP: Topic = Topic {
    name: "iowhy",
    examples: &[
        ("sudo iowhy record --for 30s -o slow", "record while it is slow"),
        ("iowhy explain slow", "why it was slow, in one screen"),
        ("iowhy compare slow after", "after a change: did it help?"),
    ],
    files: &[],
    see_also: &[
        "iowhy-record(1)",
        "iowhy-explain(1)",
        "iowhy-slow(1)",
        "iowhy-compare(1)",
        "iowhy-report(1)",
        "blktrace(8)",
        "trace-cmd(1)",
        "fio(1)",
    ],
    status: None,
};

const STATUS: &str =
    "0: done, whether a cause was found or not. 1: failed. 2: wrong usage. 130: interrupted.";

/// The sections EXAMPLES, EXIT STATUS, FILES, ENVIRONMENT and SEE ALSO, as roff.
fn sections(topic: &Topic) -> String {
    let mut out = String::from(".SH EXAMPLES\n");
    for (line, what) in topic.examples {
        out += &format!(".TP\n.B {}\n{}\n", roff(line), roff(what));
    }
    out += &format!(".SH \"EXIT STATUS\"\n{}\n", roff(STATUS));
    if let Some(more) = topic.status {
        out += &format!("{}\n", roff(more));
    }
    if !topic.files.is_empty() {
        out += ".SH FILES\n";
        for (file, what) in topic.files {
            out += &format!(".TP\n.I {}\n{}\n", roff(file), roff(what));
        }
    }
    out +=
        ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nif set, no colours\n.TP\n.B COLUMNS\nwidth of what is printed; \
            without it that of the terminal, or 80\n";
    let top = (topic.name != TOP.name).then_some("iowhy(1)");
    let see: Vec<_> = top.into_iter().chain(topic.see_also.iter().copied()).map(roff).collect();
    out + &format!(".SH \"SEE ALSO\"\n{}\n", see.join(", "))
}

/// Escapes text for roff: hyphens become minus signs, and no line begins with a control character.
fn roff(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    match escaped.starts_with(['.', '\'']) {
        true => format!("\\&{escaped}"),
        false => escaped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_its_sections() {
        let mut top = crate::cli::plain_command();
        top.build();
        let commands = top.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help").cloned();
        for command in commands.chain([top.clone()]) {
            let name = command.get_name().to_string();
            let page = String::from_utf8(text(command).unwrap()).unwrap();
            for section in ["EXAMPLES", "\"EXIT STATUS\"", "\"SEE ALSO\""] {
                assert!(page.contains(&format!(".SH {section}\n")), "{name} lacks {section}");
            }
        }
    }
}
