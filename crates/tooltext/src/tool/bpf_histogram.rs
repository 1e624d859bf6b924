//! Reads bpftrace's histograms, and those of perf-tools' iolatency.
//!
//! ```text
//! @usecs:                                            >=(ms) .. <(ms)   : I/O      |Distribution                    |
//! [256, 512)             2 |             |                 0 -> 1       : 4381     |################################|
//! [512, 1K)             10 |@            |                 1 -> 2       : 9        |#                               |
//! [1K, 2K)             426 |@@@@@@@@@@@@ |
//! @us[xfs_file_read_iter]:
//! [1]                  724 |@@@@@@@@@@@@@|
//! ```
//!
//! The upper bound is exclusive; `K` is 1024. The unit is known only if the map's name contains it (`@usecs`); otherwise
//! only the total count is kept.
//!
//! **Versions**: bpftrace 0.17 (`hist`, `lhist`), perf-tools 1.0 (`iolatency`).

use super::reader::{texts, Found, Tool};
use super::table;
use crate::output::number::{time_unit, Number, Unit};
use crate::output::reading::{Bucket, Reading, Row};
use crate::output::words::Word;

pub struct BpfHistogram;

/// Limit on buckets: histograms of 64-bit values have no more.
const MOST_BUCKETS: usize = 66;
const MOST_HISTOGRAMS: usize = 256;
/// Limit on words of a map's key, which may be a stack.
const MOST_OF_NAME: usize = 64;

impl Tool for BpfHistogram {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if words.first()?.text == ">=(ms)" {
            return iolatency(words);
        }
        let mut reading = Reading { tool: "bpftrace", at: words[0].spot, ..Reading::default() };
        let (mut used, mut unknown) = (0, 0);
        while reading.rows.len() < MOST_HISTOGRAMS {
            let Some((row, length, remarks)) = one(&words[used..]) else { break };
            reading.rows.push(row);
            used += length;
            unknown += remarks;
        }
        (used > 0).then_some(Found { reading: Some(reading), used, unknown })
    }
}

/// Parses `@usecs[key, key]:` and its buckets; also returns the number of words, and of words not understood.
fn one(words: &[Word]) -> Option<(Row, usize, usize)> {
    let first = words.first()?.text.strip_prefix('@')?;
    let end = words.iter().take(MOST_OF_NAME).position(|w| w.text.ends_with(':'))?;
    let more = words[1..=end].iter().map(|w| w.text);
    let name = std::iter::once(first).chain(more).collect::<Vec<_>>().join(" ");
    let name = name.trim_end_matches(':');
    let (map, key) = name.split_once('[').map_or((name, ""), |(map, key)| (map, key.trim_end_matches(']')));
    let unit = map.rsplit('_').next().and_then(time_unit);
    let mut row = Row::of(if key.is_empty() {
        if map.is_empty() {
            "all"
        } else {
            map
        }
    } else {
        key.trim()
    });
    let (mut used, mut count) = (end + 1, 0.0);
    let mut buckets = vec![];
    let mut unknown = 0;
    let ends = |w: &Word| w.paragraph || w.text.starts_with('@');
    while let Some((skip, (from, below, number), length)) =
        table::next(&words[used..], ends, bucket).filter(|_| buckets.len() < MOST_BUCKETS)
    {
        // A remark may be between two buckets if the ranges continue; otherwise they belong to a map whose name is missing.
        if buckets.last().map_or(skip > 0, |(_, last, _)| from < *last) {
            break;
        }
        count += number.value;
        buckets.push((from, below, number));
        used += skip + length;
        unknown += skip;
    }
    let at = buckets.first()?.2.at;
    match unit {
        Some(ns) => {
            let all = buckets.into_iter();
            row.histogram = all
                .map(|(from, below, count)| Bucket { from: from * ns, below: below * ns, count })
                .collect();
        }
        None => row.values.put("count", count, Unit::Count, at),
    }
    Some((row, used, unknown))
}

/// Parses a bucket: `[1K, 2K) 426 |@@@ |`, `[1] 724 |@@@|`, `(..., 0) 1 |@|`.
fn bucket(words: &[Word]) -> Option<((f64, f64, Number), usize)> {
    let first = words.first()?.text;
    let (from, below, at) = match first.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        Some(value) => {
            let value = bound(value)?;
            (value, value + 1.0, 1)
        }
        None => {
            let from = first.strip_suffix(',')?;
            let to = words.get(1)?.text.strip_suffix(')')?;
            let from = if from == "(..." { 0.0 } else { bound(from.strip_prefix('[')?)? };
            (from, if to == "..." { f64::INFINITY } else { bound(to)? }, 2)
        }
    };
    let word = words.get(at)?;
    let count = word.text.parse::<u64>().ok()? as f64;
    let bar = |w: &&Word| w.text.bytes().all(|b| b == b'|' || b == b'@' || b == b'#' || b == b'*');
    // The bar has one or two words.
    let (mut used, mut ends) = (at + 1, 0);
    while let Some(w) = words.get(used).filter(|w| ends < 2 && bar(w)) {
        ends += w.text.matches('|').count();
        used += 1;
    }
    (ends > 0).then_some(((from, below, Number::new(count, Unit::Count, word.spot)), used))
}

