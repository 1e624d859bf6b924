//! Reads iozone's results: the table of a single process, and the lines of its throughput mode (`-t`).
//!
//! ```text
//!                                                               random    random     bkwd    record    stride
//!               kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite frewrite    fread  freread
//!          1048576       4   109845   188503                      793211    811034
//! Children see throughput for  4 initial writers  =  336585.12 kB/sec
//! ```
//!
//! A row has a rate per selected test (`-i 0 -i 2`); the other columns are empty. A rate belongs to the heading that ends at
//! the same position. If a mailer removed the blanks, the rates are assigned to the first columns. Rates in a table are in
//! kB per second (1024 bytes). With `-O` they are operations per second, and the heading is `ops`; such a
//! table is not read.
//!
//! **Versions**: iozone 3.465 to 3.492 by published texts.

use super::reader::{texts, Found, Tool};
use super::table;
use crate::output::number::{decimal, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Iozone;

/// Headings of rates; `random read` and similar are two words, on two lines in iozone's own table.
const RATES: [&str; 12] = [
    "write", "rewrite", "read", "reread", "random", "bkwd", "record", "stride", "fwrite", "frewrite",
    "fread", "freread",
];
/// All headings: the lower line of iozone's heading, the words on one line as people write them, and the names of the tests.
const BELOW: [&str; 13] = [
    "write", "rewrite", "read", "reread", "read", "write", "read", "rewrite", "read", "fwrite", "frewrite",
    "fread", "freread",
];
const ABOVE: [&str; 13] = [
    "write", "rewrite", "read", "reread", "random", "random", "bkwd", "record", "stride", "fwrite",
    "frewrite", "fread", "freread",
];
const MEASURED: [&str; 13] = [
    "write",
    "rewrite",
    "read",
    "reread",
    "random read",
    "random write",
    "backward read",
    "record rewrite",
    "stride read",
    "fwrite",
    "frewrite",
    "fread",
    "freread",
];
const MOST_ROWS: usize = 1000;
/// Limit on words of a heading.
const LONGEST: usize = 24;
const KB: f64 = 1024.0;

impl Tool for Iozone {
    fn read(&self, words: &[Word]) -> Option<Found> {
        children(words).or_else(|| table(words))
    }
}

fn children(words: &[Word]) -> Option<Found> {
    let mut reading = Reading { tool: "iozone", at: words.first()?.spot, ..Reading::default() };
    let mut used = 0;
    while let Some(["Children", "see", "throughput", "for", threads]) = texts(&words[used..]) {
        let rest = &words[used + 5..];
        let equals = rest.iter().take(6).position(|w| w.text == "=");
        let Some(equals) = equals.filter(|_| reading.rows.len() < MOST_ROWS) else { break };
        let (Some(value), Some(unit)) = (rest.get(equals + 1), rest.get(equals + 2)) else { break };
        let (Some(rate), Some(threads)) = (decimal(value.text), decimal(threads)) else { break };
        let (name, factor, kind) = match unit.text {
            "kB/sec" | "KB/sec" => ("bw", KB, Unit::BytesPerSecond),
            "ops/sec" => ("iops", 1.0, Unit::PerSecond),
            _ => break,
        };
        let of: Vec<&str> = rest[..equals].iter().map(|w| w.text).collect();
        let mut row = Row::of(of.join(" "));
        row.values.put("threads", threads, Unit::Count, words[used + 4].spot);
        row.values.put(name, rate * factor, kind, value.spot);
        reading.rows.push(row);
        used += 5 + equals + 3;
    }
    if used == 0 {
        return None;
    }
    Found::all(reading, used)
}

fn table(words: &[Word]) -> Option<Found> {
    let ["kB" | "KB", "reclen"] = texts(words)? else { return None };
    let heads: Vec<&str> = words[2..]
        .iter()
        .take(LONGEST)
        .map_while(|w| RATES.iter().find(|r| **r == w.text).copied())
        .collect();
    let columns = Columns { names: names(&heads), ends: ends(&words[..2 + heads.len()]) };
    let reading = Reading { tool: "iozone", at: words[0].spot, ..Reading::default() };
    let next_table = |w: &Word| ["kB", "KB", "iozone"].contains(&w.text);
    table::gather(reading, words, 2 + heads.len(), MOST_ROWS, next_table, |rest| row(rest, &columns))
}

/// Names of the tests: iozone prints `random` above `read`; people write both on one line, or only the first.
fn names(heads: &[&str]) -> Vec<String> {
    let all = [BELOW, ABOVE].iter().any(|table| heads == *table);
    if all {
        return MEASURED.iter().map(|name| (*name).to_owned()).collect();
    }
    let mut names: Vec<String> = vec![];
    for head in heads {
        let again = names.iter().filter(|n| n.starts_with(head)).count();
        names.push(if again == 0 { (*head).to_owned() } else { format!("{head}.{}", again + 1) });
    }
    names
}

/// The columns of rates: their names, and the end positions of the record's and their headings.
struct Columns {
    names: Vec<String>,
    ends: Vec<usize>,
}

/// End positions of a line's words, relative to the end of the first. Words are slices of one text, so addresses give positions.
fn ends(line: &[Word]) -> Vec<usize> {
    let end = |w: &Word| w.text.as_ptr() as usize + w.text.len();
    line.iter().skip(1).map(|w| end(w).saturating_sub(end(&line[0]))).collect()
}

impl Columns {
    /// The columns of a row's rates, by end position, in rising order; `None` if a rate is below no heading. The record ends
    /// exactly below its heading, unless blanks were removed.
    fn of(&self, row: &[usize]) -> Option<Vec<usize>> {
        let ((record, rates), (head, heads)) = (row.split_first()?, self.ends.split_first()?);
        (record == head).then_some(())?;
        let mut columns: Vec<usize> = vec![];
        for end in rates {
            let near = |at: &usize| heads[*at].abs_diff(*end);
            let from = columns.last().map_or(0, |last| last + 1);
            let column = (from..heads.len()).min_by_key(near).filter(|at| near(at) <= FARTHEST)?;
            columns.push(column);
        }
        Some(columns)
    }
}

/// Allowed distance between the ends of a heading and its numbers: iozone's own table is not exactly aligned.
const FARTHEST: usize = 3;
/// Minimum number of values in a row: size, record and one rate.
const LEAST_OF_ROW: usize = 3;

/// Parses a row with its rates, at most one per name. A row with fewer rates ends where the next row
/// starts. A wrapped row continues with a rate.
fn row(words: &[Word], columns: &Columns) -> Option<(Row, usize)> {
    begins(words).then_some(())?;
    let line = words.iter().take(2 + columns.names.len()).enumerate();
    let next = |i: usize| i > 0 && words[i].first && begins(&words[i..]);
    let numbers: Vec<f64> = line.map_while(|(i, w)| decimal(w.text).filter(|_| !next(i))).collect();
    (numbers.len() >= LEAST_OF_ROW).then_some(())?;
    let rates = numbers.len() - 2;
    let of_one_line = words[1..numbers.len()].iter().all(|w| !w.first);
    let below = of_one_line.then(|| columns.of(&ends(&words[..numbers.len()]))).flatten();
    let mut row = Row::of(format!("{} kB by {}", numbers[0], numbers[1]));
    for (i, column) in below.unwrap_or_else(|| (0..rates).collect()).into_iter().enumerate() {
        let name = format!("{}.bw", columns.names[column]);
        row.values.put(name, numbers[2 + i] * KB, Unit::BytesPerSecond, words[2 + i].spot);
    }
    Some((row, numbers.len()))
}

/// Whether a row starts here with a size and a record: a file has whole records, whose size must be a power of two.
fn begins(words: &[Word]) -> bool {
    let number = |i: usize| words.get(i)?.text.parse::<u64>().ok();
    number(0)
        .zip(number(1))
        .is_some_and(|(size, record)| record.is_power_of_two() && size >= record && size % record == 0)
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::one;

    /// `-i 0 -i 1 -i 2` leaves seven of thirteen columns empty, and the next row follows directly.
    #[test]
    fn a_row_without_all_tests_takes_nothing_of_the_next() {
        let heading = "kB reclen write rewrite read reread random random bkwd record stride fwrite frewrite fread freread\n";
        for rows in [
            "1048576 4 112201 122010 301221 311220 1221 4121\n1048576 1024 312201 322010 501221 511220 401221 304121\n",
            "> 1048576 4 112201 122010 301221\n> 311220 1221 4121\n> 1048576 1024 312201 322010 501221\n> 511220 401221 304121\n",
        ] {
            let reading = one(&format!("{heading}{rows}"), "iozone");
            let rate = |row: usize, name: &str| reading.rows[row].value(name).map(|v| v / 1024.0);
            assert_eq!(reading.rows.len(), 2, "{rows}");
            assert_eq!((rate(0, "random write.bw"), rate(0, "backward read.bw")), (Some(4121.0), None));
            assert_eq!((rate(1, "write.bw"), rate(1, "random read.bw")), (Some(312201.0), Some(401221.0)));
        }
    }

    /// `-i 0 -i 2` leaves two columns empty in the middle.
    #[test]
    fn a_rate_is_of_the_heading_below_which_it_ends() {
        let text = "                                                              random    random     bkwd    record    stride\n\
            \x20             kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite frewrite    fread  freread\n\
            \x20         102400    1024   360823   362512                     378122   364339                                    \n\
            \x20        1048576       4   310964   292306  1178512  1179537   173968   195313                                    \n";
        let reading = one(text, "iozone");
        let rate =
            |row: usize, name: &str| reading.rows[row].value(&format!("{name}.bw")).map(|v| v / 1024.0);
        assert_eq!((rate(0, "rewrite"), rate(0, "read"), rate(0, "reread")), (Some(362_512.0), None, None));
        assert_eq!((rate(0, "random read"), rate(0, "random write")), (Some(378_122.0), Some(364_339.0)));
        assert_eq!((rate(1, "read"), rate(1, "random write")), (Some(1_178_512.0), Some(195_313.0)));
    }
}
