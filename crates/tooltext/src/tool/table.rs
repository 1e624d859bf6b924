//! Reads tables as tools print them: a heading, and rows with as many words as columns.
//!
//! All tables are read here. A tool's file defines its headings and the content below each; this file handles what people and
//! mailers do to a table: rows wrapped at any column, a remark after a row or between two ("...", "<-- this one"), a time
//! before each row, a name of several words. Bars between cells and rulers between rows are ignored.
//!
//! ```text
//! TIME(s)   COMM           PID    DISK    T  SECTOR    BYTES   LAT(ms)
//! 0.000004  Web Content    1950   xvda1   W  13092560  4096       0.74
//! ```
//!
//! **Invariant**: a row is accepted only if every column has a word of its kind, so no number is assigned to another column's
//! heading.

use super::reader::Found;
use crate::output::number::{decimal, quantity, Number, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

/// The content below a heading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell {
    /// A number: name, factor, unit. `-`, `N/A`, `LL_MAX` and `+++` are unknown numbers.
    Number(&'static str, f64, Unit),
    /// A count, optionally followed by its share: `3 (0.1%)`.
    Counted(&'static str),
    /// A whole number that is kept as a word: a process id, a sector; `-` for none.
    Whole,
    /// A time of day or seconds; not kept.
    Time,
    /// One word.
    Word,
    /// A word of letters: the kind of operation.
    Letters,
    /// A task's name, possibly of several words.
    Name,
    /// The rest of the line.
    Rest,
    /// The rest of the line, not starting with a number: a number there means that a word of the heading or the row was lost.
    Command,
}

/// A column that a tool knows: the printed heading, possibly of several words, and the content.
pub(super) type Column = (&'static str, Cell);

/// A row: the words of each column.
#[derive(Debug)]
pub(super) struct Line<'w, 'a> {
    columns: &'w [Column],
    cells: Vec<&'w [Word<'a>]>,
}

/// The rows of a table.
#[derive(Debug)]
pub(super) struct Lines<'w, 'a> {
    pub lines: Vec<Line<'w, 'a>>,
    /// Number of words that belong to the table, including remarks.
    pub used: usize,
    /// Number of words of remarks.
    pub unknown: usize,
}

/// Limit on words of a name; a task's has 15 characters.
const LONGEST_NAME: usize = 4;
/// Limit on words at the end of a line in flattened text: a command, a file.
const LONGEST_REST: usize = 64;
/// As [`LONGEST_REST`], if the line ends with these words: a compiler's command has a hundred.
const LONGEST_OF_LINE: usize = 512;

/// Number of words in the rest of a line: up to the next line, or up to a limit in flattened text.
pub(super) fn rest_of_line(rest: &[Word]) -> usize {
    let next = rest.iter().take(LONGEST_OF_LINE).skip(1).position(|w| w.first);
    next.map_or(rest.len().min(LONGEST_REST), |before| 1 + before)
}

/// Limit on words of a remark between two rows, at any position.
pub(super) const MOST_REMARKS: usize = 12;
/// Limits on lines and words of a remark after which a row starts a line.
const MOST_LINES_OF_REMARK: usize = 4;
const MOST_OF_LINES: usize = 64;
/// Limit on words of rulers: one per column, with bars between them.
const MOST_OF_RULERS: usize = 64;
/// Limit on rows of a table.
pub(super) const MOST_ROWS: usize = 16_384;

/// The known columns of the heading at the start of `words`, and their number of words. No column occurs
/// twice: a repeated heading ends the first one.
pub(super) fn heading(words: &[Word], known: &[Column]) -> (Vec<Column>, usize) {
    let (mut columns, mut used): (Vec<Column>, usize) = (vec![], 0);
    while columns.len() < known.len() {
        let rest = &words[used + bars(&words[used..])..];
        let stands = |name: &str| {
            let mut words = rest.iter();
            name.split(' ').all(|part| words.next().is_some_and(|w| w.text == part))
        };
        match known.iter().find(|(name, _)| stands(name)) {
            Some(column) if !columns.contains(column) => columns.push(*column),
            _ => break,
        }
        used = words.len() - rest.len() + columns[columns.len() - 1].0.split(' ').count();
    }
    (columns, used)
}

/// Whether a word starts the heading of one of these columns.
fn begins_column(word: &Word, columns: &[Column]) -> bool {
    columns.iter().any(|(name, _)| name.split(' ').next() == Some(word.text))
}

/// Number of bars before a cell.
fn bars(words: &[Word]) -> usize {
    words.iter().take_while(|w| w.text == "|").count()
}

/// Number of words of rulers before a row: `-----`, `---- | ----`.
pub(super) fn rulers(words: &[Word]) -> usize {
    let drawn = |w: &&Word| w.text.bytes().all(|b| b"-=|+".contains(&b));
    let all = words.iter().take(MOST_OF_RULERS).take_while(drawn).count();
    // `-` alone is an unknown number, `+` a mark.
    if words[..all].iter().any(|w| w.text.len() > 2) {
        all
    } else {
        0
    }
}

/// Whether a heading has all of these columns.
pub(super) fn has(columns: &[Column], names: &[&str]) -> bool {
    names.iter().all(|name| columns.iter().any(|(known, _)| known == name))
}

/// Reads the rows below a heading; `words` starts after the heading.
pub(super) fn rows<'w, 'a>(words: &'w [Word<'a>], columns: &'w [Column]) -> Lines<'w, 'a> {
    let mut all = Lines { lines: vec![], used: 0, unknown: 0 };
    while all.lines.len() < MOST_ROWS {
        let rulers = rulers(&words[all.used..]);
        let rest = &words[all.used + rulers..];
        let ends = |w: &Word| begins_column(w, columns);
        let Some((skip, line, length)) = next(rest, ends, |rest| row(rest, columns)) else { break };
        all.unknown += skip;
        all.used += rulers + skip + length;
        all.lines.push(line);
    }
    all
}

/// The next row, and the number of words of remarks before it. A row after a remark must start a line, and another heading is
/// no remark.
pub(super) fn next<'w, 'a, T>(
    words: &'w [Word<'a>],
    ends: impl Fn(&Word) -> bool,
    read: impl Fn(&'w [Word<'a>]) -> Option<(T, usize)>,
) -> Option<(usize, T, usize)> {
    let mut lines = 0;
    let more = |(i, w): &(usize, &Word)| {
        lines += usize::from(w.first);
        !ends(w) && (*i < MOST_REMARKS || lines <= MOST_LINES_OF_REMARK)
    };
    let most = words.iter().take(MOST_OF_LINES).enumerate().take_while(more).count();
    (0..=most).find_map(|skip| {
        let rest = &words[skip..];
        (skip <= MOST_REMARKS || rest.first()?.first).then_some(())?;
        let is_aside = |w: &&Word| is_sign(w.text) || is_time(w.text);
        let stops = || words[..skip].iter().rev().find(|w| w.first || !is_aside(w));
        (rest.first()?.first || stops().is_none_or(|w| is_aside(&w))).then_some(())?;
        let (row, length) = read(rest).filter(|(_, length)| !is_lent(rest, *length, &read))?;
        Some((skip, row, length))
    })
}

