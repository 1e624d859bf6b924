//! Kernel functions and stacks, each text once, by the number that the recording gives it.

use crate::wait::Wait;
use trace::TextId;

/// Kernel functions and stacks.
#[derive(Debug, Default)]
pub struct Texts {
    texts: Vec<(Box<str>, Wait)>,
}

impl Texts {
    /// Longest text that is kept: a stack of 64 functions.
    const MAX_BYTES: usize = 8192;
    const MAX_TEXTS: usize = 1 << 16;

    pub(crate) fn define(&mut self, id: TextId, text: &[u8]) {
        let at = id.0 as usize;
        if at >= Self::MAX_TEXTS {
            return;
        }
        if at >= self.texts.len() {
            self.texts.resize(at + 1, (Box::from("?"), Wait::Unknown));
        }
        let text = String::from_utf8_lossy(&text[..text.len().min(Self::MAX_BYTES)]);
        self.texts[at] = (text.as_ref().into(), Wait::of_stack(&text));
    }

    /// The function, or the functions of a stack with the innermost first and `\n` between; `?` where none
    /// was defined.
    pub fn text(&self, id: TextId) -> &str {
        self.texts.get(id.0 as usize).map_or("?", |t| &t.0)
    }

    /// What a stack means.
    pub fn wait(&self, id: TextId) -> Wait {
        self.texts.get(id.0 as usize).map_or(Wait::Unknown, |t| t.1)
    }
}
