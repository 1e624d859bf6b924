//! Which rows of a table come first if not all fit on a screen.

use super::brief::ROWS;
use super::table::{Line, Table};
use std::collections::HashMap;

/// Columns by which rows are sorted, the most important first; of several names in one entry, the largest value counts.
const MATTERING: [&[&str]; 4] =
    [&["util"], &["await", "r_await", "w_await", "lat.mean", "longest so far"], &["queue"], &["iowait"]];

/// Sorts the rows of a table that has too many: rows that prove the cause come first, then the busiest devices and the longest
/// waits; rows of zeros come last, and after them rows since boot. Of a table of rates alone, those that are lowest beside the best of their kind,
/// in the order of the text.
pub(super) fn first_what_matters(table: &mut Table, proves: impl Fn(&Line) -> bool) {
    if table.lines.len() <= ROWS {
        return;
    }
    let place = |name: &str| table.columns.iter().position(|c| c == name);
    // Of btt's steps, those that take longest.
    let mattering = if table.tool == "btt" { [&["mean"][..]; MATTERING.len()] } else { MATTERING };
    let places = mattering.map(|names| names.iter().filter_map(|name| place(name)).collect::<Vec<_>>());
    let rates = place("bw").filter(|_| places.iter().all(Vec::is_empty));
    let best = rates.map(|column| (column, best_rates(table, column)));
    table.lines.sort_by_cached_key(|line| {
        let largest = |columns: &Vec<usize>| {
            let all = columns.iter().filter_map(|c| line.values[*c]).map(|n| n.value);
            // The bits of non-negative floats sort like their values.
            std::cmp::Reverse(all.fold(0.0, f64::max).to_bits())
        };
        let zero = line.values.iter().flatten().all(|n| n.value == 0.0);
        let rate = best.as_ref().and_then(|(column, best)| {
            Some((line.values[*column]?.value / best.get(kind_of(&line.of))?).to_bits())
        });
        let rate = rate.unwrap_or(u64::MAX);
        (line.since_boot, !proves(line), zero, places.each_ref().map(largest), rate)
    });
    if rates.is_some() {
        table.lines[..ROWS].sort_by_key(|line| line.values.iter().flatten().map(|n| n.at).min());
    }
}

/// What was done, in a row's name behind the device: `sda cached`.
fn kind_of(of: &str) -> &str {
    of.split_once(' ').map_or(of, |(_, kind)| kind)
}

/// The highest rate of each kind of rows.
fn best_rates(table: &Table, column: usize) -> HashMap<String, f64> {
    let mut best: HashMap<String, f64> = HashMap::new();
    for line in &table.lines {
        let rate = best.entry(kind_of(&line.of).to_owned()).or_default();
        *rate = rate.max(line.values[column].map_or(0.0, |n| n.value));
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::table::tables;
    use tooltext::ToolOutput;

    /// Rates of different kinds do not compare: the disk's are all lower than the cache's.
    #[test]
    fn the_oddest_rates_are_shown_in_the_order_of_the_text() {
        let disk = |name: &str, cached: &str, read: &str| {
            format!("/dev/{name}:\n Timing cached reads:   9000 MB in  2.00 seconds = {cached} MB/sec\n Timing buffered disk reads: 300 MB in  3.00 seconds = {read} MB/sec\n\n")
        };
        let text = disk("sda", "4600.00", "99.00")
            + &disk("sdb", "4500.00", "100.00")
            + &disk("sdc", "4600.00", "100.00")
            + &disk("sdd", "2.00", "40.00");
        let mut all = tables(&ToolOutput::read("disks.txt", text.as_bytes()));
        first_what_matters(&mut all[0], |_| false);
        let shown: Vec<&str> = all[0].lines[..ROWS].iter().map(|line| line.of.as_str()).collect();
        assert_eq!(
            shown,
            ["sda cached", "sda buffered disk", "sdb cached", "sdd cached", "sdd buffered disk"]
        );
    }
}
