//! The kinds of pictures of a recording; each file draws one topic.

mod heat;
mod ledger;
mod places;
mod rates;
mod spread;

use crate::picture::{Axis, Layer, Panel, Picture};
use causes::Answer;
use explain::pictured::{self, first_looked_at, Of, Pictured};
use explain::Explanation;
use explain::Places;
use stats::Pictures;
use trace::{DevId, Nanos};
use units::words::{count, decimals, ns, time};

/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Latency by completion time, as a heat map.
    Heatmap,
    /// Percentiles of latency over time.
    Latency,
    /// Places on the device over time.
    Offset,
    /// Bytes per second over time.
    Throughput,
    /// Completions per second over time.
    Iops,
    /// Number of requests in the device over time.
    QueueDepth,
    /// Cumulative distribution of latency.
    Cdf,
    /// Histogram of latency.
    Histogram,
    /// Numbers of requests by size.
    Sizes,
    /// Where the time of the slowest went, by reason and by wait.
    Ledger,
}

impl Kind {
    /// All kinds, in the order of the help.
    pub const ALL: [Kind; 10] = [
        Kind::Heatmap,
        Kind::Latency,
        Kind::Offset,
        Kind::Throughput,
        Kind::Iops,
        Kind::QueueDepth,
        Kind::Cdf,
        Kind::Histogram,
        Kind::Sizes,
        Kind::Ledger,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Heatmap => "heatmap",
            Kind::Latency => "latency",
            Kind::Offset => "offset",
            Kind::Throughput => "throughput",
            Kind::Iops => "iops",
            Kind::QueueDepth => "queue-depth",
            Kind::Cdf => "cdf",
            Kind::Histogram => "histogram",
            Kind::Sizes => "sizes",
            Kind::Ledger => "ledger",
        }
    }

    /// What it shows, in words.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Heatmap => "Latency of each operation or request by completion time",
            Kind::Latency => "Latency over time: p50, p99 and the longest",
            Kind::Offset => "Offsets on the device over time",
            Kind::Throughput => "Throughput",
            Kind::Iops => "Completions per second",
            Kind::QueueDepth => "Requests in the device",
            Kind::Cdf => "Cumulative distribution of latency",
            Kind::Histogram => "Histogram of latency",
            Kind::Sizes => "Sizes of requests",
            Kind::Ledger => "Where the time of the slowest went",
        }
    }
}

/// A recording that is drawn.
pub struct Subject<'a> {
    /// The recording's name in the title.
    pub label: &'a str,
    /// The explanation of the recording.
    pub explanation: &'a Explanation,
    /// Its I/O over time.
    pub pictures: &'a Pictures,
    /// Draws only this device; `None`: all devices.
    pub device: Option<DevId>,
}

/// Maximal number of panels in one picture.
const MOST_PANELS: usize = 4;

/// Draws one kind of picture.
pub fn picture(subject: &Subject, kind: Kind) -> Picture {
    let drawn = Drawn::new(subject);
    let panels = match kind {
        Kind::Heatmap => heat::maps(&drawn),
        Kind::Latency => heat::percentiles(&drawn),
        Kind::Offset => places::panels(&drawn),
        Kind::Throughput => rates::panels(&drawn, rates::Measure::Throughput),
        Kind::Iops => rates::panels(&drawn, rates::Measure::Iops),
        Kind::QueueDepth => rates::panels(&drawn, rates::Measure::Depth),
        Kind::Cdf => spread::cdf(&drawn),
        Kind::Histogram => spread::histogram(&drawn),
        Kind::Sizes => spread::sizes(&drawn),
        Kind::Ledger => ledger::panels(&drawn),
    };
    let over_time = !matches!(kind, Kind::Cdf | Kind::Histogram | Kind::Sizes | Kind::Ledger);
    let title = format!("{}: {}", subject.label, kind.words().to_lowercase());
    Picture { title, about: drawn.about(), panels, over_time }
}

/// Several pictures over the same time axis, for a film: places on the device, latencies, throughput, queue depth.
pub fn overview(subject: &Subject) -> Picture {
    let drawn = Drawn::new(subject);
    let mut panels: Vec<Panel> = places::panels(&drawn).into_iter().take(1).collect();
    panels.extend(heat::maps(&drawn).into_iter().take(1));
    panels.extend(rates::panels(&drawn, rates::Measure::Throughput));
    panels.extend(rates::panels(&drawn, rates::Measure::Depth));
    for panel in &mut panels {
        if let Panel::Chart { height, .. } = panel {
            *height = height.min(0.9);
        }
    }
    // A note that there is nothing to show is kept only if there are no charts.
    if panels.iter().any(|p| matches!(p, Panel::Chart { .. })) {
        panels.retain(|p| matches!(p, Panel::Chart { .. }));
    }
    Picture { title: subject.label.to_string(), about: drawn.about(), panels, over_time: true }
}

