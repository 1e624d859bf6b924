//! Tables as tools print them: a heading, and rows of as many words as it has columns.
//!
//! The one reader of tables. A tool's file says which headings it knows and what stands below each; here is what people and
//! mailers do to a table: rows wrapped at any column, a remark behind a row or between two ("...", "<-- this one"), a time
//! before each row, a name of several words. Bars between cells and rulers between rows say nothing.
//!
//! ```text
//! TIME(s)   COMM           PID    DISK    T  SECTOR    BYTES   LAT(ms)
//! 0.000004  Web Content    1950   xvda1   W  13092560  4096       0.74
//! ```
//!
//! **Invariant**: a row is taken only if every column has a word of its kind, so no number ever stands below another column's
//! heading.

use super::Found;
use crate::output::number::{decimal, quantity, Number, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

/// What stands below a heading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell {
    /// A number: its name, the factor to its unit, its unit. `-`, `N/A` and `+++` are a number that is not known.
    Number(&'static str, f64, Unit),
    /// How many, with their share behind it or without: `3 (0.1%)`.
    Counted(&'static str),
    /// A whole number that is kept as a word: a process, a sector; `-` for none.
    Whole,
    /// A time of day or seconds, not kept.
    Time,
    /// One word.
    Word,
    /// One word of letters: what kind of operation it was.
    Letters,
    /// A task's name, of several words perhaps.
    Name,
    /// All that is left of the line.
    Rest,
    /// The same, which begins with no number: one there is another column's, and of the heading or the row something is lost.
    Command,
}

/// A column that a tool knows: as printed, of several words perhaps, and what stands below.
pub(super) type Column = (&'static str, Cell);

/// A table's row: a word for each column, of names the words of it.
#[derive(Debug)]
pub(super) struct Line<'w, 'a> {
    columns: &'w [Column],
    cells: Vec<&'w [Word<'a>]>,
}

/// What was read of a table.
#[derive(Debug)]
pub(super) struct Lines<'w, 'a> {
    pub lines: Vec<Line<'w, 'a>>,
    /// Words that belong to it, remarks included.
    pub used: usize,
    /// Remarks.
    pub unknown: usize,
}

/// Words of a name; a task's has 15 characters.
const LONGEST_NAME: usize = 4;
/// Words that end a line: a command, a file.
const LONGEST_REST: usize = 64;
/// The same where the line ends with it: a compiler's command has a hundred.
const LONGEST_OF_LINE: usize = 512;

/// How many words end the line: those up to the next line, of which flattened text has none.
pub(super) fn rest_of_line(rest: &[Word]) -> usize {
    let next = rest.iter().take(LONGEST_OF_LINE).skip(1).position(|w| w.first);
    next.map_or(rest.len().min(LONGEST_REST), |before| 1 + before)
}

/// Words of a remark between two rows, wherever it ends.
pub(super) const MOST_REMARKS: usize = 12;
/// Lines of a remark behind which a row begins a line, and words of these.
const MOST_LINES_OF_REMARK: usize = 4;
const MOST_OF_LINES: usize = 64;
/// Words of rulers: one for each column, with bars between them.
const MOST_OF_RULERS: usize = 64;
/// Rows of a table.
pub(super) const MOST_ROWS: usize = 16_384;

/// The columns of the heading at the first of some words, as many as are known, and how many words these are. None stands there
/// twice: a heading that is repeated is as long as one, whatever follows.
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

/// Whether a word begins the heading of one of these columns.
fn begins_column(word: &Word, columns: &[Column]) -> bool {
    columns.iter().any(|(name, _)| name.split(' ').next() == Some(word.text))
}

/// Bars before a cell.
fn bars(words: &[Word]) -> usize {
    words.iter().take_while(|w| w.text == "|").count()
}

/// Words of the rulers before a row: `-----`, `---- | ----`.
pub(super) fn rulers(words: &[Word]) -> usize {
    let drawn = |w: &&Word| w.text.bytes().all(|b| b"-=|+".contains(&b));
    let all = words.iter().take(MOST_OF_RULERS).take_while(drawn).count();
    // `-` alone is a number that is not known, `+` a mark.
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

/// The rows below a heading: `words` begins behind it.
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

/// The next row, and how many words of remarks stand before it: a row behind a remark must begin a line, and another heading is
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
        let before = words[..skip].iter().rev().take_while(|w| is_sign(w.text) || is_time(w.text));
        let aside = before.clone().count() == skip || before.clone().any(|w| w.first);
        (rest.first()?.first || aside).then_some(())?;
        let (row, length) = read(rest).filter(|(_, length)| !is_lent(rest, *length, &read))?;
        Some((skip, row, length))
    })
}

