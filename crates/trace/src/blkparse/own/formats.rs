//! The formats of one text: for all lines (`-f`), or for single actions (`-F C,"%T.%t %d %S %n\\n"`), as in the command above the lines.

use super::super::actions::action;
use super::super::line::{parse, Line, Parsed};
use super::program::Program;
use std::collections::BTreeMap;

/// Minimum number of lines that must be events.
pub(super) const LEAST: usize = 4;

/// The result of examining a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Own {
    /// No blkparse lines in a custom format.
    None,
    /// Lines that can be parsed.
    Read(Formats),
    /// Lines of blkparse, and the reason why they cannot be parsed.
    Refused(String),
}

/// Parses the lines of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Formats {
    programs: Vec<Program>,
    /// Whether other lines (of actions without a `-F`) have blkparse's default format.
    others: bool,
}

impl From<Program> for Formats {
    fn from(program: Program) -> Formats {
        Formats { programs: vec![program], others: false }
    }
}

impl Formats {
    /// Parses a line; `None` if it is no event, or if two formats match.
    pub fn read<'a>(&self, line: &'a [u8]) -> Option<Parsed<'a>> {
        let mut all = self.programs.iter().filter_map(|program| program.read(line));
        match (all.next(), all.next()) {
            (Some(one), None) => Some(one),
            (None, _) if self.others => match parse(line) {
                Line::Event(parsed) => Some(parsed),
                _ => None,
            },
            _ => None,
        }
    }

    /// The fields of the lines in words, for the note about the text.
    pub fn words(&self) -> String {
        self.programs.iter().map(Program::words).collect::<Vec<_>>().join("; ")
    }

    /// Whether all lines name the task.
    pub fn has_task(&self) -> bool {
        self.programs.iter().all(Program::has_task)
    }

    /// Whether all lines name the device.
    pub fn has_device(&self) -> bool {
        self.programs.iter().all(Program::has_device)
    }
}

/// The formats of single actions, if a command above the lines has `-F` and enough lines match; otherwise `None`.
pub(super) fn of_actions(start: &[u8]) -> Option<Own> {
    let text = String::from_utf8_lossy(start);
    let mut given = command(&text, "-F").peekable();
    given.peek()?;
    let mut programs = BTreeMap::new();
    for (argument, _) in given {
        let (letter, format) = argument.split_once(',')?;
        let of = action(letter.as_bytes())?;
        match Program::parse(format, Some(of)) {
            // As in blkparse, the last format of an action counts.
            Ok(program) => _ = programs.insert(letter.to_owned(), program),
            Err(why) => return Some(Own::Refused(format!("its format of {letter} is {format:?}, {why}"))),
        }
    }
    let mut programs: Vec<Program> = programs.into_values().collect();
    let own = programs.len();
    let mut all = command(&text, "-f").map(|(format, _)| Program::parse(&format, None));
    programs.extend(all.next().transpose().ok()?);
    let formats = Formats { others: programs.len() == own, programs };
    let lines = || text.lines().map(str::as_bytes);
    let of_own = lines().filter(|line| formats.programs[..own].iter().any(|p| p.read(line).is_some()));
    (of_own.count() >= LEAST).then_some(Own::Read(formats))
}

/// The arguments of an option in a blkparse command within the text, each with the text after it:
/// `blkparse -i sda -F C,"%T.%t %S\n" -F 'D,%T.%t %S\n'`.
pub(super) fn command<'t>(text: &'t str, option: &'t str) -> impl Iterator<Item = (String, &'t str)> {
    let line =
        text.lines().find(|line| line.contains("blkparse") && line.contains(option) && line.contains('%'));
    let behind = line.and_then(|line| line.split_once("blkparse")).map_or("", |(_, behind)| behind);
    let next = move |rest: &&'t str| {
        let at =
            rest.match_indices(option).map(|(at, _)| at).find(|at| rest[..*at].ends_with([' ', '\t']))?;
        Some(argument(rest[at + option.len()..].trim_start()))
    };
    let first = next(&behind);
    std::iter::successors(first, move |(_, rest)| next(rest)).filter(|(argument, _)| argument.contains('%'))
}

/// The first shell word without its quotes, and the text after it.
fn argument(text: &str) -> (String, &str) {
    let (mut word, mut quote) = (String::new(), None);
    for (at, c) in text.char_indices() {
        match quote {
            Some(q) if c == q => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c.is_whitespace() => return (word, &text[at..]),
            _ => word.push(c),
        }
    }
    (word, "")
}
