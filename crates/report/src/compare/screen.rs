//! The screen of `compare`: the verdict, differences of load and settings, the metrics, where the slowest spent their time.

use crate::screen::Screen;
use crate::style::Style;
use crate::wrap::{columns_of, left, right};
use evidence::Fact;
use explain::compare::{span, times, Blamed, Comparison, Metric, Row, Tails};
use explain::numbers::shown;
use units::words::{count, ns};

/// Maximal number of kinds of operations with metrics; JSON has all.
const MOST_ROWS: usize = 5;
/// A kind with fewer operations on a side is only in the JSON, unless the sentence mentions it.
const FEW: u64 = 20;
/// Maximal number of kinds whose tails are shown.
const MOST_TAILS: usize = 3;
/// A tail is shown only if each side has at least this many slow operations.
const LEAST_TAIL: u64 = 3;
/// Maximal number of victims whose culprits are shown, and of culprits of each.
const MOST_BLAMED: usize = 2;
const MOST_CULPRITS: usize = 5;
/// A culprit with less than this part of the lost time has no line.
const WORTH_BLAMING: f64 = 0.02;
/// Maximal number of lines for settings, and for differences of the load.
const MOST_DIFFERENCES: usize = 12;
/// A phase has a line only if its p99 is at least this part of the whole p99.
const WORTH_A_LINE: f64 = 0.05;

/// Draws the screen; the verdict is alone in the first lines.
pub fn render(c: &Comparison, style: Style) -> String {
    let mut s = Screen::new(style);
    s.text(&format!("{}.", c.verdict()), "", "");
    s.blank();
    s.text(&format!("before {}", c.names[0]), "", "       ");
    s.text(&format!("after  {}", c.names[1]), "", "       ");
    s.blank();
    unlike(c, &mut s);
    numbers(c, &mut s, style.width);
    where_(c, &mut s);
    blame(c, &mut s);
    trust(c, &mut s);
    s.out
}

/// Draws what differs besides the metrics: the load first, then settings.
fn unlike(c: &Comparison, s: &mut Screen) {
    let heading = if c.is_unlike() { "UNLIKE" } else { "LOAD" };
    let mut load: Vec<_> = c.load.iter().collect();
    load.sort_by_key(|d| !d.unlike);
    match load.is_empty() {
        true => s.line(
            "LOAD",
            "alike, as far as is known: the same kinds of operations of about the same size, rate and depth",
        ),
        false => list(s, heading, load.iter().map(|d| d.text.clone())),
    }
    let change =
        |c: &evidence::Conflict| format!("{}: {} -> {}", c.what, setting(&c.kept), setting(&c.other));
    match c.settings.is_empty() {
        true => s.line("SET", "no setting that is known on both sides differs"),
        false => list(s, "SET", c.settings.iter().map(change)),
    }
    s.blank();
}

/// The value of a setting on one side, and its source unless that is the recording's own snapshot.
fn setting(fact: &Fact<String>) -> String {
    match fact.at.to_string().starts_with(SNAPSHOT) {
        true => fact.value.clone(),
        false => fact.to_string(),
    }
}

/// The cells of a row: name of the metric, before, after, ratio, interval of the ratio, outcome.
type Cells = [String; 6];

/// The prefix of sources in the snapshot of the machine that `iowhy record` takes.
const SNAPSHOT: &str = "system.json:";
/// Columns of the indent: of a kind's name, and of its metrics.
const KINDS: usize = 2;
const NUMBERS: usize = 8;
/// Spaces between two columns, if there is room; else one.
const GAP: usize = 2;