/// Whether an apparent row does not match its line: a number follows it, or it includes the start of the next line, which is a row
/// itself. A heading or a cell was then lost, and its numbers would be assigned to the wrong headings.
fn is_lent<'w, 'a, T>(
    words: &'w [Word<'a>],
    length: usize,
    read: impl Fn(&'w [Word<'a>]) -> Option<(T, usize)>,
) -> bool {
    // In flattened text the next row follows on the same line.
    let alone =
        words.get(length).is_some_and(|w| !w.paragraph) && words.get(length + 1).is_none_or(|w| w.first);
    let more =
        words[0].first && words.get(length).is_some_and(|w| (!w.first || alone) && decimal(w.text).is_some());
    let next = (1..length.min(words.len())).find(|i| words[*i].first);
    // The first word identifies the start of a row, even if the row is broken: in `0.627000000` only times have that many places.
    let places = |i: usize| words[i].text.split_once('.').map_or(0, |(_, places)| places.len());
    let whole = |from: usize| {
        let from = from + words[from..].iter().take(MOST_TIMES).take_while(|w| is_time(w.text)).count();
        let (_, long) = read(words.get(from..)?)?;
        let begins = places(from) > 3 && places(from) == places(0);
        (begins || !words[from + 1..from + long].iter().any(|w| w.first)).then_some(())
    };
    more || next.and_then(whole).is_some()
}

/// A reading with all rows after a heading of `used` words, at most `most`; `None` if there are none.
pub(super) fn gather<'w, 'a>(
    reading: Reading,
    words: &'w [Word<'a>],
    used: usize,
    most: usize,
    ends: impl Fn(&Word) -> bool,
    read: impl Fn(&'w [Word<'a>]) -> Option<(Row, usize)>,
) -> Option<Found> {
    gather_lines(reading, words, used, most, ends, |rest| read(rest).map(|(row, length)| ([row], length)))
}

