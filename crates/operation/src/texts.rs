//! Kernel functions and stacks, each text once, by the number that the recording gives it.

use crate::wait::Wait;
use trace::TextId;

/// Kernel functions and stacks.
#[derive(Debug, Default)]
pub struct Texts {
    texts: Vec<(Box<str>, Wait)>,
    /// Those that the recording does not give a number, by [`Texts::OWN`] and their place.
    own: Vec<(Box<str>, Wait)>,
}

impl Texts {
    /// Longest text that is kept: a stack of 64 functions.
    const MAX_BYTES: usize = 8192;
    const MAX_TEXTS: usize = 1 << 16;
    /// From here on numbers are no recording's.
    const OWN: u32 = 1 << 31;

    pub(crate) fn define(&mut self, id: TextId, text: &[u8]) {
        let at = id.0 as usize;
        if at >= Self::MAX_TEXTS {
            return;
        }
        if at >= self.texts.len() {
            self.texts.resize(at + 1, (Box::from("?"), Wait::Unknown));
        }
        self.texts[at] = Self::kept(text);
    }

    /// A text from elsewhere: its number.
    pub(crate) fn add(&mut self, text: &str) -> TextId {
        self.own.push(Self::kept(text.as_bytes()));
        TextId(Self::OWN + self.own.len() as u32 - 1)
    }

    fn kept(text: &[u8]) -> (Box<str>, Wait) {
        let text = String::from_utf8_lossy(&text[..text.len().min(Self::MAX_BYTES)]);
        (text.as_ref().into(), Wait::of_stack(&text))
    }

    fn get(&self, id: TextId) -> Option<&(Box<str>, Wait)> {
        match id.0.checked_sub(Self::OWN) {
            Some(own) => self.own.get(own as usize),
            None => self.texts.get(id.0 as usize),
        }
    }

    /// The function, or the functions of a stack with the innermost first and `\n` between; `?` where none
    /// was defined.
    pub fn text(&self, id: TextId) -> &str {
        self.get(id).map_or("?", |t| &t.0)
    }

    /// What a stack means.
    pub fn wait(&self, id: TextId) -> Wait {
        self.get(id).map_or(Wait::Unknown, |t| t.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_from_elsewhere_have_numbers_of_their_own() {
        let mut texts = Texts::default();
        let own = texts.add("schedule\nio_schedule");
        texts.define(TextId(0), b"wb_workfn");
        assert_eq!((texts.text(own), texts.text(TextId(0))), ("schedule\nio_schedule", "wb_workfn"));
        assert_eq!((texts.text(TextId(1)), texts.text(TextId(u32::MAX))), ("?", "?"));
    }
}
