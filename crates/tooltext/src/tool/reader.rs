//! What every reader of a tool's output can do, and what it gives.

use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

/// A reader for the output of one tool.
pub(crate) trait Tool: Sync {
    /// Parses output at the start of `words`; `None` if no output of this tool starts there.
    fn read(&self, words: &[Word]) -> Option<Found>;
}

/// The result of a tool's reader.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// What was parsed; `None` for output without numbers ("Hit Ctrl-C to end.").
    pub reading: Option<Reading>,
    /// Number of words that belong to it, including words in between that were not understood.
    pub used: usize,
    /// Number of these that were not understood.
    pub unknown: usize,
}

/// Limit on rows of one run.
const MOST_ROWS: usize = 64;

impl Found {
    pub(super) fn all(reading: Reading, used: usize) -> Option<Found> {
        Some(Found { reading: Some(reading), used, unknown: 0 })
    }

    /// Lines of one run, each a row of its own, with at most so many words of other lines between two of them. A row that is there already is
    /// of another run.
    pub(super) fn rows(
        tool: &'static str,
        words: &[Word],
        most_between: usize,
        row: impl Fn(&[Word]) -> Option<(Row, usize)>,
    ) -> Option<Found> {
        let mut reading = Reading { tool, at: words.first()?.spot, ..Reading::default() };
        let (mut used, mut unknown) = (0, 0);
        while reading.rows.len() < MOST_ROWS {
            let rest = &words[used..];
            let most = if used == 0 { 1 } else { most_between.min(rest.len()) };
            let next = (0..most).find_map(|skip| Some((skip, row(&rest[skip..])?)));
            let Some((skip, (row, length))) = next else { break };
            if reading.row(&row.of).is_some() {
                break;
            }
            reading.rows.push(row);
            unknown += skip;
            used += skip + length;
        }
        (used > 0).then_some(Found { reading: Some(reading), used, unknown })
    }

    pub(super) fn noise(used: usize) -> Option<Found> {
        Some(Found { reading: None, used, unknown: 0 })
    }
}

/// The texts of the first `N` words; `None` if there are fewer.
pub(super) fn texts<'a, const N: usize>(words: &[Word<'a>]) -> Option<[&'a str; N]> {
    let first = words.get(..N)?;
    Some(std::array::from_fn(|i| first[i].text))
}