/// As [`gather`], if a line has several rows, for example of devices beside each other.
pub(super) fn gather_lines<'w, 'a, R: IntoIterator<Item = Row>>(
    mut reading: Reading,
    words: &'w [Word<'a>],
    mut used: usize,
    most: usize,
    ends: impl Fn(&Word) -> bool,
    read: impl Fn(&'w [Word<'a>]) -> Option<(R, usize)>,
) -> Option<Found> {
    let mut unknown = 0;
    while reading.rows.len() < most {
        let rulers = rulers(&words[used..]);
        let Some((skip, rows, length)) = next(&words[used + rulers..], &ends, &read) else { break };
        used += rulers + skip + length;
        unknown += skip;
        reading.rows.extend(rows);
    }
    (!reading.rows.is_empty()).then_some(Found { reading: Some(reading), used, unknown })
}

/// Whether a word is `Average:` in any language.
pub(super) fn is_average(text: &str) -> bool {
    text.len() <= 24 && text.strip_suffix(':').is_some_and(|t| t.chars().all(is_of_word))
}

/// Whether a word may be part of a time before a row: time of day, date, seconds since 1970; `Average:` in any language.
pub(super) fn is_time(text: &str) -> bool {
    match text.starts_with(|c: char| c.is_ascii_digit()) {
        true => text.len() <= 32 && text.contains([':', '/', '-', '时', '時']) || is_since_1970(text),
        false => ["AM", "PM", "^C"].contains(&text) || is_average(text),
    }
}

/// Whether a word is a time in seconds since 1970, of this century: `-H` of sysstat's tools.
fn is_since_1970(text: &str) -> bool {
    text.len() == 10
        && text.bytes().all(|b| b.is_ascii_digit())
        && ("1000000000".."4102444800").contains(&text)
}

fn is_of_word(c: char) -> bool {
    c.is_alphabetic() || c == '.'
}

/// Whether a word is a sign: `+`, `...`, `-->` (no letter or digit), or `<KEY>`, which points at a row.
fn is_sign(text: &str) -> bool {
    !text.contains(char::is_alphanumeric) || text.starts_with('<') && text.ends_with('>')
}

/// Parses a row; words at its end may be on a second line.
pub(super) fn row<'w, 'a>(words: &'w [Word<'a>], columns: &'w [Column]) -> Option<(Line<'w, 'a>, usize)> {
    let (mut line, length) = row_of_line(words, columns)?;
    let ends_in_words = columns.last().is_some_and(|(_, cell)| [Cell::Rest, Cell::Command].contains(cell));
    let begins = |rest: &[Word]| {
        let heading = rest.first().is_some_and(|w| begins_column(w, columns));
        let times = rest.iter().take(MOST_TIMES).take_while(|w| is_time(w.text)).count();
        heading || times > 0 || row_of_line(rest, columns).is_some()
    };
    let more = if ends_in_words { broken_off(words, length, begins) } else { 0 };
    if let Some(cell) = line.cells.last_mut().filter(|_| more > 0) {
        let from = length - cell.len();
        *cell = &words[from..length + more];
    }
    Some((line, length + more))
}

/// Limit on words of a time before a row.
const MOST_TIMES: usize = 3;
/// Width up to which no mailer breaks a line.
const SHORTEST_BROKEN: usize = 66;
/// Limit on words on the second line of a row.
const MOST_OF_SECOND: usize = 16;

/// Number of words on the next line that belong to a row of `length` words: words that did not fit into its
/// line, if another row (decided by `begins`), a blank line or the end follows them.
pub(super) fn broken_off(words: &[Word], length: usize, begins: impl Fn(&[Word]) -> bool) -> usize {
    let (line, rest) = words.split_at(length.min(words.len()));
    let first = line.iter().rposition(|w| w.first).map_or(line, |at| &line[at..]).first();
    let (Some(first), Some(last), Some(next)) = (first, line.last(), rest.first()) else { return 0 };
    // Both are slices of one line.
    let width = (last.text.as_ptr() as usize + last.text.len()).saturating_sub(first.text.as_ptr() as usize);
    let did_not_fit = width + 1 + next.text.len() >= SHORTEST_BROKEN;
    let markup = next.text.starts_with(['<', '{', '`']);
    if !did_not_fit || markup || !next.first || next.paragraph || next.depth != last.depth || begins(rest) {
        return 0;
    }
    let more = rest.iter().take(MOST_OF_SECOND).enumerate().take_while(|(i, w)| *i == 0 || !w.first).count();
    let behind = &rest[more..];
    match behind.first() {
        Some(w) if w.paragraph => more,
        Some(w) if !w.first || !begins(behind) => 0,
        _ => more,
    }
}

