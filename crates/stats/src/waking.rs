//! Latency of requests after a device was idle, and otherwise: a device that sleeps has to wake up.

use crate::distribution::Distribution;
use life::Class;
use std::collections::BTreeMap;
use trace::Nanos;

/// Unit of idle times, grouped in quarters of each power of two of it. Shorter ones do not count: commands follow one another so.
pub(crate) const IDLE_UNIT: Nanos = Nanos(1_000_000);
/// Groups of each power of two.
const QUARTERS: usize = 4;
/// Number of groups. The last power of two is 2^15 ms, about half a minute.
const ROWS: usize = 16 * QUARTERS;

/// Requests that ended idle times of about the same length.
#[derive(Clone, Debug, Default)]
pub struct AfterIdle {
    /// Shortest idle time of the group. Others are at most a quarter longer; in the last group there is no limit.
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
    /// By group: all requests, and those that do not begin where the one before them ended.
    rows: BTreeMap<usize, [Distribution; 2]>,
}

impl Waking {
    /// The requests of a class, of those of each kind.
    pub fn of(kinds: &[Waking; 3], class: Class) -> &Waking {
        &kinds[waking(class)]
    }

    /// Adds a request that took `d2c` and ended this idle time, if any. `is_near`: it begins where the one before it ended.
    pub(crate) fn record(&mut self, idle: Option<Nanos>, d2c: Nanos, is_near: bool) {
        let Some(idle) = idle else {
            return (if is_near { &mut self.awake_near } else { &mut self.awake_far }).record(d2c.0);
        };
        let row = group(idle);
        let [all, far] = self.rows.entry(row).or_default();
        all.record(d2c.0);
        if !is_near {
            far.record(d2c.0);
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
        self.rows.iter().map(|(i, [all, far])| AfterIdle {
            idle: begins(*i),
            d2c: all.clone(),
            far: far.clone(),
        })
    }
}

/// The group of an idle time of at least [`IDLE_UNIT`].
fn group(idle: Nanos) -> usize {
    let power = (idle.0 / IDLE_UNIT.0).ilog2() as usize;
    let begin = IDLE_UNIT.0 << power;
    let quarter = (idle.0 - begin) / (begin / QUARTERS as u64);
    (power * QUARTERS + quarter as usize).min(ROWS - 1)
}

/// The shortest idle time of a group.
fn begins(row: usize) -> Nanos {
    let power = IDLE_UNIT.0 << (row / QUARTERS);
    Nanos(power + (row % QUARTERS) as u64 * power / QUARTERS as u64)
}

/// Index by kind: 0 for reads, 1 for writes, 2 for the rest.
pub(crate) fn waking(class: Class) -> usize {
    match class {
        Class::Read => 0,
        Class::SyncWrite | Class::Background => 1,
        _ => 2,
    }
}

#[cfg(test)]
#[test]
fn idle_times_of_a_group_differ_by_a_quarter_at_most() {
    let ms = |n: u64| Nanos(n * 1_000_000);
    for (idle, begin) in [(1, 1), (2, 2), (7, 7), (142, 128), (160, 160), (250, 224), (256, 256)] {
        assert_eq!(begins(group(ms(idle))), ms(begin), "{idle}");
    }
    assert_eq!([group(Nanos(u64::MAX)), group(ms(1 << 15))], [ROWS - 1, 15 * QUARTERS]);
}
