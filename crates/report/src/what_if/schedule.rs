//! The order in which requests were issued to the device, recorded and simulated side by side.

use super::screen::in_words;
use std::fmt::Write;
use trace::Bytes;
use units::words::{ns, size};
use whatif::metric::name_of;
use whatif::question::Set;
use whatif::schedule::{Schedule, Sent};

/// Maximal number of requests that are shown one by one; JSON has all.
const ROWS: usize = 40;
/// Letters in a line, one per request, in groups of ten.
const LETTERS: usize = 70;
/// Maximal number of lines of letters for each order.
const LINES: usize = 10;

/// Draws both orders as letters, then the first requests one by one.
pub fn schedule(name: &str, set: &Set, order: &Schedule) -> String {
    let asked = if set.is_empty() { "as it was".to_string() } else { in_words(set) };
    let mut out = format!(
        "{name}: the order in which requests went to the device\n\
         R read, S synchronous write, w writeback, F flush, . other\n"
    );
    for (title, sent) in [("recorded", &order.recorded), (asked.as_str(), &order.simulated)] {
        let _ = writeln!(out, "\n{title}: {} requests", sent.len());
        let letters: String = sent.iter().map(|s| letter(s.class)).collect();
        for line in letters.as_bytes().chunks(LETTERS).take(LINES) {
            let tens: Vec<&str> = line.chunks(10).filter_map(|c| std::str::from_utf8(c).ok()).collect();
            let _ = writeln!(out, "  {}", tens.join(" "));
        }
        if letters.len() > LETTERS * LINES {
            let _ = writeln!(out, "  and {} more", letters.len() - LETTERS * LINES);
        }
    }
    let _ = writeln!(out, "\n{:<46}  simulated, {asked}", "recorded");
    let heading = format!("{:>12} {:<2}{:>12} {:>9} {:>8}", "sent at, s", "", "sector", "size", "waited");
    let _ = writeln!(out, "{heading:<46}  {heading}");
    let rows = order.recorded.len().max(order.simulated.len());
    for i in 0..rows.min(ROWS) {
        let (left, right) = (order.recorded.get(i).map(row), order.simulated.get(i).map(row));
        let line = format!("{:<46}  {}", left.unwrap_or_default(), right.unwrap_or_default());
        let _ = writeln!(out, "{}", line.trim_end());
    }
    if rows > ROWS {
        let _ = writeln!(out, "and {} more; --json has all", rows - ROWS);
    }
    out += "\nThe simulated order is one that could have been, by the device that explains the recording best.\n";
    out
}

fn row(s: &Sent) -> String {
    let size = if s.bytes == 0 { "-".to_string() } else { size(Bytes(s.bytes)) };
    let at = s.issued as f64 / 1e9;
    format!("{at:>12.6} {} {:>12} {size:>9} {:>8}", letter(s.class), s.sector, ns(s.waited))
}

fn letter(class: usize) -> char {
    match name_of(class) {
        "read" => 'R',
        "sync-write" => 'S',
        "background-write" => 'w',
        "flush" => 'F',
        _ => '.',
    }
}
