//! Reads rates of fio that people put into lines of their own, each after some words.
//!
//! ```text
//! bs=4k       IOPS=11.1k, BW=43.2MiB/s
//! w:  IOPS=62.5k, BW=244MiB/s (256MB/s)      before and after:  IOPS=651, BW=652MiB/s    IOPS=1442, BW=1442MiB/s
//! ```
//!
//! The words before are the run's name; they may name the operation, which this reader does not know.
//!
//! **Versions**: fio 3.0 to 3.42.

use super::fio_units::measure;
use super::lexeme::{lexemes, Cursor};
use super::reader::{Found, Tool};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct FioLine;

const RATES: [&str; 4] = ["IOPS", "iops", "BW", "bw"];
/// Limit on words of both rates and one more.
const LONGEST: usize = 7;

impl Tool for FioLine {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let first = words.first()?;
        ["IOPS=", "iops=", "BW=", "bw="].iter().any(|key| first.text.starts_with(key)).then_some(())?;
        let looked_at = &words[..words.len().min(LONGEST)];
        let all = lexemes(looked_at);
        let mut cursor = Cursor::new(&all);
        let (mut row, mut rates, mut end) = (Row::of("I/O"), 0, 0);
        while rates < 2 {
            let Some(key) = cursor.key() else { break };
            let value = cursor.next()?;
            if !RATES.contains(&key.text) || !measure(&mut row, key, value, &mut cursor) {
                break;
            }
            rates += 1;
            end = cursor.at;
            cursor.eat(",");
        }
        // A single rate may be from another program; the same rate twice is two lines. In `BW=1MiB/s BW=2MiB/s IOPS=3 IOPS=4` the rates are
        // columns, which cannot be assigned to each other.
        let again = all[..end].iter().rposition(|l| RATES.contains(&l.text)).map(|at| all[at].text);
        let columns = again.is_some() && cursor.ahead(0).map(|l| l.text) == again;
        (row.values.iter().count() == 2 && !columns).then_some(())?;
        let mut used = all.get(end - 1)?.word + 1;
        // The same bandwidth in powers of ten.
        used +=
            usize::from(words.get(used).is_some_and(|w| w.text.starts_with('(') && w.text.contains("B/s)")));
        Found::all(Reading { tool: "fio", rows: vec![row], at: first.spot, ..Reading::default() }, used)
    }
}

#[cfg(test)]
mod tests {
    use crate::output::ToolOutput;
    use crate::tool::testing::all;

    #[test]
    fn lines_are_called_by_the_words_before_them() {
        let text = "It does:\n bs=4k       IOPS=11.1k, BW=43.2MiB/s\n bs=16k      IOPS=11.1k, BW=173MiB/s\n  U 4k:    IOPS= 225k BW= 877MiB/s (919MB/s)     # extent-moving\n";
        let rates: Vec<_> = all(text, "fio")
            .iter()
            .map(|r| (r.rows[0].value("iops").unwrap(), r.rows[0].value("bw").unwrap()))
            .collect();
        let mib = 1048576.0;
        assert_eq!(
            rates,
            [(11_100.0, 43.2 * mib), (11_100.0, 173.0 * mib), (225_000.0, 877.0 * mib)]
                .map(|(i, b): (f64, f64)| (i, (b * 1e4).round() / 1e4))
        );
        let labels: Vec<String> =
            ToolOutput::read("m", text.as_bytes()).runs.into_iter().map(|r| r.label).collect();
        assert!(
            labels[0].ends_with("bs=4k") && labels[1].ends_with("bs=16k") && labels.len() == 3,
            "{labels:?}"
        );
    }

    #[test]
    fn before_and_after_in_one_line_are_two() {
        let two = all("overwrite+fsync  1M  IOPS=832, BW=832MiB/s    IOPS=2064, BW=2065MiB/s\n", "fio");
        assert_eq!(two.iter().filter_map(|r| r.rows[0].value("iops")).collect::<Vec<_>>(), [832.0, 2064.0]);
        assert!(all("IOPS=832 is too few, BW=the same", "fio").is_empty());
    }

    /// `write read randwrite randread`: bandwidth of the first two, operations of the others.
    #[test]
    fn columns_are_no_pairs() {
        for text in [
            "polling   BW=3900MiB/s    BW=6500MiB/s    IOPS=190K    IOPS=520K\n",
            "polling   IOPS=190K   IOPS=520K   BW=3900MiB/s    BW=6500MiB/s (suboptimal)\n",
        ] {
            assert!(all(text, "fio").is_empty(), "{text}");
        }
    }
}
