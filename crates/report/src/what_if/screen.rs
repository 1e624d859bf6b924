//! Draws latencies under other settings, and the reconstructed load.

use crate::wrap::wrap_into;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;
use trace::Bytes;
use units::words::{ns, size};
use whatif::load::Load;
use whatif::metric::{words_of, Metric, Phase};
use whatif::predict::{Cell, Lab, Predicted};
use whatif::question::Set;

/// Draws the table of predictions and the refused ones in lines of `width` columns.
pub fn predicted(name: &str, set: &Set, lab: &Lab, cells: &[Cell], width: usize) -> String {
    let mut out = format!("{name}: what {} would have done\n\n", in_words(set));
    let paragraph = |out: &mut String, text: &str| wrap_into(out, text, width, "", "");
    let told: Vec<&Cell> = cells.iter().filter(|c| c.predicted.is_some()).collect();
    match told.is_empty() {
        true => paragraph(&mut out, &format!("none of the {} numbers can be predicted", cells.len())),
        false => out += &table(&told),
    }
    let phases: BTreeMap<Phase, &str> =
        cells.iter().map(|c| (c.metric.phase, c.metric.phase.words())).collect();
    let phases: Vec<String> = phases.iter().map(|(phase, words)| format!("{phase:?} is {words}")).collect();
    paragraph(&mut out, &phases.join(", "));
    if told.len() < cells.len() {
        out.push('\n');
        let refused = cells.len() - told.len();
        let each = "--json has each with its recorded value";
        paragraph(&mut out, &format!("refused are {refused} of {} numbers; {each}:", cells.len()));
        for (reason, which) in refusals(cells) {
            wrap_into(&mut out, &format!("{reason} ({which})"), width, "- ", "  ");
        }
    }
    out.push('\n');
    let never = "\"Nothing changes\" would predict the recorded numbers. Never predicted: p99.9 and the maximum, which depend on a few rare \
                 events. Recorded were:";
    paragraph(&mut out, never);
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

/// Why a cell is refused, without its own numbers, so that cells can share a line; `None` if it is predicted.
pub(super) fn why(cell: &Cell) -> Option<&str> {
    cell.reason.as_deref().or(cell.refused.as_deref()).filter(|_| cell.predicted.is_none())
}

/// Values of equal keys together, in the order of their first keys.
pub(crate) fn grouped<K: PartialEq, V>(pairs: impl Iterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = vec![];
    for (key, value) in pairs {
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// The reasons why cells are refused, those of most cells first, each with its cells. Example: `too uncertain`, `read Q2C p50 p99, read I2D
/// p99`.
fn refusals(cells: &[Cell]) -> Vec<(&str, String)> {
    let refused = cells.iter().filter(|c| c.predicted.is_none());
    let mut by_reason = grouped(refused.map(|cell| (why(cell).unwrap_or_default(), cell)));
    by_reason.sort_by_key(|(_, all)| Reverse(all.len()));
    by_reason.into_iter().map(|(reason, all)| (reason, labels(&all, cells.len()))).collect()
}

/// The labels of cells, with the percentiles of one metric together; `all of them` if these are all cells.
fn labels(of: &[&Cell], all: usize) -> String {
    if of.len() == all {
        return "all of them".into();
    }
    let mut labels: Vec<(Metric, String)> = vec![];
    for cell in of {
        match labels.last_mut().filter(|(metric, _)| *metric == cell.metric) {
            Some((_, text)) => *text += &format!(" {}", cell.percentile),
            None => labels.push((cell.metric, label(cell))),
        }
    }
    labels.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(", ")
}

/// Draws a row for each prediction; each column is as wide as its content.
fn table(cells: &[&Cell]) -> String {
    let head = ["", "recorded", "its model", "predicted", "90 % within", "change"].map(String::from);
    let rows: Vec<_> = std::iter::once(head).chain(cells.iter().map(|cell| columns(cell))).collect();
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
    let words = |p: &Predicted| {
        let change = (p.value as f64 / cell.recorded.max(1) as f64 - 1.0) * 100.0;
        // A change that rounds to 0 has no sign.
        let change = if change.abs() < 0.5 { "0 %".into() } else { format!("{change:+.0} %") };
        [ns(p.value), format!("{} to {}", ns(p.from), ns(p.to)), change]
    };
    let [predicted, within, change] = cell.predicted.as_ref().map(words).unwrap_or_default();
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

/// Draws a row for each value that is predicted, with a picture of the value and its range; then the refused values by reason. Kinds of I/O
/// with predictions come first.
pub fn sweep(name: &str, key: &str, rows: &[(u64, Vec<Cell>)], width: usize) -> String {
    let mut out = format!("{name}: {key} swept\n");
    let Some((_, first)) = rows.first() else { return out };
    let at = |cells: &[Cell], i: usize| cells.get(i).and_then(|c| c.predicted);
    let mut shown: Vec<(usize, &Cell)> =
        first.iter().enumerate().filter(|(_, cell)| cell.metric.phase == Phase::Q2C).collect();
    shown.sort_by_key(|(i, _)| !rows.iter().any(|(_, cells)| at(cells, *i).is_some()));
    for (i, cell) in shown {
        let most = rows.iter().filter_map(|(_, c)| at(c, i)).map(|p| p.to).max().unwrap_or(1).max(1);
        let _ = writeln!(out, "\n{}, recorded {}", label(cell), ns(cell.recorded));
        for (value, p) in rows.iter().filter_map(|(value, cells)| Some((value, at(cells, i)?))) {
            let _ = writeln!(out, "  {value:>8}  {:>10}  |{}", ns(p.value), picture(&p, most));
        }
        let refused = rows.iter().filter(|(_, cells)| at(cells, i).is_none());
        let reason = |cells: &'_ [Cell]| cells.get(i).and_then(why).unwrap_or_default().to_string();
        for (reason, values) in grouped(refused.map(|(value, cells)| (reason(cells), value.to_string()))) {
            wrap_into(&mut out, &format!("refused at {}: {reason}", values.join(", ")), width, "  ", "    ");
        }
    }
    out
}

/// A predicted value and its range on a scale from 0 to `most`: `   ---o----`.
fn picture(p: &Predicted, most: u64) -> String {
    let place = |n: u64| (n as u128 * BAR as u128 / u128::from(most)) as usize;
    let (from, mid, to) = (place(p.from), place(p.value), place(p.to));
    let dot = |x: usize| match x {
        x if x == mid => 'o',
        x if x >= from && x <= to => '-',
        _ => ' ',
    };
    (0..=BAR).map(dot).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cell of reads (class 0); `outcome`: the predicted value, or the reason and the numbers why there is none.
    fn cell(phase: Phase, percentile: &'static str, outcome: Result<u64, (&str, &str)>) -> Cell {
        let predicted =
            outcome.ok().map(|value| Predicted { value, from: value / 2, to: value * 2, devices: 1 });
        let refused = outcome.err().map(|(reason, numbers)| format!("{reason}{numbers}"));
        let reason = outcome.err().map(|(reason, _)| reason.to_string());
        let metric = Metric { class: 0, phase };
        Cell { metric, percentile, recorded: 1_000_000, model: None, predicted, refused, reason }
    }

    #[test]
    fn refusals_for_one_reason_are_one_line_whatever_their_numbers() {
        let wide = "too uncertain";
        let cells = [
            cell(Phase::Q2C, "p50", Err((wide, ": 1 ms to 9 ms"))),
            cell(Phase::Q2C, "p99", Ok(3_000_000)),
            cell(Phase::I2D, "p50", Err(("no device explains the recording", ""))),
            cell(Phase::D2C, "p50", Err((wide, ": 2 ms to 9 ms"))),
            cell(Phase::D2C, "p99", Err((wide, ": 3 ms to 9 ms"))),
        ];
        assert_eq!(
            refusals(&cells),
            [
                (wide, "read Q2C p50, read D2C p50 p99".to_string()),
                ("no device explains the recording", "read I2D p50".to_string())
            ]
        );
        assert_eq!(refusals(&cells[..1]), [(wide, "all of them".to_string())]);
        assert_eq!(refusals(&cells[1..2]), []);
    }

    #[test]
    fn in_a_sweep_what_is_predicted_comes_first_and_each_reason_once() {
        let refused = |numbers| cell(Phase::Q2C, "p50", Err(("too uncertain", numbers)));
        let told = |value| cell(Phase::Q2C, "p99", Ok(value));
        let rows = vec![
            (50, vec![refused(": a"), told(2_000_000)]),
            (100, vec![refused(": b"), told(1_000_000)]),
            (200, vec![refused(": c"), cell(Phase::Q2C, "p99", Err(("only a few values", "")))]),
        ];
        let text = sweep("sda", "read_expire", &rows, 80);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(lines[..3], ["sda: read_expire swept", "", "read Q2C p99, recorded 1 ms"]);
        assert!(
            lines[3].starts_with("50        2 ms  |") && lines[4].starts_with("100        1 ms  |"),
            "{text}"
        );
        assert_eq!(
            lines[5..],
            [
                "refused at 200: only a few values",
                "",
                "read Q2C p50, recorded 1 ms",
                "refused at 50, 100, 200: too uncertain"
            ]
        );
    }
}
