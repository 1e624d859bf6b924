//! Infers the meaning of each column from all lines: only sector and size stay the same from the issue of a request to its
//! completion.
//!
//! ```text
//! 0.002405281,Q,WS,8,6291456,8,254,0     the time has a point; an action is C in some lines, a kind never is
//! 0.002669851,D,WS,8,6291456,8,254,0     6291456 is in the line of D and in that of C: the sector
//! 0.003178542,C,WS,0,6291456,8,254,0     and 6291464 comes next: 8 is the size, in sectors
//! ```

use super::super::actions::action;
use super::super::rwbs::Rwbs;
use super::program::{Program, Step};
use crate::event::{Action, Flags};
use crate::lines::unquoted;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Most lines that are examined.
pub const MOST_LINES: usize = 4096;
/// Most columns of a line.
const MOST_COLUMNS: usize = 32;
/// Minimum number of requests with two lines, and of steps from one sector to the next, that must agree.
const LEAST: usize = 4;
/// The message if the columns cannot be identified.
const UNSURE: &str = "the lines alone do not show what its numbers mean";

/// A word, and the separators between it and the previous word.
struct Token<'a> {
    before: Vec<u8>,
    text: &'a [u8],
}

/// The words of a line, and the separators after the last word.
fn tokens(line: &[u8]) -> (Vec<Token<'_>>, Vec<u8>) {
    let is_sign = |b: u8| b" \t,;|+[]()=\"'".contains(&b);
    let (mut all, mut before, mut from) = (vec![], vec![], None);
    let line = unquoted(line).trim_ascii_end();
    for (at, &b) in line.iter().enumerate() {
        match (is_sign(b), from) {
            (false, None) => from = Some(at),
            (true, Some(start)) => {
                all.push(Token { before: std::mem::take(&mut before), text: &line[start..at] });
                from = None;
            }
            _ => {}
        }
        if is_sign(b) && !b.is_ascii_whitespace() {
            before.push(b);
        }
        if all.len() > MOST_COLUMNS {
            break;
        }
    }
    if let Some(start) = from {
        all.push(Token { before: std::mem::take(&mut before), text: &line[start..] });
    }
    (all, before)
}

fn is_time(text: &[u8]) -> bool {
    let mut parts = text.split(|b| *b == b'.');
    let digits = |part: Option<&[u8]>, most| {
        part.is_some_and(|p| (1..=most).contains(&p.len()) && p.iter().all(u8::is_ascii_digit))
    };
    digits(parts.next(), 10) && digits(parts.next(), 9) && parts.next().is_none()
}

fn is_action(text: &[u8]) -> bool {
    text.len() <= 2 && text != b"?" && action(text).is_some()
}

/// Whether a line has exactly one time, an action and a kind of I/O.
pub fn may_be_event(line: &[u8]) -> bool {
    let (all, _) = tokens(line);
    let times = all.iter().filter(|t| is_time(t.text)).count();
    let actions: Vec<usize> = (0..all.len()).filter(|i| is_action(all[*i].text)).collect();
    let kind = |i: usize| Rwbs::parse(all[i].text).is_some();
    times == 1
        && (0..all.len()).any(|i| kind(i) && actions.iter().any(|a| *a != i))
        && all.len() <= MOST_COLUMNS
}

/// Whether the time of a line is from the kernel's log, `[   12.345678]`: in brackets, in microseconds.
pub fn is_of_kernels_log(line: &[u8]) -> bool {
    let (all, _) = tokens(line);
    let places = |text: &[u8]| text.rsplit(|b| *b == b'.').next().map_or(0, <[u8]>::len);
    let in_brackets = |i: usize| {
        all[i].before.ends_with(b"[") && all.get(i + 1).is_some_and(|next| next.before.starts_with(b"]"))
    };
    all.iter().position(|t| is_time(t.text)).is_some_and(|i| places(all[i].text) == 6 && in_brackets(i))
}

/// The separators before each word of a line, and after the last word.
type Signs = (Vec<Vec<u8>>, Vec<u8>);

/// The lines as a table, with the columns that could be identified.
struct Table<'a> {
    rows: Vec<Vec<&'a [u8]>>,
    /// The separators before each column.
    signs: Vec<Vec<u8>>,
    behind: Vec<u8>,
    time: usize,
    action: usize,
    kind: usize,
}

/// Infers the format of a text's lines; an error says why that is not possible.
pub fn guess(start: &[u8]) -> Result<Program, String> {
    let table = Table::of(start)?;
    table.times_are_nanoseconds()?;
    let numbers: Vec<usize> = (0..table.signs.len()).filter(|c| table.is_number(*c)).collect();
    let sectors: Vec<(usize, Vec<[usize; 2]>)> =
        numbers.iter().filter_map(|c| Some((*c, table.pairs(*c)?))).collect();
    let [(sector, pairs)] = &sectors[..] else { return Err(UNSURE.into()) };
    let same: Vec<usize> = numbers.into_iter().filter(|c| c != sector && table.is_same(*c, pairs)).collect();
    let (size, unit) = table.size(*sector, &same).ok_or(UNSURE)?;
    let device = table.device();
    // A number that varies, but not within a request, may identify its device.
    let of_device = |c: usize| device.is_some_and(|d| c == d || c == d + 1);
    let unknown =
        same.iter().any(|c| *c != size && !of_device(*c) && !table.is_like(*c, size) && table.is_varied(*c));
    if unknown || device.is_none() && table.has_layers() {
        return Err("it does not say which device its lines are of".into());
    }
    let field = |c: usize| match c {
        c if c == *sector => b'S',
        c if c == size => unit,
        c if c == table.action => b'a',
        c if c == table.kind => b'd',
        c if Some(c) == device => b'M',
        c if device.is_some_and(|d| c == d + 1) => b'm',
        _ => b'?',
    };
    Program::of(table.steps(field), None)
}

