//! Throughput, completions per second and queue depth over time, by class of requests.

use super::drawn::Drawn;
use crate::colours;
use crate::picture::{Axis, Layer, Panel};
use explain::pictured::{Of, Pictured};
use stats::{class_words, Moment};
use trace::Bytes;
use units::words::{count, size};

/// Maximal number of steps that are drawn; more would be noise.
const MOST_STEPS: usize = 260;

/// The rate that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Throughput,
    Iops,
    Depth,
}

impl Measure {
    /// The mean rate over a step that lasts this many seconds.
    fn of(self, sum: &Moment, seconds: f64) -> f64 {
        match self {
            Measure::Throughput => sum.bytes as f64 / seconds,
            Measure::Iops => sum.completed as f64 / seconds,
            Measure::Depth => sum.depth_ns as f64 / 1e9 / seconds,
        }
    }
}

pub fn panels(drawn: &Drawn, measure: Measure) -> Vec<Panel> {
    let all = drawn.of_first_device();
    let Some(finest) = all.iter().map(|p| p.columns.shift()).max() else {
        return drawn.empty("Requests");
    };
    let mut shift = finest;
    while shift < 63 && (drawn.e.duration().0 >> shift) as usize > MOST_STEPS {
        shift += 1;
    }
    let layers: Vec<Layer> = all.iter().filter_map(|p| line(drawn, p, measure, shift)).collect();
    let values = layers.iter().flat_map(|l| match l {
        Layer::Line { points, .. } => points.iter().filter_map(|p| p.1).collect::<Vec<_>>(),
        _ => vec![],
    });
    let most = values.fold(0.0, f64::max);
    let range = (0.0, if most > 0.0 { most * 1.08 } else { 1.0 });
    let y = match measure {
        Measure::Throughput => Axis::linear(range, bytes).binary(),
        _ => Axis::linear(range, number),
    };
    let device = drawn.devices.first().map_or(String::new(), |d| drawn.e.name(*d));
    let what = match measure {
        Measure::Throughput => "bytes a second",
        Measure::Iops => "completed a second",
        Measure::Depth => "requests in the device",
    };
    let layers = std::iter::once(drawn.losses()).chain(layers).collect();
    vec![Panel::Chart { title: format!("{device}: {what}"), x: drawn.time_axis(), y, layers, height: 1.4 }]
}

fn line(drawn: &Drawn, p: &Pictured, measure: Measure, shift: u32) -> Option<Layer> {
    let Of::Requests(_, class) = p.of else { return None };
    let columns = p.columns.with_shift(shift);
    let step = (1u64 << shift) as f64 / 1e9;
    // The first and the last step may extend beyond the recording.
    let point = |from: f64, moment: &Moment| {
        let recorded = (from + step).min(drawn.span()) - from.max(0.0);
        (from + step / 2.0, Some(measure.of(moment, recorded.max(1e-9))))
    };
    let mut points: Vec<_> = columns.iter().map(|(t, m)| point(drawn.seconds(t), m)).collect();
    // Before the first and after the last step, the rate is 0.
    let (first, last) = (points.first()?.0, points.last()?.0);
    if first > step {
        points.splice(0..0, [(0.0, Some(0.0)), (first - step, Some(0.0))]);
    }
    if last + step < drawn.span() {
        points.extend([(last + step, Some(0.0)), (drawn.span(), Some(0.0))]);
    }
    let (label, colour) = (class_words(class).to_string(), colours::class(class));
    Some(Layer::Line { label, colour, dashed: false, points })
}

fn bytes(v: f64) -> String {
    format!("{}/s", size(Bytes(v.max(0.0) as u64)))
}

fn number(v: f64) -> String {
    if v > 0.0 && v < 10.0 && v.fract() > 1e-9 {
        format!("{v:.1}")
    } else {
        count(v.round() as u64)
    }
}
