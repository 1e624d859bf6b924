//! How a device keeps pace: how evenly it completes while it is busy, how it behaves after idle times, and how long
//! requests were delayed although it was idle.
//!
//! It follows one device: its depth as it changes, and each request as it is completed. An idle time is known when it
//! ends: the request that is issued at that moment ended it.
//!
//! ```text
//! completions  |   |   |   |        |          |
//! depth        2 2 2 2 2 2 2 1 0    1 0        1 0
//! gaps             3   3   3                       the first completion after an idle time ends no gap
//! idle                         5      6
//! ```
//!
//! A rate limit is as even over many gaps as over one, however late a CPU sees each completion; a device that is
//! uneven is less even over many. So [`IN_A_RUN`] successive gaps are a run, and their sums are kept.

use crate::distribution::Distribution;
use crate::note::Note;
use crate::turns::{FirstRun, InTurn, Ticks, Turns, IN_A_RUN, QUICK};
use crate::waking::{waking, Waking, IDLE_UNIT};
use life::Class;
use std::collections::VecDeque;
use trace::{Bytes, Nanos, Sector};

/// Largest number of idle times remembered, for requests that wait in a scheduler during these.
const MOST_IDLES: usize = 1024;

/// Flushes matter if they take 1/10 or more of the time between two completions, as 1 / this: the middle half of
/// completions by a clock lies as near to its median.
const FLUSHES: u64 = 10;

/// Requests that waited in the scheduler while the device was idle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Number of requests.
    pub count: u64,
    /// Total time that they waited so.
    pub time: Nanos,
}

/// Number of size classes: up to 4 KiB, then powers of two to more than 2 MiB.
const SIZES: usize = 11;
const SMALLEST: u64 = 4096;
/// Index of reads that do not begin where the request before them ended, among `turns`.
const FAR_READS: usize = 0;

/// The pace of one device; see the module's documentation.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// Reads and writes, far and near, by size.
    turns: [[Turns; SIZES]; 4],
    /// End of the last request that was completed.
    head: Sector,
    /// Time from one completion to the [`IN_A_RUN`]th after it, like gaps; runs do not overlap.
    pub runs: Distribution,
    /// Completions of data, for requests issued after the completion before, with the device idle for less than half of the time in between.
    pub ticks: Ticks,
    /// Those of `ticks` between which flushes took next to no time.
    pub clear_of_flushes: Ticks,
    /// For each completion that came within half of the turn before it, that turn (time since both its issue and the
    /// completion before). A limit does not let the next request through so soon.
    pub broken: Distribution,
    last_turn: Nanos,
    /// The last completion of data, and the issue of that request.
    last_data: Option<(Nanos, Nanos)>,
    /// Time in the device of flushes completed since then.
    flushed: Nanos,
    /// Reads, writes, flushes, by the idle time that they ended: one kind may take longer than another, and follow pauses more often.
    pub after_idle: [Waking; 3],
    /// Total `I2D` of requests, by class.
    pub scheduled: [Nanos; Class::COUNT],
    /// The part of it in which the device was idle.
    pub held: [Held; Class::COUNT],
    /// `D2C` of reads and writes that met a discard in the device.
    pub beside_discards: Distribution,
    /// `D2C` of reads and writes that met no discard in the device.
    pub clear_of_discards: Distribution,
    busy: bool,
    idle_since: Option<Nanos>,
    idle: Option<(Nanos, Nanos)>,
    /// Recent idle times: begin and end.
    idles: VecDeque<(Nanos, Nanos)>,
    last_done: Option<Nanos>,
    /// The completion before the one that emptied the device: its request is recorded after the change of depth.
    closing: Option<Nanos>,
    /// Number and sum of the gaps of the current run.
    run: (u32, Nanos),
    /// The completions since the last idle time, if all were of far reads of one size and are not a run yet.
    first_run: Option<FirstRun>,
}

impl Pace {
    /// The device has `depth` requests from `now` on.
    pub fn set(&mut self, now: Nanos, depth: u64) {
        match (self.busy, depth > 0) {
            (false, true) => {
                self.closing = None;
                self.run = Default::default();
                self.first_run = Some(FirstRun::since(now));
                self.idle = self.idle_since.take().map(|since| (since, now));
                if self.idles.len() == MOST_IDLES {
                    self.idles.pop_front();
                }
                self.idles.extend(self.idle);
            }
            (true, false) => {
                self.idle_since = Some(now);
                self.closing = self.last_done.take();
            }
            _ => {}
        }
        self.busy = depth > 0;
    }

