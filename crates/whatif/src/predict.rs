//! A prediction, and where there is none.
//!
//! For each metric and percentile: devices that pass the **gate** there (simulated as recorded, they are off by 20 % at
//! most) say by which factor it changes from the recorded settings to the asked ones; the recorded number times the
//! middle factor is the prediction. The interval spans all of these devices and several seeds, each also with what the
//! model of the recording is off by, and is widened by how well the recording knows its own percentile (block
//! bootstrap). It is refused where no device passes (there, and in the device where that would be most of the time), where they disagree by more than 1.5 times or the interval is wider than 4 times, where the asked
//! settings need depths or sizes that were not recorded, and always at p99.9 and the maximum. What is shorter than 20 us is
//! the kernel's own time and told as "20 us, from 0 on".
//!
//! **Invariant**: a cell has a prediction or a reason why not, never both.

use crate::arrival::Recorded;
use crate::crowd::{most_in_device, most_simulated, most_with_tag};
use crate::fit::{error, fit, in_parallel, judged, Fitted, FLOOR};
use crate::load::{infer, Load};
pub use crate::metric::humane;
use crate::metric::{percentile, Metric, Phase, Times};
use crate::schedule::{simulated, Sent};
use crate::settings::{Kind, Refusal, Settings};
use crate::side::{side, sizes_vary};
use crate::simulate::{simulate, Done, Work};
use crate::usable::{usable, ALL_TAGS};
use life::Class;
use serde::Serialize;
use stats::{Blocks, Estimate};
use std::borrow::Cow;
use std::ops::Range;

/// The model of the recording may be off by so much.
pub const GATE: f64 = 0.20;
/// Devices may disagree by this factor.
pub const SPREAD: f64 = 1.5;
/// An interval whose ends are further apart than this tells nothing: a factor of two to each side.
pub const WIDEST: f64 = 4.0;
/// Simulations of each device: as many orders of chance.
const SEEDS: u64 = 3;
/// 95 % of the normal distribution over 97.5 %: the bootstrap's interval is 95 %, the one shown 90 %.
const NARROWER: f64 = 1.645 / 1.960;
/// Percentiles that are predicted, and those that never are.
pub const PERCENTILES: [(f64, &str); 2] = [(0.5, "p50"), (0.99, "p99")];
/// Values beyond a percentile that it needs.
const BEYOND: f64 = 10.0;
/// How much deeper than recorded a device may be filled for its behaviour to count as known.
const DEEPER: f64 = 1.25;
/// The part of arrivals that may have joined others where it is not modelled who would.
const MOST_JOINED: f64 = 0.05;
/// What is faster than all but this part was in the device, is told only where some were alone in it.
const RARELY: f64 = 0.05;
/// The part of requests below which a class does not matter.
const FEW_OTHERS: f64 = 0.01;
const DISAGREE: &str = "devices that explain the recording equally well disagree";
/// What throttling goes by besides (crate::wbt::Throttle).
const UNTOLD: &str = "or whether tasks were made to wait for dirty pages and writes were direct, which is not recorded, matters";
/// The part of requests that may be larger than any recorded.
const MOST_LARGER: f64 = 0.01;

/// A number that is predicted, or not.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// Of what.
    pub metric: Metric,
    /// `p50`, `p99`.
    pub percentile: &'static str,
    /// As recorded, which is also the prediction that nothing changes; nanoseconds.
    pub recorded: u64,
    /// The same by the best device under the recorded settings.
    pub model: Option<u64>,
    /// Under the asked settings, if that can be said.
    pub predicted: Option<Predicted>,
    /// Why it cannot.
    pub refused: Option<String>,
}

/// A prediction, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Predicted {
    /// The middle of the devices.
    pub value: u64,
    /// The lower end of the 90 % interval.
    pub from: u64,
    /// The upper end.
    pub to: u64,
    /// How many devices spoke.
    pub devices: usize,
}

