//! The cells of btt's tables, as its own output and slides show them.

use crate::output::words::Word;

/// Limit on bars and rulers between two cells.
const MOST_BARS: usize = 24;
/// First heading of the table of all steps.
pub(super) const ALL: &str = "ALL";

/// Iterates over cells: slides put bars and rulers around them, btt's own tables have rulers.
pub(super) struct Cells<'w, 'a> {
    pub words: &'w [Word<'a>],
    pub used: usize,
}

impl<'w, 'a> Cells<'w, 'a> {
    pub fn next(&mut self) -> Option<&'w Word<'a>> {
        let bar = |w: &&Word| w.text.bytes().all(|b| b"|-=".contains(&b));
        let rest = self.words.get(self.used..)?;
        self.used += rest.iter().take(MOST_BARS).take_while(bar).count() + 1;
        self.words.get(self.used - 1)
    }

    /// The next subject: a device `(  8,  0)` as `8,0`, or a word.
    pub fn subject(&mut self) -> Option<String> {
        let first = self.next()?.text;
        let Some(mut device) = first.strip_prefix('(').map(str::to_owned) else { return Some(first.into()) };
        while !device.ends_with(')') {
            // Limits the digits and thus the words of a device.
            (device.len() <= MOST_DIGITS).then_some(())?;
            device += self.next()?.text;
        }
        device.pop();
        let (major, minor) = device.split_once(',')?;
        let number = |text: &str| text.parse::<u32>().is_ok();
        (number(major) && number(minor)).then_some(device)
    }
}

/// Limit on digits of a device's two numbers together.
const MOST_DIGITS: usize = 20;

/// Whether a word starts another table: its first heading, a further heading, or the ruler of a title.
pub(super) fn ends_table(word: &Word) -> bool {
    ["DEV", "MIN", "#", ALL].contains(&word.text) || word.text.starts_with("====")
}
