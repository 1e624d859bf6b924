//! A run: readings that were taken together, with the words and commands around them.
//!
//! Words between two readings begin a new run; readings with nothing but commands between them are of one. Its label is
//! the heading or the last sentence before it.

use super::claim::Claim;
use super::command::Command;
use super::reading::Reading;
use super::words::Word;
use evidence::Spot;
use serde::Serialize;

/// Readings that were taken together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// What the author calls it; empty if no words stand before it.
    pub label: String,
    /// Where its first reading begins.
    pub at: Spot,
    /// Commands shown since the run before it.
    pub commands: Vec<Command>,
    /// What tools printed.
    pub readings: Vec<Reading>,
    /// Numbers that the label states.
    pub claims: Vec<Claim>,
    /// The author's words before it, at most 120.
    pub said: String,
}

impl Run {
    /// The readings of this tool.
    pub fn of<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = &'a Reading> {
        self.readings.iter().filter(move |r| r.tool == tool)
    }

    /// Whether the words before it or its commands have this word, in any case.
    pub fn says(&self, word: &str) -> bool {
        let has = |text: &str| text.to_lowercase().contains(word);
        has(&self.said) || has(&self.label) || self.commands.iter().any(|c| has(&c.text))
    }
}

/// Words that are kept of what the author says before a run.
pub const MOST_SAID: usize = 120;
/// Words of a label.
const LONGEST_LABEL: usize = 16;

/// Whether some words say anything: one of them is a word.
pub(crate) fn says_anything(words: &[Word]) -> bool {
    words.iter().any(|w| w.text.chars().filter(|c| c.is_alphabetic()).count() >= 3)
}

/// The label in the words before a run, as a range of them.
pub(crate) fn label(words: &[Word]) -> std::ops::Range<usize> {
    // A ruler is drawn below a heading, or above and below it.
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
        // What is left must still say something: a blank line or a full stop may stand at the end.
        if (sentence_ended || words[i].paragraph || bullet) && says_anything(&words[i..end]) {
            from = i;
        }
    }
    from.max(end.saturating_sub(LONGEST_LABEL))..end
}

/// `-----------`, `*****`
fn is_ruler(text: &str) -> bool {
    text.len() >= 4 && text.bytes().all(|b| b"-=*~_#+".contains(&b))
}

/// Words as a text on one line, without signs around it.
pub(crate) fn line(words: &[Word]) -> String {
    let text = words.iter().map(|w| w.text).collect::<Vec<_>>().join(" ");
    text.trim_start_matches(['*', '-', '#', '•', ' '])
        .trim_end_matches(['`', '*', ' ', ':'])
        .trim()
        .to_owned()
}
