//! Blocks of lines; a screen shows those that fit. A block is shown whole or not at all: half a sentence may say the opposite, and
//! half a command does something else.

use crate::wrap::{wrap, wrap_command};

/// Lines of a terminal of 24 by 80 without the line of the prompt.
pub(crate) const LINES: usize = 23;
/// Columns of the indent below headings.
pub(crate) const INDENT: &str = "       ";

/// Lines that belong together.
struct Block {
    lines: Vec<String>,
    /// Priority: the lowest rank is placed first. A block of rank 0 is always shown.
    rank: u8,
    /// Whether it continues the block before; it is shown only together with that one.
    goes_on: bool,
}

/// A screen as a list of blocks, in the order in which they appear.
pub(crate) struct Blocks {
    blocks: Vec<Block>,
    width: usize,
}

impl Blocks {
    /// An empty screen of `width` columns.
    pub fn new(width: usize) -> Blocks {
        Blocks { blocks: vec![], width }
    }

    /// The width of the screen, in columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Adds a block of lines that are already laid out.
    pub fn lines(&mut self, lines: Vec<String>, rank: u8) {
        self.blocks.push(Block { lines, rank, goes_on: false });
    }

    /// Adds a block that continues the one before; it is shown only if that one is.
    pub fn more_lines(&mut self, lines: Vec<String>, rank: u8) {
        self.blocks.push(Block { lines, rank, goes_on: true });
    }

    /// Adds a wrapped text; `first` precedes its first line, `other` all further lines.
    pub fn text(&mut self, text: &str, first: &str, other: &str, rank: u8) {
        self.lines(wrap(text, self.width, first, other), rank);
    }

    /// Adds a command, broken into lines that can be copied, and its description.
    pub fn command(&mut self, command: &str, words: &str, first: &str, other: &str, rank: u8) {
        let mut lines = wrap_command(command, self.width, first, other);
        lines.extend(wrap(words, self.width, other, other));
        self.lines(lines, rank);
    }

    /// Adds an empty line.
    pub fn gap(&mut self, rank: u8) {
        self.lines(vec![String::new()], rank);
    }

    /// The text in at most `most` lines: while there is room, blocks are chosen by rank; they keep their order. Adjacent empty lines
    /// become one.
    pub fn fit(&self, most: usize) -> String {
        let kept = self.blocks.iter().zip(self.shown(most)).filter(|(_, shown)| *shown);
        let mut lines: Vec<&str> = kept.flat_map(|(b, _)| &b.lines).map(|line| line.trim_end()).collect();
        lines.dedup_by(|a, b| a.is_empty() && b.is_empty());
        lines.into_iter().map(|line| line.to_owned() + "\n").collect()
    }

    /// Whether all blocks of a rank fit into `most` lines.
    pub fn has_all_of(&self, rank: u8, most: usize) -> bool {
        self.blocks.iter().zip(self.shown(most)).all(|(block, shown)| shown || block.rank != rank)
    }

    /// For each block, whether it is shown in `most` lines.
    fn shown(&self, most: usize) -> Vec<bool> {
        let mut order: Vec<usize> = (0..self.blocks.len()).collect();
        order.sort_by_key(|at| self.blocks[*at].rank);
        let mut shown = vec![false; self.blocks.len()];
        let mut used = 0;
        for at in order {
            let Block { lines, rank, goes_on } = &self.blocks[at];
            let is_told = !goes_on || at > 0 && shown[at - 1];
            if is_told && (*rank == 0 || used + lines.len() <= most) {
                used += lines.len();
                shown[at] = true;
            }
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::Blocks;

    #[test]
    fn what_matters_least_goes_and_goes_whole() {
        let mut blocks = Blocks::new(10);
        blocks.text("first", "", "", 0);
        blocks.gap(9);
        blocks.text("two lines of it", "", "", 2);
        blocks.text("one", "", "", 3);
        blocks.text("second", "", "", 1);
        assert_eq!(blocks.fit(4), "first\ntwo lines\nof it\nsecond\n");

        let mut blocks = Blocks::new(10);
        blocks.text("first", "", "", 0);
        blocks.gap(1);
        blocks.text("two lines of it", "", "", 2);
        blocks.gap(1);
        blocks.text("last", "", "", 0);
        assert_eq!(blocks.fit(5), "first\n\nlast\n");

        let mut blocks = Blocks::new(10);
        blocks.text("always this and that", "", "", 0);
        blocks.text("two lines of it", "", "", 1);
        blocks.text("one", "", "", 2);
        // There is room for one line: the shorter block takes it; the longer one is not cut.
        assert_eq!(blocks.fit(4), "always\nthis and\nthat\none\n");
        assert!(blocks.has_all_of(2, 4) && !blocks.has_all_of(1, 4));
    }

    #[test]
    fn more_of_what_is_not_shown_is_not_shown() {
        let mut blocks = Blocks::new(10);
        blocks.text("first", "", "", 0);
        blocks.text("two lines of it", "", "", 1);
        blocks.more_lines(vec!["more".into()], 2);
        assert_eq!(
            (blocks.fit(2).as_str(), blocks.fit(3).as_str()),
            ("first\n", "first\ntwo lines\nof it\n")
        );
        assert!(blocks.fit(4).ends_with("more\n"));
    }
}
