//! Shows a slow bio of a stacked device (md, dm) with the bios that it sent to the devices below, recursively.
//!
//! The bio's own ledger sums to its time. The bios below run concurrently, so their times do not.

use crate::wrap::wrap_into;
use explain::{Places, Sent};
use ledger::{Ledger, Reason};
use std::fmt::Write;
use trace::Nanos;
use units::words::{count, size, time};

/// Maximal number of bios that are shown below one; `--json` has all that were kept.
const MOST_BELOW: usize = 24;

/// A segment of a bio below is shown only if it exceeds this part of that bio's time.
const WORTH_WORDS: f64 = 0.05;

/// Draws the bio as text in lines of `width` columns.
pub fn tell(out: &mut String, sent: &Sent, places: &Places, began: Nanos, width: usize) {
    let ledger = Ledger::of_bio(&sent.bio);
    let at = ledger.from.since(began).seconds();
    let total = time(ledger.total());
    let (task, tid) = (&sent.task, sent.bio.tid.0);
    let head = format!("{} by {task} (tid {tid}), {total}, at {at:.6} s", what(sent, places));
    wrap_into(out, &head, width, "", "    ");
    segments(out, &ledger, width);
    if !sent.below.is_empty() {
        let _ = writeln!(out, "  it sent to the devices below, from and how long:");
        below(out, sent, places, ledger.from, (1, width));
    }
    out.push('\n');
}

/// Draws each segment of the ledger in ms, then their total.
pub(crate) fn segments(out: &mut String, ledger: &Ledger, width: usize) {
    let mut line = |time: Nanos, words: &str| {
        let took = format!("  {:>14.6} ms  ", ms(time));
        wrap_into(out, words, width, &took, &" ".repeat(took.len()));
    };
    ledger.segments.iter().for_each(|s| line(s.length(), s.reason.words()));
    line(ledger.total(), "total, all accounted for");
}

/// Draws the bios below one, indented by `depth`, in lines of `width` columns.
fn below(out: &mut String, of: &Sent, places: &Places, began: Nanos, (depth, width): (usize, usize)) {
    let indent = "  ".repeat(depth);
    for sent in of.below.iter().take(MOST_BELOW) {
        let ledger = Ledger::of_bio(&sent.bio);
        let first =
            format!("{indent}{:>+11.3} ms {:>9.3} ms  ", ms(ledger.from.since(began)), ms(ledger.total()));
        let text = format!("{} by {}{}", what(sent, places), sent.task, phases(&ledger));
        wrap_into(out, &text, width, &first, &" ".repeat(first.len() + 2));
        below(out, sent, places, began, (depth + 1, width));
    }
    let more = of.below.len().saturating_sub(MOST_BELOW) as u64 + of.left_out;
    if more > 0 {
        let _ = writeln!(out, "{indent}  and {} more", count(more));
    }
}

/// Example: `write of 8 KiB at sector 86784 of md0`.
fn what(sent: &Sent, places: &Places) -> String {
    let b = &sent.bio;
    let merged = if b.merged { " (merged)" } else { "" };
    format!(
        "{} of {} at sector {} of {}{merged}",
        b.op.name(),
        size(b.bytes),
        b.start.0,
        places.device(b.dev)
    )
}

/// Example: `: scheduler 1.2 ms, device 3.4 ms`. Empty if nothing but the bios below explains the time.
fn phases(ledger: &Ledger) -> String {
    let least = Nanos((ledger.total().0 as f64 * WORTH_WORDS) as u64);
    let below = [Reason::LowerRead, Reason::LowerWrite, Reason::Stacking];
    let long = ledger.segments.iter().filter(|s| s.length() > least && !below.contains(&s.reason));
    let parts: Vec<String> = long.map(|s| format!("{} {}", s.reason.name(), time(s.length()))).collect();
    if parts.is_empty() {
        return String::new();
    }
    format!(": {}", parts.join(", "))
}

fn ms(t: Nanos) -> f64 {
    t.0 as f64 / 1e6
}
