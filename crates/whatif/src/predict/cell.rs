//! One predicted number: its value and interval, or why there is none.

use super::lab::Lab;
use crate::fit::{error, FLOOR};
use crate::metric::{Metric, Phase, Times};
use crate::settings::{Kind, Settings};
use life::Class;
use serde::Serialize;
use stats::{Blocks, Estimate};
use units::words::ns;

/// Maximal error of the model of the recording.
pub const GATE: f64 = 0.20;
/// Maximal ratio between the predictions of different devices.
pub const SPREAD: f64 = 1.5;
/// Maximal ratio between the ends of an interval: a factor of two to each side.
pub const WIDEST: f64 = 4.0;
/// The 95 % quantile of the normal distribution over the 97.5 % quantile: the bootstrap's interval is 95 %, the one shown 90 %. The bootstrap
/// covers the error of one recording; a prediction is about a second one with the same error: hence the square root of 2.
const NARROWER: f64 = 1.645 / 1.960 * std::f64::consts::SQRT_2;
/// A device that fits the recording exactly has this error under other settings: half of the error that the gate allows. (Without it
/// 79 % of 627 intervals contained the true value, for disks behind QEMU that were recorded for development; with it 89 %.)
const ELSEWHERE: f64 = 1.0 + GATE / 2.0;
/// Minimal number of values beyond a percentile.
const BEYOND: f64 = 10.0;
/// A value below this quantile of the times in the device is predicted only if some requests were alone in it.
const RARELY: f64 = 0.05;
/// Percentiles beyond this belong to the tail, which depends on stalls that no model has.
const TAIL: f64 = 0.9;
/// Maximal mean error of the best device for predictions of the tail, as a factor: as much as devices may disagree.
/// The gate checks one number; among many inaccurate numbers, some pass it by chance.
const WORST: f64 = SPREAD;
const DISAGREE: &str = "devices that explain the recording equally well disagree";
/// What else writeback throttling depends on (crate::wbt::Throttle).
const UNTOLD: &str = "or it matters whether tasks were throttled for dirty pages and writes were direct, \
                      which is not recorded";

/// A number with its prediction, or the reason why there is none.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// The class and phase.
    pub metric: Metric,
    /// The percentile: `p50` or `p99`.
    pub percentile: &'static str,
    /// The recorded value in nanoseconds, which is also the prediction for unchanged settings.
    pub recorded: u64,
    /// The value of the best device under the recorded settings, in nanoseconds.
    pub model: Option<u64>,
    /// The prediction under the asked settings; `None` if refused.
    pub predicted: Option<Predicted>,
    /// Why there is no prediction.
    pub refused: Option<String>,
    /// The same without the numbers of this cell: cells that are refused for one reason share it.
    #[serde(skip)]
    pub reason: Option<String>,
}

/// A prediction, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Predicted {
    /// The median of the devices.
    pub value: u64,
    /// The lower end of the 90 % interval.
    pub from: u64,
    /// The upper end of the 90 % interval.
    pub to: u64,
    /// Number of devices that predicted it.
    pub devices: usize,
}

/// Why a number is not predicted.
struct Unpredicted {
    /// The reason without the numbers of this case.
    reason: String,
    /// The reason with them.
    text: String,
}

impl Unpredicted {
    fn new(reason: impl Into<String>, text: String) -> Unpredicted {
        Unpredicted { reason: reason.into(), text }
    }
}

impl From<&str> for Unpredicted {
    fn from(reason: &str) -> Unpredicted {
        Unpredicted::new(reason, reason.into())
    }
}

