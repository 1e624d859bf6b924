//! Measures the delay between the device's completion of a request and the time when a CPU processes it.
//!
//! Drivers with one queue, and those whose interrupt comes on another CPU than the request, do not complete it in the
//! interrupt. They put it on a list and raise a softirq (`blk_mq_raise_softirq`, block/blk-mq.c), which runs when the
//! interrupt is over, or otherwise when `ksoftirqd` gets the CPU or the next interrupt ends. `C` is recorded there, so
//! this delay is part of D2C and looks like the device.
//!
//! A softirq is raised once for all requests that come until it runs. For the first one the delay is known; the others
//! came at any time since, so half of it is their mean.
//!
//! Example: raised at 10, begins at 14; three requests are completed at 15, 16 and 17: they are late by 5, 4 and 5.

use std::collections::BTreeMap;
use trace::{Completions as Step, Cpu, Nanos};

/// Largest number of CPUs kept.
const MAX: usize = 4096;

/// State of the block softirq by CPU.
#[derive(Debug, Default)]
pub(crate) struct Softirqs {
    cpus: BTreeMap<Cpu, At>,
}

#[derive(Clone, Copy, Debug, Default)]
struct At {
    wanted: Option<Nanos>,
    running: Option<Running>,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    /// Time from being raised to running.
    waited: Nanos,
    from: Nanos,
    /// Number of requests that it has completed.
    completed: u32,
}

impl Softirqs {
    /// The block softirq of a CPU is raised, begins or ends.
    pub fn step(&mut self, cpu: Cpu, now: Nanos, step: Step) {
        if self.cpus.len() >= MAX && !self.cpus.contains_key(&cpu) {
            return;
        }
        let at = self.cpus.entry(cpu).or_default();
        match step {
            Step::Wanted => {
                at.wanted.get_or_insert(now);
            }
            Step::Begin => {
                at.running =
                    at.wanted.take().map(|w| Running { waited: now.since(w), from: now, completed: 0 });
            }
            Step::End => at.running = None,
        }
    }

    /// A request is completed on a CPU now: returns the delay, 0 if no raised softirq is running.
    pub fn late(&mut self, cpu: Cpu, now: Nanos) -> Nanos {
        let Some(running) = self.cpus.get_mut(&cpu).and_then(|at| at.running.as_mut()) else {
            return Nanos(0);
        };
        running.completed += 1;
        let waited = if running.completed == 1 { running.waited } else { Nanos(running.waited.0 / 2) };
        waited + now.since(running.from)
    }

    /// Events are missing: a raised softirq may have run.
    pub fn forget(&mut self) {
        self.cpus.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_waited_all_the_time_the_others_half() {
        let mut c = Softirqs::default();
        let on = Cpu(1);
        c.step(on, Nanos(10), Step::Wanted);
        c.step(on, Nanos(12), Step::Wanted);
        c.step(on, Nanos(14), Step::Begin);
        assert_eq!([15, 16, 17].map(|now| c.late(on, Nanos(now)).0), [5, 4, 5]);
        assert_eq!(c.late(Cpu(0), Nanos(18)), Nanos(0));
        c.step(on, Nanos(19), Step::End);
        assert_eq!(c.late(on, Nanos(20)), Nanos(0));
    }

    #[test]
    fn what_was_not_seen_is_not_late() {
        let mut c = Softirqs::default();
        c.step(Cpu(0), Nanos(14), Step::Begin);
        assert_eq!(c.late(Cpu(0), Nanos(20)), Nanos(0));
        c.step(Cpu(0), Nanos(20), Step::Wanted);
        c.forget();
        c.step(Cpu(0), Nanos(90), Step::Begin);
        assert_eq!(c.late(Cpu(0), Nanos(99)), Nanos(0));
    }
}
