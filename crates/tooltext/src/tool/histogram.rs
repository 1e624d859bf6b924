//! Reads histograms of bcc's and bpftrace's tools: xfsdist, ext4dist, btrfsdist, biolatency (`print_log2_hist`, bcc's
//! table.py).
//!
//! ```text
//! Tracing XFS operation latency... Hit Ctrl-C to end.
//! ^C
//! operation = 'read'
//!      msecs               : count     distribution
//!          0 -> 1          : 482298   |****************************************|
//!          2 -> 3          : 22484    |*                                       |
//! ```
//!
//! Bounds are whole units: `2 -> 3` covers 2 up to, but not including, 4. Linear histograms (`print_linear_hist`) have one value per row,
//! which covers the range up to the next: `4 : 17 |**|`. biolatency names the subject of a histogram: `disk =
//! 'sda'` (-D) or `flags = Sync-Read` (-F); otherwise it covers all I/O.
//!
//! **Versions**: bcc 0.1.7 to 0.37 (`print_log2_hist`, `print_linear_hist`).

use super::reader::{texts, Found, Tool};
use super::table;
use crate::output::number::{time_unit, Number, Unit};
use crate::output::reading::{Bucket, Reading, Row};
use crate::output::words::Word;

pub struct Histograms;

/// Limit on rows: log2 histograms of 64-bit values have no more.
const MOST_BUCKETS: usize = 64;
/// Limit on rows of linear histograms: 1025 (`linear_index_max`, bcc's table.py).
const MOST_LINEAR: usize = 1025;
/// Limit on histograms in one reading: operations, disks or flags.
const MOST_HISTOGRAMS: usize = 256;

impl Tool for Histograms {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let first = words.first()?.text;
        if first == "Tracing" {
            return banner(words);
        }
        if first == "^C" {
            return Found::noise(1);
        }
        let mut reading = Reading { tool: "histogram", at: words[0].spot, ..Reading::default() };
        let (mut used, mut unknown) = (0, 0);
        while let Some((row, length, remarks)) = one(&words[used..]) {
            if reading.rows.len() == MOST_HISTOGRAMS {
                break;
            }
            reading.rows.push(row);
            used += length;
            unknown += remarks;
            // The next histogram may follow a time (`08:15:32:`), which starts a new reading.
        }
        (used > 0).then_some(Found { reading: Some(reading), used, unknown })
    }
}

/// Reads `Tracing XFS operation latency... Hit Ctrl-C to end.`, which names the tool of the following histograms.
fn banner(words: &[Word]) -> Option<Found> {
    let end = words.iter().take(12).position(|w| w.text == "end.")?;
    let said: Vec<&str> = words[..end].iter().map(|w| w.text).collect();
    let tool = match said[..] {
        ["Tracing", "XFS", "operation", ..] => "xfsdist",
        ["Tracing", "ext4", "operation", ..] => "ext4dist",
        ["Tracing", "btrfs", "operation", ..] => "btrfsdist",
        ["Tracing", "block", ..] => "biolatency",
        _ => return Found::noise(end + 1),
    };
    let mut used = end + 1;
    used += usize::from(words.get(used).is_some_and(|w| w.text == "^C"));
    match Histograms.read(&words[used..]) {
        Some(Found { reading: Some(reading), used: more, unknown }) => {
            let reading = Some(Reading { tool, at: words[0].spot, ..reading });
            Some(Found { reading, used: used + more, unknown })
        }
        _ => Found::noise(used),
    }
}

/// Reads one histogram: its subject, the heading, the buckets. Also returns the number of words, and of words not understood.
fn one(words: &[Word]) -> Option<(Row, usize, usize)> {
    // A mark before each line: `+`, as in patches.
    let mark = words.first().is_some_and(|w| w.text == "+" || w.text == "-");
    let (mut used, words) = (0, &words[usize::from(mark)..]);
    let mut row = Row::of("all");
    if let ["operation" | "disk" | "flags" | "Disk", "="] = texts(words)? {
        // Flags may be one word, `flags = ForcedUnitAccess-Metadata-Sync-Write`, or several with blanks between them.
        let named = |i: &usize| words.get(i + 1..).and_then(texts) == Some([":", "count", "distribution"]);
        let heading = (2..10).find(named)?;
        let said: Vec<&str> = words.get(2..heading)?.iter().map(|w| w.text).collect();
        if said.is_empty() {
            return None;
        }
        let quote = |c: char| c == '\'' || c == '"';
        row.of = said.join(" ").trim_start_matches("b'").trim_matches(quote).to_owned();
        used = heading;
    }
    let heading = (1..=MOST_OF_HEADING).find(|n| {
        let behind = words.get(used + n..).and_then(texts);
        behind == Some([":", "count", "distribution"])
    })?;
    let factor = unit_of(words[used].text).filter(|_| heading == 1);
    let title: Vec<&str> = words[used..used + heading].iter().map(|w| w.text).collect();
    // A title has words, not the bars of another histogram,
    // and is on one line: words above that line do not belong to it.
    let of_one_line = words[used + 1..used + heading].iter().all(|w| !w.first);
    (of_one_line && title.iter().all(|word| word.contains(char::is_alphanumeric))).then_some(())?;
    used += heading + 3;
    let (buckets, length, unknown) = buckets(&words[used..], factor.unwrap_or(1.0));
    row.histogram = buckets;
    used += length;
    let first = row.histogram.first()?.count;
    if factor.is_none() {
        // For sizes, and anything else that is no time, only the total count is kept.
        let all = row.histogram.drain(..).map(|b| b.count.value).sum();
        row.values.put("count", all, Unit::Count, first.at);
        row.of = format!("{} of {}", title.join(" "), row.of);
    }
    Some((row, used + usize::from(mark), unknown))
}

