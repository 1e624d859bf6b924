//! How a screen is drawn: colours, width, and how much of it.

/// Maximal number of devices, and of groups with a breakdown, on the screen; `iowhy report` has all.
pub(crate) const GROUPS: usize = 3;

/// How the screen is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether headings are bold (ANSI escapes), for a terminal.
    pub colour: bool,
    /// The width of a line, in columns; words and commands that do not fit may exceed it.
    pub width: usize,
    /// The level of detail.
    pub detail: Detail,
}

/// The level of detail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// One sentence.
    Brief,
    /// The answer on one screen of 24 lines.
    #[default]
    Screen,
    /// Where the time went, more proofs, what it is not and why, what cannot be told.
    More,
    /// Everything that was judged.
    All,
}

impl Detail {
    /// How many rows of a list are shown: all of them if everything is.
    pub(crate) fn most(self, usual: usize) -> usize {
        match self {
            Detail::All => usize::MAX,
            _ => usual,
        }
    }
}

impl Default for Style {
    fn default() -> Style {
        Style { colour: false, width: 80, detail: Detail::default() }
    }
}
