//! Models devices as token servers: how long each operation holds the device, and how long its answer takes.
//!
//! A device has a few channels. An operation takes the channel that is free first, holds it for its **cost** (per
//! operation and per byte, by direction), and is answered one **latency** after it got the channel. A disk that serves
//! one operation after the other has a latency equal to its cost; a device behind a rate limit answers fast and delays
//! the next one. Arbitration decides who gets a channel: one queue for all, reads and writes in turn, or separate channels
//! for each.
//!
//! **Invariant**: no channel is held by two operations at once.
//!
//! Example: one channel, cost 2 ms, latency 3 ms; three operations at 0 are answered at 3, 5 and 7 ms.

use serde::Serialize;
use std::collections::VecDeque;

/// Decides which operation gets a free channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// One queue: first come, first served.
    OneRow,
    /// Two queues: reads and writes in turn.
    InTurn,
    /// Separate channels for reads and writes, which do not interfere.
    Apart,
}

/// Costs of one direction, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// Time per operation for which the channel is held.
    pub hold: f64,
    /// Time per byte for which the channel is held.
    pub hold_byte: f64,
    /// Time per operation until it is answered.
    pub answer: f64,
    /// Time per byte until it is answered.
    pub answer_byte: f64,
}

/// The parameters of a device.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Model {
    /// Number of operations that are served at once; with [`Arbitration::Apart`] per direction.
    pub channels: u32,
    /// The arbitration between reads and writes.
    pub arbitration: Arbitration,
    /// Costs of reads and of writes.
    pub cost: [Cost; 2],
    /// The time of a flush, in nanoseconds.
    pub flush: f64,
    /// Additional time for channel and answer if an operation does not begin where the last one ended, in nanoseconds.
    pub seek: f64,
    /// Deviations of operations alone from the model, by direction, in nanoseconds, sorted.
    #[serde(skip)]
    pub scatter: [Vec<f32>; 2],
}

/// An operation at the device.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// Its number in the simulation.
    pub slot: u32,
    /// Its first sector.
    pub sector: u64,
    /// Its size in bytes.
    pub bytes: u32,
    /// Whether it is a write.
    pub write: bool,
    /// Whether it is a flush, which has no data.
    pub flush: bool,
}

/// The state of a device in a simulation. Times are in nanoseconds.
pub struct Device<'a> {
    model: &'a Model,
    /// The time when each channel is free; with [`Arbitration::Apart`] the second half is for writes.
    free: Vec<u64>,
    rows: [VecDeque<Op>; 2],
    turn: usize,
    head: u64,
    random: u64,
}

