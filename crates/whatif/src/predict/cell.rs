//! One number of a prediction: its value and interval, or why there is none.

use super::Lab;
use crate::fit::{error, FLOOR};
use crate::metric::{Metric, Phase, Times};
use crate::settings::{Kind, Settings};
use life::Class;
use serde::Serialize;
use stats::{Blocks, Estimate};
use units::words::ns;

/// The model of the recording may be off by so much.
pub const GATE: f64 = 0.20;
/// Devices may disagree by this factor.
pub const SPREAD: f64 = 1.5;
/// An interval whose ends are further apart than this tells nothing: a factor of two to each side.
pub const WIDEST: f64 = 4.0;
/// 95 % of the normal distribution over 97.5 %: the bootstrap's interval is 95 %, the one shown 90 %. And the bootstrap says how
/// far one recording is off; what is predicted is another one, which is off as much: the root of two.
const NARROWER: f64 = 1.645 / 1.960 * std::f64::consts::SQRT_2;
/// A device that tells the recording to the point is off by this elsewhere: half of what the gate lets a model be off by. (Without it
/// 79 % of 627 intervals held the truth where disks behind QEMU were recorded for building, with it 89 %.)
const ELSEWHERE: f64 = 1.0 + GATE / 2.0;
/// Values beyond a percentile that it needs.
const BEYOND: f64 = 10.0;
/// What is faster than all but this part was in the device, is told only where some were alone in it.
const RARELY: f64 = 0.05;
/// Percentiles beyond this are of the tail: there stalls count that no model has.
const TAIL: f64 = 0.9;
/// For the tail the best device may be off by this factor on average, over all that is compared: as much as devices may disagree.
/// The gate asks for one number; of many numbers that are off some pass it by chance.
const WORST: f64 = SPREAD;
const DISAGREE: &str = "devices that explain the recording equally well disagree";
/// What throttling goes by besides (crate::wbt::Throttle).
const UNTOLD: &str = "or it matters whether tasks were throttled for dirty pages and writes were direct, \
                      which is not recorded";

/// A number that is predicted, or not.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// The metric.
    pub metric: Metric,
    /// `p50`, `p99`.
    pub percentile: &'static str,
    /// As recorded, which is also the prediction that nothing changes; nanoseconds.
    pub recorded: u64,
    /// The same by the best device under the recorded settings.
    pub model: Option<u64>,
    /// Under the asked settings, if that can be said.
    pub predicted: Option<Predicted>,
    /// Why there is no prediction.
    pub refused: Option<String>,
}