fn row_of_line<'w, 'a>(words: &'w [Word<'a>], columns: &'w [Column]) -> Option<(Line<'w, 'a>, usize)> {
    let names = columns.iter().any(|(_, cell)| *cell == Cell::Name);
    (1..=if names { LONGEST_NAME } else { 1 }).find_map(|long| {
        let mut cells = Vec::with_capacity(columns.len());
        let mut at = 0;
        for (_, cell) in columns {
            at += bars(words.get(at..)?);
            let rest = &words[at..];
            let length = match cell {
                Cell::Name => long,
                Cell::Rest | Cell::Command => rest_of_line(rest),
                Cell::Counted(_) => 1 + usize::from(rest.get(1).is_some_and(|w| is_share(w.text))),
                Cell::Time => 1 + usize::from(rest.get(1).is_some_and(|w| ["AM", "PM"].contains(&w.text))),
                _ => 1,
            };
            let cell_words = rest.get(..length).filter(|w| !w.is_empty())?;
            fits(cell_words[0].text, *cell).then_some(())?;
            cells.push(cell_words);
            at += length;
        }
        Some((Line { columns, cells }, at))
    })
}

fn fits(text: &str, cell: Cell) -> bool {
    match cell {
        // Whole numbers have no decimal point, unless they are abbreviated.
        Cell::Number(_, 1.0, Unit::Count | Unit::Bytes)
            if text.contains('.') && text.ends_with(|c: char| c.is_ascii_digit()) =>
        {
            false
        }
        Cell::Number(..) => is_unknown(text) || quantity(text, 1.0, Unit::Unstated).is_some(),
        Cell::Counted(_) => text.parse::<u64>().is_ok(),
        Cell::Whole => text == "-" || text.trim_start_matches('-').parse::<u64>().is_ok(),
        Cell::Time => text.len() <= 24 && text.starts_with(|c: char| c.is_ascii_digit()),
        Cell::Word => text.len() <= 128,
        Cell::Letters => text.len() <= 16 && text.bytes().all(|b| b.is_ascii_alphabetic()),
        Cell::Command => text.contains(char::is_alphanumeric) && decimal(text).is_none(),
        Cell::Name | Cell::Rest => true,
    }
}

/// Whether a word is an unknown number: plus signs mean too fast to be measured.
fn is_unknown(text: &str) -> bool {
    ["-", "N/A", "LL_MAX"].contains(&text) || text.bytes().all(|b| b == b'+')
}

/// Whether a word is a share: `(0.1%)`.
fn is_share(text: &str) -> bool {
    text.strip_prefix('(').and_then(|t| t.strip_suffix("%)")).is_some_and(|t| decimal(t).is_some())
}

impl<'a> Line<'_, 'a> {
    /// The words below a heading, joined.
    pub fn text(&self, heading: &str) -> Option<String> {
        let at = self.columns.iter().position(|(name, _)| *name == heading)?;
        Some(self.cells[at].iter().map(|w| w.text).collect::<Vec<_>>().join(" "))
    }

    /// The first word of the row.
    pub fn first(&self) -> &Word<'a> {
        &self.cells[0][0]
    }

    /// The number in a column, with its name; `None` if it is unknown.
    pub fn in_column(&self, at: usize) -> Option<(&'static str, Number)> {
        let (name, factor, unit) = match self.columns[at].1 {
            Cell::Number(name, factor, unit) => (name, factor, unit),
            Cell::Counted(name) => (name, 1.0, Unit::Count),
            _ => return None,
        };
        let word = self.cells[at][0];
        let (value, unit) = quantity(word.text, factor, unit)?;
        Some((name, Number::new(value, unit, word.spot)))
    }

    /// The known numbers, with their names.
    pub fn numbers(&self) -> impl Iterator<Item = (&'static str, Number)> + '_ {
        (0..self.columns.len()).filter_map(|at| self.in_column(at))
    }

    /// A row with the known numbers.
    pub fn row(&self, of: impl Into<String>) -> Row {
        let mut row = Row::of(of);
        self.numbers().for_each(|(name, n)| row.values.put(name, n.value, n.unit, n.at));
        row
    }

    /// The number with this name.
    pub fn number(&self, name: &str) -> Option<Number> {
        self.numbers().find(|(known, _)| *known == name).map(|(_, n)| n)
    }
}

#[cfg(test)]
mod tests;
