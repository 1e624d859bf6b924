//! What requests of one kind take after a device had nothing to do, and what they take else: a device that sleeps has to wake up.

use crate::distribution::Distribution;
use life::Class;
use trace::Nanos;

/// Idle times are told apart in powers of two of this; shorter ones are none: commands follow one another so.
pub(crate) const IDLE_UNIT: Nanos = Nanos(1_000_000);
/// The last row: 2^15 ms are half a minute.
const ROWS: usize = 16;

/// Requests that ended an idle time about as long.
#[derive(Clone, Debug, Default)]
pub struct AfterIdle {
    /// From how long on; up to twice as long.
    pub idle: Nanos,
    /// Their `D2C`.
    pub d2c: Distribution,
    /// The same of those that do not begin where the one before them ended.
    pub far: Distribution,
}

/// Requests of one kind, by the idle time that they ended.
#[derive(Clone, Debug, Default)]
pub struct Waking {
    /// `D2C` of those that met no idle device and do not begin where the one completed before them ended: a disk that turns seeks
    /// for them.
    pub awake_far: Distribution,
    /// The same of those that do begin there.
    awake_near: Distribution,
    rows: [Distribution; ROWS],
    far_rows: [Distribution; ROWS],
}

impl Waking {
    /// One that ended such an idle time, if it ended any, and took so long. `is_near`: it begins where the one before it ended.
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

    /// `D2C` of requests that met no idle device.
    pub fn awake(&self) -> Distribution {
        let mut all = self.awake_far.clone();
        all.merge(&self.awake_near);
        all
    }

    /// The others by the idle time that they ended, the shortest first; only rows that have some.
    pub fn rows(&self) -> impl Iterator<Item = AfterIdle> + '_ {
        let row = |(i, d2c): (usize, &Distribution)| AfterIdle {
            idle: Nanos(IDLE_UNIT.0 << i),
            d2c: d2c.clone(),
            far: self.far_rows[i].clone(),
        };
        self.rows.iter().enumerate().filter(|(_, d)| !d.is_empty()).map(row)
    }
}

/// Which kind a class is: read, write, or neither.
pub(crate) fn waking(class: Class) -> usize {
    match class {
        Class::Read => 0,
        Class::SyncWrite | Class::Background => 1,
        _ => 2,
    }
}