/// A prediction, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Predicted {
    /// The middle of the devices.
    pub value: u64,
    /// The lower end of the 90 % interval.
    pub from: u64,
    /// The upper end.
    pub to: u64,
    /// How many devices predicted it.
    pub devices: usize,
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
        let mut cell =
            Cell { metric, percentile: percentile_name, recorded, model, predicted: None, refused: None };
        let n = self.real.values(metric).len() as f64;
        let outcome = if n * (1.0 - q) < BEYOND {
            Err(format!("only {n} values"))
        } else if let Some(why) = strange {
            Err(why.to_string())
        } else if metric.phase == Phase::I2D && settings.scheduler == Kind::None {
            Err("there would be no scheduler".into())
        } else if recorded == 0 {
            Err("nothing was recorded".into())
        } else {
            self.told(metric, q, asked, settings)
        };
        match outcome {
            Ok(predicted) => cell.predicted = Some(predicted),
            Err(why) => cell.refused = Some(why),
        }
        cell
    }

    /// As [`Lab::factors`], and what hangs on more than the devices.
    fn told(
        &self,
        metric: Metric,
        q: f64,
        asked: &[Vec<&Times>],
        settings: &Settings,
    ) -> Result<Predicted, String> {
        let off = self.devices.first().map_or(f64::INFINITY, |best| best.score);
        if q > TAIL && off > WORST.ln() {
            return Err(format!(
                "the best device is off by {:.0} % on average: a tail that it predicts well is chance",
                (off.exp() - 1.0) * 100.0
            ));
        }
        // With a scheduler most of p99 is spent waiting in it; without, p99 is the device's own.
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
        // How many writes are let in decides all of it: where the whole is not known, its parts agree by chance.
        let disagree = |why: &String| why.starts_with(DISAGREE);
        let of_whole = factors(Metric { phase: Phase::Q2C, ..metric }).err().filter(disagree);
        of_whole.map_or_else(|| factors(metric), Err).map_err(|why| match disagree(&why) {
            true => format!("{why} ({UNTOLD})"),
            false => why,
        })
    }

    fn factors(
        &self,
        metric: Metric,
        q: f64,
        recorded: u64,
        asked: &[Vec<&Times>],
    ) -> Result<Predicted, String> {
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
                // What the model of the recording is off by, it may be off by there, to either side.
                ends.extend([value, a, value * value / a]);
            }
        }
        if devices == 0 {
            if in_device.is_finite() {
                return Err(format!(
                    "most of it would be time in the device, where the model of the recording is off by {:+.0} %",
                    in_device * 100.0
                ));
            }
            return Err(match nearest.is_finite() {
                true => format!("the model of the recording is off by {:+.0} %", nearest * 100.0),
                false => "no device explains the recording".into(),
            });
        }
        values.sort_by(f64::total_cmp);
        let value = values[values.len() / 2];
        let (low, high) = (values[0], values[values.len() - 1]);
        if high > SPREAD * low {
            return Err(format!("{DISAGREE}: {} to {}", words(low), words(high)));
        }
        let (down, up) = self.chance(metric, q);
        let from = ends.iter().copied().fold(low, f64::min) * down / ELSEWHERE;
        let from = if from < FLOOR { 0.0 } else { from };
        let to = ends.iter().copied().fold(high, f64::max) * up * ELSEWHERE;
        if to > WIDEST * from.max(FLOOR) {
            return Err(format!("too uncertain: {} to {}", words(from), words(to)));
        }
        let in_device = Metric { phase: Phase::D2C, ..metric };
        let rarely = self.real.percentile(in_device, RARELY).unwrap_or(0) as f64;
        let write = metric.class != Class::Read.index();
        if metric.phase != Phase::I2D && !self.alone[write as usize] && value < rarely {
            return Err(format!(
                "faster than 19 of 20 recorded were in the device ({}), and no request was alone in it",
                words(rarely)
            ));
        }
        Ok(Predicted { value: whole(value), from: whole(from), to: whole(to), devices })
    }

    /// How far a device is off in the device's own part of all of an I/O's time, if that would be most of it: where requests
    /// waited when it was recorded and would not, the gate of the whole says nothing about what is left of it.
    fn off_in_device(&self, metric: Metric, q: f64, before: &[Times], after: &[&Times]) -> Option<f64> {
        let device = Metric { phase: Phase::D2C, ..metric };
        let (whole, part) = (after.first()?.percentile(metric, q)?, after.first()?.percentile(device, q)?);
        if metric.phase != Phase::Q2C || 2 * part < whole {
            return None;
        }
        error(self.real.percentile(device, q), before.first()?.percentile(device, q))
    }

    /// By which factors another stretch of the same load might have had another percentile.
    fn chance(&self, metric: Metric, q: f64) -> (f64, f64) {
        let mut blocks = Blocks::default();
        self.in_order.values(metric).iter().for_each(|v| blocks.record(*v));
        match Estimate::percentile(&blocks, q, self.seed) {
            Ok(e) if e.value > 0.0 => {
                let range = e.range();
                let factor = |end: f64| ((end.max(1.0) / e.value).ln() * NARROWER).exp();
                (factor(range.from).min(1.0), factor(range.to).max(1.0))
            }
            // Too few beyond it: as far as devices may disagree.
            _ => (1.0 / SPREAD, SPREAD),
        }
    }
}
/// Nanoseconds, without a fraction.
fn whole(time: f64) -> u64 {
    time.round().max(0.0) as u64
}

fn words(time: f64) -> String {
    ns(whole(time))
}
