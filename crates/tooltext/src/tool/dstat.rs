//! Reads dstat and its successors (pcp-dstat, dool): disks and processors, a row per interval; the first covers the time since boot.
//!
//! ```text
//! ----total-cpu-usage---- -dsk/total- -net/total-        --dsk/sda----dsk/sdb-- --io/total- ----system----
//! usr sys idl wai hiq siq| read  writ| recv  send         read  writ: read  writ| read  writ|     time
//!   2   3  40  55   0   0|  12M   88M| 120B  360B         133k  420k:  10k   20k|10.0  20.0 |23-11 14:17:25
//! ```
//!
//! The columns depend on dstat's options. `k` and `M` are powers of 1024 for bytes and of 1000 for operations. Headings have two
//! lines, the same word is below each device, and bars touch the cells: lines are split here, rows are collected as for any table.
//!
//! **Versions**: dstat 0.7.4 run; pcp-dstat and dool have its form.

use super::reader::{Found, Tool};
use super::table;
use crate::output::number::{quantity, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Dstat;

/// Columns of processors that are kept, with their names here.
const CPU: [(&str, &str); 5] =
    [("usr", "user"), ("sys", "system"), ("idl", "idle"), ("wai", "iowait"), ("stl", "steal")];
const MOST_TITLES: usize = 32;
const MOST_COLUMNS: usize = 128;
const MOST_ROWS: usize = 4096;

/// Content of a column.
#[derive(Clone, Debug)]
enum Column {
    /// A number of a device: the device, the number's name, its unit.
    Device(String, &'static str, Unit),
    Cpu(&'static str),
    /// A date and a time, two words.
    Time,
    Other,
}

impl Tool for Dstat {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let first = words.first()?.text;
        let begins = first.starts_with('-') && ["dsk/", "io/", "cpu-usage"].iter().any(|t| first.contains(t));
        if !begins {
            return None;
        }
        let titles =
            words.iter().take(MOST_TITLES).enumerate().take_while(|(i, w)| *i == 0 || !w.first).count();
        let devices = words[..titles].iter().flat_map(|w| title(w.text));
        let (columns, used) = heading(&words[titles..], devices.collect())?;
        let reading = Reading { tool: "dstat", at: words[0].spot, ..Reading::default() };
        // The headings are repeated on every screen.
        let ends = |w: &Word| w.first && w.text.starts_with("--");
        table::gather_lines(reading, words, titles + used, MOST_ROWS, ends, |rest| line(rest, &columns))
    }
}

/// Prefixes of titles with a slash.
const KINDS: [&str; 3] = ["dsk/", "io/", "net/"];

/// The devices in `--dsk/sda----dsk/sdb--`, `--dsk/sda---dsk/nvme0n1-dsk/sdb`: names with a slash, separated by dashes (long names leave only one).
fn title(text: &str) -> Vec<&str> {
    let begins = |at: usize| {
        let kind = KINDS.iter().any(|kind| text[at..].starts_with(kind));
        kind && (at == 0 || text[..at].ends_with('-'))
    };
    let places: Vec<usize> = (0..text.len()).filter(|at| text.is_char_boundary(*at) && begins(*at)).collect();
    let ends = places.iter().skip(1).copied().chain([text.len()]);
    let all = places.iter().zip(ends).map(|(from, to)| text[*from..to].split("--").next().unwrap_or(""));
    all.map(|part| part.trim_matches(['-', '>'])).collect()
}

/// Cells of a line, separated by blanks and bars. A colon between two devices is a separator, one within a time is not.
fn cells<'w, 'a>(words: &'w [Word<'a>]) -> impl Iterator<Item = (&'a str, &'w Word<'a>)> {
    words
        .iter()
        .flat_map(|w| {
            let clock = |cell: &str| cell.matches(':').count() == 2 && cell.len() == 8;
            let cut = move |cell: &'a str| cell.split(if clock(cell) { '|' } else { ':' });
            w.text.split('|').flat_map(cut).map(move |cell| (cell, w))
        })
        .filter(|(cell, _)| !cell.is_empty())
}

fn line_length(words: &[Word]) -> usize {
    words.iter().take(MOST_COLUMNS).enumerate().take_while(|(i, w)| *i == 0 || !w.first).count()
}

fn heading(words: &[Word], titles: Vec<&str>) -> Option<(Vec<Column>, usize)> {
    let length = line_length(words);
    let mut titles = titles.into_iter();
    let mut of = None;
    let mut columns = vec![];
    for (cell, _) in cells(&words[..length]) {
        if ["read", "recv"].contains(&cell) {
            of = titles.next();
        }
        let (kind, device) = of.and_then(|title| title.split_once('/')).unwrap_or_default();
        let of_device = |disk: &'static str, io: &'static str| match kind {
            "dsk" => Column::Device(device.to_owned(), disk, Unit::BytesPerSecond),
            "io" => Column::Device(device.to_owned(), io, Unit::PerSecond),
            _ => Column::Other,
        };
        columns.push(match cell {
            "read" => of_device("rbytes/s", "r/s"),
            "writ" => of_device("wbytes/s", "w/s"),
            "time" => Column::Time,
            _ => CPU
                .iter()
                .find(|(name, _)| *name == cell)
                .map_or(Column::Other, |(_, name)| Column::Cpu(name)),
        });
    }
    let known = columns.iter().any(|c| matches!(c, Column::Device(..)));
    known.then_some((columns, length))
}

/// The rows of a line: one per device, one for the processors.
fn line(words: &[Word], columns: &[Column]) -> Option<(Vec<Row>, usize)> {
    let length = line_length(words);
    let mut cells = cells(&words[..length]);
    let mut rows: Vec<Row> = vec![];
    for column in columns {
        let (cell, word) = cells.next()?;
        let (of, name, factor, unit) = match column {
            Column::Device(of, name, unit) => (of.as_str(), *name, 1.0, *unit),
            Column::Cpu(name) => ("cpu", *name, 0.01, Unit::Share),
            Column::Time => {
                cells.next().filter(|(time, _)| cell.contains('-') && time.contains(':'))?;
                continue;
            }
            Column::Other => continue,
        };
        let at = rows.iter().position(|row| row.of == of).unwrap_or_else(|| {
            rows.push(Row::of(of));
            rows.len() - 1
        });
        let (value, unit) = quantity(cell, factor, unit)?;
        rows[at].values.put(name, value, unit, word.spot);
    }
    cells.next().is_none().then_some((rows, length))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::one;

    #[test]
    fn devices_and_processors_have_rows() {
        let text = "----total-cpu-usage---- -dsk/total- -net/total- ---system--\n\
            usr sys idl wai hiq siq| read  writ| recv  send| int   csw \n\
            \x20 2   3  40  55   0   0|  12M   88M| 120B  360B|1530  2980 \n\
            \x20 0   1  99   0   0   0|   0     0 |   0     0 | 530   980 \n";
        let reading = one(text, "dstat");
        let names: Vec<&str> = reading.rows.iter().map(|r| r.of.as_str()).collect();
        assert_eq!(names, ["cpu", "total", "cpu", "total"]);
        assert_eq!(reading.rows[0].value("iowait"), Some(0.55));
        assert_eq!(reading.rows[1].value("wbytes/s"), Some(88.0 * 1048576.0));
    }

    #[test]
    fn long_names_leave_one_dash_between_them() {
        let text = "--dsk/sdb---dsk/nvme0n1-dsk/dm-11- ---io/sdb----io/nvme0n1--io/dm-11-\n read  writ: read  writ: read  \
            writ| read  writ: read  writ: read  writ\n  1k    2k:3072B 4096B:   5k    6k|1.0   2.0 :3.0   4.0 :5.0   6.0\n";
        let reading = one(text, "dstat");
        let value = |of: &str, name: &str| reading.row(of).and_then(|r| r.value(name));
        for (i, disk) in ["sdb", "nvme0n1", "dm-11"].iter().enumerate() {
            let n = 2.0 * i as f64;
            assert_eq!(value(disk, "rbytes/s"), Some((n + 1.0) * 1024.0), "{disk}");
            assert_eq!(value(disk, "w/s"), Some(n + 2.0), "{disk}");
        }
    }

    /// As saved by `script`.
    #[test]
    fn colours_say_nothing() {
        let text = "----total-cpu-usage---- -dsk/total-\nusr sys idl wai stl| read  writ\n  2   3  40  55   0|  12M   88M\n";
        let coloured = text.replace("usr", "\u{1b}[0;34musr").replace('|', "\u{1b}[0;0m|\u{1b}[1;33m");
        assert_ne!(text, coloured);
        assert_eq!(one(&coloured, "dstat").rows, one(text, "dstat").rows);
    }

    #[test]
    fn devices_stand_beside_each_other() {
        let text = "--dsk/sda----dsk/sdb-- --io/total- ----system----\n read  writ: read  writ| read  writ|     time     \n\
            \x20133k  420k:  10k   20k|10.0  1.2k|23-11 14:17:25\n";
        let reading = one(text, "dstat");
        let value = |of: &str, name: &str| reading.row(of).and_then(|r| r.value(name));
        assert_eq!(
            (value("sda", "rbytes/s"), value("sdb", "wbytes/s")),
            (Some(133.0 * 1024.0), Some(20.0 * 1024.0))
        );
        assert_eq!(value("total", "w/s"), Some(1200.0));
    }
}
