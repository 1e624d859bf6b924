//! Reads lsblk's table with any columns: cells may be empty, so that only positions identify them.
//!
//! ```text
//! NAME        MAJ:MIN FSTYPE ROTA SCHED       RQ-SIZE  RA TYPE
//! sda           8:0             1 mq-deadline      64 128 disk
//! ├─sda1        8:1   ext4      1 mq-deadline      64 128 part
//! ```
//!
//! A mailer breaks long lines. If every column has one word in every row (`lsblk -t`), words are assigned by
//! number. Otherwise the second part of a line was below its headings at a distance that is lost: it is read if all possible
//! distances give the same result. `lsblk/pairs.rs` reads the pairs (`-P`), `saved/lsblk_json.rs` the JSON.
//!
//! **Invariant**: a number is used only if it ends where its heading ends, a word only if it starts where its heading starts, or if
//! each column has its word.
//!
//! **Versions**: util-linux 2.38.1 run.

use super::cells::{cells, Cell, SettingPairs};

/// Columns of lsblk(8) with the settings that they show; `true` for numbers.
const SETTINGS: [(&str, &str, bool); 8] = [
    ("ROTA", "queue/rotational", true),
    ("SCHED", "queue/scheduler", false),
    ("RQ-SIZE", "queue/nr_requests", true),
    ("RA", "queue/read_ahead_kb", true),
    ("MIN-IO", "queue/minimum_io_size", true),
    ("OPT-IO", "queue/optimal_io_size", true),
    ("PHY-SEC", "queue/physical_block_size", true),
    ("LOG-SEC", "queue/logical_block_size", true),
];
/// Columns whose cells have at most one word.
const OF_ONE_WORD: [&str; 62] = [
    "ALIGNMENT",
    "DAX",
    "DISC-ALN",
    "DISC-GRAN",
    "DISC-MAX",
    "DISC-ZERO",
    "DISK-SEQ",
    "FSAVAIL",
    "FSSIZE",
    "FSTYPE",
    "FSUSED",
    "FSUSE%",
    "FSVER",
    "GROUP",
    "HCTL",
    "HOTPLUG",
    "ID",
    "ID-LINK",
    "KNAME",
    "LOG-SEC",
    "MAJ",
    "MAJ:MIN",
    "MIN",
    "MIN-IO",
    "MODE",
    "MQ",
    "NAME",
    "OPT-IO",
    "OWNER",
    "PARTFLAGS",
    "PARTN",
    "PARTTYPE",
    "PARTUUID",
    "PATH",
    "PHY-SEC",
    "PKNAME",
    "PTTYPE",
    "PTUUID",
    "RA",
    "RAND",
    "REV",
    "RM",
    "RO",
    "ROTA",
    "RQ-SIZE",
    "SCHED",
    "SIZE",
    "START",
    "STATE",
    "SUBSYSTEMS",
    "TRAN",
    "TYPE",
    "UUID",
    "WSAME",
    "WWN",
    "ZONED",
    "ZONE-AMAX",
    "ZONE-APP",
    "ZONE-NR",
    "ZONE-OMAX",
    "ZONE-SZ",
    "ZONE-WGRAN",
];
/// Columns whose cells may have several words.
const OF_SEVERAL_WORDS: [&str; 9] = [
    "FSROOTS",
    "LABEL",
    "MODEL",
    "MOUNTPOINT",
    "MOUNTPOINTS",
    "PARTLABEL",
    "PARTTYPENAME",
    "SERIAL",
    "VENDOR",
];
/// The first column in alphabetical order.
const FIRST_OF_ALL: &str = "ALIGNMENT";
/// Limit on parts that a mailer makes of one line; with all columns it has a thousand letters.
const MOST_LINES: usize = 16;
/// Limit on blanks lost at a line break: no column is wider.
const MOST_BLANKS: usize = 40;
/// Limit on distances tried in one table.
const MOST_TRIES: usize = 20_000;
/// Characters at the start of a row for a device below a disk.
const BRANCHES: [char; 5] = ['├', '└', '│', '|', '`'];

/// A table whose heading was read.
#[derive(Debug)]
pub(super) struct Lsblk {
    /// The first line of the heading, and the second if it was broken once.
    parts: [Vec<Cell>; 2],
    /// Names of all columns, in order.
    names: Vec<String>,
    /// Index of the column with the name: `-O` of 2.38 sorts columns alphabetically.
    named: usize,
    tries: usize,
}

