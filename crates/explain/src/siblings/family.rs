//! Those of one name that are weighed against each other: who is in the others' way, and they hardly in its.

use super::Thread;
use std::collections::BTreeMap;
use trace::{Nanos, Tid};

/// Less than this part of what requests took is not worth a name of its own. A choice without a source, as the next two.
const WORTH: f64 = 0.1;

/// It costs so many times what it loses: of two that do the same each costs what it loses, but for chance.
const APART: f64 = 2.0;

/// Of all that processes of its name lost to one another, the part that one has to cost: in a pool of many alike none does.
const CAUSES: f64 = 0.25;

/// So many requests have to have waited for it where it is not known what they take by themselves: they may never have been alone.
pub(super) const MANY: u64 = 100;

/// Where that is known fewer will do, the more one-sided the fewer: so many standard errors are taken off what it costs. The error of a sum
/// of waits whose lengths differ as much as they are long is the sum by the root of their number.
const SURE: f64 = 2.0;

/// Who lost how much to whom, by their places: of requests of which it is known what they take by themselves, and of others.
pub(super) type Lost = [BTreeMap<(usize, usize), Waits>; 2];

/// How long and how often one waited for another.
#[derive(Clone, Copy, Default)]
pub(super) struct Waits {
    pub time: Nanos,
    pub count: u64,
}

/// When one had requests, and for how long in all.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    pub first: Nanos,
    pub last: Nanos,
    /// All that its requests were in the device.
    pub time: Nanos,
}

impl Sent {
    pub const NONE: Sent = Sent { first: Nanos(u64::MAX), last: Nanos(0), time: Nanos(0) };

    pub fn add(&mut self, other: &Sent) {
        (self.first, self.last) = (self.first.min(other.first), self.last.max(other.last));
        self.time += other.time;
    }

    /// How many of its requests were in flight at a time; at least one.
    pub fn depth(&self) -> f64 {
        (self.time.0 as f64 / self.last.since(self.first).0.max(1) as f64).max(1.0)
    }
}

/// Those that are weighed against each other: processes of one name, or threads of one process and name.
pub(super) struct Family {
    pub number: Vec<Tid>,
    sent: Vec<Sent>,
    lost: Lost,
}

impl Family {
    /// Those of these threads that `by` gives one number are one; whom it gives none is not weighed.
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

    /// Who is in the way of the others by itself; else in whose way several alike are.
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

/// What each process cost the others of its name and lost to them, by the clock, and how often it was waited for; or of the other side what it
/// lost, what it cost, and how often it waited.
struct Balance {
    cost: Vec<f64>,
    lost: Vec<f64>,
    often: Vec<u64>,
}

/// What is looked for first, and where nobody of a name is that.
#[derive(Clone, Copy)]
enum Side {
    /// It is in the way of the others, and they hardly in its.
    Culprit,
    /// They are in its way, and it hardly in theirs.
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

    /// Whether one costs the others far more than it loses to them. `sure`: the part of the former that counts.
    fn is_one_sided(&self, all: &[Sent], at: usize, sure: f64) -> bool {
        let lost: f64 = self.lost.iter().sum();
        let took: f64 = all.iter().map(|sent| sent.time.0 as f64 / sent.depth()).sum();
        let cost = self.cost[at];
        sure * cost > APART * self.lost[at] && cost > CAUSES * lost && lost > WORTH * took
    }
}
