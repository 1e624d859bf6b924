//! Records in order of time.
//!
//! perf empties one CPU's buffer after the other, and marks when it is through with all: a round. Whatever is older than the
//! latest of the round before is then complete (perf, util/ordered-events.c). Where no round ends, as many wait as memory is
//! for; what comes later than those let go is delivered late, and counted by the consumer.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// What may wait: 128 MiB, more than the buffers of 64 CPUs (512 KiB each by default) hold.
const MOST_BYTES: usize = 128 << 20;
/// What one costs beside its bytes.
const EACH: usize = 64;

/// What a record says.
pub enum Said {
    /// The bytes of a tracepoint, and the stack of who came by it, where that is wanted.
    Sample(Box<[u8]>, Box<[u64]>),
    /// So many are missing.
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
    /// Of those of one time the first in the file comes first.
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
    /// The earliest is the greatest, as a heap has it on top.
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

/// Those that wait for their turn.
#[derive(Default)]
pub struct Rounds {
    heap: BinaryHeap<Waiting>,
    bytes: usize,
    number: u64,
    latest: u64,
    /// The latest when the round before was finished, and the one before that: up to there all is complete.
    before: u64,
    complete: u64,
    ended: bool,
}

impl Rounds {
    /// Puts one in.
    pub fn add(&mut self, time: u64, cpu: u32, said: Said) {
        self.number += 1;
        self.latest = self.latest.max(time);
        let waiting = Waiting { time, number: self.number, cpu, said };
        self.bytes += waiting.bytes();
        self.heap.push(waiting);
    }

    /// A round is finished.
    pub fn finished(&mut self) {
        self.complete = self.before;
        self.before = self.latest;
    }

    /// No more are put in. `false` if none is left.
    pub fn end(&mut self) -> bool {
        self.ended = true;
        !self.heap.is_empty()
    }

    /// The latest time of all so far.
    pub fn latest(&self) -> u64 {
        self.latest
    }

    /// The next whose turn it is: its time, CPU, and what it says.
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