impl<'a> Table<'a> {
    fn of(start: &'a [u8]) -> Result<Table<'a>, String> {
        // The last line may be truncated.
        let whole = start.iter().rposition(|b| *b == b'\n').map_or(start, |end| &start[..end]);
        let lines = whole.split(|b| *b == b'\n').take(MOST_LINES).filter(|line| may_be_event(line));
        let mut shapes: BTreeMap<Signs, Vec<Vec<&[u8]>>> = BTreeMap::new();
        for line in lines {
            let (all, behind) = tokens(line);
            let (signs, texts) = all.into_iter().map(|t| (t.before, t.text)).unzip();
            shapes.entry((signs, behind)).or_default().push(texts);
        }
        let all: usize = shapes.values().map(Vec::len).sum();
        let most = shapes.into_iter().max_by_key(|(_, rows)| rows.len());
        let ((signs, behind), rows) =
            most.filter(|(_, rows)| 2 * rows.len() > all).ok_or("its lines differ in their form")?;
        let column = |fits: &dyn Fn(&[u8]) -> bool| {
            let mut found = (0..signs.len()).filter(|c| rows.iter().all(|row| fits(row[*c])));
            found.next().filter(|_| found.next().is_none())
        };
        let time = column(&is_time).ok_or("it has no time, or two")?;
        let completes = |c: &usize| rows.iter().any(|row| row[*c] == b"C");
        let mut actions =
            (0..signs.len()).filter(|c| rows.iter().all(|row| is_action(row[*c]))).filter(completes);
        let action = actions.next().filter(|_| actions.next().is_none());
        let action = action.ok_or("no completion is in it, so nothing says how long I/O took")?;
        let kind = column(&|text| Rwbs::parse(text).is_some()).ok_or("it has no kind of I/O (%d), or two")?;
        Ok(Table { rows, signs, behind, time, action, kind })
    }

    fn number(&self, row: usize, column: usize) -> Option<u64> {
        let text = self.rows[row][column];
        text.iter().all(u8::is_ascii_digit).then(|| std::str::from_utf8(text).ok()?.parse().ok()).flatten()
    }

    fn is_number(&self, column: usize) -> bool {
        (0..self.rows.len()).all(|row| self.number(row, column).is_some())
    }

    fn action(&self, row: usize) -> Option<Action> {
        action(self.rows[row][self.action])
    }

    /// Whether a row is a read or a write.
    fn has_data(&self, row: usize) -> bool {
        let flags = Rwbs::parse(self.rows[row][self.kind]).unwrap_or_default();
        flags.has(Flags::READ) || flags.has(Flags::WRITE)
    }

    /// The rows of issue and completion of each request, if the column is the sector: most completions have an issue,
    /// many values differ, and the column is no counter.
    fn pairs(&self, column: usize) -> Option<Vec<[usize; 2]>> {
        let (mut open, mut pairs, mut completions) = (HashMap::new(), vec![], 0);
        let mut values = HashSet::new();
        for row in (0..self.rows.len()).filter(|row| self.has_data(*row)) {
            let key = (self.number(row, column)?, self.rows[row][self.kind]);
            match self.action(row)? {
                Action::Issue => {
                    values.insert(key.0);
                    open.insert(key, row);
                }
                Action::Complete => {
                    completions += 1;
                    pairs.extend(open.remove(&key).map(|issue| [issue, row]));
                }
                _ => {}
            }
        }
        let counts = (1..self.rows.len())
            .filter(|row| {
                self.number(*row, column)
                    .zip(self.number(row - 1, column))
                    .is_some_and(|(a, b)| a == b.wrapping_add(1))
            })
            .count();
        let enough = pairs.len() >= LEAST && 5 * pairs.len() >= 4 * completions;
        let differ = values.len() >= LEAST.max(pairs.len() / 3);
        (enough && differ && 5 * counts < self.rows.len()).then_some(pairs)
    }

    /// Whether a column has the same value in both rows of each request.
    fn is_same(&self, column: usize, pairs: &[[usize; 2]]) -> bool {
        pairs.iter().all(|[issue, end]| self.rows[*issue][column] == self.rows[*end][column])
    }

    fn is_like(&self, a: usize, b: usize) -> bool {
        self.rows.iter().all(|row| row[a] == row[b]) || self.is_times_512(a, b) || self.is_times_512(b, a)
    }

    fn is_times_512(&self, bytes: usize, sectors: usize) -> bool {
        (0..self.rows.len()).all(|row| {
            let sectors = self.number(row, sectors).and_then(|n| n.checked_mul(512));
            sectors.is_some() && sectors == self.number(row, bytes)
        })
    }

    fn is_varied(&self, column: usize) -> bool {
        self.rows.iter().any(|row| row[column] != self.rows[0][column])
    }

    /// The size column among the columns that stay the same within each request, and its letter (`n` sectors, `N` bytes).
    fn size(&self, sector: usize, same: &[usize]) -> Option<(usize, u8)> {
        let data: Vec<usize> = (0..self.rows.len())
            .filter(|row| self.has_data(*row) && self.action(*row) == Some(Action::Issue))
            .collect();
        let positive = |c: &usize| data.iter().all(|row| self.number(*row, *c).is_some_and(|n| n > 0));
        let may_be: Vec<usize> = same.iter().copied().filter(positive).collect();
        // One column has sectors, another the same in bytes.
        for &bytes in &may_be {
            if let Some(&sectors) = may_be.iter().find(|c| self.is_times_512(bytes, **c)) {
                return Some((sectors, b'n'));
            }
        }
        let follows = |c: usize, bytes: u64| {
            let step = |two: &&[usize]| {
                let next = self.number(two[0], sector)?.checked_add(self.number(two[0], c)? / bytes)?;
                (Some(next) == self.number(two[1], sector)).then_some(())
            };
            data.windows(2).filter(|two| step(two).is_some()).count() >= LEAST
        };
        let whole = |c: usize| data.iter().all(|row| self.number(*row, c).is_some_and(|n| n % 512 == 0));
        let unit = |c: usize| match (whole(c), follows(c, 1), follows(c, 512)) {
            (false, ..) | (true, true, false) => Some(b'n'),
            (true, false, true) => Some(b'N'),
            _ => None,
        };
        // `sector + size`
        if self.signs.get(sector + 1).is_some_and(|signs| signs == b"+") && may_be.contains(&(sector + 1)) {
            return unit(sector + 1).map(|unit| (sector + 1, unit));
        }
        let mut found = may_be.iter().copied().filter(|c| follows(*c, 1) || whole(*c) && follows(*c, 512));
        let first = found.next()?;
        found.all(|c| self.is_like(c, first)).then_some(())?;
        unit(first).map(|unit| (first, unit))
    }

    /// The column of major device numbers, before that of minor ones: `8,0`, if the line has no other comma.
    fn device(&self) -> Option<usize> {
        let mut commas = (1..self.signs.len()).filter(|c| self.signs[*c].contains(&b','));
        let minor = commas.next().filter(|_| commas.next().is_none() && !self.behind.contains(&b','))?;
        (self.signs[minor] == b"," && self.is_number(minor) && self.is_number(minor - 1)).then_some(minor - 1)
    }

    /// Whether any row shows stacked devices (a remap or a split).
    fn has_layers(&self) -> bool {
        (0..self.rows.len()).any(|row| matches!(self.action(row), Some(Action::Remap | Action::Split)))
    }

    /// Checks the times. blkparse prints nanoseconds as a whole number, with or without leading zeros: `0.2405281` is 2405281 ns if times
    /// increase only under that reading.
    fn times_are_nanoseconds(&self) -> Result<(), String> {
        let parts = |row: &Vec<&'a [u8]>| {
            let mut parts =
                row[self.time].split(|b| *b == b'.').map(|p| String::from_utf8_lossy(p).into_owned());
            Some((parts.next()?.parse::<u64>().ok()?, parts.next()?))
        };
        let all: Vec<(u64, String)> = self.rows.iter().filter_map(parts).collect();
        if all.iter().all(|(_, fraction)| fraction.len() == 9) {
            return Ok(());
        }
        let rise = |number: &dyn Fn(&str) -> u64| {
            all.windows(2).all(|two| {
                let time = |(seconds, fraction): &(u64, String)| (*seconds, number(fraction));
                time(&two[0]) <= time(&two[1])
            })
        };
        let as_whole = rise(&|fraction| fraction.parse().unwrap_or(0));
        let as_fraction = rise(&|fraction| format!("{fraction:0<9}").parse().unwrap_or(0));
        match as_whole && !as_fraction {
            true => Ok(()),
            false => Err("its times are not to the nanosecond".into()),
        }
    }

    fn steps(&self, field: impl Fn(usize) -> u8) -> Vec<Step> {
        let mut steps = vec![];
        for (column, signs) in self.signs.iter().enumerate() {
            steps.push(Step::Text(signs.clone()));
            if column == self.time {
                steps.extend([Step::Field(b'T'), Step::Text(b".".to_vec()), Step::Field(b't')]);
            } else {
                steps.push(Step::Field(field(column)));
            }
        }
        // A name in the last column may contain blanks.
        let last = self.signs.len() - 1;
        if field(last) != b'?' || self.is_number(last) || !self.behind.is_empty() {
            steps.push(Step::Text(self.behind.clone()));
        }
        steps
    }
}
