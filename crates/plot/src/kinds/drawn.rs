//! A recording, with the devices and kinds of it that are drawn: what every kind of picture reads.

use crate::picture::{Axis, Layer, Panel};
use causes::Answer;
use explain::pictured::{self, first_looked_at, Of, Pictured};
use explain::Explanation;
use explain::Places;
use stats::Pictures;
use trace::{DevId, Nanos};
use units::words::{count, decimals, ns, time};

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

/// A recording, and the devices and kinds of it that are drawn.
pub(super) struct Drawn<'a> {
    pub(super) e: &'a Explanation,
    pub(super) pictures: &'a Pictures,
    pub(super) at: Places,
    pub(super) devices: Vec<DevId>,
    pub(super) all: Vec<Pictured<'a>>,
}

impl<'a> Drawn<'a> {
    pub(super) fn new(subject: &Subject<'a>) -> Drawn<'a> {
        let (e, pictures) = (subject.explanation, subject.pictures);
        let at = pictured::places(e);
        let shown = |d: &DevId| subject.device.is_none_or(|only| only == *d);
        let devices: Vec<DevId> = pictured::devices(e).into_iter().filter(shown).collect();
        let kinds = if subject.device.is_none() { pictured::kinds(e) } else { vec![] };
        let all = pictured::pictured(e, pictures, &at, &kinds, &devices);
        Drawn { e, pictures, at, devices, all }
    }

    /// The most important kinds, [`MOST_PANELS`] at most.
    pub(super) fn first(&self) -> Vec<&Pictured<'a>> {
        first_looked_at(&self.all, MOST_PANELS).into_iter().map(|i| &self.all[i]).collect()
    }

    /// The classes of requests of the first device.
    pub(super) fn of_first_device(&self) -> Vec<&Pictured<'a>> {
        let first = self.devices.first();
        self.all.iter().filter(|p| matches!(p.of, Of::Requests(dev, _) if Some(&dev) == first)).collect()
    }

    /// The time since the first event, in seconds.
    pub(super) fn seconds(&self, t: Nanos) -> f64 {
        (t.0 as f64 - self.at.began.0 as f64) / 1e9
    }

    pub(super) fn span(&self) -> f64 {
        (self.e.duration().0 as f64 / 1e9).max(1e-9)
    }

    pub(super) fn time_axis(&self) -> Axis {
        Axis::linear((0.0, self.span()), seconds)
    }

    /// A layer that shades the seconds in which events were lost.
    pub(super) fn losses(&self) -> Layer {
        let mut seconds: Vec<u64> = self.e.subject.quality.lost.keys().map(|at| at.second).collect();
        seconds.dedup();
        let stretch = |s: u64| {
            let from = self.seconds(Nanos(s.saturating_mul(Nanos::SECOND.0)));
            (from, from + 1.0)
        };
        Layer::Shades(seconds.into_iter().map(stretch).filter(|(_, to)| *to > 0.0).collect())
    }

    /// The recording, the causes found, and how far to trust them, in one line.
    pub(super) fn about(&self) -> String {
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

    pub(super) fn empty(&self, title: &str) -> Vec<Panel> {
        vec![Panel::Bars {
            title: format!("{title}: nothing of it in this recording"),
            bars: vec![],
            legend: vec![],
        }]
    }
}

/// The label of a time on an axis. Example: `0.25 s`.
pub(super) fn seconds(v: f64) -> String {
    format!("{} s", decimals(v, 6))
}

/// The label of a latency on an axis.
pub(super) fn latency(v: f64) -> String {
    ns(v.max(0.0) as u64)
}
