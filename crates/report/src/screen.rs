//! The long screen of `explain` and its parts, in plain text that survives a mail.

use crate::sent_for;
use crate::slow_rows::{slow_rows, Row};
use crate::style::{Detail, Style, GROUPS};
use crate::trust::{length, trust_lines};
use crate::window::part;
use crate::wrap::{wrap, wrap_into};
use explain::where_time;
use explain::Explanation;
use stats::Device;
use std::collections::BTreeSet;
use std::fmt::Write;
use trace::{DevId, Nanos};
use units::words::{count, counted, ns, percent, time};

/// Columns of a heading; lines below it are indented by as many.
pub(crate) const MARGIN: usize = 7;
/// The indent below a heading: [`MARGIN`] spaces.
const INDENT: &str = "       ";
/// A device that serves at least this many requests at once does not serve one after the other: halfway between 1 and 2.
const SEVERAL: f64 = 1.5;
/// Maximal number of rows in a group's breakdown.
const ROWS: usize = 6;
/// Columns of a full bar, if there is room for it.
const BAR: f64 = 30.0;
/// Columns of a percentage and the spaces around it.
const PERCENT: usize = 10;
/// A row of the breakdown is omitted if its share of the time is below this.
const WORTH_A_LINE: f64 = 0.005;

/// A screen that is being drawn.
pub(crate) struct Screen {
    pub(crate) out: String,
    style: Style,
}

impl Screen {
    pub(crate) fn new(style: Style) -> Screen {
        Screen { out: String::new(), style }
    }

    pub(crate) fn heading(&self, word: &str) -> String {
        let padded = format!("{word:<MARGIN$}");
        if self.style.colour && !word.is_empty() {
            format!("\x1b[1m{padded}\x1b[0m")
        } else {
            padded
        }
    }

    /// Adds a wrapped text; its first line is beside the heading, the others are indented.
    pub(crate) fn line(&mut self, heading: &str, text: &str) {
        let head = self.heading(heading);
        let width = self.width();
        let hang =
            text.len() - text.trim_start().len() + if text.trim_start().starts_with("- ") { 2 } else { 0 };
        let indent = " ".repeat(hang);
        let lead = " ".repeat(text.len() - text.trim_start().len());
        for (i, wrapped) in wrap(text.trim_start(), width, &lead, &indent).iter().enumerate() {
            let begin = if i == 0 { head.clone() } else { " ".repeat(MARGIN) };
            let _ = writeln!(self.out, "{}", format!("{begin}{wrapped}").trim_end());
        }
    }

    /// Adds a wrapped text without a heading: `first` precedes its first line, `other` all further lines.
    pub(crate) fn text(&mut self, text: &str, first: &str, other: &str) {
        wrap_into(&mut self.out, text, self.style.width, first, other);
    }

    pub(crate) fn blank(&mut self) {
        self.out.push('\n');
    }

    /// How much is shown.
    pub(crate) fn detail(&self) -> Detail {
        self.style.detail
    }

    /// Columns beside the headings, at least 40.
    pub(crate) fn width(&self) -> usize {
        self.style.width.saturating_sub(MARGIN).max(40)
    }

    /// What was recorded.
    pub(crate) fn subject(&mut self, e: &Explanation) {
        for device in e.top_devices().into_iter().take(self.detail().most(GROUPS)) {
            self.text(&about(e, device), "", "  ");
        }
        let kernel = e.kernel().map(|k| format!("Linux {k}; "));
        let below = e.facts.devices.iter().filter(|d| d.upper.is_some()).count();
        let lower = match below {
            0 => String::new(),
            n => format!("; {} below", counted(n as u64, "device", "devices")),
        };
        let part = e.subject.window.map_or(String::new(), |w| format!(" ({})", part(w)));
        let q = &e.subject.quality;
        let lost = match q.lost_total() {
            0 => "none lost".to_string(),
            n => format!("{} LOST", count(n)),
        };
        let (kernel, events) = (kernel.unwrap_or_default(), counted(q.events, "event", "events"));
        self.text(&format!("{kernel}{}{part}, {events}, {lost}{lower}", length(e)), "", "  ");
        self.blank();
    }

