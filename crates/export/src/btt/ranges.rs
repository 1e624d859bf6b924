//! Activity ranges (`out.dat`): ranges of time in which bios were queued, or I/Os completed, without a gap (`-d`).
//!
//! The file is ordered by subject, not by time, so the ranges are kept until the end. If there are too many, smaller
//! gaps are closed, so that memory is bounded.

use super::folder::{Dat, Folder};
use super::seconds::seconds;
use trace::Nanos;

/// Maximal number of ranges of one kind: two hours of ranges that are 0.1 s apart.
const MAX_RANGES: usize = 1 << 16;

/// Ranges of one kind of activity of one subject.
#[derive(Debug)]
struct Ranges {
    gap: f64,
    ranges: Vec<(Nanos, Nanos)>,
}

impl Ranges {
    fn record(&mut self, at: Nanos) {
        if let Some((_, end)) = self.ranges.last_mut() {
            if at <= *end {
                return;
            }
            if at.since(*end).seconds() < self.gap {
                *end = at;
                return;
            }
        }
        self.ranges.push((at, at));
        while self.ranges.len() > MAX_RANGES {
            self.gap *= 2.0;
            let gap = self.gap;
            self.ranges.dedup_by(|next, kept| {
                let joins = next.0.since(kept.1).seconds() < gap;
                if joins {
                    kept.1 = next.1;
                }
                joins
            });
        }
    }

    fn write(&self, folder: &mut Folder, to: Dat, low: f64) {
        let high = low + 0.4;
        for (from, until) in &self.ranges {
            for (at, y) in [(from, low), (from, high), (until, high), (until, low)] {
                folder.line(to, format_args!("{:13.9} {y:5.1}", seconds(*at)));
            }
        }
    }
}

/// The ranges in which one subject (the system, a device or a task) queued I/O, and in which its I/O was completed.
#[derive(Debug)]
pub(super) struct Activity {
    queued: Ranges,
    completed: Ranges,
}

impl Activity {
    pub fn new(gap: f64) -> Activity {
        Activity { queued: Ranges { gap, ranges: vec![] }, completed: Ranges { gap, ranges: vec![] } }
    }

    pub fn queued(&mut self, at: Nanos) {
        self.queued.record(at);
    }

    pub fn completed(&mut self, at: Nanos) {
        self.completed.record(at);
    }

    /// Writes both kinds of ranges; returns whether there were any.
    pub fn write(&self, folder: &mut Folder, to: Dat, name: &str, base: f64) -> bool {
        if self.queued.ranges.is_empty() && self.completed.ranges.is_empty() {
            return false;
        }
        folder.line(to, format_args!("# {name:>16} : q activity"));
        self.queued.write(folder, to, base);
        folder.line(to, format_args!("\n# {name:>16} : c activity"));
        self.completed.write(folder, to, base + 0.5);
        folder.line(to, format_args!(""));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_gaps_are_closed_and_many_ranges_are_bounded() {
        let mut r = Ranges { gap: 0.1, ranges: vec![] };
        for ms in [0, 50, 140, 300, 250, 310] {
            r.record(Nanos(ms * 1_000_000));
        }
        assert_eq!(r.ranges, [(Nanos(0), Nanos(140_000_000)), (Nanos(300_000_000), Nanos(310_000_000))]);
        for i in 0..3 * MAX_RANGES as u64 {
            r.record(Nanos(1_000_000_000 + i * 150_000_000));
        }
        assert!(r.ranges.len() <= MAX_RANGES && r.gap > 0.1);
        assert_eq!(
            r.ranges.last().unwrap().1,
            Nanos(1_000_000_000 + (3 * MAX_RANGES as u64 - 1) * 150_000_000)
        );
    }
}