/// Buckets in rising order, their number of words, and the number of remarks among these: after a row (`<-- here`) or between
/// two (`...`). A row after a remark must continue the range; otherwise it belongs to another histogram.
fn buckets(words: &[Word], factor: f64) -> (Vec<Bucket>, usize, usize) {
    let ranges = rising(words, MOST_BUCKETS, |rest| range(rest, factor));
    if !ranges.0.is_empty() {
        return ranges;
    }
    let (mut all, used, unknown) = rising(words, MOST_LINEAR, |rest| single(rest, factor));
    // All buckets have the same width; empty rows may be left out.
    let steps = all.windows(2).map(|two| two[1].from - two[0].from);
    let step = steps.fold(f64::INFINITY, f64::min);
    all.iter_mut().for_each(|b| b.below = b.from + if step.is_finite() { step } else { factor });
    (all, used, unknown)
}

/// Consecutive buckets, parsed by `read`; also the number of words, and the number of remarks among these.
pub(super) fn rising(
    words: &[Word],
    most: usize,
    read: impl Fn(&[Word]) -> Option<(Bucket, usize)>,
) -> (Vec<Bucket>, usize, usize) {
    let (mut all, mut used, mut unknown): (Vec<Bucket>, usize, usize) = (vec![], 0, 0);
    while all.len() < most {
        let rest = &words[used..];
        let ends = |w: &Word| w.paragraph || w.text == "count" || w.text == "=";
        let Some((skip, bucket, length)) = table::next(rest, ends, &read) else { break };
        if all.last().is_some_and(|last| bucket.from < last.below) {
            break;
        }
        all.push(bucket);
        used += skip + length;
        unknown += skip;
    }
    (all, used, unknown)
}

/// Limit on words of a heading: `usecs`, `Block size`.
const MOST_OF_HEADING: usize = 3;

fn unit_of(text: &str) -> Option<f64> {
    ["nsecs", "usecs", "msecs", "secs"].contains(&text).then(|| time_unit(text)).flatten()
}

/// Limit on marks that people and patches put before a line: `+`, `*`, `-->`.
const MOST_MARKS: usize = 2;

/// Parses `2 -> 3 : 22484 |*  |`, optionally after a mark.
fn range(words: &[Word], factor: f64) -> Option<(Bucket, usize)> {
    let marks = marks(words);
    let [from, "->", to, ":", count] = texts(&words[marks..])? else { return None };
    let (from, to): (u64, u64) = (from.parse().ok()?, to.parse().ok()?);
    let (count, at) = (count.parse::<u64>().ok()?, marks + 5);
    let count = Number::new(count as f64, Unit::Count, words[at - 1].spot);
    let below = to.saturating_add(1) as f64 * factor;
    Some((Bucket { from: from as f64 * factor, below, count }, at + bar(&words[at..]).0))
}

/// Parses `2 : 22484 |*  |`; its width depends on the next row.
fn single(words: &[Word], factor: f64) -> Option<(Bucket, usize)> {
    let marks = marks(words);
    let [value, ":", count] = texts(&words[marks..])? else { return None };
    let (value, count): (u64, u64) = (value.parse().ok()?, count.parse().ok()?);
    let at = marks + 3;
    let (length, ends) = bar(&words[at..]);
    // `4 : 17` without a bar may be anything.
    (ends > 0).then_some(())?;
    let count = Number::new(count as f64, Unit::Count, words[at - 1].spot);
    let from = value as f64 * factor;
    Some((Bucket { from, below: value.saturating_add(1) as f64 * factor, count }, at + length))
}

fn marks(words: &[Word]) -> usize {
    let sign = |w: &&Word| w.text.len() <= 4 && !w.text.contains(char::is_alphanumeric) && w.text != "|";
    words.iter().take(MOST_MARKS).take_while(sign).count()
}

