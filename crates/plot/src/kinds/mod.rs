//! The kinds of pictures of a recording; each file draws one topic.

mod drawn;
mod heat;
mod ledger;
mod places;
mod rates;
mod spread;

use crate::picture::{Panel, Picture};
use drawn::Drawn;
pub use drawn::Subject;

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

#[cfg(test)]
mod tests {
    use super::drawn::seconds;
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
