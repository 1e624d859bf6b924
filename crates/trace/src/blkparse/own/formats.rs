//! The formats of one text: of all its lines (`-f`), or of single actions (`-F C,"%T.%t %d %S %n\\n"`), as the command above says.

use super::super::actions::action;
use super::super::line::{parse, Line, Parsed};
use super::program::Program;
use super::{Own, LEAST};
use std::collections::BTreeMap;

/// What reads the lines of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Formats {
    programs: Vec<Program>,
    /// Whether lines that none of these reads are as blkparse prints them.
    others: bool,
}

impl From<Program> for Formats {
    fn from(program: Program) -> Formats {
        Formats { programs: vec![program], others: false }
    }
}

impl Formats {
    /// Reads a line; `None` if it is no event, or in two of these formats two different ones.
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

    /// What lines have, in words: for what is said of the text.
    pub fn words(&self) -> String {
        self.programs.iter().map(Program::words).collect::<Vec<_>>().join("; ")
    }

    /// Whether all lines say who sent what.
    pub fn has_task(&self) -> bool {
        self.programs.iter().all(Program::has_task)
    }

    /// Whether all lines say on which device things happen.
    pub fn has_device(&self) -> bool {
        self.programs.iter().all(Program::has_device)
    }
}

/// The formats of single actions, if a command above the lines has any, and lines are of them.
pub(super) fn of_actions(start: &[u8]) -> Option<Own> {
    let text = String::from_utf8_lossy(start);
    let mut given = command(&text, "-F").peekable();
    given.peek()?;
    let mut programs = BTreeMap::new();
    for (argument, _) in given {
        let (letter, format) = argument.split_once(',')?;
        let of = action(letter.as_bytes())?;
        match Program::parse(format, Some(of)) {
            // As blkparse has it, the last one of an action holds.
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

/// The arguments of an option of blkparse in a command that stands in the text, each with what follows it:
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

/// A word of the shell's without its quotes, and what follows.
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
