//! Kernel functions and stacks: each text is kept once, under the number that the recording gives it.

use crate::wait::Wait;
use trace::TextId;

/// Kernel functions and stacks by number, with the wait that each means.
#[derive(Debug, Default)]
pub struct Texts {
    texts: Vec<(Box<str>, Wait)>,
    /// Texts without a number in the recording; their numbers begin at [`Texts::OWN`].
    own: Vec<(Box<str>, Wait)>,
}

impl Texts {
    /// Longest text kept, in bytes: a stack of 64 functions.
    const MAX_BYTES: usize = 8192;
    const MAX_TEXTS: usize = 1 << 16;
    /// First number that is not used by recordings.
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

    /// Adds a text that is not from the recording's events and returns its number.
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

    /// A function, or the functions of a stack, innermost first, with `\n` in between; `?` if it was not defined.
    pub fn text(&self, id: TextId) -> &str {
        self.get(id).map_or("?", |t| &t.0)
    }

    /// The wait that a stack means.
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
