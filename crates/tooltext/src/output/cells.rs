//! The cells of a table: words with their positions in the line.

/// Names and values of settings.
pub(super) type SettingPairs = Vec<(String, String)>;

/// A word and its position in the line, in characters: `from` to `to` (exclusive).
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub text: String,
    pub from: usize,
    pub to: usize,
}

/// The words of a line.
pub(super) fn cells(line: &str) -> Vec<Cell> {
    let mut all: Vec<Cell> = vec![];
    for (at, c) in line.trim_end().chars().enumerate() {
        match all.last_mut().filter(|cell| cell.to == at) {
            _ if c.is_whitespace() => {}
            Some(cell) => {
                cell.text.push(c);
                cell.to += 1;
            }
            None => all.push(Cell { text: c.to_string(), from: at, to: at + 1 }),
        }
    }
    all
}
