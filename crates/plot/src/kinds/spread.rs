//! How latencies and sizes are spread over the whole recording.

use super::{latency, Drawn};
use crate::colours::{self, nth};
use crate::picture::{Axis, Bar, Layer, Panel, Scale};
use causes::words::{count, size};
use life::Class;
use report::pictured::{kind_name, kinds, Of};
use stats::{class_words, Distribution};
use trace::Bytes;

/// Curves in one panel.
const MOST_CURVES: usize = 8;
/// Panels of histograms.
const MOST_HISTOGRAMS: usize = 4;

/// The distributions: of operations, and of the first device's requests in all.
fn distributions<'a>(drawn: &'a Drawn) -> Vec<(String, crate::scene::Colour, &'a Distribution)> {
    let facts = &drawn.e.facts;
    let of_kinds = drawn.all.iter().any(|p| matches!(p.of, Of::Operations(_)));
    let mut all = vec![];
    for key in kinds(drawn.e).into_iter().filter(|_| of_kinds).take(MOST_CURVES) {
        if let Some(stats) = facts.operations.groups.get(&key).filter(|s| !s.latency.is_empty()) {
            all.push((kind_name(&drawn.at, &key), nth(all.len()), &stats.latency));
        }
    }
    if let Some(device) = drawn.devices.first().and_then(|d| facts.device(*d)).filter(|_| all.is_empty()) {
        for class in Class::ALL {
            let phases = device.phases(class);
            // The kernel's own flushes are never queued: of them, the time in the device.
            let whole = if phases.q2c.is_empty() { &phases.d2c } else { &phases.q2c };
            if !whole.is_empty() {
                let name = format!("{} {}", drawn.e.name(device.id), class_words(class));
                all.push((name, colours::class(class), whole));
            }
        }
    }
    all.truncate(MOST_CURVES);
    all
}

pub fn cdf(drawn: &Drawn) -> Vec<Panel> {
    let all = distributions(drawn);
    let (mut low, mut high, mut top) = (f64::MAX, 1000.0f64, 0.99f64);
    let mut layers = vec![];
    for (label, colour, d) in &all {
        let (mut seen, total) = (0, d.count());
        let mut points = vec![];
        for bucket in d.buckets() {
            // A step: flat until the bucket, then up.
            points.push((bucket.lower.max(1) as f64, Some(seen as f64 / total as f64)));
            seen += bucket.count;
            // Of the last bucket all were reached; half a count keeps it on the picture.
            let part = (seen as f64).min(total as f64 - 0.5) / total as f64;
            points.push((bucket.lower.max(1) as f64, Some(part)));
            top = top.max(part);
        }
        low = points.first().map_or(low, |p| low.min(p.0));
        high = points.last().map_or(high, |p| high.max(p.0));
        layers.push(Layer::Line { label: label.clone(), colour: *colour, dashed: false, points });
    }
    if layers.is_empty() {
        return drawn.empty("Latencies");
    }
    let x = Axis::log(((low * 0.9).max(100.0), high * 1.1), latency);
    let y = Axis { scale: Scale::Tail, range: (0.0, top), words: percentile, binary: false };
    let title = "the higher, the rarer: each line upwards is ten times rarer".to_string();
    vec![Panel::Chart { title, x, y, layers, height: 1.8 }]
}

fn percentile(part: f64) -> String {
    let text = format!("{:.4}", part * 100.0);
    format!("p{}", text.trim_end_matches('0').trim_end_matches('.'))
}

pub fn histogram(drawn: &Drawn) -> Vec<Panel> {
    let all = distributions(drawn);
    let panel = |(name, colour, d): &(String, crate::scene::Colour, &Distribution)| {
        let mut columns: Vec<(f64, f64, f64)> = vec![];
        for bucket in d.buckets() {
            // Two columns in each power of two.
            let half = |v: u64| ((v.max(1) as f64).log2() * 2.0).floor();
            let from = 2f64.powf(half(bucket.lower) / 2.0);
            match columns.last_mut().filter(|c| c.0 == from) {
                Some(same) => same.2 += bucket.count as f64,
                None => columns.push((from, from * 2f64.sqrt(), bucket.count as f64)),
            }
        }
        let most = columns.iter().map(|c| c.2).fold(1.0, f64::max);
        let range = (columns.first().map_or(1.0, |c| c.0), columns.last().map_or(2.0, |c| c.1));
        let title = format!("{name} ({})", count(d.count()));
        let y = Axis::linear((0.0, most * 1.05), |v| count(v.round() as u64));
        let layers = vec![Layer::Columns { label: String::new(), colour: *colour, columns }];
        Panel::Chart { title, x: Axis::log(range, latency), y, layers, height: 0.8 }
    };
    let panels: Vec<Panel> = all.iter().take(MOST_HISTOGRAMS).map(panel).collect();
    if panels.is_empty() {
        return drawn.empty("Latencies");
    }
    panels
}

pub fn sizes(drawn: &Drawn) -> Vec<Panel> {
    let sums = drawn.e.facts.cells.sum(|k| Some((k.dev, Class::of(k.op, k.flags).index(), k.size)));
    let mut panels = vec![];
    for dev in drawn.devices.iter().take(MOST_HISTOGRAMS) {
        for class in Class::ALL {
            let rows: Vec<_> = sums
                .iter()
                .filter(|((d, c, _), p)| d == dev && *c == class.index() && p.count > 0 && p.bytes.0 > 0)
                .collect();
            let most = rows.iter().map(|(_, p)| p.count).max().unwrap_or(0).max(1);
            let bars: Vec<Bar> = rows
                .iter()
                .map(|((.., upper), p)| Bar {
                    label: format!("up to {}", size(upper.upper())),
                    value: format!("{} ({})", count(p.count), size(Bytes(p.bytes.0))),
                    length: p.count as f64 / most as f64,
                    parts: vec![(1.0, colours::class(class))],
                })
                .collect();
            if !bars.is_empty() {
                let title = format!("{} {}", drawn.e.name(*dev), class_words(class));
                panels.push(Panel::Bars { title, bars, legend: vec![] });
            }
        }
    }
    if panels.is_empty() {
        return drawn.empty("Requests");
    }
    panels
}