    /// Adds a completed request.
    pub(crate) fn record(&mut self, n: &Note, d2c: Nanos) {
        // A flush after the data is not part of the data's pace.
        let (class, done) = (n.class(), n.data_completed().unwrap_or(n.completed));
        let mut is_near = false;
        if class != Class::Flush {
            let near = std::mem::replace(&mut self.head, n.start.after(n.bytes)) == n.start;
            is_near = near;
            let last = self.last_done.or(self.closing.take());
            let gap = last.filter(|last| *last <= done).map(|last| done.since(last));
            gap.into_iter().for_each(|gap| self.run(gap));
            let kind = 2 * usize::from(class != Class::Read) + usize::from(near);
            let size = size(n.bytes);
            let turns = &mut self.turns[kind][size];
            if let Some(run) = self.first_run.take() {
                self.first_run = run.completed(done, (kind == FAR_READS).then_some(size), turns);
            }
            turns.d2c.record(d2c.0);
            turns.bytes += n.bytes;
            if n.ahead() == 0 {
                turns.alone.record(d2c.0);
                turns.alone_in_a_row.record(d2c);
                if d2c >= QUICK {
                    turns.came_after(self.last_data.map(|(last, _)| last), done, d2c);
                }
            }
            if let Some(gap) = gap {
                turns.gaps.record(gap.0);
                turns.gaps_in_a_row.record(gap);
            }
            self.last_done = last.max(Some(done)).filter(|_| self.busy);
        }
        match class {
            Class::Other => {}
            _ if n.bytes.0 > 0 => self.tick(done, d2c),
            _ => self.flushed += d2c,
        }
        let ended = self.idle.filter(|(_, to)| Some(*to) == n.first_issued());
        let idle = ended.map(|(from, to)| to.since(from)).filter(|idle| *idle >= IDLE_UNIT);
        self.after_idle[waking(class)].record(idle, d2c, is_near);
        if let (Some(i2d), Some(inserted)) = (n.i2d(), n.inserted()) {
            self.scheduled[class.index()] += i2d;
            let idle: Nanos = match i2d >= IDLE_UNIT {
                true => self.idle_within(inserted, inserted + i2d),
                false => Nanos(0),
            };
            if idle > Nanos(0) {
                self.held[class.index()].count += 1;
                self.held[class.index()].time += idle;
            }
        }
        if matches!(class, Class::Read | Class::SyncWrite | Class::Background) {
            let other = Class::Other.index();
            let met = n.beside[other] > 0 || n.met_other;
            (if met { &mut self.beside_discards } else { &mut self.clear_of_discards }).record(d2c.0);
        }
    }

    fn tick(&mut self, done: Nanos, d2c: Nanos) {
        let issued = done.since(d2c);
        let Some((last, last_issued)) = self.last_data.replace((done, issued)) else {
            self.last_turn = d2c;
            return;
        };
        let tick = done.since(last);
        let flushed = std::mem::take(&mut self.flushed);
        let last_turn = std::mem::replace(&mut self.last_turn, d2c.min(tick));
        if last_turn >= QUICK && tick.0.saturating_mul(2) < last_turn.0 {
            self.broken.record(last_turn.0);
        }
        // In a queue, completions are as even as the device is; alone, they are as even as the requests come.
        if d2c > tick || d2c.0 < tick.0.div_ceil(2) {
            return;
        }
        let is_clear = flushed.0.saturating_mul(FLUSHES) <= tick.0;
        for ticks in
            [Some(&mut self.ticks), is_clear.then_some(&mut self.clear_of_flushes)].into_iter().flatten()
        {
            ticks.apart.record(tick.0);
            ticks.d2c.record(d2c.0);
            ticks.issued_apart.record(issued.since(last_issued).0);
        }
    }

    fn run(&mut self, gap: Nanos) {
        self.run = (self.run.0 + 1, self.run.1 + gap);
        if self.run.0 == IN_A_RUN {
            self.runs.record(std::mem::take(&mut self.run).1 .0);
        }
    }