    /// Latencies by kind of operation.
    pub(crate) fn slow(&mut self, e: &Explanation) {
        let rows = slow_rows(e, self.detail());
        if rows.is_empty() {
            // Requests of some tasks only, which WHO WAITED has.
            if e.focus.groups.is_empty() {
                self.line("SLOW", "no I/O was completed in this recording");
                self.blank();
            }
            return;
        }
        let several = e.top_devices().len() > 1 || rows.iter().any(|r| matches!(r, Row::Operations(..)));
        let rows: Vec<[String; COLUMNS]> = rows.iter().map(|row| columns(row, several)).collect();
        let wide = |column: usize| {
            rows.iter().map(|row| row[column].len()).max().unwrap_or(0).max(SLOW[column].len())
        };
        let wide: [usize; COLUMNS] = std::array::from_fn(wide);
        let all = MARGIN + wide.iter().sum::<usize>() + COLUMNS - 1;
        let fits = all <= self.style.width;
        let below = all - wide[CAN_BE_SPARED] > self.style.width;
        let line = |row: &[String; COLUMNS]| {
            let cells = row.iter().zip(wide).enumerate().filter(|(c, _)| fits || *c != CAN_BE_SPARED);
            let cells = cells.map(|(c, (cell, wide))| match c {
                0 if below => String::new(),
                0 => format!("{cell:<wide$}"),
                _ => format!("{cell:>wide$}"),
            });
            cells.collect::<Vec<_>>().join(" ").trim_end().to_string()
        };
        let _ = writeln!(self.out, "{}{}", self.heading("SLOW"), line(&SLOW.map(String::from)));
        for row in &rows {
            if below {
                wrap_into(&mut self.out, &row[0], self.style.width, INDENT, INDENT);
            }
            let _ = writeln!(self.out, "{INDENT}{}", line(row));
        }
        self.blank();
    }

    /// Whose data the kernel wrote.
    pub(crate) fn wrote(&mut self, e: &Explanation) {
        let lines = sent_for::lines(e);
        for (i, line) in lines.iter().take(self.detail().most(GROUPS)).enumerate() {
            self.line(if i == 0 { "WROTE" } else { "" }, line);
        }
        if !lines.is_empty() {
            self.blank();
        }
    }

    /// Where the slowest operations spent their time.
    pub(crate) fn where_(&mut self, e: &Explanation) {
        let mut heading = "WHERE";
        let detail = self.detail();
        for group in e.focus.groups.iter().filter(|g| e.matters(g)).take(detail.most(GROUPS)) {
            let sum = &group.tail.sum.time;
            let text = format!(
                "the slowest {}: {} or more, {} in all",
                e.slowest_words(group),
                time(group.tail.threshold),
                time(sum.total)
            );
            self.line(heading, &text);
            heading = "";
            let rows = where_time::rows(&e.facts, group);
            let share = |t: &Nanos| t.0 as f64 / sum.total.0.max(1) as f64;
            let shown =
                rows.iter().filter(|(_, t)| share(t) >= WORTH_A_LINE || detail == Detail::All && t.0 > 0);
            let shown: Vec<_> = shown.take(detail.most(ROWS)).collect();
            let wide = shown.iter().map(|(words, _)| words.len()).max().unwrap_or(0);
            let room = self.style.width.saturating_sub(2 * MARGIN + wide + PERCENT) as f64;
            let is_narrow = MARGIN + wide + PERCENT > self.style.width;
            for (words, t) in shown {
                if is_narrow {
                    let first = format!("{INDENT}{:>6}  ", percent(share(t)));
                    let other = " ".repeat(first.len());
                    wrap_into(&mut self.out, words, self.style.width, &first, &other);
                    continue;
                }
                let bar = "#".repeat((share(t) * room.clamp(0.0, BAR)).round() as usize);
                let text = format!("{}{words:<wide$}  {:>6}  {bar}", " ".repeat(MARGIN), percent(share(t)));
                let _ = writeln!(self.out, "{}", text.trim_end());
            }
        }
        for line in served(e, detail) {
            self.line(heading, &line);
            heading = "";
        }
        if heading.is_empty() {
            self.blank();
        }
    }