/// Draws each kind in a line, with its metrics below.
fn numbers(c: &Comparison, s: &mut Screen, width: usize) {
    // Percentiles of a few flushes or commits mean nothing.
    let several = |r: &&Row| r.least.is_none_or(|n| n >= FEW) || c.tells(r);
    let mut rows: Vec<&Row> = c.rows.iter().filter(several).collect();
    // Rows that the sentence mentions come first.
    rows.sort_by_key(|r| !c.tells(r));
    let ranged = c.rows.iter().flat_map(|r| &r.metrics).any(|m| m.ranges.is_some());
    let head = ["", "before", "after", "times", if ranged { "95 %" } else { "" }, ""].map(String::from);
    let of = |row: &&Row| row.metrics.iter().filter(|m| worth(row, m)).map(cells).collect::<Vec<Cells>>();
    let kinds: Vec<(&str, Vec<Cells>)> = rows
        .iter()
        .take(MOST_ROWS)
        .map(|r| (r.what.as_str(), of(r)))
        .filter(|(_, all)| !all.is_empty())
        .collect();
    let all = || std::iter::once(&head).chain(kinds.iter().flat_map(|(_, cells)| cells));
    let wide: Vec<usize> = (0..5).map(|c| all().map(|r| columns_of(&r[c])).max().unwrap_or(0)).collect();
    let all_wide = NUMBERS + wide.iter().sum::<usize>();
    let gap = if all_wide + (wide.len() - 1) * GAP <= width { GAP } else { 1 };
    let columns = Columns { wide: &wide, gap: &" ".repeat(gap), width };
    if !kinds.is_empty() {
        let heading = s.heading("NUMBERS") + " ";
        draw(s, heading, &head, &columns);
    }
    for (what, numbers) in &kinds {
        s.text(what, &" ".repeat(KINDS), &" ".repeat(KINDS));
        numbers.iter().for_each(|cells| draw(s, " ".repeat(NUMBERS), cells, &columns));
    }
    if rows.len() > MOST_ROWS {
        s.line("", &format!("and {} more kinds; --json has all", rows.len() - MOST_ROWS));
    }
    s.blank();
}

/// The layout of a table: the width of each column but the last, the space between columns, and the width of the screen.
struct Columns<'a> {
    wide: &'a [usize],
    gap: &'a str,
    width: usize,
}

/// Draws a row in one line, or in two if the last cell does not fit; without an interval, that cell takes its column.
fn draw(s: &mut Screen, lead: String, cells: &Cells, Columns { wide, gap, width }: &Columns) {
    let shown = if cells[4].is_empty() && !cells[5].is_empty() { 4 } else { 5 };
    let padded = |c: usize| if c == 0 { left(&cells[c], wide[c]) } else { right(&cells[c], wide[c]) };
    let line = lead + &(0..shown).map(padded).collect::<Vec<_>>().join(gap);
    let said = &cells[5];
    // Bold letters of the heading take no columns; its last cell is empty.
    let fits = columns_of(&line) + gap.len() + columns_of(said) <= *width;
    match said.is_empty() || fits {
        true => s.out += format!("{line}{gap}{said}").trim_end(),
        false => s.out += &format!("{}\n{said:>width$}", line.trim_end(), width = *width),
    }
    s.out += "\n";
}

fn where_(c: &Comparison, s: &mut Screen) {
    let mut heading = "WHERE";
    let several = |t: &&Tails| t.operations.iter().all(|n| *n >= LEAST_TAIL);
    for tails in c.tails.iter().filter(several).take(MOST_TAILS) {
        let [before, after] = tails.operations.map(count);
        s.line(
            heading,
            &format!("each of the slowest {} ({before} before, {after} after) spent", tails.what),
        );
        heading = "";
        let most = tails.reasons.iter().flat_map(|r| r.2).fold(0.0, f64::max);
        let shown: Vec<_> = tails.reasons.iter().filter(|r| r.2[0].max(r.2[1]) >= most * 0.005).collect();
        let wide = shown.iter().map(|r| columns_of(r.1)).max().unwrap_or(0);
        for (_, words, means) in shown {
            let [b, a] = means.map(|m| ns(m as u64));
            s.line("", &format!("  {}  {b:>8} -> {a:>8}", left(words, wide)));
        }
    }
    if heading.is_empty() {
        s.blank();
    }
}

