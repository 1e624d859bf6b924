//! Histograms by powers of two, in the form of bcc's tools (`print_log2_hist`, src/python/bcc/table.py): xfsdist,
//! ext4dist, btrfsdist and biolatency all have it.
//!
//! ```text
//!      usecs               : count     distribution
//!          0 -> 1          : 3        |****************************************|
//!          2 -> 3          : 1        |*************                           |
//! ```

use explain::dist::{Histogram, Row};
use std::fmt::Write;

/// The length of the longest row of stars.
const STARS: u128 = 40;
/// Up to this number of rows (values below 2^32), columns are narrow; beyond it, all rows are wide.
const NARROW: usize = 32;

/// Draws a histogram; the fullest row has all stars.
pub(super) fn render(h: &Histogram) -> String {
    let rows: Vec<Row> = h.rows().collect();
    let most = rows.iter().map(|r| r.count).max().unwrap_or(0).max(1);
    let (wide, stars) = if rows.len() > NARROW { (20, STARS / 2) } else { (10, STARS) };
    let mut out = match wide {
        10 => format!("     {:<19} : count     distribution\n", h.unit.name()),
        _ => format!("     {:<39} : count     distribution\n", h.unit.name()),
    };
    for Row { from, to, count } in rows {
        let full = "*".repeat((stars * u128::from(count) / u128::from(most)) as usize);
        let _ =
            writeln!(out, "{from:>wide$} -> {to:<wide$} : {count:<8} |{full:<room$}|", room = stars as usize);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use explain::dist::Unit;
    use trace::Nanos;

    #[test]
    fn it_looks_like_bccs() {
        let mut h = Histogram::new(Unit::Micros);
        for ns in [0, 999, 1_999, 2_000, 8_000, 15_999] {
            h.record(Nanos(ns));
        }
        let expected = "     usecs               : count     distribution
         0 -> 1          : 3        |****************************************|
         2 -> 3          : 1        |*************                           |
         4 -> 7          : 0        |                                        |
         8 -> 15         : 2        |**************************              |
";
        assert_eq!(render(&h), expected);
    }

    #[test]
    fn the_longest_times_are_printed_wide() {
        let mut ms = Histogram::new(Unit::Millis);
        ms.record(Nanos(u64::MAX));
        assert!(ms.rows().count() > NARROW && render(&ms).contains(" -> "));
    }
}
