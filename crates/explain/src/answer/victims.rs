//! Finds the victims of an answer: what each task's operations lost, because of what, and what would be left without it.

use super::because;
use super::claims::Claims;
use super::thresholds::PERCENTILES;
use super::victim::Sufferer;
use super::{gain, rank, without};
use crate::explanation::Explanation;
use crate::which::Which;
use causes::{Answer, Verdict};
use stats::{Group, SampledOperation, TAIL_SHARE};
use std::collections::BTreeSet;
use trace::Nanos;
use waits::Selection;

/// All victims, sorted by rank.
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
        role: e.subject.roles.server(&group.task),
        cgroup: cgroup(e, &group.task),
        count: group.operations,
        in_devices: group.in_devices(table),
        at_once: causes::flash_takes(sums.map_or(0, |s| s.bytes / s.ops.max(1))),
        commits: group.op.is_some_and(|op| op.kind.makes_safe()),
        asked: of.time.operations,
        time: of.time.total,
        lost,
        noise: of.varied,
        is_bound,
        is_thin: group.is_thin(&e.facts),
        latency: [quantile(PERCENTILES[0]), quantile(PERCENTILES[1]), group.longest],
        still_out: still_out(e, group),
        begun_before: slowest(e, group)
            .iter()
            .max_by_key(|sampled| sampled.operation.total())
            .is_some_and(|sampled| sampled.operation.begun_before),
        alone: (!is_bound).then(|| PERCENTILES.map(alone)),
        because: because::all(&e.facts, (number, group), which, lost, claims),
        due: because::due(&e.facts, (number, group), which, claims),
        without: without::each(e, group),
        relieved: gain::of_each(e, (number, group), claims),
    }
}

fn still_out(e: &Explanation, group: &Group) -> u64 {
    slowest(e, group).iter().filter(|sampled| sampled.operation.still_out.is_some()).count() as u64
}

/// The sampled slowest operations of a group.
fn slowest<'a>(e: &'a Explanation, group: &Group) -> Vec<&'a SampledOperation> {
    let stats = group.op.and_then(|key| e.facts.operations.groups.get(&key));
    stats.map(|stats| stats.slowest.of(&group.task)).unwrap_or_default()
}

/// The cgroup of all processes of a task; `None` if it is unknown or they are in several.
fn cgroup(e: &Explanation, task: &str) -> Option<String> {
    let of = |process| e.facts.operations.cgroup(process);
    let groups: Option<BTreeSet<&str>> = e.facts.operations.processes_of(task).map(of).collect();
    groups.filter(|g| g.len() == 1)?.first().map(|g| g.to_string())
}

/// Names of the tasks whose processes were all in a cgroup or below it.
pub fn tasks_of_cgroup<'a>(e: &'a Explanation, path: &'a str) -> impl Iterator<Item = &'a str> {
    let is_below = move |group: &str| {
        group
            .strip_prefix(path.trim_end_matches('/'))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let in_it = move |task: &str| {
        let operations = &e.facts.operations;
        let mut groups = operations.processes_of(task).map(|p| operations.cgroup(p)).peekable();
        groups.peek().is_some() && groups.all(|group| group.is_some_and(is_below))
    };
    e.facts.operations.tasks().filter(move |task| in_it(task))
}
