//! Reads machine-readable output of tools: JSON and logs. Numbers get the same names as in the tool's text.
//!
//! A file may be one such document; people also put several into one file, or paste one into a text, quoted
//! or not. A document is found by the name that its tool writes first, at any position, because other programs sort names.
//!
//! ```text
//! Before:
//! > { "fio version" : "fio-3.33", ...          found here
//! { "disk_util": [], "fio version": ...        and here, since the brace begins a line
//! ```

mod fio_json;
pub(crate) mod fio_log;
mod iostat_json;
mod json;
mod lsblk_json;
mod smart_json;

use crate::output::machine::Machine;
use crate::output::reading::Setting;
use crate::output::run::Run;
use evidence::Spot;
use json::Document;
use std::borrow::Cow;
use std::ops::Range;

/// The first names in tools' documents.
const FIRST: [&str; 5] =
    ["\"fio version\"", "\"sysstat\"", "\"json_format_version\"", "\"critical_warning\"", "\"blockdevices\""];
/// Limits on documents in a text, and on starts of documents that turn out to be invalid.
const MOST: usize = 1000;
const MOST_FAILED: usize = 16;

/// The JSON documents of tools in a text.
#[derive(Default)]
pub(crate) struct Saved {
    /// Runs in the order of the text, each with the byte range of its document.
    pub runs: Vec<(Run, Range<usize>)>,
    pub machines: Vec<Machine>,
    /// Settings of the machine's disks.
    pub settings: Vec<Setting>,
    /// Place of the first truncated document.
    pub broken: Option<Spot>,
    /// Byte ranges of all documents.
    pub documents: Vec<Range<usize>>,
}

impl Saved {
    /// Finds and reads all documents.
    pub fn read(text: &str) -> Saved {
        let mut saved = Saved::default();
        if !FIRST.iter().any(|name| text.contains(name)) {
            return saved;
        }
        let text = without_marks(text);
        let document = Document::new(&text);
        let (mut from, mut failed) = (0, 0);
        for (start, named_first) in begins(&text) {
            // Part of a document that was read.
            if start < from || failed == MOST_FAILED {
                continue;
            }
            // Truncated, or no JSON.
            let Some(value) = document.values(start).next().flatten() else {
                failed += 1;
                // A brace on an earlier line than the name may belong to a program's code.
                if named_first {
                    saved.broken.get_or_insert(document.spot(start));
                }
                continue;
            };
            let end = document.end_of(value);
            if let Some(settings) = lsblk_json::settings(&document, value).filter(|all| !all.is_empty()) {
                saved.settings.extend(settings);
                saved.documents.push(start..end);
                from = end;
                continue;
            }
            let runs = fio_json::runs(&document, value)
                .or_else(|| iostat_json::runs(&document, value))
                .or_else(|| smart_json::runs(&document, value));
            // A tool's document may be part of another program's document.
            let Some(runs) = runs else { continue };
            from = end;
            saved.machines.extend(iostat_json::machines(&document, value));
            saved.runs.extend(runs.into_iter().map(|run| (run, start..end)));
            saved.documents.push(start..end);
        }
        saved
    }

    /// The text with documents replaced by blanks, so that all places remain valid.
    pub fn rest<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.documents.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut rest = String::with_capacity(text.len());
        let mut from = 0;
        for document in &self.documents {
            rest.push_str(&text[from..document.start]);
            rest.extend(
                text.as_bytes()[document.clone()].iter().map(|b| if *b == b'\n' { '\n' } else { ' ' }),
            );
            from = document.end;
        }
        rest.push_str(&text[from..]);
        Cow::Owned(rest)
    }
}

/// Braces that may start a document with a name of [`FIRST`], in the order of the text, and whether the name directly follows: otherwise, the
/// brace is the last one before the name that starts a line.
fn begins(text: &str) -> Vec<(usize, bool)> {
    let of_lines = begin_lines(text);
    let brace = |name: usize| {
        let before = text[..name].trim_end();
        if before.ends_with('{') {
            return Some((before.len() - 1, true));
        }
        let last = of_lines.partition_point(|at| *at < name).checked_sub(1)?;
        Some((of_lines[last], false))
    };
    let mut all: Vec<(usize, bool)> = FIRST
        .iter()
        .flat_map(|name| text.match_indices(name).filter_map(|(at, _)| brace(at)).take(MOST))
        .collect();
    all.sort_unstable_by_key(|(start, named_first)| (*start, !named_first));
    all.dedup_by_key(|(start, _)| *start);
    all
}

/// Blanks allowed before a brace that starts a line, for removed quote marks.
const MOST_BLANKS: usize = 2;

/// Braces at the start of lines; those of objects in lists are indented.
fn begin_lines(text: &str) -> Vec<usize> {
    let within = |line: &str| line.as_ptr() as usize - text.as_ptr() as usize;
    let brace = |line: &str| {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        let begins = blanks <= MOST_BLANKS && line[blanks..].starts_with('{');
        begins.then(|| within(line) + blanks)
    };
    text.lines().filter_map(brace).collect()
}

/// Replaces quote marks at the start of lines by blanks.
fn without_marks(text: &str) -> Cow<'_, str> {
    if !text.lines().any(|line| line.trim_start().starts_with('>')) {
        return Cow::Borrowed(text);
    }
    let mut begins = true;
    let blank = |c: char| {
        let mark = begins && c == '>';
        begins = c == '\n' || begins && (c == '>' || c == ' ' || c == '\t');
        if mark {
            ' '
        } else {
            c
        }
    };
    Cow::Owned(text.chars().map(blank).collect())
}
