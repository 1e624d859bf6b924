//! Places on the device over time, as in iowatcher's pictures. Squares are reads, crosses are writes, colours are tasks.

use super::drawn::Drawn;
use crate::colours::nth;
use crate::picture::{Axis, Layer, Panel};
use stats::Who;
use std::collections::BTreeMap;
use trace::{Bytes, DevId, Nanos, SECTOR_BYTES};
use units::words::size;

/// Maximal number of devices that are drawn.
const MOST_DEVICES: usize = 3;
/// Maximal number of cells of one device; the grid is made coarser if there are more.
const MOST_CELLS: usize = 12_000;
/// Maximal number of entries in the legend.
const MOST_WHO: usize = 12;

/// The I/O of a task in one direction: number of requests, and the lower left corners of its cells.
#[derive(Default)]
struct Marks {
    requests: u64,
    at: Vec<(f64, f64)>,
}

pub fn panels(drawn: &Drawn) -> Vec<Panel> {
    let devices = || drawn.devices.iter().take(MOST_DEVICES);
    // A task has the same colour for reads and writes and on every device.
    let mut requests: BTreeMap<u32, u64> = BTreeMap::new();
    for device in devices().filter_map(|d| drawn.pictures.devices.get(d)) {
        for (.., who, n) in device.extents.cells() {
            *requests.entry(who.task).or_default() += u64::from(n);
        }
    }
    let mut tasks: Vec<u32> = requests.keys().copied().collect();
    tasks.sort_by_key(|task| std::cmp::Reverse(requests[task]));
    let panels: Vec<Panel> = devices().filter_map(|d| panel(drawn, *d, &tasks)).collect();
    if panels.is_empty() {
        return drawn.empty("Places on the device over time");
    }
    panels
}

fn panel(drawn: &Drawn, dev: DevId, tasks: &[u32]) -> Option<Panel> {
    let full = &drawn.pictures.devices.get(&dev)?.extents;
    let mut extents = full.clone();
    for round in 1u32..64 {
        if extents.len() <= MOST_CELLS {
            break;
        }
        extents = full.coarser(round.div_ceil(2), round / 2);
    }
    let (time, place) = extents.axes();
    let (_, (first, last)) = (time.span?, place.span?);
    let row = (SECTOR_BYTES as f64) * 2f64.powi(place.shift as i32);
    let step = 2f64.powi(time.shift as i32) / 1e9;
    let mut of: BTreeMap<Who, Marks> = BTreeMap::new();
    for (column, at, who, n) in extents.cells() {
        let x = drawn.seconds(Nanos(column.checked_shl(time.shift).unwrap_or(u64::MAX)));
        let marks = of.entry(who).or_default();
        marks.requests += u64::from(n);
        marks.at.push((x, at as f64 * row));
    }
    let mut all: Vec<_> = of.into_iter().collect();
    all.sort_by_key(|(_, marks)| std::cmp::Reverse(marks.requests));
    let mark = |(i, (who, marks)): (usize, (Who, Marks))| {
        let what = if who.writes { "writes" } else { "reads" };
        let label = format!("{} {what}", drawn.pictures.tasks.name(who.task));
        let colour = nth(tasks.iter().position(|t| *t == who.task).unwrap_or(usize::MAX));
        let label = if i < MOST_WHO { label } else { String::new() };
        Layer::Marks { label, colour, crosses: who.writes, size: (step, row), at: marks.at }
    };
    let mut layers = vec![drawn.losses()];
    layers.extend(all.into_iter().enumerate().map(mark));
    let range = (first as f64 * row - row, (last + 2) as f64 * row);
    let y = Axis::linear(range, bytes).binary();
    let (title, x) = (drawn.e.name(dev), drawn.time_axis());
    Some(Panel::Chart { title, x, y, layers, height: 1.5 })
}

fn bytes(v: f64) -> String {
    size(Bytes(v.max(0.0) as u64))
}
