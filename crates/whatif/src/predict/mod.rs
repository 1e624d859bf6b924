//! Predictions, and the conditions under which they are refused.
//!
//! For each metric and percentile, devices that pass the **gate** (their simulation of the recorded settings is off by at most
//! 20 %) give the factor by which the number changes from the recorded settings to the asked ones. The recorded number times the
//! median factor is the prediction ([`cell`]). The interval covers all of these devices, several seeds and, if the kernel
//! controls by times ([`Settings::aims`]), targets that vary as much as the device's times may; each also with the error of
//! the model of the recording, in either direction. It is widened by the difference between two recordings of one load
//! (block bootstrap), and by the error that a model which fits the recording well may have under other settings.
//!
//! A prediction is refused if no device passes (for the number and, if that would be most of the time, in the device), if devices
//! disagree by more than 1.5 times or the interval is wider than 4 times, if the asked settings need depths or sizes
//! that were not recorded ([`unrecorded`]), and always for p99.9 and the maximum. Times below 20 us are the kernel's
//! own and shown as "20 us, from 0 on".
//!
//! **Invariant**: a cell has a prediction or a reason why not, never both.

mod cell;
mod unrecorded;

use crate::arrival::Recorded;
use crate::fit::{fit, in_parallel, judged, Fitted};
use crate::in_flight::{most_in_device, most_with_tag};
use crate::load::{infer, Load};
use crate::metric::{percentile, Metric, Phase, Times};
use crate::refusal::Refusal;
use crate::schedule::{simulated, Sent};
use crate::settings::{Kind, Settings};
use crate::side::{side, sizes_vary, some_in_a_row};
use crate::simulate::{simulate, Done, Work};
use crate::usable::usable;
pub use cell::{Cell, Predicted, GATE, SPREAD, WIDEST};
use life::Class;
use std::borrow::Cow;
use std::ops::Range;

/// Simulations of each device, with different random numbers.
const SEEDS: u64 = 3;
/// The percentiles that are predicted.
pub const PERCENTILES: [(f64, &str); 2] = [(0.5, "p50"), (0.99, "p99")];
/// A class with at most this part of the requests does not matter.
const FEW_OTHERS: f64 = 0.01;

/// The models of a recorded device: fitted once, queried often.
pub struct Lab {
    /// The streams of the recording.
    pub load: Load,
    /// The recorded settings.
    pub settings: Settings,
    /// Devices that explain the recording, the best first.
    pub devices: Vec<Fitted>,
    real: Times,
    in_order: Times,
    /// Simulations under the recorded settings, by device and seed.
    as_recorded: Vec<Vec<Times>>,
    most: u32,
    most_tags: u32,
    largest: [u64; 2],
    /// Whether there were enough reads and writes alone in the device.
    alone: [bool; 2],
    /// Whether reads and writes had several sizes.
    sizes: [bool; 2],
    /// Whether some requests began where the last one ended, and others did not.
    in_a_row: bool,
    /// The part of arrivals that joined a waiting request.
    joined: f64,
    work: Work,
    seed: u64,
}

impl Lab {
    /// Fits devices. `progress` gets the fraction done, 0 to 1. Fails if the recording is unsuitable.
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
            in_a_row: some_in_a_row(r),
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

    /// The numbers under the asked settings.
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

    /// The asked settings with every combination of facts that the kernel knows and the recording lacks.
    fn assumed(&self, asked: &Settings) -> Vec<Settings> {
        let has = |class: Class| {
            let n = self.real.values(Metric { class: class.index(), phase: Phase::Q2C }).len();
            n as f64 > FEW_OTHERS * self.load.len() as f64
        };
        let throttles = match asked.wbt {
            Some(wbt) => {
                let all = wbt.assumptions(has(Class::Background), has(Class::SyncWrite));
                all.into_iter().map(Some).collect()
            }
            None => vec![None],
        };
        let each = throttles.into_iter().map(|wbt| Settings { wbt, ..asked.clone() });
        each.flat_map(|settings| settings.aims()).collect()
    }

    fn asked_load(&self, asked: &Settings) -> Cow<'_, Load> {
        match asked.largest < self.settings.largest {
            true => Cow::Owned(self.load.split(asked.largest)),
            false => Cow::Borrowed(&self.load),
        }
    }

    /// The order in which the best device would have received requests in a stretch; `None` if there is no device.
    pub fn schedule(&self, settings: &Settings, stretch: &Range<u64>) -> Option<Vec<Sent>> {
        let best = self.devices.first()?;
        let load = self.asked_load(settings);
        let done = simulate(&load, settings, &best.model, self.work, self.seed);
        Some(simulated(&load, &done, stretch))
    }

    /// The recorded p99.9 and maximum, in nanoseconds, which are never predicted.
    pub fn tail(&self, metric: Metric) -> (u64, u64) {
        let values = self.real.values(metric);
        (percentile(values, 0.999).unwrap_or(0), values.last().copied().unwrap_or(0))
    }
}
