//! Latency over time: heat maps with percentiles as lines, and the lines alone.

use super::drawn::{latency, Drawn};
use crate::colours::{nth, Scheme, COLOURS};
use crate::picture::{Axis, Layer, Panel};
use explain::findings::{findings, marked, Finding};
use explain::pictured::Pictured;
use stats::{heat_lower, Heat, Moment};
use units::words::time;

/// Maximal number of columns of a heat map: each is three points wide in a picture of usual width.
const MOST_COLUMNS: usize = 300;
/// Target number of operations in a step of the percentile lines.
const OF_A_STEP: u64 = 40;
const MOST_STEPS: usize = 160;
/// Buckets that form one cell: 8 cells in each power of two.
const OF_A_CELL: u16 = 2;

pub fn maps(drawn: &Drawn) -> Vec<Panel> {
    panels(drawn, true)
}

pub fn percentiles(drawn: &Drawn) -> Vec<Panel> {
    panels(drawn, false)
}

fn panels(drawn: &Drawn, with_cells: bool) -> Vec<Panel> {
    let first = drawn.first();
    let buckets = first.iter().flat_map(|p| p.columns.iter().flat_map(|(_, m)| m.heat.counts()));
    let range = buckets.fold((u16::MAX, 0), |(low, high), (b, _)| (low.min(*b), high.max(*b)));
    if range.0 > range.1 {
        return drawn.empty("Latency over time");
    }
    // All panels have the same range, so that they can be compared.
    let low = (heat_lower(range.0).0 as f64 * 0.8).max(100.0);
    let high = (heat_lower(range.1 + 1).0 as f64 * 1.2).max(1000.0);
    let axis = Axis::log((low, high), latency);
    let height = if first.len() > 1 { 0.9 } else { 1.4 };
    let panel = |p: &Pictured| {
        let columns = with_cells.then(|| Layer::Heat(cells(drawn, p)));
        let mut layers = vec![drawn.losses()];
        layers.extend(columns);
        let [median, p99, longest] = lines(drawn, p);
        let theme = Scheme::Light.theme();
        // The median is black on white and white on black; over a heat map it needs a colour that is visible there.
        let line =
            |label: &str, colour, dashed, points| Layer::Line { label: label.into(), colour, dashed, points };
        layers.push(line("p50", nth(1), false, median));
        layers.push(line("p99", theme.p99, false, p99));
        layers.push(line("max", theme.p99, true, longest));
        if let Some(tail) = p.tail() {
            layers.push(Layer::Level(tail.0 as f64, tail_words(tail)));
            layers.extend(moments(drawn, p, tail));
        }
        let (title, x, y) = (p.name.clone(), drawn.time_axis(), axis.clone());
        Panel::Chart { title, x, y, layers, height }
    };
    first.iter().map(|p| panel(p)).collect()
}

/// The label of the tail's threshold. Example: `the slowest: from 365 ms on`.
fn tail_words(tail: trace::Nanos) -> String {
    format!("the slowest: from {} on", time(tail))
}

type Cell = ([f64; 2], [f64; 2], f64);

fn cells(drawn: &Drawn, p: &Pictured) -> Vec<Cell> {
    let mut columns = p.columns.with_shift(0);
    while columns.len() > MOST_COLUMNS {
        columns = columns.with_shift(columns.shift() + 1);
    }
    let step = (1u64 << columns.shift().min(63)) as f64 / 1e9;
    let mut all: Vec<Cell> = vec![];
    for (at, moment) in columns.iter() {
        let from = drawn.seconds(at);
        let mut last = None;
        for (bucket, n) in moment.heat.counts() {
            let cell = bucket / OF_A_CELL * OF_A_CELL;
            match all.last_mut().filter(|_| last == Some(cell)) {
                Some(same) => same.2 += f64::from(*n),
                None => {
                    let (low, high) =
                        (heat_lower(cell).0.max(1) as f64, heat_lower(cell + OF_A_CELL).0 as f64);
                    all.push(([from, from + step], [low, high], f64::from(*n)));
                }
            }
            last = Some(cell);
        }
    }
    all
}

type Points = Vec<(f64, Option<f64>)>;

/// The lines of p50, p99 and maximum, in steps wide enough that each has some tens of operations.
fn lines(drawn: &Drawn, p: &Pictured) -> [Points; 3] {
    let columns: Vec<(f64, &Moment)> = p.columns.iter().map(|(t, m)| (drawn.seconds(t), m)).collect();
    let ended: u64 = columns.iter().map(|(_, m)| m.completed).sum();
    let steps = ((ended / OF_A_STEP) as usize).clamp(1, MOST_STEPS).min(columns.len().max(1));
    let wide = columns.len().div_ceil(steps).max(1);
    let step = (1u64 << p.columns.shift().min(63)) as f64 / 1e9;
    let mut lines: [Points; 3] = Default::default();
    for part in columns.chunks(wide) {
        let mut sum = Heat::default();
        part.iter().for_each(|(_, m)| sum.merge(&m.heat));
        let middle = part[0].0 + step * part.len() as f64 / 2.0;
        for (line, q) in lines.iter_mut().zip([0.5, 0.99, 1.0]) {
            line.push((middle, quantile(&sum, q)));
        }
    }
    lines
}

/// A quantile by nearest rank, as the middle of its bucket; `None` if there are no values.
fn quantile(heat: &Heat, q: f64) -> Option<f64> {
    let total: u64 = heat.counts().iter().map(|(_, n)| u64::from(*n)).sum();
    let rank = ((q * total as f64 - 1e-9).ceil() as u64).max(1);
    let mut seen = 0;
    heat.counts().iter().find_map(|(bucket, n)| {
        seen += u64::from(*n);
        let middle = (heat_lower(*bucket).0 + heat_lower(bucket + 1).0) as f64 / 2.0;
        (seen >= rank).then_some(middle)
    })
}

/// Marks moments in which much of what ended belongs to the tail, by the finding that explains them.
fn moments(drawn: &Drawn, p: &Pictured, tail: trace::Nanos) -> Vec<Layer> {
    let step = (1u64 << p.columns.shift().min(63)) as f64 / 1e9;
    let place = drawn.all.iter().position(|other| std::ptr::eq(other, p));
    let found = findings(drawn.e, &drawn.all);
    // The last entry is for moments that no finding explains.
    let mut stretches: Vec<Vec<(f64, f64)>> = vec![vec![]; found.len() + 1];
    for (at, moment) in p.columns.iter() {
        let Some(reason) = marked(moment, tail) else { continue };
        let explains = |f: &Finding| f.explains.iter().any(|(g, r)| Some(*g) == place && *r == reason);
        let whose = found.iter().position(explains).unwrap_or(found.len());
        let from = drawn.seconds(at);
        match stretches[whose].last_mut().filter(|last| last.1 >= from - step / 2.0) {
            Some(last) => last.1 = from + step,
            None => stretches[whose].push((from, from + step)),
        }
    }
    let layer = |(i, stretches): (usize, Vec<(f64, f64)>)| {
        let finding = found.get(i);
        // The colours of the page; the first ones are left out, because reads and writeback have them.
        let colour = finding.map_or(Scheme::Light.theme().tail, |_| nth((i + 3) % COLOURS.len()));
        let label = finding.map_or("no finding", |f| f.cause).to_string();
        Layer::Moments { label, colour, stretches }
    };
    stretches.into_iter().enumerate().filter(|(_, s)| !s.is_empty()).map(layer).collect()
}
