//! Measures the processors while a step runs: how busy they are (`/proc/stat`, proc(5)), and how fast.
//!
//! A disk's numbers depend on its processors, too: if a host takes half of a virtual machine's processors, every operation
//! is slower, and the host does not always report it (steal). So a fixed piece of work is timed before and after each step.

use serde::{Deserialize, Serialize};
use std::fs;
use std::hint::black_box;
use std::time::Instant;
use units::words;

/// The fixed work: a text of [`LETTERS`] letters of two bytes is checked for UTF-8 this many times, which takes the standard
/// library about a millisecond in all, however this crate is compiled.
const TIMES_CHECKED: usize = 16;
const LETTERS: usize = 1 << 15;
/// The work is timed this many times, and the fastest counts: it was disturbed least.
const TIMES: usize = 5;
/// Processors that are busier by this part make everything slower, and
const BUSIER: f64 = 0.3;
/// so do processors that are at least this busy: with them, medians of one disk were seen to differ by a factor of 3.4, in
/// all slices.
const FULL: f64 = 0.9;
/// Processors are slower if the work takes this many times as long. (On one shared machine it varied by a factor of two.)
const SLOWER: f64 = 1.4;
/// If processors are away for at least this part of the time, nothing slow is blamed on the disk: the slowest of a hundred
/// operations is judged, and that one is then due to the processors.
const STOLEN: f64 = 0.05;

/// The state of the processors during a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Processors {
    /// The part of their time in which they were busy with anything, 0 to 1; the time that other machines on the same host
    /// took counts as busy.
    pub busy: Option<f64>,
    /// The part of their time that other machines on the same host took (steal), if the host reports it.
    pub stolen: Option<f64>,
    /// The time of a fixed piece of work in nanoseconds: the mean of before and after the step.
    pub work_ns: u64,
}

impl Processors {
    /// A sentence, if other machines took so much that nothing slow can be blamed on the disk.
    pub fn stolen(&self) -> Option<String> {
        let part = self.stolen.filter(|part| *part >= STOLEN)?;
        Some(format!("the host gave {} of the processors' time to other machines", words::percent(part)))
    }

    /// How processors may explain that times are shorter (`better`) or longer in a later run of the step; `None` if they do not.
    pub fn explain(&self, now: &Processors, better: bool) -> Option<String> {
        let (fast, slow) = if better { (now, self) } else { (self, now) };
        let busy = fast.busy.zip(slow.busy).filter(|(f, s)| s - f > BUSIER || f.max(*s) > FULL);
        let pace = slow.work_ns as f64 > SLOWER * fast.work_ns as f64 && fast.work_ns > 0;
        let mut why = Vec::new();
        if let Some((a, b)) = self.busy.zip(now.busy).filter(|_| busy.is_some()) {
            why.push(format!("{} busy then, {} now", words::percent(a), words::percent(b)));
        }
        if pace {
            why.push(format!(
                "fixed work took {} then, {} now",
                words::ns(self.work_ns),
                words::ns(now.work_ns)
            ));
        }
        (!why.is_empty()).then(|| why.join("; "))
    }
}

/// A measurement of the processors that has begun.
#[derive(Debug)]
pub struct Watch {
    ticks: Option<Ticks>,
    work_ns: u64,
}

impl Watch {
    /// Begins a measurement.
    pub fn begin() -> Watch {
        let work_ns = work_ns();
        Watch { ticks: Ticks::now(), work_ns }
    }

    /// Ends the measurement.
    pub fn end(self) -> Processors {
        let then = Ticks::now().zip(self.ticks);
        let part = |of: fn(&Ticks) -> u64| then.and_then(|(now, then)| now.part_since(then, of));
        let (busy, stolen) = (part(|t| t.busy), part(|t| t.stolen));
        Processors { busy, stolen, work_ns: (self.work_ns + work_ns()) / 2 }
    }
}

fn work_ns() -> u64 {
    let text = "\u{e9}".repeat(LETTERS);
    let once = || {
        let begun = Instant::now();
        for _ in 0..TIMES_CHECKED {
            let _ = black_box(std::str::from_utf8(black_box(text.as_bytes())));
        }
        begun.elapsed().as_nanos() as u64
    };
    (0..TIMES).map(|_| once()).min().unwrap_or(0)
}

/// Ticks of all processors since the machine started.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    busy: u64,
    stolen: u64,
    all: u64,
}

impl Ticks {
    /// The current ticks; `None` if they cannot be read.
    fn now() -> Option<Ticks> {
        Ticks::of(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// Parses `cpu  user nice system idle iowait irq softirq steal guest guest_nice`; the last two are part of the first two.
    fn of(text: &str) -> Option<Ticks> {
        let ticks: Vec<u64> = text
            .lines()
            .next()?
            .strip_prefix("cpu ")?
            .split_whitespace()
            .map_while(|n| n.parse().ok())
            .collect();
        let all: u64 = ticks.iter().take(8).sum();
        let idle: u64 = ticks.get(3..5)?.iter().sum();
        Some(Ticks { busy: all - idle, stolen: *ticks.get(7)?, all })
    }

    /// The part of all time since `earlier` that `of` has; `None` if no time has passed.
    fn part_since(self, earlier: Ticks, of: fn(&Ticks) -> u64) -> Option<f64> {
        let all = self.all.checked_sub(earlier.all).filter(|n| *n > 0)?;
        Some(of(&self).saturating_sub(of(&earlier)) as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_idle_is_busy() {
        let earlier = Ticks::of("cpu  100 0 50 1000 10 0 5 5 90 0\ncpu0 1 2\n").unwrap();
        let now = Ticks::of("cpu  120 0 60 1050 20 0 5 15 95 0\n").unwrap();
        assert_eq!(now.part_since(earlier, |t| t.busy), Some(0.4));
        assert_eq!(now.part_since(earlier, |t| t.stolen), Some(0.1));
        assert_eq!(earlier.part_since(earlier, |t| t.busy), None);
        assert!(Ticks::of("intr 5").is_none() && Ticks::of("cpu 1 2").is_none());
    }

    #[test]
    fn processors_explain_what_goes_with_them() {
        let p = |busy, ms: u64| Processors { busy: Some(busy), stolen: None, work_ns: ms * 1_000_000 };
        let why = |a: Processors, b: Processors, better| a.explain(&b, better);
        assert_eq!(why(p(0.1, 2), p(0.3, 2), false), None);
        assert_eq!(why(p(0.1, 2), p(0.5, 2), false).unwrap(), "10 % busy then, 50 % now");
        assert_eq!(why(p(0.1, 2), p(0.5, 2), true), None, "better although they were busier");
        assert_eq!(why(p(0.5, 2), p(0.1, 2), true).unwrap(), "50 % busy then, 10 % now");
        assert!(why(p(0.95, 2), p(0.9, 2), false).is_some(), "full ones explain everything");
        assert_eq!(why(p(0.1, 2), p(0.1, 3), false).unwrap(), "fixed work took 2 ms then, 3 ms now");
        assert_eq!(why(p(0.1, 3), p(0.1, 2), false), None);
        // Nothing is known for a checkup by an earlier version.
        assert_eq!(why(Processors::default(), p(0.1, 2), false), None);
    }

    #[test]
    fn the_work_is_not_left_out_by_the_compiler() {
        // A million bytes, at less than ten per nanosecond.
        assert!(Watch::begin().end().work_ns > 100_000);
    }
}
