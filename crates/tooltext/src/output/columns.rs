//! Tables whose cells may be empty or have several words, so that only positions identify them: lsblk, `nvme list`.
//!
//! The reader of such a table also sees the following lines, and reports how many continue the first: mailers break long lines.

use super::cells::{cells, SettingPairs};
use super::lsblk::{pairs, Lsblk};
use super::nvme_list::NvmeList;

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