/// Parses a bound: `512`, `1K`, `4M`.
fn bound(text: &str) -> Option<f64> {
    let digits = text.trim_end_matches(['K', 'M', 'G', 'T']);
    let scale = match &text[digits.len()..] {
        "" => 1.0,
        "K" => 1024.0,
        "M" => 1048576.0,
        "G" => 1073741824.0,
        "T" => 1099511627776.0,
        _ => return None,
    };
    digits.parse::<i64>().ok().map(|n| n.max(0) as f64 * scale)
}

/// Reads the histogram of perf-tools' iolatency.
fn iolatency(words: &[Word]) -> Option<Found> {
    let [">=(ms)", "..", "<(ms)", ":", "I/O", head] = texts(words)? else { return None };
    let mut used = 6 + usize::from(!head.ends_with('|') || head == "|Distribution");
    let mut row = Row::of("all");
    while row.histogram.len() < MOST_BUCKETS {
        let Some([from, "->", to, ":", count]) = words.get(used..).and_then(texts) else { break };
        let (Ok(from), Ok(to), Ok(count)) = (from.parse::<u32>(), to.parse::<u32>(), count.parse::<u64>())
        else {
            break;
        };
        let count = Number::new(count as f64, Unit::Count, words[used + 4].spot);
        row.histogram.push(Bucket { from: f64::from(from) * 1e6, below: f64::from(to) * 1e6, count });
        used += 5;
        let mut ends = 0;
        while let Some(w) =
            words.get(used).filter(|w| ends < 2 && w.text.bytes().all(|b| b == b'|' || b == b'#'))
        {
            ends += w.text.matches('|').count();
            used += 1;
        }
    }
    let reading = Reading { tool: "iolatency", rows: vec![row], at: words[0].spot, ..Reading::default() };
    (!reading.rows[0].histogram.is_empty()).then_some(())?;
    Found::all(reading, used)
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::one;

    #[test]
    fn maps_have_their_keys_and_units() {
        let text = "@usecs:\n[256, 512)             2 |                |\n[512, 1K)             10 |@               |\n[1K, 2K)             426 |@@@@@@@@@@@@@@@@|\n\n\
            @us[xfs_file_read_iter]:\n[1]                  724 |@@@@@@@@@@@@@@@@|\n[2, 4)               137 |@@@             |\n\n@[jbd2/sda1-8]:\n[4K, 8K)               3 |@@@@|\n";
        let reading = one(text, "bpftrace");
        let names: Vec<&str> = reading.rows.iter().map(|r| r.of.as_str()).collect();
        assert_eq!(names, ["usecs", "xfs_file_read_iter", "jbd2/sda1-8"]);
        assert_eq!(reading.rows[0].slower_than(1024e3), (438.0, 426.0));
        assert_eq!((reading.rows[1].histogram[0].from, reading.rows[1].histogram[0].below), (1e3, 2e3));
        assert_eq!(reading.rows[2].value("count"), Some(3.0));
    }

    /// `lhist()`: bounds chosen by the user, and values outside of them.
    #[test]
    fn linear_histograms_have_bounds_of_their_own() {
        let text = "@usecs:\n(..., 0)               1 |@     |\n[0, 100)              12 |@@    |\n[100, 200)           310 |@@@@@@|\n[900, 1000)            4 |      |\n[1000, ...)            2 |      |\n";
        let buckets: Vec<_> = one(text, "bpftrace").rows[0]
            .histogram
            .iter()
            .map(|b| (b.from, b.below, b.count.value))
            .collect();
        assert_eq!(
            buckets,
            [
                (0.0, 0.0, 1.0),
                (0.0, 100e3, 12.0),
                (100e3, 200e3, 310.0),
                (900e3, 1e6, 4.0),
                (1e6, f64::INFINITY, 2.0)
            ]
        );
    }

    #[test]
    fn iolatency_has_milliseconds() {
        let text = "  >=(ms) .. <(ms)   : I/O      |Distribution                          |\n       0 -> 1       : 4381     |######################################|\n\
            1 -> 2       : 9        |#                                     |\n";
        let reading = one(text, "iolatency");
        assert_eq!((reading.rows[0].slower_than(0.0).0, reading.rows[0].histogram[1].below), (4390.0, 2e6));
    }
}