impl Lab {
    pub(super) fn cell(
        &self,
        metric: Metric,
        q: f64,
        percentile_name: &'static str,
        asked: &[Vec<&Times>],
        strange: Option<&str>,
        settings: &Settings,
    ) -> Cell {
        let recorded = self.real.percentile(metric, q).unwrap_or(0);
        let model = self.as_recorded.first().and_then(|t| t.first()?.percentile(metric, q));
        let (predicted, refused, reason) = (None, None, None);
        let mut cell =
            Cell { metric, percentile: percentile_name, recorded, model, predicted, refused, reason };
        let n = self.real.values(metric).len() as f64;
        let outcome = if n * (1.0 - q) < BEYOND {
            Err(Unpredicted::new("only a few values", format!("only {n} values")))
        } else if let Some(why) = strange {
            Err(why.into())
        } else if metric.phase == Phase::I2D && settings.scheduler == Kind::None {
            Err("there would be no scheduler".into())
        } else if recorded == 0 {
            Err("nothing was recorded".into())
        } else {
            self.told(metric, q, asked, settings)
        };
        match outcome {
            Ok(predicted) => cell.predicted = Some(predicted),
            Err(why) => (cell.refused, cell.reason) = (Some(why.text), Some(why.reason)),
        }
        cell
    }

    /// Checks the conditions that depend on more than the devices, then calls [`Lab::factors`].
    fn told(
        &self,
        metric: Metric,
        q: f64,
        asked: &[Vec<&Times>],
        settings: &Settings,
    ) -> Result<Predicted, Unpredicted> {
        let off = self.devices.first().map_or(f64::INFINITY, |best| best.score);
        if q > TAIL && off > WORST.ln() {
            let off = (off.exp() - 1.0) * 100.0;
            let why = "on average: a tail that it predicts well is chance";
            return Err(format!("the best device is off by {off:.0} % {why}").as_str().into());
        }
        // With a scheduler, most of the p99 is time in it; without, the p99 is the device's own.
        let write = metric.class != Class::Read.index();
        let left = settings.scheduler == Kind::None && self.settings.scheduler != Kind::None;
        if left && q > TAIL && !self.alone[write as usize] {
            return Err("it would be the device's own variation, and no request was alone in it".into());
        }
        let factors = |metric| {
            let recorded = self.real.percentile(metric, q).unwrap_or(0);
            self.factors(metric, q, recorded, asked)
        };
        if settings.wbt.is_none() {
            return factors(metric);
        }
        // The number of admitted writes determines everything: if the whole time is uncertain, its parts agree only by chance.
        let disagree = |why: &Unpredicted| why.reason == DISAGREE;
        let of_whole = factors(Metric { phase: Phase::Q2C, ..metric }).err().filter(disagree);
        of_whole.map_or_else(|| factors(metric), Err).map_err(|why| match disagree(&why) {
            true => Unpredicted::new(format!("{DISAGREE} ({UNTOLD})"), format!("{} ({UNTOLD})", why.text)),
            false => why,
        })
    }

