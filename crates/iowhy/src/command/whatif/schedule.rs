//! `iowhy whatif --schedule`: the order in which requests went to the device, recorded beside simulated.

use report::Supposed;
use std::fmt::Write;
use std::ops::Range;
use trace::{Bytes, Nanos};
use units::words::{ns, size};
use whatif::arrival::Recorded;
use whatif::metric::name_of;
use whatif::predict::Lab;
use whatif::schedule::{recorded, Sent};
use whatif::settings::Settings;

/// Requests that are shown one by one; JSON has all.
const ROWS: usize = 40;
/// Letters of the orders in a line, in tens.
const LETTERS: usize = 70;
/// Lines of letters that are shown of each order.
const LINES: usize = 10;

/// A stretch as the user writes it, in nanoseconds.
pub fn stretch(text: &str) -> Result<Range<u64>, String> {
    let wrong = || "FROM-TO in seconds, as 12.3-12.9".to_string();
    let (from, to) = text.split_once('-').ok_or_else(wrong)?;
    let nanos = |s: &str| s.trim().parse::<f64>().ok().filter(|s| s.is_finite()).map(|s| (s * 1e9) as u64);
    let (from, to) = (nanos(from).ok_or_else(wrong)?, nanos(to).ok_or_else(wrong)?);
    (from < to).then_some(from..to).ok_or_else(wrong)
}

/// What is shown. Times count from the recording's first event.
pub struct Shown {
    /// When the first arrival was.
    shift: u64,
    /// The stretch since then.
    inner: Range<u64>,
    recorded: Vec<Sent>,
    simulated: Vec<Sent>,
}

impl Shown {
    /// As recorded, in a stretch; why not.
    pub fn new(r: &Recorded, began: Nanos, stretch: &Range<u64>) -> Result<Shown, String> {
        // The model's time begins with the first arrival.
        let shift = r.arrivals.first().map_or(0, |a| a.queued.since(began).0);
        let inner = stretch.start.saturating_sub(shift)..stretch.end.saturating_sub(shift);
        let recorded = recorded(r, &inner);
        match recorded.is_empty() {
            true => Err("no request went to the device in that stretch".into()),
            false => Ok(Shown { shift, inner, recorded, simulated: Vec::new() }),
        }
    }

    /// And as simulated.
    pub fn simulate(mut self, lab: &Lab, asked: &Settings) -> Result<Shown, String> {
        self.simulated = lab.schedule(asked, &self.inner).ok_or("no device explains the recording")?;
        for sent in self.recorded.iter_mut().chain(&mut self.simulated) {
            sent.issued += self.shift;
        }
        Ok(self)
    }

    /// The orders as letters, then the first requests one by one.
    pub fn render(&self, name: &str, set: &[(String, String)]) -> String {
        let asked: Vec<String> = set.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let asked = if asked.is_empty() { "as it was".to_string() } else { asked.join(" ") };
        let mut out = format!(
            "{name}: the order in which requests went to the device\n\
             R read, S synchronous write, w writeback, F flush, . other\n"
        );
        for (title, sent) in [("recorded", &self.recorded), (asked.as_str(), &self.simulated)] {
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
        let rows = self.recorded.len().max(self.simulated.len());
        for i in 0..rows.min(ROWS) {
            let (left, right) = (self.recorded.get(i).map(row), self.simulated.get(i).map(row));
            let line = format!("{:<46}  {}", left.unwrap_or_default(), right.unwrap_or_default());
            let _ = writeln!(out, "{}", line.trim_end());
        }
        if rows > ROWS {
            let _ = writeln!(out, "and {} more; --json has all", rows - ROWS);
        }
        out += "\nThe simulated order is one that could have been, by the device that explains the recording best.\n";
        out
    }

    /// For programs.
    pub fn to_json<'a>(&self, name: &'a str, set: &[(String, String)]) -> Supposed<'a> {
        Supposed::schedule(name, set, &self.recorded, &self.simulated)
    }
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
