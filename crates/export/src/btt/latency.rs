//! Latencies: one row per bio (`-l`, `-q`, `-z`), and means over periods (`-L`).

use super::folder::{Dat, Folder};
use trace::{DevId, Nanos};

/// The files of one kind of latency of one device: `d2c_8,0_d2c.dat` and `8,0_d2c_plat.dat`.
#[derive(Debug)]
pub(super) struct Latency {
    rows: Dat,
    periods: Dat,
    now: Option<Period>,
}

/// The latencies that one mean covers; times are in seconds.
#[derive(Debug)]
struct Period {
    first: f64,
    last: f64,
    sum: f64,
    count: u64,
}

impl Latency {
    pub fn new(folder: &mut Folder, dev: DevId, kind: &str) -> Latency {
        let rows = folder.file(format!("{kind}_{dev}_{kind}.dat"));
        let periods = folder.file(format!("{dev}_{kind}_plat.dat"));
        Latency { rows, periods, now: None }
    }

    /// Writes a latency with its time: for Q2C of the queue, for Q2D of the issue, for D2C of the
    /// completion. `period` is the length of the means, in seconds.
    pub fn record(&mut self, folder: &mut Folder, at: Nanos, latency: Nanos, period: f64) {
        let (at, latency) = (at.seconds(), latency.seconds());
        folder.line(self.rows, format_args!("{at:.6} {latency:.6}"));
        match &mut self.now {
            Some(p) if at - p.first < period => {
                (p.last, p.sum, p.count) = (at, p.sum + latency, p.count + 1);
            }
            _ => {
                self.emit(folder);
                self.now = Some(Period { first: at, last: at, sum: latency, count: 1 });
            }
        }
    }

    /// Writes the mean of a period, at the middle of the period.
    fn emit(&mut self, folder: &mut Folder) {
        if let Some(p) = self.now.take() {
            let middle = p.first + (p.last - p.first) / 2.0;
            folder.line(self.periods, format_args!("{middle:.6} {:.6}", p.sum / p.count as f64));
        }
    }

    pub fn finish(mut self, folder: &mut Folder) {
        self.emit(folder);
    }
}
