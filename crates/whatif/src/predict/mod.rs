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
mod lab;
mod unrecorded;

use crate::fit::{in_parallel, judged};
use crate::metric::{Metric, Phase, Times};
use crate::settings::Settings;
pub use cell::{Cell, Predicted, GATE, SPREAD, WIDEST};
pub use lab::Lab;
use life::Class;

/// The percentiles that are predicted.
pub const PERCENTILES: [(f64, &str); 2] = [(0.5, "p50"), (0.99, "p99")];
/// A class with at most this part of the requests does not matter.
const FEW_OTHERS: f64 = 0.01;

impl Lab {
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
}