    /// Reads and writes by size. If the device may be a rotating disk, far ones are separate, and near ones have the
    /// `D2C` of all: far ones take no less than near ones.
    pub fn kinds(&self, may_turn: bool) -> impl Iterator<Item = InTurn> + '_ {
        let sizes = self.turns.chunks(2).flat_map(|both| both[0].iter().zip(&both[1]));
        sizes.enumerate().flat_map(move |(class, (far, near))| {
            let mut all = far.clone();
            all.merge(near);
            let kinds = match may_turn {
                true => {
                    let gaps = (near.gaps.clone(), near.gaps_in_a_row.clone());
                    vec![far.clone(), Turns { gaps: gaps.0, gaps_in_a_row: gaps.1, ..all }]
                }
                false => vec![all],
            };
            kinds.into_iter().map(move |turns| in_turn(class, turns))
        })
    }

    /// Requests that do not begin where the one before them ended, by size.
    pub fn far(&self) -> impl Iterator<Item = InTurn> + '_ {
        let sizes = self.turns.chunks(2).flat_map(|both| &both[0]);
        sizes.enumerate().map(|(class, far)| in_turn(class, far.clone()))
    }

    /// Time from one completion to the next, of all classes but flushes, with the device never empty in between.
    pub fn gaps(&self) -> Distribution {
        self.by_size().iter().fold(Distribution::new(), |mut all, turns| {
            all.merge(&turns.gaps);
            all
        })
    }

    /// All kinds together by request size, the smallest first.
    pub fn by_size(&self) -> Vec<Turns> {
        let all = |size: usize| {
            self.turns.iter().fold(Turns::default(), |mut all, turns| {
                all.merge(&turns[size]);
                all
            })
        };
        (0..SIZES).map(all).collect()
    }

    /// Time in which the device was idle between two moments, as far back as it is remembered.
    fn idle_within(&self, from: Nanos, to: Nanos) -> Nanos {
        let lately = self.idles.iter().rev().take_while(|(_, end)| *end > from);
        lately.map(|(begin, end)| (*end).min(to).since((*begin).max(from))).sum()
    }
}

/// Index of the size class. Example: 4 KiB is 0, 5 KiB and 8 KiB are 1, 64 KiB is 4.
fn size(bytes: Bytes) -> usize {
    let units = bytes.0.div_ceil(SMALLEST).max(1);
    (units.next_power_of_two().trailing_zeros() as usize).min(SIZES - 1)
}