/// A recording, and the devices and kinds of it that are drawn.
struct Drawn<'a> {
    e: &'a Explanation,
    pictures: &'a Pictures,
    at: Places,
    devices: Vec<DevId>,
    all: Vec<Pictured<'a>>,
}

impl<'a> Drawn<'a> {
    fn new(subject: &Subject<'a>) -> Drawn<'a> {
        let (e, pictures) = (subject.explanation, subject.pictures);
        let at = pictured::places(e);
        let shown = |d: &DevId| subject.device.is_none_or(|only| only == *d);
        let devices: Vec<DevId> = pictured::devices(e).into_iter().filter(shown).collect();
        let kinds = if subject.device.is_none() { pictured::kinds(e) } else { vec![] };
        let all = pictured::pictured(e, pictures, &at, &kinds, &devices);
        Drawn { e, pictures, at, devices, all }
    }

    /// The most important kinds, [`MOST_PANELS`] at most.
    fn first(&self) -> Vec<&Pictured<'a>> {
        first_looked_at(&self.all, MOST_PANELS).into_iter().map(|i| &self.all[i]).collect()
    }

    /// The classes of requests of the first device.
    fn of_first_device(&self) -> Vec<&Pictured<'a>> {
        let first = self.devices.first();
        self.all.iter().filter(|p| matches!(p.of, Of::Requests(dev, _) if Some(&dev) == first)).collect()
    }

    /// The time since the first event, in seconds.
    fn seconds(&self, t: Nanos) -> f64 {
        (t.0 as f64 - self.at.began.0 as f64) / 1e9
    }

    fn span(&self) -> f64 {
        (self.e.duration().0 as f64 / 1e9).max(1e-9)
    }

    fn time_axis(&self) -> Axis {
        Axis::linear((0.0, self.span()), seconds)
    }

    /// A layer that shades the seconds in which events were lost.
    fn losses(&self) -> Layer {
        let mut seconds: Vec<u64> = self.e.subject.quality.lost.keys().map(|at| at.second).collect();
        seconds.dedup();
        let stretch = |s: u64| {
            let from = self.seconds(Nanos(s.saturating_mul(Nanos::SECOND.0)));
            (from, from + 1.0)
        };
        Layer::Shades(seconds.into_iter().map(stretch).filter(|(_, to)| *to > 0.0).collect())
    }

    /// The recording, the causes found, and how far to trust them, in one line.
    fn about(&self) -> String {
        let answer = explain::Answer::of(self.e);
        let found = self.e.verdicts.iter().filter(|v| v.verdict == Answer::Found).map(|v| v.cause);
        let (first, others): (Vec<&str>, Vec<_>) = found.partition(|cause| Some(*cause) == answer.cause);
        let why: Vec<&str> = first.into_iter().chain(others).take(3).collect();
        let why = if why.is_empty() { "no known cause".to_string() } else { why.join(", ") };
        let q = &self.e.subject.quality;
        let lost =
            if q.lost_total() > 0 { format!(", {} LOST", count(q.lost_total())) } else { String::new() };
        format!(
            "{} of {}, {} events{lost}; {why}; {}",
            time(self.e.duration()),
            self.e.subject.sources.join(", "),
            count(q.events),
            self.e.trust.name(),
        )
    }

    fn empty(&self, title: &str) -> Vec<Panel> {
        vec![Panel::Bars {
            title: format!("{title}: nothing of it in this recording"),
            bars: vec![],
            legend: vec![],
        }]
    }
}

/// The label of a time on an axis. Example: `0.25 s`.
fn seconds(v: f64) -> String {
    format!("{} s", decimals(v, 6))
}

/// The label of a latency on an axis.
fn latency(v: f64) -> String {
    ns(v.max(0.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different() {
        let mut names: Vec<_> = Kind::ALL.iter().map(|k| k.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Kind::ALL.len());
        assert_eq!((seconds(10.0), seconds(0.25)), ("10 s".into(), "0.25 s".into()));
    }
}
