//! How busy the processors are, with whatever runs on them (`/proc/stat`, proc(5)).

use std::fs;

/// Ticks since the machine started.
#[derive(Clone, Copy, Debug)]
pub struct Processors {
    busy: u64,
    all: u64,
}

impl Processors {
    /// As it is now; nothing where it cannot be read.
    pub fn now() -> Option<Processors> {
        Processors::of(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// `cpu  user nice system idle iowait irq softirq steal guest guest_nice`: the last two are in the first two. What
    /// another machine on the same host takes (steal) is busy.
    fn of(text: &str) -> Option<Processors> {
        let ticks: Vec<u64> = text
            .lines()
            .next()?
            .strip_prefix("cpu ")?
            .split_whitespace()
            .map_while(|n| n.parse().ok())
            .collect();
        let all: u64 = ticks.iter().take(8).sum();
        let idle: u64 = ticks.get(3..5)?.iter().sum();
        Some(Processors { busy: all - idle, all })
    }

    /// The part of the time since an earlier look that they were busy.
    pub fn busy_since(self, earlier: Processors) -> Option<f64> {
        let all = self.all.checked_sub(earlier.all).filter(|n| *n > 0)?;
        Some(self.busy.saturating_sub(earlier.busy) as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_idle_is_busy() {
        let earlier = Processors::of("cpu  100 0 50 1000 10 0 5 5 90 0\ncpu0 1 2\n").unwrap();
        let now = Processors::of("cpu  120 0 60 1050 20 0 5 15 95 0\n").unwrap();
        assert_eq!(now.busy_since(earlier), Some(0.4));
        assert_eq!(earlier.busy_since(earlier), None);
        assert!(Processors::of("intr 5").is_none() && Processors::of("cpu 1 2").is_none());
    }
}
