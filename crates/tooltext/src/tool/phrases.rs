//! Reads numbers after phrases, for tools that print sentences instead of tables.
//!
//! ```text
//! latency average = 12.345 ms         phrase `latency average =`, number, unit
//! Percentage Used:  3%
//! ```

use crate::output::number::{quantity, size_unit, time_unit, Unit};
use crate::output::reading::Row;
use crate::output::words::Word;

/// A phrase: its words, the name of the following number, the factor to its unit, its unit.
pub(super) type Phrase = (&'static [&'static str], &'static str, f64, Unit);

/// Limit on words between two phrases.
const MOST_BETWEEN: usize = 24;

/// Reads the numbers after phrases in a text that starts with one: a row, its number of words, and the number of words not understood.
pub(super) fn row(words: &[Word], phrases: &[Phrase], of: &str) -> Option<(Row, usize, usize)> {
    // Called at every word: few words start a phrase.
    let first = words.first()?.text;
    phrases.iter().any(|(phrase, ..)| phrase[0] == first).then_some(())?;
    let mut row = Row::of(of);
    let (mut used, mut unknown) = (0, 0);
    loop {
        let rest = &words[used..];
        let most = if used == 0 { 1 } else { MOST_BETWEEN.min(rest.len()) };
        let next = (0..most).find_map(|skip| Some((skip, one(&rest[skip..], phrases)?)));
        let Some((skip, (phrase, value, unit, length))) = next else { break };
        // A repeated phrase belongs to another run of the tool.
        if row.get(phrase.1).is_some() {
            break;
        }
        row.values.put(phrase.1, value, unit, rest[skip].spot);
        unknown += skip;
        used += skip + length;
    }
    (used > 0).then_some((row, used, unknown))
}

/// Reads one phrase with its number.
fn one<'p>(words: &[Word], phrases: &'p [Phrase]) -> Option<(&'p Phrase, f64, Unit, usize)> {
    phrases.iter().find_map(|phrase| {
        let (texts, _, factor, unit) = *phrase;
        let same = texts.iter().zip(words).all(|(text, w)| w.text == *text);
        let number = words.get(texts.len()).filter(|_| same)?;
        let plain = number.text.trim_end_matches([',', ';', ')']);
        let (value, of) = quantity(plain, factor, unit)?;
        // A unit may be a separate word: `12.3 ms`, `4.5 MiB/sec`.
        let next = words.get(texts.len() + 1).map_or("", |w| w.text.trim_end_matches([',', ';', ')', '.']));
        let bare = plain.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b',');
        let apart = match unit {
            Unit::Nanoseconds => time_unit(next),
            Unit::BytesPerSecond => size_unit(next.trim_end_matches("/sec").trim_end_matches("/s")),
            Unit::Bytes => size_unit(next),
            _ => None,
        };
        Some(match apart.filter(|_| bare) {
            Some(scale) => (phrase, value / factor * scale, unit, texts.len() + 2),
            None => (phrase, value, of, texts.len() + 1),
        })
    })
}