impl<'a> Device<'a> {
    /// An idle device. The same seed gives the same answers.
    pub fn new(model: &'a Model, seed: u64) -> Device<'a> {
        let groups = if model.arbitration == Arbitration::Apart { 2 } else { 1 };
        let channels = model.channels.max(1) as usize * groups;
        let random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Device { model, free: vec![0; channels], rows: Default::default(), turn: 0, head: 0, random }
    }

    /// Adds an operation. Returns the time of its answer, or `None` if it waits for its turn ([`Device::next`]).
    pub fn arrive(&mut self, now: u64, op: Op) -> Option<u64> {
        match self.model.arbitration {
            Arbitration::InTurn => {
                self.rows[op.write as usize].push_back(op);
                None
            }
            _ => {
                let half = self.free.len() / 2;
                let group = match self.model.arbitration {
                    Arbitration::Apart if op.write => half..self.free.len(),
                    Arbitration::Apart => 0..half,
                    _ => 0..self.free.len(),
                };
                let channel = earliest(&self.free[group.clone()]) + group.start;
                Some(self.serve(now, channel, op))
            }
        }
    }

    /// For [`Arbitration::InTurn`]: the operation that gets a channel now and the time of its answer; or else when to ask again.
    pub fn next(&mut self, now: u64) -> Result<(u32, u64), Option<u64>> {
        if self.rows.iter().all(VecDeque::is_empty) {
            return Err(None);
        }
        let channel = earliest(&self.free);
        if self.free[channel] > now {
            return Err(Some(self.free[channel]));
        }
        self.turn = 1 - self.turn;
        if self.rows[self.turn].is_empty() {
            self.turn = 1 - self.turn;
        }
        let Some(op) = self.rows[self.turn].pop_front() else { return Err(None) };
        Ok((op.slot, self.serve(now, channel, op)))
    }

    fn serve(&mut self, now: u64, channel: usize, op: Op) -> u64 {
        let m = self.model;
        let begin = now.max(self.free[channel]);
        if op.flush {
            self.free[channel] = begin + m.flush as u64;
            return begin + m.flush as u64;
        }
        let c = &m.cost[op.write as usize];
        let seek = if op.sector == self.head { 0.0 } else { m.seek };
        self.head = op.sector + u64::from(op.bytes / 512);
        let bytes = f64::from(op.bytes);
        let hold = c.hold + c.hold_byte * bytes + seek;
        let answer = c.answer + c.answer_byte * bytes + seek;
        let scatter = &m.scatter[op.write as usize];
        let more = if scatter.is_empty() { 0.0 } else { f64::from(scatter[self.draw(scatter.len())]) };
        self.free[channel] = begin + hold as u64;
        begin + (answer + more).max(1.0) as u64
    }

    /// xorshift (Marsaglia, 2003).
    fn draw(&mut self, below: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (((self.random >> 33) * below as u64) >> 31) as usize
    }
}

fn earliest(free: &[u64]) -> usize {
    let mut best = 0;
    for (i, at) in free.iter().enumerate() {
        if *at < free[best] {
            best = i;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(channels: u32, arbitration: Arbitration) -> Model {
        let cost = Cost { hold: 2000.0, answer: 3000.0, ..Cost::default() };
        Model {
            channels,
            arbitration,
            cost: [cost; 2],
            flush: 500.0,
            seek: 0.0,
            scatter: [Vec::new(), Vec::new()],
        }
    }

    fn op(slot: u32, write: bool) -> Op {
        Op { slot, sector: 0, bytes: 4096, write, flush: false }
    }

    #[test]
    fn one_row_as_in_the_example() {
        let m = model(1, Arbitration::OneRow);
        let mut d = Device::new(&m, 1);
        let answers: Vec<_> = (0..3).map(|i| d.arrive(0, op(i, i == 1)).unwrap()).collect();
        assert_eq!(answers, [3000, 5000, 7000]);
    }

    #[test]
    fn two_channels_serve_two_at_once() {
        let m = model(2, Arbitration::OneRow);
        let mut d = Device::new(&m, 1);
        let answers: Vec<_> = (0..3).map(|i| d.arrive(0, op(i, false)).unwrap()).collect();
        assert_eq!(answers, [3000, 3000, 5000]);
    }

    #[test]
    fn apart_a_read_does_not_wait_for_writes() {
        let m = model(1, Arbitration::Apart);
        let mut d = Device::new(&m, 1);
        assert_eq!(d.arrive(0, op(0, true)), Some(3000));
        assert_eq!(d.arrive(0, op(1, true)), Some(5000));
        assert_eq!(d.arrive(0, op(2, false)), Some(3000));
    }

    #[test]
    fn in_turn_a_read_waits_for_one_write() {
        let m = model(1, Arbitration::InTurn);
        let mut d = Device::new(&m, 1);
        for i in 0..3 {
            assert_eq!(d.arrive(0, op(i, true)), None);
        }
        assert_eq!(d.next(0), Ok((0, 3000)));
        d.arrive(0, op(3, false));
        assert_eq!(d.next(0), Err(Some(2000)));
        assert_eq!(d.next(2000), Ok((3, 5000)));
        assert_eq!(d.next(4000), Ok((1, 7000)));
        assert_eq!(d.next(6000), Ok((2, 9000)));
        assert_eq!(d.next(9000), Err(None));
    }
}
