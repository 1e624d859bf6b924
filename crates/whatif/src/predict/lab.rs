//! The models of a recorded device, by which every prediction is made.

use crate::arrival::Recorded;
use crate::fit::{fit, in_parallel, Fitted};
use crate::in_flight::{most_in_device, most_with_tag};
use crate::load::{infer, Load};
use crate::metric::{percentile, Metric, Times};
use crate::refusal::Refusal;
use crate::settings::{Kind, Settings};
use crate::side::{side, sizes_vary, some_in_a_row};
use crate::simulate::{simulate, Done, Work};
use crate::usable::usable;
use std::borrow::Cow;

/// Simulations of each device, with different random numbers.
const SEEDS: u64 = 3;

/// The models of a recorded device: fitted once, queried often.
pub struct Lab {
    /// The streams of the recording.
    pub load: Load,
    /// The recorded settings.
    pub settings: Settings,
    /// Devices that explain the recording, the best first.
    pub devices: Vec<Fitted>,
    pub(super) real: Times,
    pub(super) in_order: Times,
    /// Simulations under the recorded settings, by device and seed.
    pub(super) as_recorded: Vec<Vec<Times>>,
    pub(super) most: u32,
    pub(super) most_tags: u32,
    pub(super) largest: [u64; 2],
    /// Whether there were enough reads and writes alone in the device.
    pub(super) alone: [bool; 2],
    /// Whether reads and writes had several sizes.
    pub(super) sizes: [bool; 2],
    /// Whether some requests began where the last one ended, and others did not.
    pub(super) in_a_row: bool,
    /// The part of arrivals that joined a waiting request.
    pub(super) joined: f64,
    pub(crate) work: Work,
    pub(crate) seed: u64,
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

    pub(super) fn run(&self, load: &Load, device: &Fitted, settings: &Settings) -> Vec<(Times, Vec<Done>)> {
        let with_scheduler = settings.scheduler != Kind::None;
        let one = |seed| {
            let model = &device.model;
            let done = simulate(load, settings, model, self.work, self.seed.wrapping_add(seed));
            (Times::simulated(&done, with_scheduler, load).sort(), done)
        };
        (0..SEEDS).map(one).collect()
    }

    /// The load with requests as small as the asked settings make them.
    pub(crate) fn asked_load(&self, asked: &Settings) -> Cow<'_, Load> {
        match asked.largest < self.settings.largest {
            true => Cow::Owned(self.load.split(asked.largest)),
            false => Cow::Borrowed(&self.load),
        }
    }

    /// The recorded p99.9 and maximum, in nanoseconds, which are never predicted.
    pub fn tail(&self, metric: Metric) -> (u64, u64) {
        let values = self.real.values(metric);
        (percentile(values, 0.999).unwrap_or(0), values.last().copied().unwrap_or(0))
    }
}