/// What a recording says about its device: fitted once, asked often.
pub struct Lab {
    /// The streams.
    pub load: Load,
    /// As recorded.
    pub settings: Settings,
    /// Devices that explain the recording.
    pub devices: Vec<Fitted>,
    real: Times,
    in_order: Times,
    /// Simulated under the recorded settings, by device and seed.
    as_recorded: Vec<Vec<Times>>,
    most: u32,
    most_tags: u32,
    largest: [u64; 2],
    /// Whether reads and writes were seen alone in the device.
    alone: [bool; 2],
    /// Whether reads and writes were of several sizes.
    sizes: [bool; 2],
    /// The part of arrivals that joined a request that waited.
    joined: f64,
    work: Work,
    seed: u64,
}

impl Lab {
    /// Fits devices. `progress` is told of parts done, 0 to 1.
    pub fn new(
        r: &Recorded,
        settings: Settings,
        work: Work,
        seed: u64,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Lab, Refusal> {
        usable(r)?;
        let load = infer(r);
        if load.streams.iter().filter(|s| s.items.len() >= 20).count() < 2 {
            return Err(
                "only one task used the device: how requests of several share it was not recorded".into()
            );
        }
        let devices = fit(r, &load, &settings, seed, progress);
        let in_order = Times::recorded(r);
        let mut largest = [0; 2];
        for a in &r.arrivals {
            let l = &mut largest[a.is_write() as usize];
            *l = (*l).max(a.bytes.0);
        }
        let real = in_order.clone().sort();
        let (most, most_tags) = (most_in_device(r), most_with_tag(r));
        let mut lab = Lab {
            load,
            settings,
            devices,
            real,
            in_order,
            as_recorded: Vec::new(),
            most,
            most_tags,
            largest,
            alone: [false, true].map(|write| side(r, write).alone.is_some()),
            sizes: [false, true].map(|write| sizes_vary(r, write)),
            joined: r.arrivals.iter().filter(|a| a.joined).count() as f64 / r.arrivals.len() as f64,
            work,
            seed,
        };
        let settings = lab.settings.clone();
        let all = in_parallel(&lab.devices, |d| {
            lab.run(&lab.load, d, &settings).into_iter().map(|(t, _)| t).collect()
        });
        lab.as_recorded = all;
        Ok(lab)
    }

    fn run(&self, load: &Load, device: &Fitted, settings: &Settings) -> Vec<(Times, Vec<Done>)> {
        let with_scheduler = settings.scheduler != Kind::None;
        let one = |seed| {
            let model = &device.model;
            let done = simulate(load, settings, model, self.work, self.seed.wrapping_add(seed));
            (Times::simulated(&done, with_scheduler, load).sort(), done)
        };
        (0..SEEDS).map(one).collect()
    }

    /// What the asked settings would have done.
    pub fn predict(&self, asked: &Settings) -> Vec<Cell> {
        let load = self.asked_load(asked);
        let assumed = self.assumed(asked);
        let runs = in_parallel(&self.devices, |d| {
            assumed.iter().flat_map(|settings| self.run(&load, d, settings)).collect::<Vec<_>>()
        });
        let strange = self.strange(&load, asked, &runs);
        let times: Vec<Vec<&Times>> = runs.iter().map(|r| r.iter().map(|(t, _)| t).collect()).collect();
        let mut cells = Vec::new();
        for metric in judged(&self.real) {
            for (q, name) in PERCENTILES {
                cells.push(self.cell(metric, q, name, &times, strange.as_deref(), asked));
            }
        }
        cells
    }

    /// The settings with all that the kernel would know and the recording does not tell.
    fn assumed(&self, asked: &Settings) -> Vec<Settings> {
        let Some(wbt) = asked.wbt else { return vec![asked.clone()] };
        let has = |class: Class| {
            let n = self.real.values(Metric { class: class.index(), phase: Phase::Q2C }).len();
            n as f64 > FEW_OTHERS * self.load.len() as f64
        };
        let all = wbt.assumptions(has(Class::Background), has(Class::SyncWrite));
        all.into_iter().map(|wbt| Settings { wbt: Some(wbt), ..asked.clone() }).collect()
    }

    fn asked_load(&self, asked: &Settings) -> Cow<'_, Load> {
        match asked.largest < self.settings.largest {
            true => Cow::Owned(self.load.split(asked.largest)),
            false => Cow::Borrowed(&self.load),
        }
    }