/// Whether what seems to be a row has not as many words as its line: a number more, or the first of the next line, which is a row
/// by itself. Then a heading or a cell was lost, and its numbers stand below others' headings.
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
    // Of a broken row the first word tells that it is one: `0.627000000`, where none but times have so many places.
    let places = |i: usize| words[i].text.split_once('.').map_or(0, |(_, places)| places.len());
    let whole = |from: usize| {
        let from = from + words[from..].iter().take(MOST_TIMES).take_while(|w| is_time(w.text)).count();
        let (_, long) = read(words.get(from..)?)?;
        let begins = places(from) > 3 && places(from) == places(0);
        (begins || !words[from + 1..from + long].iter().any(|w| w.first)).then_some(())
    };
    more || next.and_then(whole).is_some()
}

/// A reading with all rows behind a heading of `used` words, at most so many; `None` if there is none.
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

/// The same where a line is of several: of the devices beside each other.
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

/// `Average:` in any language.
pub(super) fn is_average(text: &str) -> bool {
    text.len() <= 24 && text.strip_suffix(':').is_some_and(|t| t.chars().all(is_of_word))
}

/// A time of day, a date or seconds since 1970 before a row; `Average:` in any language.
pub(super) fn is_time(text: &str) -> bool {
    ["AM", "PM", "^C"].contains(&text)
        || is_average(text)
        || text.contains([':', '/', '-'])
            && text.starts_with(|c: char| c.is_ascii_digit())
            && text.len() <= 32
        || is_since_1970(text)
}

/// Seconds since 1970, of this century: `-H` of sysstat's tools.
fn is_since_1970(text: &str) -> bool {
    text.len() == 10
        && text.bytes().all(|b| b.is_ascii_digit())
        && ("1000000000".."4102444800").contains(&text)
}

fn is_of_word(c: char) -> bool {
    c.is_alphabetic() || c == '.'
}

/// `+`, `...`, `-->`: words without a letter or digit; `<KEY>`, which points at a row.
fn is_sign(text: &str) -> bool {
    !text.contains(char::is_alphanumeric) || text.starts_with('<') && text.ends_with('>')
}

/// A row; the words that end it are perhaps on a second line.
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

/// Words before a row that say when it was.
const MOST_TIMES: usize = 3;
/// Columns up to which no mailer breaks a line.
const SHORTEST_BROKEN: usize = 66;
/// Words of the second line of a row.
const MOST_OF_SECOND: usize = 16;

/// How many words of the next line belong to a row that ends in words and has `length` of them: those that did not fit into its
/// line, if another row (which `begins` tells), a blank line or nothing follows them.
pub(super) fn broken_off(words: &[Word], length: usize, begins: impl Fn(&[Word]) -> bool) -> usize {
    let (line, rest) = words.split_at(length.min(words.len()));
    let first = line.iter().rposition(|w| w.first).map_or(line, |at| &line[at..]).first();
    let (Some(first), Some(last), Some(next)) = (first, line.last(), rest.first()) else { return 0 };
    // Both are of one line of the text.
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
        // What is whole has no point, unless it is shortened.
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

/// What stands for a number that is not known: plus signs where something was too quick to be measured.
fn is_unknown(text: &str) -> bool {
    ["-", "N/A"].contains(&text) || text.bytes().all(|b| b == b'+')
}

/// `(0.1%)`.
fn is_share(text: &str) -> bool {
    text.strip_prefix('(').and_then(|t| t.strip_suffix("%)")).is_some_and(|t| decimal(t).is_some())
}

impl<'a> Line<'_, 'a> {
    /// The words below a heading as one text.
    pub fn text(&self, heading: &str) -> Option<String> {
        let at = self.columns.iter().position(|(name, _)| *name == heading)?;
        Some(self.cells[at].iter().map(|w| w.text).collect::<Vec<_>>().join(" "))
    }

    /// The first word.
    pub fn first(&self) -> &Word<'a> {
        &self.cells[0][0]
    }

    /// The number in a column, with its name; `None` if it is not known.
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

    /// The numbers that are known, with their names.
    pub fn numbers(&self) -> impl Iterator<Item = (&'static str, Number)> + '_ {
        (0..self.columns.len()).filter_map(|at| self.in_column(at))
    }

    /// A row with these numbers.
    pub fn row(&self, of: impl Into<String>) -> Row {
        let mut row = Row::of(of);
        self.numbers().for_each(|(name, n)| row.values.put(name, n.value, n.unit, n.at));
        row
    }

    /// A number by its name.
    pub fn number(&self, name: &str) -> Option<Number> {
        self.numbers().find(|(known, _)| *known == name).map(|(_, n)| n)
    }
}

#[cfg(test)]
mod tests;
