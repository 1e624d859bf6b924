//! The order in which requests went to the device in a stretch of time: as recorded, and as simulated.
//!
//! A percentile tells how long reads waited; the order tells behind which requests. Times are in nanoseconds.

use crate::arrival::Recorded;
use crate::load::Load;
use crate::predict::Lab;
use crate::settings::Settings;
use crate::simulate::{simulate, Done};
use serde::Serialize;
use std::ops::Range;
use trace::Nanos;

/// A request that was issued to the device. I/O that joined it is not listed separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sent {
    /// The time of the issue.
    pub issued: u64,
    /// Time in the scheduler before that.
    pub waited: u64,
    /// The class: [`life::Class::index`].
    pub class: usize,
    /// Its first sector.
    pub sector: u64,
    /// Its size in bytes; 0 for a flush.
    pub bytes: u64,
}

/// The order in a stretch, recorded and simulated. Times count from the recording's first event.
pub struct Schedule {
    /// The recorded order.
    pub recorded: Vec<Sent>,
    /// The simulated order.
    pub simulated: Vec<Sent>,
    /// The time of the first arrival since the first event.
    shift: u64,
    /// The stretch, counted from the first arrival.
    inner: Range<u64>,
}

impl Schedule {
    /// The recorded order in a stretch, which counts from `began`; fails if the stretch has no request.
    pub fn recorded(r: &Recorded, began: Nanos, stretch: &Range<u64>) -> Result<Schedule, String> {
        // The model's time begins with the first arrival.
        let shift = r.arrivals.first().map_or(0, |a| a.queued.since(began).0);
        let inner = stretch.start.saturating_sub(shift)..stretch.end.saturating_sub(shift);
        let recorded = recorded(r, &inner);
        match recorded.is_empty() {
            true => Err("no request went to the device in that stretch".into()),
            false => Ok(Schedule { shift, inner, recorded, simulated: Vec::new() }),
        }
    }

    /// Adds the simulated order under the settings `asked`.
    pub fn simulated(mut self, lab: &Lab, asked: &Settings) -> Result<Schedule, String> {
        self.simulated = lab.schedule(asked, &self.inner).ok_or("no device explains the recording")?;
        for sent in self.recorded.iter_mut().chain(&mut self.simulated) {
            sent.issued += self.shift;
        }
        Ok(self)
    }
}

impl Lab {
    /// The order in which the best device would have received requests in a stretch; `None` if there is no device.
    pub fn schedule(&self, settings: &Settings, stretch: &Range<u64>) -> Option<Vec<Sent>> {
        let best = self.devices.first()?;
        let load = self.asked_load(settings);
        let done = simulate(&load, settings, &best.model, self.work, self.seed);
        Some(simulated(&load, &done, stretch))
    }
}

/// The recorded order; times count from the first arrival.
fn recorded(r: &Recorded, stretch: &Range<u64>) -> Vec<Sent> {
    let Some(began) = r.arrivals.first().map(|a| a.queued) else { return Vec::new() };
    let sent = r.arrivals.iter().filter(|a| !a.joined).map(|a| Sent {
        issued: a.issued.since(began).0,
        waited: a.inserted.map_or(0, |i| a.issued.since(i).0),
        class: a.class.index(),
        sector: a.start.0,
        bytes: a.bytes.0,
    });
    in_order(sent, stretch)
}

/// The simulated order.
fn simulated(load: &Load, done: &[Done], stretch: &Range<u64>) -> Vec<Sent> {
    let sent = done.iter().filter(|d| !d.joined).map(|d| Sent {
        issued: d.issued,
        waited: d.issued.saturating_sub(d.inserted),
        class: usize::from(d.class),
        sector: load.streams[d.from.0 as usize].items[d.from.1 as usize].sector,
        bytes: u64::from(d.bytes),
    });
    in_order(sent, stretch)
}

fn in_order(sent: impl Iterator<Item = Sent>, stretch: &Range<u64>) -> Vec<Sent> {
    let mut sent: Vec<Sent> = sent.filter(|s| stretch.contains(&s.issued)).collect();
    // The sort is stable: requests issued at the same time keep their order.
    sent.sort_by_key(|s| s.issued);
    sent
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrival::Arrival;
    use life::Class;
    use trace::{Bytes, Sector, Tid};

    fn arrival(queued: u64, issued: u64, joined: bool) -> Arrival {
        Arrival {
            queued: Nanos(queued),
            got: Nanos(queued),
            inserted: Some(Nanos(queued + 1)),
            issued: Nanos(issued),
            data: Nanos(issued + 5),
            completed: Nanos(issued + 5),
            start: Sector(queued * 8),
            bytes: Bytes(4096),
            class: Class::Read,
            tid: Tid(1),
            task: String::new(),
            preflush: false,
            postflush: false,
            joined,
            requeued: false,
        }
    }

    /// The second overtakes the first; I/O that joined is not listed separately; the stretch begins with the first arrival.
    #[test]
    fn the_order_is_that_of_the_device() {
        let arrivals = vec![
            arrival(100, 150, false),
            arrival(101, 120, false),
            arrival(102, 120, true),
            arrival(900, 999, false),
        ];
        let r = Recorded { arrivals, ..Recorded::default() };
        let sent = recorded(&r, &(0..60));
        let told: Vec<(u64, u64)> = sent.iter().map(|s| (s.issued, s.waited)).collect();
        assert_eq!(told, [(20, 18), (50, 49)]);
        assert!(recorded(&r, &(60..61)).is_empty());
    }
}