    /// Why the asked settings lead where nothing was recorded.
    fn strange(&self, load: &Load, asked: &Settings, runs: &[Vec<(Times, Vec<Done>)>]) -> Option<String> {
        // Writes, for they are limited most.
        let tags = |s: &Settings| s.nr_requests.min(s.tags_for(true, false));
        let (had, gets) = (tags(&self.settings), tags(asked));
        let all_in_use = f64::from(self.most_tags) >= ALL_TAGS * f64::from(had);
        if gets > had && all_in_use && self.load.streams.iter().any(|s| s.waits_for_tags) {
            return Some(format!(
                "tasks waited for one of {had} tags: how many they would have in flight with more was not recorded"
            ));
        }
        if asked.scheduler == Kind::Kyber
            && self.settings.scheduler != Kind::Kyber
            && self.joined > MOST_JOINED
        {
            return Some(format!(
                "{:.0} % of the requests joined others that waited: how kyber would join them is not modelled",
                self.joined * 100.0
            ));
        }
        if let Some(direction) =
            (0..2).find(|d| self.largest[*d] > u64::from(asked.largest) && !self.sizes[*d])
        {
            return Some(format!(
                "all recorded {} are of one size: what smaller ones cost is not known",
                ["reads", "writes"][direction]
            ));
        }
        let (_, done) = runs.first()?.first()?;
        let most = most_simulated(done);
        if f64::from(most) > (f64::from(self.most) * DEEPER).max(f64::from(self.most) + 1.0) {
            return Some(format!(
                "{most} requests in the device at once; recorded were {} at most",
                self.most
            ));
        }
        let larger = done.iter().filter(|d| {
            let item = &load.streams[d.from.0 as usize].items[d.from.1 as usize];
            u64::from(d.bytes) > self.largest[item.write as usize]
        });
        if larger.count() as f64 > MOST_LARGER * done.len() as f64 {
            return Some("requests would be larger than any recorded".into());
        }
        None
    }

    fn cell(
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
        let outcome = if let Some(why) = strange {
            Err(why.to_string())
        } else if n * (1.0 - q) < BEYOND {
            Err(format!("only {n} values"))
        } else if metric.phase == Phase::I2D && settings.scheduler == Kind::None {
            Err("there would be no scheduler".into())
        } else if recorded == 0 {
            Err("nothing was recorded".into())
        } else {
            self.factors(metric, q, recorded, asked).map_err(|why| match settings.wbt {
                Some(_) if why.starts_with(DISAGREE) => format!("{why} ({UNTOLD})"),
                _ => why,
            })
        };
        match outcome {
            Ok(predicted) => cell.predicted = Some(predicted),
            Err(why) => cell.refused = Some(why),
        }
        cell
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
                ends.extend([value, a]);
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
            return Err(format!("{DISAGREE}: {} to {}", humane(low), humane(high)));
        }
        let (down, up) = self.chance(metric, q);
        let from = ends.iter().copied().fold(low, f64::min) * down;
        let from = if from < FLOOR { 0.0 } else { from };
        let to = ends.iter().copied().fold(high, f64::max) * up;
        if to > WIDEST * from.max(FLOOR) {
            return Err(format!("too uncertain: {} to {}", humane(from), humane(to)));
        }
        let in_device = Metric { phase: Phase::D2C, ..metric };
        let rarely = self.real.percentile(in_device, RARELY).unwrap_or(0) as f64;
        let write = metric.class != Class::Read.index();
        if metric.phase != Phase::I2D && !self.alone[write as usize] && value < rarely {
            return Err(format!(
                "faster than 19 of 20 recorded were in the device ({}), and none was alone in it",
                humane(rarely)
            ));
        }
        let whole = |x: f64| x.round().max(0.0) as u64;
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

    /// In which order the device that explains the recording best would have been sent requests; `None` without one.
    pub fn schedule(&self, settings: &Settings, stretch: &Range<u64>) -> Option<Vec<Sent>> {
        let best = self.devices.first()?;
        let load = self.asked_load(settings);
        let done = simulate(&load, settings, &best.model, self.work, self.seed);
        Some(simulated(&load, &done, stretch))
    }

    /// The recorded p99.9 and the largest, which are never predicted.
    pub fn tail(&self, metric: Metric) -> (u64, u64) {
        let values = self.real.values(metric);
        (percentile(values, 0.999).unwrap_or(0), values.last().copied().unwrap_or(0))
    }
}
