//! Times of I/Os by phase.

use crate::distribution::Distribution;
use crate::note::Note;
use life::Bio;
use serde::Serialize;
use trace::{Bytes, Nanos};

/// Distributions for one group of I/Os, in ns. Phases have blktrace's names.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Phases {
    /// Number of I/Os.
    pub count: u64,
    /// Bytes that they moved.
    pub bytes: Bytes,
    /// Number of bios that were merged into them.
    pub merges: u64,
    /// Number of requeues by the driver.
    pub requeues: u64,
    /// Number of these requeues that came after the kernel had aborted the request.
    pub given_up: u64,
    /// Number of I/Os that ended with an error.
    pub errors: u64,
    /// Time until it had a request.
    pub q2g: Distribution,
    /// Time from the request until the scheduler had it.
    pub g2i: Distribution,
    /// Time in the scheduler.
    pub i2d: Distribution,
    /// Time in the device.
    pub d2c: Distribution,
    /// Time from queue to completion.
    pub q2c: Distribution,
}

impl Phases {
    /// Adds a bio.
    #[inline]
    pub(crate) fn record_bio(&mut self, b: &Bio) {
        let t = &b.time;
        self.record(b.bytes, t.requeues, t.given_up, [t.q2g(), t.g2i(), t.i2d(), t.d2c(), t.q2c()]);
    }

    /// Adds a request.
    #[inline]
    pub(crate) fn record_request(&mut self, n: &Note) {
        self.record(n.bytes, n.requeues, n.given_up, [n.q2g(), n.g2i(), n.i2d(), n.d2c(), n.q2c()]);
        self.merges += u64::from(n.merges);
        self.errors += u64::from(n.failed);
    }

    #[inline]
    fn record(&mut self, bytes: Bytes, requeues: u32, given_up: u32, steps: [Option<Nanos>; 5]) {
        self.count += 1;
        self.bytes += bytes;
        self.requeues += u64::from(requeues);
        self.given_up += u64::from(given_up);
        let phases = [&mut self.q2g, &mut self.g2i, &mut self.i2d, &mut self.d2c, &mut self.q2c];
        for (phase, time) in phases.into_iter().zip(steps) {
            if let Some(time) = time {
                phase.record(time.0);
            }
        }
    }

    /// Adds the counts of another group.
    pub fn merge(&mut self, other: &Phases) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.merges += other.merges;
        self.requeues += other.requeues;
        self.given_up += other.given_up;
        self.errors += other.errors;
        self.q2g.merge(&other.q2g);
        self.g2i.merge(&other.g2i);
        self.i2d.merge(&other.i2d);
        self.d2c.merge(&other.d2c);
        self.q2c.merge(&other.q2c);
    }

    /// Name and distribution of each phase, in order.
    pub fn each(&self) -> [(&'static str, &Distribution); 5] {
        [("q2g", &self.q2g), ("g2i", &self.g2i), ("i2d", &self.i2d), ("d2c", &self.d2c), ("q2c", &self.q2c)]
    }
}
