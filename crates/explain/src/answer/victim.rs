//! Who lost time, how much, and what would be without whom.

use super::because::{self, Because};
use super::claims::Claims;
use super::{rank, role};
use crate::blame::Which;
use crate::explanation::Explanation;
use causes::{Answer, Verdict};
use stats::{Group, TAIL_SHARE};
use std::collections::{BTreeMap, BTreeSet};
use trace::Nanos;
use waits::{Absent, CulpritKind, Selection};

/// Parts of the latencies that are told.
const TOLD: [f64; 2] = [0.5, 0.99];

/// A victim.
#[derive(Clone, Debug)]
pub struct Sufferer {
    /// Its place in the explanation's focus.
    pub group: usize,
    /// The task's name.
    pub task: String,
    /// What server it belongs to, where its name tells.
    pub role: Option<&'static str>,
    /// The control group of its processes, where that is known and one.
    pub cgroup: Option<String>,
    /// How many operations.
    pub count: u64,
    /// The time of those that are asked about: of all, or of the slowest 1 %.
    pub time: Nanos,
    /// What of that time was lost.
    pub lost: Nanos,
    /// What of that is no more than such requests vary by.
    pub noise: Nanos,
    /// Whether the service of its requests is not known, so that what it lost is an upper bound.
    pub is_bound: bool,
    /// Whether its operations are too few to say anything.
    pub is_thin: bool,
    /// Median, p99 and longest latency.
    pub latency: [Nanos; 3],
    /// What half of them, and 99 of 100, would take alone; `None` where that is not known.
    pub alone: Option<[Nanos; 2]>,
    /// Why it was lost; sums to `lost`.
    pub because: Vec<Because>,
    /// What would be without one culprit.
    pub without: Vec<Without>,
}

/// A victim's latencies without somebody.
#[derive(Clone, Debug)]
pub struct Without {
    /// Without whom.
    pub who: Absent,
    /// The mean latency.
    pub mean: Predicted,
    /// The median.
    pub p50: Predicted,
    /// 99 of 100; `None` of fewer operations than a p99 needs.
    pub p99: Option<Predicted>,
}

/// A latency that nobody saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicted {
    /// As the split of the time says.
    pub value: Nanos,
    /// In nine of ten cases it came true from here on,
    pub low: Nanos,
    /// up to here.
    pub high: Nanos,
}

impl Predicted {
    /// Of a latency as it is now, by how far such predictions were off ([`TOO_HIGH`], [`TOO_LOW`]).
    /// No lower than it would be alone.
    fn of(value: Nanos, now: Nanos, alone: Nanos) -> Predicted {
        let part = |part: f64| Nanos((now.0 as f64 * part) as u64);
        let low = value.since(part(TOO_HIGH)).max(alone).min(value);
        Predicted { value, low, high: value + part(TOO_LOW) }
    }
}

/// Nine of ten means without a neighbour, measured in recordings of applications, were at most so much lower than predicted, as parts
/// of the mean beside it (docs/what-if.md, "Without somebody")...
const TOO_HIGH: f64 = 0.45;
/// ... or so much higher: who is gone leaves room that others take.
const TOO_LOW: f64 = 0.35;

impl Sufferer {
    /// The part of what it lost that no cause explains and nobody had, 0 to 1.
    pub fn unexplained(&self) -> f64 {
        let unknown = |b: &&Because| b.cause.is_none() && b.source.kind == CulpritKind::Unknown;
        let time: Nanos = self.because.iter().filter(unknown).map(|b| b.time).sum();
        time.0 as f64 / self.lost.0.max(1) as f64
    }

    /// The part of what it lost that a cause explains, 0 to 1.
    pub fn share_of(&self, cause: &str) -> f64 {
        self.lost_to(cause).0 as f64 / self.lost.0.max(1) as f64
    }

    /// What of what it lost a cause explains.
    pub fn lost_to(&self, cause: &str) -> Nanos {
        self.because.iter().filter(|b| b.cause == Some(cause)).map(|b| b.time).sum()
    }
}

/// All victims, in the order in which they are told.
pub(crate) fn all(e: &Explanation) -> Vec<Sufferer> {
    let found: Vec<&Verdict> = e.verdicts.iter().filter(|v| v.verdict == Answer::Found).collect();
    let claims = Claims::new(&e.facts, &e.focus.groups, &found);
    let groups = e.focus.groups.iter().enumerate();
    let mut all: Vec<Sufferer> = groups.map(|(number, g)| sufferer(e, number, g, &claims)).collect();
    rank::sort(e, &mut all);
    all
}

