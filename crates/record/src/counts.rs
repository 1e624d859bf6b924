//! Running totals of a recording, and the losses of events by time and processor.

use crate::instance::{CpuStats, Instance};
use crate::report::Progress;
use capture::Loss;
use std::time::Duration;
use trace::{Bytes, Cpu};

/// Running totals and losses.
pub(crate) struct Counts {
    start_ns: u64,
    last_ns: u64,
    events: u64,
    lost: Vec<(Cpu, u64)>,
    /// Losses so far by second (since the start) and processor.
    pub losses: Vec<Loss>,
}

impl Counts {
    /// Totals of 0; `start_ns` is CLOCK_MONOTONIC at the start.
    pub fn new(start_ns: u64) -> Counts {
        Counts { start_ns, last_ns: start_ns, events: 0, lost: Vec::new(), losses: Vec::new() }
    }

    /// Reads the kernel's counters. Losses since the previous call are attributed to the second that ends now.
    pub fn count(&mut self, instance: &Instance, cpus: &[Cpu], now_ns: u64) -> Progress {
        let mut total = CpuStats::default();
        let time = now_ns.saturating_sub(self.start_ns);
        for cpu in cpus {
            let stats = CpuStats::parse(&instance.stats_text(*cpu).unwrap_or_default());
            total.events += stats.events;
            total.lost += stats.lost;
            let before = match self.lost.iter_mut().find(|l| l.0 == *cpu) {
                Some(l) => std::mem::replace(&mut l.1, stats.lost),
                None => {
                    self.lost.push((*cpu, stats.lost));
                    0
                }
            };
            let lost = stats.lost.saturating_sub(before);
            if lost > 0 {
                let second = time.saturating_sub(1) / 1_000_000_000;
                self.losses.push(Loss { second, cpu: cpu.0, lost });
            }
        }
        let span = now_ns.saturating_sub(self.last_ns).max(1) as f64 / 1e9;
        let rate = total.events.saturating_sub(self.events) as f64 / span;
        (self.last_ns, self.events) = (now_ns, total.events);
        Progress {
            time: Duration::from_nanos(time),
            events: total.events,
            events_per_second: rate,
            bytes: Bytes(0),
            lost: total.lost,
        }
    }
}
