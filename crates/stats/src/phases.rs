//! How long I/Os took, by phase.

use crate::distribution::Distribution;
use crate::note::Note;
use life::Bio;
use serde::Serialize;
use trace::{Bytes, Nanos};

/// The distributions of one group of I/Os. Phases keep blktrace's names.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Phases {
    /// How many there were.
    pub count: u64,
    /// Bytes they moved.
    pub bytes: Bytes,
    /// Bios that were merged into them.
    pub merges: u64,
    /// How often the driver requeued them.
    pub requeues: u64,
    /// Of these, those after the kernel had given them up.
    pub given_up: u64,
    /// How many ended with an error.
    pub errors: u64,
    /// Until a request was there.
    pub q2g: Distribution,
    /// Until the scheduler had it.
    pub g2i: Distribution,
    /// In the scheduler.
    pub i2d: Distribution,
    /// In the device.
    pub d2c: Distribution,
    /// All of it.
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

    /// Adds another group.
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
