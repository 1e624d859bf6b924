//! Tables whose cells may be empty or have several words, so that only positions identify them: lsblk, `nvme list`.
//!
//! The reader of such a table also sees the following lines, and reports how many continue the first: mailers break long lines.

use super::lsblk::{pairs, Lsblk};
use super::nvme_list::NvmeList;

/// Names and values of settings.
pub(super) type SettingPairs = Vec<(String, String)>;

/// A word and its position in the line, in characters: `from` to `to` (exclusive).
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub text: String,
    pub from: usize,
    pub to: usize,
}

/// The table that the following lines may belong to.
#[derive(Debug, Default)]
pub(super) struct Columns {
    table: Table,
    /// Lines since its last row.
    others: usize,
}

#[derive(Debug, Default)]
enum Table {
    #[default]
    None,
    Lsblk(Lsblk),
    Nvme(NvmeList),
}

/// Limit on other lines within a table: ends of broken lines, remarks.
const MOST_OTHERS: usize = 16;

impl Columns {
    /// The settings in a line and its number of continuation lines; `None` if the line belongs to no such table.
    pub fn line<'t>(
        &mut self,
        line: &str,
        ahead: impl Iterator<Item = &'t str>,
    ) -> Option<(SettingPairs, usize)> {
        if line.contains("=\"") {
            return pairs::line(line, ahead);
        }
        let first = line.trim_start();
        let begins = ["NAME", "KNAME", "ALIGNMENT", "Node"].iter().any(|head| first.starts_with(head));
        if matches!(self.table, Table::None) && !begins {
            return None;
        }
        let words = cells(line);
        if begins {
            let ahead: Vec<&str> = ahead.take(MOST_AHEAD).collect();
            if let Some((table, lines)) = Lsblk::heading(&words, ahead.iter().copied()) {
                *self = Columns { table: Table::Lsblk(table), others: 0 };
                return Some((vec![], lines));
            }
            let (table, lines) = NvmeList::heading(&words, ahead.into_iter())?;
            *self = Columns { table: Table::Nvme(table), others: 0 };
            return Some((vec![], lines));
        }
        let told = match &mut self.table {
            Table::None => None,
            Table::Lsblk(table) => table.row(&words, ahead),
            Table::Nvme(table) => table.row(line, ahead),
        };
        self.others = if told.is_some() { 0 } else { self.others + 1 };
        if self.others > MOST_OTHERS {
            *self = Columns::default();
        }
        told
    }
}

/// Most lines that may continue a heading.
const MOST_AHEAD: usize = 16;

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
