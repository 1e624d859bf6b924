//! How long I/Os took, by phase.

use crate::distribution::Distribution;
use life::Timeline;
use serde::Serialize;
use trace::Bytes;

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
    /// Adds one I/O.
    #[inline]
    pub fn record(&mut self, bytes: Bytes, time: &Timeline) {
        self.count += 1;
        self.bytes += bytes;
        self.requeues += time.requeues as u64;
        self.given_up += time.given_up as u64;
        let add = |d: &mut Distribution, t: Option<trace::Nanos>| {
            if let Some(t) = t {
                d.record(t.0);
            }
        };
        add(&mut self.q2g, time.q2g());
        add(&mut self.g2i, time.g2i());
        add(&mut self.i2d, time.i2d());
        add(&mut self.d2c, time.d2c());
        add(&mut self.q2c, time.q2c());
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