/// Draws the mean lost time of an operation, by culprit.
fn blame(c: &Comparison, s: &mut Screen) {
    let mut heading = "BLAME";
    let several = |b: &&Blamed| b.operations.iter().all(|n| *n >= FEW);
    for b in c.blamed.iter().filter(several).take(MOST_BLAMED) {
        let ([before, after], [least, most]) = (b.operations.map(count), b.lost.map(|ns| ns as u64).map(ns));
        let text = format!("each of {} ({before} before, {after} after) lost {least} -> {most}", b.victim);
        s.line(heading, &text);
        heading = "";
        let worth = b.lost[0].max(b.lost[1]) * WORTH_BLAMING;
        let shown: Vec<_> = b.because.iter().filter(|(_, each)| each[0].max(each[1]) >= worth).collect();
        let wide = shown.iter().map(|(words, _)| columns_of(words)).max().unwrap_or(0);
        for (words, each) in shown.into_iter().take(MOST_CULPRITS) {
            let [b, a] = each.map(|ns| ns as u64).map(ns);
            s.line("", &format!("  {}  {b:>8} -> {a:>8}", left(words, wide)));
        }
    }
    if heading.is_empty() {
        s.blank();
    }
}

fn trust(c: &Comparison, s: &mut Screen) {
    let mut heading = "TRUST";
    let ranges = c.rows.iter().flat_map(|r| &r.metrics).filter_map(|m| m.ranges);
    let mut lengths: Vec<[(usize, u64); 2]> = ranges.map(|r| r.blocks).collect();
    lengths.sort();
    lengths.dedup();
    if !lengths.is_empty() {
        let blocks = |side: usize| {
            let of = |f: fn(&(usize, u64)) -> u64| {
                let all = lengths.iter().map(|l| f(&l[side]));
                (all.clone().min().unwrap_or(0), all.max().unwrap_or(0))
            };
            let span = |(a, b): (u64, u64)| {
                if a == b {
                    count(a)
                } else {
                    format!("{} to {}", count(a), count(b))
                }
            };
            format!("{} blocks of {}", span(of(|l| l.0 as u64)), span(of(|l| l.1)))
        };
        s.line(
            heading,
            &format!(
                "ranges: block bootstrap of latencies, 1,000 draws ({} before, {} after), blocks long enough to be \
                     independent",
                blocks(0),
                blocks(1)
            ),
        );
        heading = "";
    }
    for note in &c.notes {
        s.line(heading, &if heading.is_empty() { format!("- {note}") } else { note.clone() });
        heading = "";
    }
}

fn list(s: &mut Screen, heading: &str, texts: impl ExactSizeIterator<Item = String>) {
    let total = texts.len();
    let mut heading = heading;
    for text in texts.take(MOST_DIFFERENCES) {
        s.line(heading, &format!("- {text}"));
        heading = "";
    }
    if total > MOST_DIFFERENCES {
        s.line("", &format!("and {} more; --json has all", total - MOST_DIFFERENCES));
    }
}

/// Whether a metric is shown. For phases only the p99 is, if the phase is a visible part of the whole. With too few operations, a high
/// percentile equals the maximum.
pub(crate) fn worth(row: &Row, metric: &Metric) -> bool {
    let least = row.least.unwrap_or(u64::MAX);
    // For recordings, sums are for conditions only, and a mean that a few slow operations decide says less than a percentile.
    let is_known = metric.name == "mean" && metric.ranges.is_some();
    if row.least.is_some() && ["mean", "lost"].contains(&metric.name.as_str()) && !is_known {
        return false;
    }
    if metric.name == "outliers" && metric.ranges.is_none() {
        return false;
    }
    if metric.name == "p99.9" && least < 1000 || metric.name.ends_with("p99") && least < 100 {
        return false;
    }
    let Some((_, of)) =
        metric.name.split_once('.').filter(|(phase, _)| ["q2g", "i2d", "d2c"].contains(phase))
    else {
        return true;
    };
    let whole = row.metric("p99").map_or([0.0; 2], |m| m.values);
    of == "p99" && (0..2).any(|side| metric.values[side] >= WORTH_A_LINE * whole[side])
}

fn cells(m: &Metric) -> Cells {
    let [before, after] = m.values.map(|v| shown(v, m.unit));
    let ratio = m.ratio().map_or("-".into(), times);
    let range = m.ranges.map_or(String::new(), |r| span(r.ratio));
    // So that a sentence can say: `of 17.7 ms or more`.
    let name = m.threshold.map_or_else(|| m.name.clone(), |t| format!(">= {}", ns(t)));
    let name = name.replace("d2c.", "D2C ").replace("i2d.", "I2D ").replace("q2g.", "Q2G ");
    [name, before, after, ratio, range, m.said().into()]
}
