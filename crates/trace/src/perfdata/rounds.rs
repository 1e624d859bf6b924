//! Sorts records by time.
//!
//! perf empties the CPUs' buffers in turn and marks the end of each pass over all of them: a round. All records older than
//! the latest of the previous round are then complete (perf, util/ordered-events.c). If no round ends, records wait up to a
//! memory limit; a record that comes after later ones were released is delivered late, and counted by the consumer.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Limit on waiting records: 128 MiB, more than the buffers of 64 CPUs (512 KiB each by default) hold.
const MOST_BYTES: usize = 128 << 20;
/// Memory per record in addition to its bytes.
const EACH: usize = 64;

/// Content of a record.
pub enum Said {
    /// The bytes of a tracepoint, and the stack (if it is needed) of the task that reached it.
    Sample(Box<[u8]>, Box<[u64]>),
    /// This many records are missing.
    Lost(u64),
}

impl Said {
    fn bytes(&self) -> usize {
        match self {
            Said::Sample(bytes, stack) => EACH + bytes.len() + 8 * stack.len(),
            Said::Lost(_) => EACH,
        }
    }
}

struct Waiting {
    time: u64,
    /// Position in the file, which orders records of the same time.
    number: u64,
    cpu: u32,
    said: Said,
}

impl Waiting {
    fn bytes(&self) -> usize {
        self.said.bytes()
    }
}

impl Ord for Waiting {
    /// Reversed, so that the heap's maximum is the earliest record.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.time, other.number).cmp(&(self.time, self.number))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

/// Records that wait to be sorted.
#[derive(Default)]
pub struct Rounds {
    heap: BinaryHeap<Waiting>,
    bytes: usize,
    number: u64,
    latest: u64,
    /// Latest time at the end of the previous round, and of the round before it (up to which all records are complete).
    before: u64,
    complete: u64,
    ended: bool,
}

impl Rounds {
    /// Adds a record.
    pub fn add(&mut self, time: u64, cpu: u32, said: Said) {
        self.number += 1;
        self.latest = self.latest.max(time);
        let waiting = Waiting { time, number: self.number, cpu, said };
        self.bytes += waiting.bytes();
        self.heap.push(waiting);
    }

    /// Marks the end of a round.
    pub fn finished(&mut self) {
        self.complete = self.before;
        self.before = self.latest;
    }

    /// Marks the end of the input. `false` if no record is left.
    pub fn end(&mut self) -> bool {
        self.ended = true;
        !self.heap.is_empty()
    }

    /// The latest time so far.
    pub fn latest(&self) -> u64 {
        self.latest
    }

    /// Removes the earliest record if no earlier one can come: its time, CPU and content.
    pub fn take(&mut self) -> Option<(u64, u32, Said)> {
        let first = self.heap.peek()?;
        let turn = self.ended || first.time <= self.complete || self.bytes > MOST_BYTES;
        turn.then_some(())?;
        let Waiting { time, cpu, said, .. } = self.heap.pop()?;
        self.bytes -= said.bytes();
        Some((time, cpu, said))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_lets_go_what_the_round_before_had_seen() {
        let mut rounds = Rounds::default();
        let mut told = vec![];
        let mut take = |rounds: &mut Rounds| {
            while let Some((time, cpu, _)) = rounds.take() {
                told.push((time, cpu));
            }
            told.clone()
        };
        for (time, cpu) in [(10, 0), (30, 0), (20, 1)] {
            rounds.add(time, cpu, Said::Lost(1));
        }
        rounds.finished();
        assert_eq!(take(&mut rounds), []);
        rounds.add(25, 1, Said::Lost(1));
        rounds.add(40, 0, Said::Lost(1));
        rounds.finished();
        assert_eq!(take(&mut rounds), [(10, 0), (20, 1), (25, 1), (30, 0)]);
        assert!(rounds.end());
        assert_eq!(take(&mut rounds).last(), Some(&(40, 0)));
        assert!(!rounds.end());
    }
}
