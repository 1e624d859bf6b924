//! The values that are compared: times of a class in a phase, at a percentile.

use crate::arrival::Recorded;
use crate::simulate::Done;
use life::Class;
use serde::Serialize;
use std::collections::BTreeMap;

/// A part of an I/O's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Phase {
    /// The whole time, from queued to completed.
    Q2C,
    /// In the scheduler, from inserted to issued.
    I2D,
    /// In the device, from issued to completed.
    D2C,
}

impl Phase {
    /// All phases that are predicted.
    pub const ALL: [Phase; 3] = [Phase::Q2C, Phase::I2D, Phase::D2C];

    /// Its name in plain words.
    pub fn words(self) -> &'static str {
        match self {
            Phase::Q2C => "all of it",
            Phase::I2D => "in the scheduler",
            Phase::D2C => "in the device",
        }
    }
}

/// A class and a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Metric {
    /// The class of the I/O; in JSON by name: `read`, `sync-write`, `background-write`, `flush`, `other`.
    #[serde(serialize_with = "class_name")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub class: usize,
    /// The part of the I/O's time.
    pub phase: Phase,
}

fn class_name<S: serde::Serializer>(class: &usize, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(name_of(*class))
}

/// The name of a class for people.
pub fn words_of(class: usize) -> &'static str {
    match Class::ALL.get(class) {
        Some(Class::Background) => "writeback",
        _ => name_of(class),
    }
}

/// The name of a class in JSON and in aims.
pub fn name_of(class: usize) -> &'static str {
    match Class::ALL.get(class) {
        Some(Class::Read) => "read",
        Some(Class::SyncWrite) => "sync-write",
        Some(Class::Background) => "background-write",
        Some(Class::Flush) => "flush",
        _ => "other",
    }
}

/// Values by metric, in nanoseconds, in the order in which the I/Os were queued; sorted by value after [`Times::sort`].
#[derive(Clone, Debug, Default)]
pub struct Times {
    of: BTreeMap<Metric, Vec<u64>>,
}

impl Times {
    /// The values of a recording.
    pub fn recorded(r: &Recorded) -> Times {
        let mut t = Times::default();
        for a in &r.arrivals {
            let class = a.class.index();
            let scheduler = a.inserted.filter(|_| !a.preflush && !a.joined).map(|i| a.issued.since(i).0);
            let device = (a.bytes.0 > 0 && !a.joined).then(|| a.data.since(a.issued).0);
            t.add(class, a.completed.since(a.queued).0, scheduler, device);
        }
        t
    }

    /// The values of a simulation.
    pub fn simulated(done: &[Done], with_scheduler: bool, load: &crate::load::Load) -> Times {
        let mut t = Times::default();
        let mut order: Vec<u32> = (0..done.len() as u32).collect();
        order.sort_by_key(|i| done[*i as usize].queued);
        for i in order {
            let d = &done[i as usize];
            let item = &load.streams[d.from.0 as usize].items[d.from.1 as usize];
            let scheduler = (with_scheduler && !item.preflush && item.bytes > 0 && !d.joined)
                .then(|| d.issued.saturating_sub(d.inserted));
            let device = (d.bytes > 0 && !d.joined).then(|| d.data.saturating_sub(d.issued));
            t.add(usize::from(d.class), d.completed.saturating_sub(d.queued), scheduler, device);
        }
        t
    }

    fn add(&mut self, class: usize, all: u64, scheduler: Option<u64>, device: Option<u64>) {
        let mut put = |phase, value| self.of.entry(Metric { class, phase }).or_default().push(value);
        put(Phase::Q2C, all);
        scheduler.into_iter().for_each(|v| put(Phase::I2D, v));
        device.into_iter().for_each(|v| put(Phase::D2C, v));
    }

    /// Sorts the values, for [`Times::percentile`].
    pub fn sort(mut self) -> Times {
        self.of.values_mut().for_each(|v| v.sort_unstable());
        self
    }

    /// The values of a metric; empty if there are none.
    pub fn values(&self, m: Metric) -> &[u64] {
        self.of.get(&m).map_or(&[], Vec::as_slice)
    }

    /// All metrics with their values.
    pub fn metrics(&self) -> impl Iterator<Item = (Metric, &[u64])> {
        self.of.iter().map(|(m, v)| (*m, v.as_slice()))
    }

    /// The smallest value that at least the part `q` of the values does not exceed. Requires [`Times::sort`].
    pub fn percentile(&self, m: Metric, q: f64) -> Option<u64> {
        percentile(self.values(m), q)
    }
}

/// The smallest of sorted values that at least the part `q` of them does not exceed; `None` if there are none.
pub fn percentile(sorted: &[u64], q: f64) -> Option<u64> {
    let rank = (sorted.len() as f64 * q).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied()
}