impl Lsblk {
    /// Parses a heading; also returns its number of continuation lines.
    pub fn heading<'t>(words: &[Cell], ahead: impl Iterator<Item = &'t str>) -> Option<(Lsblk, usize)> {
        ["NAME", "KNAME", FIRST_OF_ALL].contains(&words.first()?.text.as_str()).then_some(())?;
        let mut names: Vec<String> = words.iter().map(|cell| cell.text.clone()).collect();
        let (mut second, mut lines) = (vec![], 0);
        for line in ahead.take(MOST_LINES) {
            let more = cells(line);
            let all_columns = !more.is_empty() && more.iter().all(|cell| is_column(&cell.text));
            if !all_columns || more.iter().any(|cell| names.contains(&cell.text)) {
                break;
            }
            names.extend(more.iter().map(|cell| cell.text.clone()));
            lines += 1;
            second = more;
        }
        let known = SETTINGS.iter().filter(|(name, ..)| names.iter().any(|n| n == name)).count();
        let parts = [words.to_vec(), if lines == 1 { second } else { vec![] }];
        let named = match names[0].as_str() {
            FIRST_OF_ALL => parts[0].iter().position(|cell| cell.text == "NAME")?,
            _ => 0,
        };
        (known > 1).then_some((Lsblk { parts, names, named, tries: 0 }, lines))
    }

    /// The settings in a disk's row and its number of continuation lines. Rows of devices on the disk start with a branch of the tree,
    /// and have the disk's settings.
    pub fn row<'t>(
        &mut self,
        words: &[Cell],
        ahead: impl Iterator<Item = &'t str>,
    ) -> Option<(SettingPairs, usize)> {
        let head = &self.parts[0][self.named];
        let mut cells_of_name = words.iter().filter(|cell| self.named == 0 || cell.from == head.from);
        let name = cells_of_name.next()?.text.clone();
        if name.starts_with(BRANCHES) {
            return Some((vec![], 0));
        }
        let is_name = evidence::is_device_name(&name) && name.starts_with(|c: char| c.is_ascii_lowercase());
        is_name.then_some(())?;
        let is_whole = self.parts[1].is_empty() && self.parts[0].len() == self.names.len();
        let below_heading = || self.by_place(words, &self.parts[0]);
        if let Some(found) = is_whole.then(below_heading).flatten() {
            return Some((self.told(&name, &found), 0));
        }
        (self.named == 0 && is_disk(&name)).then_some(())?;
        let more: Vec<Vec<Cell>> =
            ahead.take(MOST_LINES).map(cells).take_while(|line| goes_on(line)).collect();
        if let Some((found, lines)) = self.by_number(words, &more) {
            return Some((self.told(&name, &found), lines));
        }
        let found = self.by_distance(words, more.first()?)?;
        Some((self.told(&name, &found), 1))
    }

    /// The settings in a row's cells.
    fn told(&self, name: &str, found: &[(usize, String)]) -> SettingPairs {
        let of = |(column, path, _): &(&str, &str, bool)| {
            let (_, text) = found.iter().find(|(at, _)| self.names[*at] == *column)?;
            Some((format!("{name}/{path}"), text.clone()))
        };
        SETTINGS.iter().filter_map(of).collect()
    }

    /// Assigns words to columns by number, if each column has one word.
    fn by_number(&self, words: &[Cell], more: &[Vec<Cell>]) -> Option<(Vec<(usize, String)>, usize)> {
        self.names.iter().all(|name| OF_ONE_WORD.contains(&name.as_str())).then_some(())?;
        let mut all: Vec<&Cell> = words.iter().collect();
        let mut lines = 0;
        while all.len() < self.names.len() {
            all.extend(more.get(lines)?);
            lines += 1;
        }
        (all.len() == self.names.len()).then_some(())?;
        let found: Vec<(usize, String)> =
            all.iter().enumerate().map(|(column, cell)| (column, cell.text.clone())).collect();
        self.fits(&found).then_some((found, lines))
    }

    /// Assigns words to columns by their position below the headings.
    fn by_place(&self, words: &[Cell], heading: &[Cell]) -> Option<Vec<(usize, String)>> {
        let mut found: Vec<(usize, String)> = vec![];
        for (column, head) in heading.iter().enumerate() {
            let number = SETTINGS.iter().find(|(name, ..)| *name == head.text);
            let Some((.., is_number)) = number else { continue };
            let cell = words.iter().find(|cell| match is_number {
                true => cell.to == head.to && cell.text.parse::<u64>().is_ok(),
                false => cell.from == head.from && cell.text.parse::<u64>().is_err(),
            });
            found.extend(cell.map(|cell| (column, cell.text.clone())));
        }
        self.fits(&found).then_some(found)
    }

    /// Tries all distances of a row's second part at which all words are below headings; `None` if two give different results.
    fn by_distance(&mut self, words: &[Cell], more: &[Cell]) -> Option<Vec<(usize, String)>> {
        let mut only: Option<Vec<(usize, String)>> = None;
        let headings = if self.parts[1].is_empty() { 1 } else { MOST_BLANKS };
        for heading_blanks in 1..=headings {
            let heading = joined(&self.parts[0], &self.parts[1], heading_blanks);
            for blanks in 1..=MOST_BLANKS {
                self.tries += 1;
                (self.tries <= MOST_TRIES).then_some(())?;
                let row = joined(words, more, blanks);
                if !all_below_headings(&row, &heading) {
                    continue;
                }
                let Some(found) = self.by_place(&row, &heading) else { continue };
                if only.as_ref().is_some_and(|known| *known != found) {
                    return None;
                }
                only = Some(found);
            }
        }
        only
    }

    /// Whether all numbers are there, as for every disk; otherwise the row is not used.
    fn fits(&self, found: &[(usize, String)]) -> bool {
        let of = |name: &str| {
            let cell = found.iter().find(|(column, _)| self.names[*column] == name);
            cell.map(|(_, text)| text)
        };
        let shown = SETTINGS.iter().filter(|(name, ..)| self.names.iter().any(|n| n == name));
        let mut shown = shown.map(|(name, _, is_number)| (of(name), is_number));
        !found.is_empty()
            && shown.all(|(text, is_number)| match text {
                Some(text) => text.parse::<u64>().is_ok() == *is_number,
                None => !is_number,
            })
    }
}