fn sufferer(e: &Explanation, number: usize, group: &Group, claims: &Claims) -> Sufferer {
    let table = &e.facts.waits;
    let sums = group.victims.iter().map(|v| table.of(*v).1).max_by_key(|s| s.ops);
    let is_bound = group.is_mostly_unknown();
    let quantile = |q| sums.map_or(Nanos(0), |s| s.quantile(q));
    let alone = |q| sums.map_or(Nanos(0), |s| s.own_quantile(q));
    let (which, of, lost) = match e.subject.which {
        Which::All => (Selection::default(), &group.all, group.lost),
        Which::Slowest => {
            let (which, _) = table.slowest_of(&group.victims, TAIL_SHARE);
            (which, &group.tail.sum, because::lost_in(&e.facts, group, which))
        }
    };
    Sufferer {
        group: number,
        task: group.task.clone(),
        role: role::of(&group.task),
        cgroup: cgroup(e, &group.task),
        count: group.operations,
        time: of.time.total,
        lost,
        noise: of.varied,
        is_bound,
        is_thin: group.is_thin(),
        latency: [quantile(TOLD[0]), quantile(TOLD[1]), group.longest],
        alone: (!is_bound).then(|| TOLD.map(alone)),
        because: because::all(&e.facts, (number, group), which, lost, claims),
        without: without(e, group),
    }
}

/// The control group that all processes of a task were in, as far as it is known.
fn cgroup(e: &Explanation, task: &str) -> Option<String> {
    let of = |process| e.subject.system.processes.cgroup(process);
    let groups: Option<BTreeSet<&str>> = e.facts.operations.processes_of(task).map(of).collect();
    groups.filter(|g| g.len() == 1)?.first().map(|g| g.to_string())
}

/// Names of the tasks that did I/O in a control group or below it, and in no other.
pub fn tasks_of_cgroup<'a>(e: &'a Explanation, path: &'a str) -> impl Iterator<Item = &'a str> {
    let is_below = move |group: &str| {
        group
            .strip_prefix(path.trim_end_matches('/'))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let in_it = move |task: &str| {
        let mut groups =
            e.facts.operations.processes_of(task).map(|p| e.subject.system.processes.cgroup(p)).peekable();
        groups.peek().is_some() && groups.all(|group| group.is_some_and(is_below))
    };
    e.facts.operations.tasks().filter(move |task| in_it(task))
}

/// What would be without somebody, for each victim that would notice.
pub fn without_somebody(e: &Explanation, who: &Absent) -> Vec<(usize, Without)> {
    let groups = e.focus.groups.iter().enumerate().filter(|(_, g)| !g.is_thin());
    groups.filter_map(|(number, g)| Some((number, one_without(e, g, who)?))).collect()
}

/// Tasks that kept others waiting, the dearest first.
pub fn in_the_way(e: &Explanation) -> Vec<(String, Nanos)> {
    let table = &e.facts.waits;
    let mut all = BTreeMap::<String, Nanos>::new();
    let victims = e.focus.groups.iter().flat_map(|g| &g.victims);
    for (who, without) in victims.flat_map(|v| &table.of(*v).1.without) {
        if let Absent::Task(name) = table.absent(*who) {
            *all.entry(name.into()).or_default() += Nanos(without.time);
        }
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    all
}

/// A group's latencies without somebody; `None` if that one's absence was not followed.
fn one_without(e: &Explanation, group: &Group, who: &Absent) -> Option<Without> {
    let table = &e.facts.waits;
    let victim = group.victims.iter().max_by_key(|v| table.of(**v).1.ops)?;
    let sums = table.of(*victim).1;
    let (mean, told) = table.quantiles_without(*victim, who, &TOLD)?;
    let of =
        |part: usize| Predicted::of(told[part], sums.quantile(TOLD[part]), sums.own_quantile(TOLD[part]));
    let mean_of = |ns: u64| Nanos(ns / sums.ops.max(1));
    Some(Without {
        who: who.clone(),
        mean: Predicted::of(mean, mean_of(sums.ns), mean_of(sums.ns.saturating_sub(sums.lost))),
        p50: of(0),
        p99: (sums.ops >= 100).then(|| of(1)),
    })
}

/// What would be without each task who had a part worth a word.
fn without(e: &Explanation, group: &Group) -> Vec<Without> {
    let table = &e.facts.waits;
    let Some(victim) = group.victims.iter().max_by_key(|v| table.of(**v).1.ops) else { return vec![] };
    let sums = table.of(*victim).1;
    let told = sums.without.iter().filter(|(_, w)| w.time.saturating_mul(20) >= sums.lost);
    let mut all: Vec<(Absent, u64)> = told.map(|(who, w)| (table.absent(*who), w.time)).collect();
    all.retain(|(who, _)| matches!(who, Absent::Task(_)));
    all.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    all.iter().filter_map(|(who, _)| one_without(e, group, who)).collect()
}
