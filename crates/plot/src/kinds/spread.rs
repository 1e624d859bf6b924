//! Distributions of latencies and sizes over the whole recording.

use super::drawn::{latency, Drawn};
use crate::colours::{self, nth, OTHERS};
use crate::picture::{Axis, Bar, Layer, Panel, Scale};
use crate::scene::Colour;
use explain::pictured::{kind_name, kinds, Of};
use ledger::Reason;
use life::Class;
use stats::{class_words, Distribution};
use trace::Bytes;
use units::words::{count, decimals, size};

/// Maximal number of curves in one panel.
const MOST_CURVES: usize = 8;
/// Maximal number of classes of requests that are shown by phase.
const MOST_PHASED: usize = 3;
/// Maximal number of histograms.
const MOST_HISTOGRAMS: usize = 4;

/// The latencies of operations; if none were recorded, those of the first device's requests by class.
fn distributions<'a>(drawn: &'a Drawn) -> Vec<Named<'a>> {
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
            // The kernel's own flushes are never queued, so their time in the device is shown.
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

/// A distribution with its name and colour.
type Named<'a> = (String, Colour, &'a Distribution);

/// The phases of the first device's requests by class; classes that tasks wait for come first.
fn phases<'a>(drawn: &'a Drawn) -> Vec<(String, Vec<Named<'a>>)> {
    let Some(device) = drawn.devices.first().and_then(|d| drawn.e.facts.device(*d)) else { return vec![] };
    let mut classes: Vec<_> = drawn
        .all
        .iter()
        .filter_map(|p| match p.of {
            Of::Requests(dev, class) if dev == device.id => Some((!p.matters, class)),
            _ => None,
        })
        .collect();
    classes.sort_by_key(|(last, class)| (*last, class.index()));
    let named = |(phase, d): (&str, &'a Distribution)| {
        let (words, colour) = match phase {
            "q2g" => (Reason::GetRequest.words(), colours::reason(Reason::GetRequest)),
            "g2i" => (Reason::Prepare.words(), colours::reason(Reason::Prepare)),
            "i2d" => (Reason::Scheduler.words(), colours::reason(Reason::Scheduler)),
            "d2c" => (Reason::Device.words(), colours::reason(Reason::Device)),
            _ => ("all of it (Q2C)", Colour::hex(OTHERS)),
        };
        (words.to_string(), colour, d)
    };
    let of_class = |(_, class): (bool, Class)| {
        let all = device.phases(class).each().into_iter().filter(|(_, d)| !d.is_empty());
        let title = format!("{} {}, by phase", drawn.e.name(device.id), class_words(class));
        (title, all.map(named).collect())
    };
    classes
        .into_iter()
        .map(of_class)
        .filter(|(_, all): &(_, Vec<_>)| all.len() > 1)
        .take(MOST_PHASED)
        .collect()
}

/// Draws the distributions, then the phases of requests; all on the same axis, so that they can be compared.
pub fn cdf(drawn: &Drawn) -> Vec<Panel> {
    let whole = "higher is rarer: each line is ten times rarer than the one below".to_string();
    let mut all = vec![(whole, distributions(drawn))];
    all.extend(phases(drawn));
    let of_all = || all.iter().flat_map(|(_, curves)| curves);
    if of_all().next().is_none() {
        return drawn.empty("Latencies");
    }
    let low = of_all().filter_map(|c| c.2.buckets().next()).map(|b| b.lower).min().unwrap_or(0) as f64;
    let high = of_all().map(|c| c.2.max()).max().unwrap_or(0) as f64;
    let x = Axis::log(((low * 0.9).max(100.0), high.max(1000.0) * 1.1), latency);
    let several = all.len() > 1;
    let panel = |(title, curves): (String, Vec<Named>)| {
        let (layers, top) = lines(&curves);
        let y = Axis { scale: Scale::Tail, range: (0.0, top), words: percentile, binary: false };
        Panel::Chart { title, x: x.clone(), y, layers, height: if several { 1.2 } else { 1.8 } }
    };
    all.into_iter().map(panel).collect()
}

/// The curve of each distribution, and the highest part of all that a curve reaches.
fn lines(all: &[Named]) -> (Vec<Layer>, f64) {
    let mut top = 0.99f64;
    let mut layers = vec![];
    for (label, colour, d) in all {
        let (mut seen, total) = (0, d.count());
        let mut points = vec![];
        for bucket in d.buckets() {
            // A step: flat until the bucket, then vertical.
            points.push((bucket.lower.max(1) as f64, Some(seen as f64 / total as f64)));
            seen += bucket.count;
            // The curve ends half a count below 1, because 1 is infinitely far up on this scale.
            let part = (seen as f64).min(total as f64 - 0.5) / total as f64;
            points.push((bucket.lower.max(1) as f64, Some(part)));
            top = top.max(part);
        }
        // Q2C is the sum of the other phases.
        let dashed = *colour == Colour::hex(OTHERS);
        layers.push(Layer::Line { label: label.clone(), colour: *colour, dashed, points });
    }
    (layers, top)
}

fn percentile(part: f64) -> String {
    format!("p{}", decimals(part * 100.0, 4))
}

pub fn histogram(drawn: &Drawn) -> Vec<Panel> {
    let all = distributions(drawn);
    let panel = |(name, colour, d): &Named| {
        let mut columns: Vec<(f64, f64, f64)> = vec![];
        for bucket in d.buckets() {
            // Each power of two has two columns.
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