    fn factors(
        &self,
        metric: Metric,
        q: f64,
        recorded: u64,
        asked: &[Vec<&Times>],
    ) -> Result<Predicted, Unpredicted> {
        let mut values: Vec<f64> = Vec::new();
        let mut ends: Vec<f64> = Vec::new();
        let (mut devices, mut nearest, mut in_device) = (0, f64::INFINITY, f64::INFINITY);
        for (before, after) in self.as_recorded.iter().zip(asked) {
            let first = before.first().and_then(|t| t.percentile(metric, q));
            let floored = |x: u64| x.max(FLOOR as u64);
            let Some(off) = error(Some(floored(recorded)), first.map(floored)) else { continue };
            nearest = if off.abs() < nearest.abs() { off } else { nearest };
            if off.abs() > GATE {
                continue;
            }
            if let Some(off) = self.off_in_device(metric, q, before, after).filter(|off| off.abs() > GATE) {
                in_device = if off.abs() < in_device.abs() { off } else { in_device };
                continue;
            }
            devices += 1;
            for (b, a) in before.iter().cycle().zip(after) {
                let (Some(b), Some(a)) = (b.percentile(metric, q), a.percentile(metric, q)) else {
                    return Err("no request of this kind was completed in the simulation".into());
                };
                // Below the floor it is the kernel's own time, which is not modelled.
                let floor = |x: u64| (x as f64).max(FLOOR);
                let a = floor(a);
                let value = (floor(recorded) * a / floor(b)).max(FLOOR);
                values.push(value);
                // The error of the model of the recording may recur, in either direction.
                ends.extend([value, a, value * value / a]);
            }
        }
        if devices == 0 {
            let off = |place: &str, by: f64| {
                let off = format!("{place}the model of the recording is off by");
                let reason = format!("{off} more than {:.0} %", GATE * 100.0);
                Unpredicted::new(reason, format!("{off} {:+.0} %", by * 100.0))
            };
            return Err(match (in_device.is_finite(), nearest.is_finite()) {
                (true, _) => off("most of it would be time in the device, where ", in_device),
                (false, true) => off("", nearest),
                (false, false) => "no device explains the recording".into(),
            });
        }
        values.sort_by(f64::total_cmp);
        let value = values[values.len() / 2];
        let (low, high) = (values[0], values[values.len() - 1]);
        if high > SPREAD * low {
            let text = format!("{DISAGREE}: {} to {}", words(low), words(high));
            return Err(Unpredicted::new(DISAGREE, text));
        }
        let (down, up) = self.chance(metric, q);
        let from = ends.iter().copied().fold(low, f64::min) * down / ELSEWHERE;
        let from = if from < FLOOR { 0.0 } else { from };
        let to = ends.iter().copied().fold(high, f64::max) * up * ELSEWHERE;
        if to > WIDEST * from.max(FLOOR) {
            let text = format!("too uncertain: {} to {}", words(from), words(to));
            return Err(Unpredicted::new("too uncertain", text));
        }
        let in_device = Metric { phase: Phase::D2C, ..metric };
        let rarely = self.real.percentile(in_device, RARELY).unwrap_or(0) as f64;
        let write = metric.class != Class::Read.index();
        if metric.phase != Phase::I2D && !self.alone[write as usize] && value < rarely {
            let text = |rarely: &str| {
                format!("faster than 19 of 20 recorded were in the device{rarely}, and no request was alone in it")
            };
            return Err(Unpredicted::new(text(""), text(&format!(" ({})", words(rarely)))));
        }
        Ok(Predicted { value: whole(value), from: whole(from), to: whole(to), devices })
    }

    /// The error of a device in the time in the device, if that would be most of the I/O's whole time: for requests that waited in the
    /// recording and would not wait any more, the gate of the whole time says nothing about the rest.
    fn off_in_device(&self, metric: Metric, q: f64, before: &[Times], after: &[&Times]) -> Option<f64> {
        let device = Metric { phase: Phase::D2C, ..metric };
        let (whole, part) = (after.first()?.percentile(metric, q)?, after.first()?.percentile(device, q)?);
        if metric.phase != Phase::Q2C || 2 * part < whole {
            return None;
        }
        error(self.real.percentile(device, q), before.first()?.percentile(device, q))
    }

    /// The factors by which the percentile might differ in another stretch of the same load, down and up.
    fn chance(&self, metric: Metric, q: f64) -> (f64, f64) {
        let mut blocks = Blocks::default();
        self.in_order.values(metric).iter().for_each(|v| blocks.record(*v));
        match Estimate::percentile(&blocks, q, self.seed) {
            Ok(e) if e.value > 0.0 => {
                let range = e.range();
                let factor = |end: f64| ((end.max(1.0) / e.value).ln() * NARROWER).exp();
                (factor(range.from).min(1.0), factor(range.to).max(1.0))
            }
            // Too few values beyond it: as much as devices may disagree.
            _ => (1.0 / SPREAD, SPREAD),
        }
    }
}
/// Rounds to whole nanoseconds.
fn whole(time: f64) -> u64 {
    time.round().max(0.0) as u64
}

fn words(time: f64) -> String {
    ns(whole(time))
}
