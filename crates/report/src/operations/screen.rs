//! An operation's account as text that survives a mail.

use super::line::{lines, Line};
use super::shares::whole;
use super::words::headline;
use crate::wrap::wrap_into;
use explain::Places;
use ledger::Reason;
use operation::Wakeup;
use stats::SampledOperation;
use trace::Nanos;
use units::words::{count, time};

/// Maximal number of indented levels; deeper ones have the indent of the last.
const MOST_INDENT: usize = 16;

/// Draws one operation in lines of `width` columns; with `hops`, also each wakeup of one task by another.
pub fn render(sampled: &SampledOperation, places: &Places, hops: bool, width: usize) -> String {
    let total = sampled.account.total();
    let mut out = String::new();
    wrap_into(&mut out, &printable(&headline(sampled, places)), width, "", "    ");
    out.push('\n');
    let page = Page { column: ms(whole(total)).len().max(8), width };
    for line in lines(sampled, places) {
        page.line(&mut out, &line, 0);
    }
    page.put(&mut out, whole(total), 0, &sum(sampled));
    if hops {
        page.hops(&mut out, sampled);
    }
    out
}

/// The last line. Example: `total, all accounted for; 5 hops between tasks`.
fn sum(sampled: &SampledOperation) -> String {
    let unexplained = sampled.account.of(Reason::Unexplained);
    let total = match (sampled.operation.begun_before, sampled.operation.still_out) {
        (false, None) => "total",
        (true, None) => "since the recording began, begun before",
        (false, Some(_)) => "until the recording ended, and not over",
        (true, Some(_)) => "all of the recording, begun before and not over",
    };
    let accounted = match unexplained {
        Nanos(0) => format!("{total}, all accounted for"),
        some => format!("{total}, of which {} ms unexplained", ms(whole(some).max(1))),
    };
    let hops = &sampled.account.hops;
    let crossed = match sampled.account.crossings() {
        0 => String::new(),
        n => format!(", {} to another processor", count(n as u64)),
    };
    let slowest = hops.iter().map(|h| h.latency).max().unwrap_or_default();
    match hops.len() {
        0 => accounted,
        1 => format!("{accounted}; 1 hop between tasks{crossed}, wake-up {}", time(slowest)),
        n => {
            let n = count(n as u64);
            format!("{accounted}; {n} hops between tasks{crossed}, slowest wake-up {}", time(slowest))
        }
    }
}

struct Page {
    /// Columns of the durations.
    column: usize,
    /// The width of a line, in columns.
    width: usize,
}

impl Page {
    fn line(&self, out: &mut String, line: &Line, depth: usize) {
        let mut text = line.text.clone();
        if line.inline {
            let name = |l: &Line| l.reason.map_or("", Reason::name);
            let parts: Vec<String> = line
                .lines
                .iter()
                .filter(|l| l.shown > 0)
                .map(|l| format!("{} {}", name(l), ms(l.shown)))
                .collect();
            if !parts.is_empty() {
                text = format!("{text}: {}", parts.join(", "));
            }
        }
        self.put(out, line.shown, depth, &text);
        if let Some(note) = &line.note {
            self.note(out, depth + 1, note);
        }
        if !line.inline {
            line.lines.iter().for_each(|l| self.line(out, l, depth + 1));
        }
    }

    fn put(&self, out: &mut String, shown: u64, depth: usize, text: &str) {
        let number = format!("{:>1$} ms  ", ms(shown), self.column);
        self.wrapped(out, &number, depth, text);
    }

    fn note(&self, out: &mut String, depth: usize, text: &str) {
        self.wrapped(out, &" ".repeat(self.column + 5), depth, text);
    }

    fn wrapped(&self, out: &mut String, before: &str, depth: usize, text: &str) {
        let text = &printable(text);
        let indent = "  ".repeat(depth.min(MOST_INDENT));
        let first = format!("{before}{indent}");
        let other = format!("{}{indent}    ", " ".repeat(self.column + 5));
        wrap_into(out, text, self.width, &first, &other);
    }

    fn hops(&self, out: &mut String, sampled: &SampledOperation) {
        let mut hops: Vec<&Wakeup> = sampled.account.hops.iter().collect();
        hops.sort_by_key(|h| h.at);
        let name = |tid| sampled.names.get(tid).map_or("?", String::as_str);
        for hop in hops {
            let by = if hop.interrupt {
                "an interrupt".into()
            } else {
                format!("{} ({})", name(&hop.by), hop.by.0)
            };
            let crossed = if hop.crossed { ", on another processor" } else { "" };
            let at = ms(whole(hop.at.since(sampled.account.from)));
            let after = time(hop.latency);
            let text = format!(
                "at {at} ms {by} woke {} ({}), which ran {after} later{crossed}",
                name(&hop.who),
                hop.who.0
            );
            self.note(out, 0, &text);
        }
    }
}

/// Replaces control characters: names come from the recording and could move the cursor or end the line.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Microseconds as milliseconds with three decimals. Example: `1.250`.
fn ms(us: u64) -> String {
    format!("{}.{:03}", us / 1000, us % 1000)
}
