//! Draws latencies under other settings, and the reconstructed load.

use crate::wrap::wrap_into;
use std::collections::BTreeMap;
use std::fmt::Write;
use trace::Bytes;
use units::words::{ns, size};
use whatif::load::Load;
use whatif::metric::{words_of, Phase};
use whatif::predict::{Cell, Lab};
use whatif::question::Set;

/// Draws the table of predictions and the refused ones in lines of `width` columns.
pub fn predicted(name: &str, set: &Set, lab: &Lab, cells: &[Cell], width: usize) -> String {
    let mut out = format!("{name}: what {} would have done\n\n", in_words(set));
    let paragraph = |out: &mut String, text: &str| wrap_into(out, text, width, "", "");
    out += &table(cells);
    let mut refused = BTreeMap::<&str, Vec<String>>::new();
    for cell in cells {
        let why = cell.refused.as_deref().filter(|_| cell.predicted.is_none());
        why.into_iter().for_each(|why| refused.entry(why).or_default().push(label(cell)));
    }
    for (why, of) in &refused {
        paragraph(&mut out, &format!("refused, {}: {why}", of.join(", ")));
    }
    let phases: BTreeMap<Phase, &str> =
        cells.iter().map(|c| (c.metric.phase, c.metric.phase.words())).collect();
    let phases: Vec<String> = phases.iter().map(|(phase, words)| format!("{phase:?} is {words}")).collect();
    paragraph(&mut out, &phases.join(", "));
    let refused = cells.iter().filter(|c| c.predicted.is_none()).count();
    out.push('\n');
    paragraph(
        &mut out,
        &format!(
            "\"Nothing changes\" would predict the recorded numbers. {refused} of {} numbers are refused. Never \
             predicted: p99.9 and the maximum, which depend on a few rare events. Recorded were:",
            cells.len()
        ),
    );
    let mut seen = Vec::new();
    for cell in cells.iter().filter(|c| c.metric.phase == Phase::Q2C) {
        if !seen.contains(&cell.metric) {
            seen.push(cell.metric);
            let (tail, most) = lab.tail(cell.metric);
            let class = words_of(cell.metric.class);
            let _ = writeln!(out, "  {class}: p99.9 {}, maximum {}", ns(tail), ns(most));
        }
    }
    let devices = lab.devices.len();
    let score = lab.devices.first().map_or(0.0, |d| d.score);
    out.push('\n');
    paragraph(
        &mut out,
        &format!(
            "{devices} devices explain the recording, the best with times off by {:.0} % on average. The load was taken \
             to go on for the recorded time (--fixed-work: as much work); iowhy whatif --explain-load shows its streams.",
            (score.exp() - 1.0) * 100.0
        ),
    );
    out
}

/// Settings in words. Example: `read_expire=200 fifo_batch=1`.
pub(super) fn in_words(set: &Set) -> String {
    set.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ")
}

/// Draws a row for each prediction; each column is as wide as its content.
fn table(cells: &[Cell]) -> String {
    let head = ["", "recorded", "its model", "predicted", "90 % within", "change"].map(String::from);
    let rows: Vec<_> = std::iter::once(head).chain(cells.iter().map(columns)).collect();
    let wide = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [label, recorded, model, predicted, within, change] = std::array::from_fn(wide);
    let line = |row: &[String; 6]| {
        let [a, b, c, d, e, f] = row;
        let line =
            format!("{a:<label$} {b:>recorded$} {c:>model$} {d:>predicted$}  {e:<within$} {f:>change$}");
        line.trim_end().to_string() + "\n"
    };
    rows.iter().map(line).collect()
}

fn columns(cell: &Cell) -> [String; 6] {
    let (recorded, model) = (ns(cell.recorded), cell.model.map(ns));
    let (predicted, within, change) = match &cell.predicted {
        Some(p) => {
            let change = (p.value as f64 / cell.recorded.max(1) as f64 - 1.0) * 100.0;
            let within = format!("{} to {}", ns(p.from), ns(p.to));
            // A change that rounds to 0 has no sign.
            let change = if change.abs() < 0.5 { "0 %".into() } else { format!("{change:+.0} %") };
            (ns(p.value), within, change)
        }
        None => ("refused".into(), String::new(), String::new()),
    };
    [label(cell), recorded, model.unwrap_or_default(), predicted, within, change]
}

fn label(cell: &Cell) -> String {
    let m = cell.metric;
    format!("{} {:?} {}", words_of(m.class), m.phase, cell.percentile)
}

/// Draws the streams of a load; those of fewer than 20 I/Os are only counted.
pub fn load(name: &str, load: &Load) -> String {
    let mut out = format!("{name}: {} arrivals in {}\n\n", load.len(), ns(load.span));
    let mut small = (0, 0);
    for s in &load.streams {
        if s.items.len() < 20 {
            small = (small.0 + 1, small.1 + s.items.len());
            continue;
        }
        let writes = s.items.iter().filter(|i| i.write).count();
        let bytes: u64 = s.items.iter().map(|i| u64::from(i.bytes)).sum();
        let _ = writeln!(out, "{}\n  {}", s.name, s.kind.words());
        let _ = writeln!(
            out,
            "  {} reads, {writes} writes, {}\n  because: {}",
            s.items.len() - writes,
            size(Bytes(bytes)),
            s.support
        );
    }
    if small.0 > 0 {
        let _ = writeln!(out, "{} more tasks with {} arrivals in all: too few to tell", small.0, small.1);
    }
    out
}

/// Columns of the picture of a sweep.
const BAR: usize = 40;

/// Draws a row for each value, with a picture of the predicted value and its range.
pub fn sweep(name: &str, key: &str, rows: &[(u64, Vec<Cell>)]) -> String {
    let mut out = format!("{name}: {key} swept\n");
    let Some((_, first)) = rows.first() else { return out };
    for (i, cell) in first.iter().enumerate() {
        if cell.metric.phase != Phase::Q2C {
            continue;
        }
        let at = |cells: &[Cell]| cells.get(i).and_then(|c| c.predicted);
        let most = rows.iter().filter_map(|(_, c)| at(c)).map(|p| p.to).max().unwrap_or(1).max(1);
        let _ = writeln!(out, "\n{}, recorded {}", label(cell), ns(cell.recorded));
        for (value, cells) in rows {
            let _ = match at(cells) {
                Some(p) => {
                    let place = |n: u64| (n as u128 * BAR as u128 / u128::from(most)) as usize;
                    let (from, mid, to) = (place(p.from), place(p.value), place(p.to));
                    let dot = |x: usize| match x {
                        x if x == mid => 'o',
                        x if x >= from && x <= to => '-',
                        _ => ' ',
                    };
                    let picture: String = (0..=BAR).map(dot).collect();
                    writeln!(out, "  {value:>8}  {:>10}  |{picture}", ns(p.value))
                }
                None => {
                    let why = cells.get(i).and_then(|c| c.refused.clone()).unwrap_or_default();
                    writeln!(out, "  {value:>8}  {:>10}  {why}", "refused")
                }
            };
        }
    }
    out
}