/// Number of words of a bar, and of its ends. A bar has one or two words: `|****|`, `|*` and `|`, `|` and `|`.
fn bar(words: &[Word]) -> (usize, usize) {
    let (mut used, mut ends) = (0, 0);
    while let Some(word) = words.get(used).filter(|w| ends < 2 && w.text.bytes().all(|b| BAR.contains(&b))) {
        ends += word.text.matches('|').count();
        used += 1;
    }
    (used, ends)
}

/// Characters of a bar; `+` ends one that is too long for its column.
const BAR: &[u8] = b"|*+#@";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::words::words;

    #[test]
    fn sizes_are_no_times() {
        let text = "Process Name = 'dd'\n     Kbytes              : count     distribution\n         0 -> 1          : 3        |**   |\n         2 -> 3          : 4        |***  |\n\
            \n     Block size          : count     distribution\n        8 -> 15         : 7        |*****|\n";
        let all = crate::tool::testing::all(text, "histogram");
        let counts: Vec<_> =
            all.iter().flat_map(|r| &r.rows).map(|r| (r.value("count"), r.histogram.len())).collect();
        assert_eq!(counts, [(Some(7.0), 0), (Some(7.0), 0)]);
    }

    /// The width is the smallest step between two rows: empty rows of linear histograms may be left out.
    #[test]
    fn linear_histograms_have_a_value_in_each_row() {
        let text = "Tracing block device I/O... Hit Ctrl-C to end.\n^C\n     msecs         : count     distribution\n        0          : 4379     |***************************             |\n\
            \x20       1          : 1601     |*********                               |\n...\n        12         : 6        |                                        |\n";
        let reading = crate::tool::testing::one(text, "biolatency");
        let buckets: Vec<_> =
            reading.rows[0].histogram.iter().map(|b| (b.from / 1e6, b.below / 1e6, b.count.value)).collect();
        assert_eq!(buckets, [(0.0, 1.0, 4379.0), (1.0, 2.0, 1601.0), (12.0, 13.0, 6.0)]);
        let tens = "usecs : count distribution\n 0 : 5 |** |\n 10 : 7 |***|\n 30 : 1 |*  |\n";
        let buckets: Vec<_> =
            crate::tool::testing::one(tens, "histogram").rows[0].histogram.iter().map(|b| b.below).collect();
        assert_eq!(buckets, [10e3, 20e3, 40e3]);
        let queue = "runqlen       : count     distribution\n 0          : 991      |***|\n 1          : 9      |   |\n";
        let row = &crate::tool::testing::one(queue, "histogram").rows[0];
        assert_eq!((row.value("count"), row.of.as_str()), (Some(1000.0), "runqlen of all"));
        // The first range has lost its beginning.
        let damaged = "usecs : count distribution\n 1 : 5 |** |\n 2 -> 3 : 7 |***|\n 4 -> 7 : 1 |*  |\n";
        let row = &crate::tool::testing::one(damaged, "histogram").rows[0];
        assert_eq!((row.slower_than(0.0).0, row.histogram[0].from), (8.0, 2e3));
    }

    /// Rows of one histogram, with any marks before them and any ends of their bars.
    #[test]
    fn marks_before_a_row_and_bars_that_are_cut_end_no_histogram() {
        for (mark, end) in [("", "|"), ("+ ", "|"), ("--> ", "+|"), ("* ", "+|")] {
            let row = |range: &str, n: u32, bar: &str| format!("{mark}{range} : {n} |{bar}{end}\n");
            let text = [
                "usecs : count distribution\n".to_string(),
                row("0 -> 1", 4457, "****"),
                row("2 -> 3", 0, "   "),
                row("4 -> 7", 2059, "**  "),
                row("8 -> 15", 1179, "*   "),
            ]
            .concat();
            let found = Histograms.read(&words(&text)).unwrap().reading.unwrap();
            let counts: Vec<f64> = found.rows[0].histogram.iter().map(|b| b.count.value).collect();
            assert_eq!(counts, [4457.0, 0.0, 2059.0, 1179.0], "{text}");
        }
    }

    #[test]
    fn remarks_behind_and_between_rows_lose_no_row() {
        let text = "> msecs : count distribution\n> 0 -> 1 : 21 |***|\n> ...\n> 8 -> 15 : 1 |* |   <--- here\n> 16 -> 31 : 4 |** |\n>\n\
            > msecs : count distribution\n> 0 -> 1 : 5 |***|\n";
        let rows = Histograms.read(&words(text)).unwrap().reading.unwrap().rows;
        let sums: Vec<f64> = rows.iter().map(|r| r.slower_than(0.0).0).collect();
        assert_eq!(sums, [26.0, 5.0]);
        assert!(rows.iter().all(|r| r.of == "all"));
    }
}