/// A kind by its index: reads of all sizes come first, then writes.
fn in_turn(class: usize, turns: Turns) -> InTurn {
    let size = class % SIZES;
    let most = Bytes(if size + 1 < SIZES { SMALLEST << size } else { u64::MAX });
    InTurn { is_read: class < SIZES, most, turns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::{Op, Request, Timeline};
    use trace::{Bytes, Flags};

    const MS: u64 = 1_000_000;

    fn read(inserted: Option<u64>, issued: u64, completed: u64) -> Request {
        let time = Timeline {
            inserted: inserted.map(|t| Nanos(t * MS)),
            first_issued: Some(Nanos(issued * MS)),
            issued: Some(Nanos(issued * MS)),
            data_completed: Some(Nanos(completed * MS)),
            completed: Nanos(completed * MS),
            ..Timeline::default()
        };
        Request { time, flags: Flags::READ, ..Request::default() }
    }

    fn tell(pace: &mut Pace, r: Request) {
        pace.set(r.time.issued.unwrap(), 1);
        let d2c = r.time.d2c().unwrap();
        pace.set(r.time.completed, 0);
        pace.record(&Note::of(&r, 0), d2c);
    }

    #[test]
    fn idle_times_belong_to_the_request_that_ended_them() {
        let mut pace = Pace::default();
        tell(&mut pace, read(None, 0, 1));
        tell(&mut pace, read(None, 101, 121));
        tell(&mut pace, read(None, 122, 123));
        let rows: Vec<_> =
            pace.after_idle[0].rows().map(|r| (r.idle.0 / MS, r.d2c.count(), r.d2c.max() / MS)).collect();
        assert_eq!(rows, [(1, 1, 1), (96, 1, 20)]);
        assert_eq!((pace.after_idle[0].awake().count(), pace.gaps().count()), (1, 0));
    }

    #[test]
    fn gaps_are_counted_while_it_is_busy() {
        let mut pace = Pace::default();
        pace.set(Nanos(0), 3);
        for (done, left) in [(3, 2), (6, 1), (9, 0)] {
            pace.set(Nanos(done * MS), left);
            pace.record(&Note::of(&read(None, 0, done), 0), Nanos(done * MS));
        }
        pace.set(Nanos(20 * MS), 1);
        pace.set(Nanos(21 * MS), 0);
        pace.record(&Note::of(&read(None, 20, 21), 0), Nanos(MS));
        assert_eq!((pace.gaps().count(), pace.gaps().min(), pace.gaps().max()), (2, 3 * MS, 3 * MS));
    }

    #[test]
    fn who_is_done_right_after_one_that_took_long_breaks_the_clock() {
        let mut pace = Pace::default();
        let read = |issued, completed| Request { bytes: Bytes(4096), ..read(None, issued, completed) };
        // Two turns of 10 ms; one of 1 ms that comes right after, and one after a pause.
        for (issued, completed) in [(0, 10), (10, 20), (20, 21), (21, 31), (40, 41)] {
            tell(&mut pace, read(issued, completed));
        }
        assert_eq!((pace.broken.count(), pace.broken.max()), (1, 10 * MS));
        // With two at a time, each has its turn.
        pace.set(Nanos(50 * MS), 2);
        for completed in [60, 70, 71] {
            pace.record(&Note::of(&read(50, completed), 0), Nanos((completed - 50) * MS));
        }
        assert_eq!(pace.broken.count(), 2);
    }

    /// A device that serves one request after the other completes data, a flush and data again, however late the data came.
    #[test]
    fn completions_with_a_flush_between_them_are_told_apart() {
        let ticks = |flush: Option<(u64, u64)>| {
            let mut pace = Pace::default();
            let read = |issued, completed| Request { bytes: Bytes(4096), ..read(None, issued, completed) };
            tell(&mut pace, read(0, 40));
            if let Some((issued, completed)) = flush {
                tell(&mut pace, Request { op: Op::Flush, bytes: Bytes(0), ..read(issued, completed) });
            }
            tell(&mut pace, read(60, 120));
            tell(&mut pace, read(125, 165));
            (pace.ticks.apart.count(), pace.clear_of_flushes.apart.count())
        };
        assert_eq!([None, Some((42, 80)), Some((42, 44))].map(ticks), [(2, 2), (2, 1), (2, 2)]);
    }

    #[test]
    fn a_clock_that_leaps_by_centuries_is_no_overflow() {
        let mut pace = Pace::default();
        let end = u64::MAX / MS;
        for (from, to) in [(0, 1), (1, end)] {
            tell(&mut pace, Request { bytes: Bytes(4096), ..read(None, from, to) });
        }
        assert_eq!((pace.ticks.apart.count(), pace.ticks.apart.max()), (1, (end - 1) * MS));
    }

    /// Completions seen late by 1 ms every second time: over 16 the clock is even.
    #[test]
    fn runs_are_even_however_late_each_completion_is_seen() {
        let mut pace = Pace::default();
        pace.set(Nanos(0), 2);
        for i in 1..=33 {
            let done = i * 3 + i % 2;
            pace.record(&Note::of(&read(None, 0, done), 0), Nanos(done * MS));
        }
        assert_eq!((pace.gaps().min(), pace.gaps().max()), (2 * MS, 4 * MS));
        assert_eq!((pace.runs.count(), pace.runs.min(), pace.runs.max()), (2, 48 * MS, 48 * MS));
        // An idle time ends a run.
        pace.set(Nanos(110 * MS), 0);
        pace.set(Nanos(120 * MS), 2);
        for done in 121..=136 {
            pace.record(&Note::of(&read(None, 120, done), 0), Nanos(MS));
        }
        assert_eq!(pace.runs.count(), 2, "15 gaps since then");
    }

    #[test]
    fn held_back_before_an_idle_device() {
        let mut pace = Pace::default();
        tell(&mut pace, read(Some(0), 0, 1));
        tell(&mut pace, read(Some(4), 9, 10));
        let held = pace.held[Class::Read.index()];
        assert_eq!((held.count, held.time), (1, Nanos(5 * MS)));
        assert_eq!(pace.scheduled[Class::Read.index()], Nanos(5 * MS));
    }
}
