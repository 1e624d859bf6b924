//! A run: readings that belong together, with the words and commands around them.
//!
//! Words between two readings start a new run; readings with only commands between them belong to one. The label of a run is
//! the heading or the last sentence before it.

use super::claim::Claim;
use super::command::Command;
use super::reading::Reading;
use super::words::Word;
use evidence::Spot;
use serde::Serialize;

/// Readings that belong together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// The author's name for it; empty if no words precede it.
    pub label: String,
    /// The place of its first reading.
    pub at: Spot,
    /// Commands since the previous run.
    pub commands: Vec<Command>,
    /// Output of tools.
    pub readings: Vec<Reading>,
    /// Numbers stated in the label.
    pub claims: Vec<Claim>,
    /// The author's words before it, at most 120.
    pub said: String,
}

impl Run {
    /// The readings of this tool.
    pub fn of<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = &'a Reading> {
        self.readings.iter().filter(move |r| r.tool == tool)
    }

    /// A run without words around it; `None` if there are no readings.
    pub(crate) fn of_readings(label: String, readings: Vec<Reading>) -> Option<Run> {
        let at = readings.first()?.at;
        Some(Run { label, at, readings, ..Run::default() })
    }

    /// Whether the words before it or its commands contain `word` (lower case), in any case.
    pub fn says(&self, word: &str) -> bool {
        let has = |text: &str| text.to_lowercase().contains(word);
        has(&self.said) || has(&self.label) || self.commands.iter().any(|c| has(&c.text))
    }
}

/// Words that are kept of the text before a run.
pub const MOST_SAID: usize = 120;
/// Most words of a label.
const LONGEST_LABEL: usize = 16;

/// Whether there is a real word among the words (three letters or more).
pub(crate) fn says_anything(words: &[Word]) -> bool {
    words.iter().any(|w| w.text.chars().filter(|c| c.is_alphabetic()).count() >= 3)
}

/// The range of the label in the words before a run.
pub(crate) fn label(words: &[Word]) -> std::ops::Range<usize> {
    // A ruler is below a heading, or above and below it.
    let last_ruler = words.iter().rposition(|w| is_ruler(w.text));
    let within = match last_ruler {
        Some(ruler) if says_anything(&words[ruler + 1..]) => ruler + 1..words.len(),
        Some(ruler) => {
            let before = words[..ruler].iter().rposition(|w| is_ruler(w.text)).map_or(0, |i| i + 1);
            before..ruler
        }
        None => 0..words.len(),
    };
    let end = within.end;
    let mut from = within.start;
    for i in within.clone().skip(1) {
        let sentence_ended = words[i - 1].text.ends_with(['.', '!', '?']) && words[i - 1].text.len() > 2;
        let bullet = words[i].first && ["*", "-", "+", "o", "•"].contains(&words[i].text);
        // The remaining words must contain a real word: a blank line or a full stop may be at the end.
        if (sentence_ended || words[i].paragraph || bullet) && says_anything(&words[i..end]) {
            from = i;
        }
    }
    from.max(end.saturating_sub(LONGEST_LABEL))..end
}

/// Whether a word is a ruler: `-----------`, `*****`.
fn is_ruler(text: &str) -> bool {
    text.len() >= 4 && text.bytes().all(|b| b"-=*~_#+".contains(&b))
}

/// Joins words into one line, without punctuation around it.
pub(crate) fn line(words: &[Word]) -> String {
    let text = words.iter().map(|w| w.text).collect::<Vec<_>>().join(" ");
    text.trim_start_matches(['*', '-', '#', '•', ' '])
        .trim_end_matches(['`', '*', ' ', ':'])
        .trim()
        .to_owned()
}