/// The settings of a disk whose columns are given by a function; empty for a partition, which has its disk's settings. `None` if it is no
/// device.
pub(crate) fn told_of(of: &dyn Fn(&str) -> Option<String>) -> Option<SettingPairs> {
    let given = |column: &str| of(column).filter(|value| !value.is_empty());
    let name = given("KNAME").or_else(|| given("NAME"))?;
    let name = name.trim_start_matches("/dev/");
    (evidence::is_device_name(name) && name.starts_with(|c: char| c.is_ascii_lowercase())).then_some(())?;
    if given("TYPE").is_some_and(|kind| kind == "part") {
        return Some(vec![]);
    }
    let told = SETTINGS.iter().filter_map(|(column, path, is_number)| {
        let value = given(column).filter(|value| value.parse::<u64>().is_ok() == *is_number)?;
        Some((format!("{name}/{path}"), value))
    });
    Some(told.collect())
}

fn is_column(text: &str) -> bool {
    OF_ONE_WORD.contains(&text) || OF_SEVERAL_WORDS.contains(&text)
}

/// Whether a line may continue the previous row: it is not empty, and no row itself.
fn goes_on(line: &[Cell]) -> bool {
    line.first().is_some_and(|cell| !cell.text.starts_with(BRANCHES) && !is_disk(&cell.text))
}

/// Whether a name is a disk's in the kernel: `sda`, `nvme0n1`. Words from the end of a broken line (`part`, `none`) are not.
fn is_disk(name: &str) -> bool {
    const WITH_LETTERS: [&str; 4] = ["xvd", "sd", "hd", "vd"];
    const WITH_NUMBERS: [&str; 12] =
        ["nvme", "mmcblk", "md", "dm-", "loop", "zram", "sr", "nbd", "rbd", "pmem", "bcache", "drbd"];
    let lettered = WITH_LETTERS.iter().filter_map(|kind| name.strip_prefix(kind));
    let numbered = WITH_NUMBERS.iter().filter_map(|kind| name.strip_prefix(kind));
    let of_letters =
        |rest: &str| (1..=3).contains(&rest.len()) && rest.bytes().all(|b| b.is_ascii_lowercase());
    lettered.into_iter().any(of_letters)
        || numbered.into_iter().any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Joins two parts of a line with this number of blanks.
fn joined(first: &[Cell], second: &[Cell], blanks: usize) -> Vec<Cell> {
    let begin = second.first().map_or(0, |cell| cell.from);
    let end = first.last().map_or(0, |cell| cell.to) + blanks;
    let moved = second.iter().map(|cell| Cell {
        text: cell.text.clone(),
        from: cell.from - begin + end,
        to: cell.to - begin + end,
    });
    first.iter().cloned().chain(moved).collect()
}

/// Whether each word starts or ends with a heading, in order, except for the further words of a name.
fn all_below_headings(row: &[Cell], heading: &[Cell]) -> bool {
    let (mut column, mut before): (usize, Option<&Cell>) = (0, None);
    row.iter().all(|cell| {
        // In `MAJ:MIN` the colons are aligned.
        let within = |head: &Cell| head.text == "MAJ:MIN" && cell.from >= head.from && cell.to <= head.to;
        let below = |head: &Cell| cell.from == head.from || cell.to == head.to || within(head);
        let own = heading.iter().skip(column).position(below).map(|skip| column + skip);
        let of_name = column > 0
            && OF_SEVERAL_WORDS.contains(&heading[column - 1].text.as_str())
            && before.is_some_and(|b| b.to + 1 == cell.from);
        column = own.map_or(column, |own| own + 1);
        before = Some(cell);
        own.is_some() || of_name
    })
}

pub(super) mod pairs;
#[cfg(test)]
mod tests;
