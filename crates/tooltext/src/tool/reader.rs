//! What every reader of a tool's output can do, and what it gives.

use crate::output::reading::Reading;
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

impl Found {
    pub(super) fn all(reading: Reading, used: usize) -> Option<Found> {
        Some(Found { reading: Some(reading), used, unknown: 0 })
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
