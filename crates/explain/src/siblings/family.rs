//! Compares tasks of the same name: finds those that delay the others and are hardly delayed by them.

use std::collections::BTreeMap;
use trace::{Nanos, Tid};

/// All lost time must be more than this part of the requests' time. Chosen without a source, as the next two.
const WORTH: f64 = 0.1;

/// A distinguished task costs more than this many times what it loses: two tasks that do the same cost what they lose, but for chance.
const APART: f64 = 2.0;

/// A distinguished task costs more than this part of what all tasks of its name lost to one another: in a pool of similar tasks none does.
const CAUSES: f64 = 0.25;

/// If the requests' latencies alone are unknown, at least this many waits are needed: the requests may never have been alone.
pub(super) const MANY: u64 = 100;

/// If the latencies alone are known, fewer waits suffice, the fewer the more one-sided they are: this many standard errors are subtracted
/// from the cost. The error of a sum of waits that vary as much as their length is the sum divided by the root of their number.
const SURE: f64 = 2.0;

/// Waits by (victim, culprit) as indexes: for requests with a known latency alone, and for others.
pub(super) type Lost = [BTreeMap<(usize, usize), Waits>; 2];

/// Total time and number of the waits of one task for another.
#[derive(Clone, Copy, Default)]
pub(super) struct Waits {
    pub time: Nanos,
    pub count: u64,
}

/// First issue, last completion and total device time of a task's requests.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    pub first: Nanos,
    pub last: Nanos,
    /// Sum of the requests' times in the device.
    pub time: Nanos,
}

impl Sent {
    pub const NONE: Sent = Sent { first: Nanos(u64::MAX), last: Nanos(0), time: Nanos(0) };

    pub fn add(&mut self, other: &Sent) {
        (self.first, self.last) = (self.first.min(other.first), self.last.max(other.last));
        self.time += other.time;
    }

    /// Mean number of its requests in flight, at least 1.
    pub fn depth(&self) -> f64 {
        (self.time.0 as f64 / self.last.since(self.first).0.max(1) as f64).max(1.0)
    }
}

/// A thread with requests.
pub(super) struct Thread {
    pub name: Box<str>,
    pub tid: Tid,
    pub process: Tid,
    pub sent: Sent,
}

/// The tasks to compare: processes of one name, or threads of one process and name.
pub(super) struct Family {
    pub number: Vec<Tid>,
    sent: Vec<Sent>,
    lost: Lost,
}

impl Family {
    /// Threads for which `by` returns the same number form one task; threads with `None` are left out.
    pub fn of(all: &[Thread], lost: &Lost, by: impl Fn(&Thread) -> Option<Tid>) -> Family {
        let mut family = Family { number: vec![], sent: vec![], lost: Lost::default() };
        let mut places = BTreeMap::<Tid, usize>::new();
        let place: Vec<Option<usize>> = all
            .iter()
            .map(|thread| {
                let number = by(thread)?;
                let at = *places.entry(number).or_insert(family.number.len());
                if at == family.number.len() {
                    family.number.push(number);
                    family.sent.push(Sent::NONE);
                }
                family.sent[at].add(&thread.sent);
                Some(at)
            })
            .collect();
        for (known, lost) in lost.iter().enumerate() {
            for ((victim, culprit), waits) in lost {
                let [Some(victim), Some(culprit)] = [place[*victim], place[*culprit]] else { continue };
                if victim != culprit {
                    let all = family.lost[known].entry((victim, culprit)).or_default();
                    all.time += waits.time;
                    all.count += waits.count;
                }
            }
        }
        family
    }

    /// The tasks that delay the others by themselves; if there are none, the tasks that several similar ones delay.
    pub fn apart(&self) -> Vec<Tid> {
        let culprits = self.apart_by(Side::Culprit);
        if culprits.is_empty() {
            return self.apart_by(Side::Victim);
        }
        culprits
    }

    fn apart_by(&self, side: Side) -> Vec<Tid> {
        if self.number.len() < 2 {
            return vec![];
        }
        let known = Balance::of(&self.sent, &self.lost[..1], side);
        let all = Balance::of(&self.sent, &self.lost, side);
        let is_apart = |at: &usize| {
            let sure = 1.0 - SURE / (known.often[*at] as f64).sqrt();
            known.is_one_sided(&self.sent, *at, sure)
                || all.often[*at] >= MANY && all.is_one_sided(&self.sent, *at, 1.0)
        };
        (0..self.number.len()).filter(is_apart).map(|at| self.number[at]).collect()
    }
}

/// For each process, by the clock: the time that it cost the others of its name, the time that it lost to them, and how often they waited
/// for it. For [`Side::Victim`] with lost and cost exchanged, and how often it waited.
struct Balance {
    cost: Vec<f64>,
    lost: Vec<f64>,
    often: Vec<u64>,
}

/// The role that a task to distinguish has; victims are sought only if there is no culprit.
#[derive(Clone, Copy)]
enum Side {
    /// It delays the others and is hardly delayed by them.
    Culprit,
    /// The others delay it and are hardly delayed by it.
    Victim,
}

impl Balance {
    fn of(all: &[Sent], lost: &[BTreeMap<(usize, usize), Waits>], side: Side) -> Balance {
        let none = || vec![0.0; all.len()];
        let mut sums = Balance { cost: none(), lost: none(), often: vec![0; all.len()] };
        for ((victim, culprit), waits) in lost.iter().flatten() {
            let by_the_clock = waits.time.0 as f64 / all[*victim].depth();
            let (one, other) = match side {
                Side::Culprit => (*culprit, *victim),
                Side::Victim => (*victim, *culprit),
            };
            sums.cost[one] += by_the_clock;
            sums.lost[other] += by_the_clock;
            sums.often[one] += waits.count;
        }
        sums
    }

    /// Whether a task costs the others far more than it loses to them. `sure`: the part of its cost that counts.
    fn is_one_sided(&self, all: &[Sent], at: usize, sure: f64) -> bool {
        let lost: f64 = self.lost.iter().sum();
        let took: f64 = all.iter().map(|sent| sent.time.0 as f64 / sent.depth()).sum();
        let cost = self.cost[at];
        sure * cost > APART * self.lost[at] && cost > CAUSES * lost && lost > WORTH * took
    }
}
