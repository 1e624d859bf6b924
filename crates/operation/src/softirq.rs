//! When the device was done with a request, and when a processor came to complete it.
//!
//! Drivers with one queue, and those whose interrupt comes on another processor than the request, do not
//! complete it in the interrupt: they put it into a list and ask for a software interrupt
//! (`blk_mq_raise_softirq`, block/blk-mq.c), which runs as soon as the interrupt is over, or where none was,
//! when `ksoftirqd` gets the processor or the next interrupt ends. `C` is recorded there, so what it waited
//! is in D2C and looks like the device.
//!
//! It is asked for once for all that come until it runs. Of the first one it is known how long it waited; of
//! the others, which came at any time since, half of that is the mean.
//!
//! Example: asked for at 10, begins at 14; three requests are completed at 15, 16 and 17: they were late by
//! 5, 4 and 5.

use std::collections::BTreeMap;
use trace::{Completions as Step, Cpu, Nanos};

/// Processors that are kept at most.
const MAX: usize = 4096;

/// The software interrupts that complete requests, by processor.
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
    /// How long it was waited for.
    waited: Nanos,
    from: Nanos,
    /// How many it has completed.
    completed: u32,
}

impl Softirqs {
    /// Something happened to that of one processor.
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

    /// A request is completed on a processor now: by how much that is late.
    pub fn late(&mut self, cpu: Cpu, now: Nanos) -> Nanos {
        let Some(running) = self.cpus.get_mut(&cpu).and_then(|at| at.running.as_mut()) else {
            return Nanos(0);
        };
        running.completed += 1;
        let waited = if running.completed == 1 { running.waited } else { Nanos(running.waited.0 / 2) };
        waited + now.since(running.from)
    }

    /// Events are missing: what was asked for may have run.
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
