//! Latency of requests after a device was idle, and otherwise: a device that sleeps has to wake up.

use crate::distribution::Distribution;
use life::Class;
use trace::Nanos;

/// Unit of idle times, grouped in powers of two of it. Shorter ones do not count: commands follow one another so.
pub(crate) const IDLE_UNIT: Nanos = Nanos(1_000_000);
/// Number of groups. The last one begins at 2^15 ms, about half a minute.
const ROWS: usize = 16;

/// Requests that ended idle times of about the same length.
#[derive(Clone, Debug, Default)]
pub struct AfterIdle {
    /// Shortest idle time of the group. Others are less than twice as long; in the last group there is no limit.
    pub idle: Nanos,
    /// `D2C` of the requests.
    pub d2c: Distribution,
    /// `D2C` of those that do not begin where the request before them ended.
    pub far: Distribution,
}

/// Requests of one kind, grouped by the idle time that they ended.
#[derive(Clone, Debug, Default)]
pub struct Waking {
    /// `D2C` of requests that met no idle device and do not begin where the one completed before them ended: a
    /// rotating disk seeks for them.
    pub awake_far: Distribution,
    /// `D2C` of requests that met no idle device and do begin there.
    awake_near: Distribution,
    rows: [Distribution; ROWS],
    far_rows: [Distribution; ROWS],
}

impl Waking {
    /// Adds a request that took `d2c` and ended this idle time, if any. `is_near`: it begins where the one before it ended.
    pub(crate) fn record(&mut self, idle: Option<Nanos>, d2c: Nanos, is_near: bool) {
        let Some(idle) = idle else {
            return (if is_near { &mut self.awake_near } else { &mut self.awake_far }).record(d2c.0);
        };
        let row = (63 - (idle.0 / IDLE_UNIT.0).leading_zeros() as usize).min(ROWS - 1);
        self.rows[row].record(d2c.0);
        if !is_near {
            self.far_rows[row].record(d2c.0);
        }
    }

    /// `D2C` of all requests that met no idle device.
    pub fn awake(&self) -> Distribution {
        let mut all = self.awake_far.clone();
        all.merge(&self.awake_near);
        all
    }

    /// Requests that ended an idle time, the shortest idle time first; only groups that have some.
    pub fn rows(&self) -> impl Iterator<Item = AfterIdle> + '_ {
        let row = |(i, d2c): (usize, &Distribution)| AfterIdle {
            idle: Nanos(IDLE_UNIT.0 << i),
            d2c: d2c.clone(),
            far: self.far_rows[i].clone(),
        };
        self.rows.iter().enumerate().filter(|(_, d)| !d.is_empty()).map(row)
    }
}

/// Index by kind: 0 for reads, 1 for writes, 2 for the rest.
pub(crate) fn waking(class: Class) -> usize {
    match class {
        Class::Read => 0,
        Class::SyncWrite | Class::Background => 1,
        _ => 2,
    }
}