    /// How far to trust it.
    pub(crate) fn trust(&mut self, e: &Explanation) {
        let mut heading = "TRUST";
        for (i, line) in trust_lines(e).iter().enumerate() {
            let bullet = if i == 0 { "" } else { "- " };
            self.line(heading, &format!("{bullet}{line}"));
            heading = "";
        }
    }
}

/// Columns of the SLOW table.
const COLUMNS: usize = 7;
const SLOW: [&str; COLUMNS] = ["", "count", "of", "p50", "p99", "p99.9", "max"];
/// The column that is left out on a narrow screen: `p99.9`.
const CAN_BE_SPARED: usize = 5;

/// The cells of a row in the SLOW table.
fn columns(row: &Row, several: bool) -> [String; COLUMNS] {
    let d = row.latency();
    let at = |part| ns(d.quantile(part));
    [row.words(several), count(d.count()), row.mean_size(), at(0.5), at(0.99), at(0.999), ns(d.max())]
}

/// For each device that the slowest waited for: how the time in it was split, and how many requests it serves at once.
fn served(e: &Explanation, detail: Detail) -> Vec<String> {
    let groups = e.focus.groups.iter().filter(|g| e.matters(g)).take(detail.most(GROUPS));
    let waited: BTreeSet<DevId> = groups.map(|g| g.dev).collect();
    let devices = e.facts.devices.iter().filter(|d| waited.contains(&d.id) && d.model.time.0 > 0);
    let line = |d: &Device| {
        let name = e.name(d.id);
        let split = match d.model.in_turn {
            true => format!(
                "time in {name} is attributed as if it served one request at a time: completions rarely come close \
                     together"
            ),
            false => format!("time in {name} is attributed by what each request takes there alone"),
        };
        match d.model.at_once() {
            None => format!("{split}; its parallelism is not known"),
            Some(n) if n >= SEVERAL => format!(
                "{split}; of {:.1} in flight it serves {n:.1} at once, so time behind others is an upper bound",
                d.model.depth()
            ),
            Some(n) => format!("{split}; of {:.1} in flight it serves {n:.1} at once", d.model.depth()),
        }
    };
    devices.map(line).collect()
}

/// A device and its settings in one line; unknown settings are left out.
pub(crate) fn about(e: &Explanation, device: &Device) -> String {
    let name = e.name(device.id);
    let mut parts = vec![name.clone()];
    let system = &e.subject.system;
    if let Some(d) = system.device_at(device.id).or_else(|| system.device(&name)) {
        if let Some(md) = d.md() {
            if let Some(level) = md.level {
                parts.push(format!("md {}", level.value));
            }
        }
        match d.scheduler().map(|s| s.value) {
            Some(s) if s == "none" => parts.push("no scheduler".into()),
            Some(s) => parts.push(s),
            None => {}
        }
        if let Some(n) = d.nr_requests() {
            parts.push(format!("{} tags", n.value));
        }
        if let Some(depth) = d.queue_depth() {
            parts.push(format!("queue depth {}", depth.value));
        }
        if let Some(wbt) = d.wbt_lat_usec() {
            let on = if wbt.value.0 == 0 { "off".to_string() } else { format!("at {}", time(wbt.value)) };
            parts.push(format!("writeback throttling {on}"));
        }
        if let Some(mount) = system.mounts_on(d).next() {
            parts.push(format!("{} on {}", mount.fstype, mount.target));
        }
    }
    parts.join(", ")
}
