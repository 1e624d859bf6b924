//! What causes judge by, and the bookkeeping that lets each nanosecond of a tail be claimed only once.
//!
//! Invariant: all causes together never claim more of a group's time of one reason than there is.

pub use crate::claimable::Claimable;
use crate::damage::Damage;
use crate::proof::proof;
use crate::significance::Significance;
use crate::slow::{leaves, Slow};
pub use crate::thresholds::case::{KEPT_WAITING, MIN_SAMPLES, MIN_SHARE, NOT_SLOW};
use crate::verdict::{Answer, Claim, Verdict};
use evidence::{Samples, System};
use ledger::Reason;
use life::Class;
use stats::{Device, Facts, Focus, Group, SampledOperation, TailRow};
use std::collections::{BTreeMap, BTreeSet};
use trace::{DevId, Nanos, Quality};
use waits::{CulpritId, Phase, Selection};

/// A found cause: how much time it explains, and the devices of the groups in which it claims time.
struct Finding {
    cause: &'static str,
    explains: Nanos,
    devices: BTreeSet<DevId>,
}

/// What causes judge: the facts and settings of a recording, and how much of each tail is still unclaimed.
pub struct Case<'a> {
    /// All that one pass over the events counted.
    pub facts: &'a Facts,
    /// The groups of operations that are asked about.
    pub focus: &'a Focus,
    /// The host's settings, as far as files beside the trace contain them.
    pub system: &'a System,
    /// How often the page cache was dropped during the recording; `None` if no sample counted that.
    pub dropped: Option<u64>,
    /// Events that were lost, skipped or out of order.
    pub quality: &'a Quality,
    /// The display name of a device: `sda`.
    pub names: &'a dyn Fn(DevId) -> String,
    /// The rows of each group's tail with their unclaimed time, in the order of [`Focus::groups`].
    rows: Vec<Vec<Claimable>>,
    /// The causes found so far, in the order in which they were judged.
    found: Vec<Finding>,
    /// Whether a found cause holds for all operations of a group, slow or not.
    slow_throughout: bool,
}

impl<'a> Case<'a> {
    /// A case in which nothing is claimed yet.
    pub fn new(
        facts: &'a Facts,
        focus: &'a Focus,
        system: &'a System,
        quality: &'a Quality,
        names: &'a dyn Fn(DevId) -> String,
    ) -> Case<'a> {
        let claimable = |row: TailRow| Claimable { row, left: row.time };
        let of = |g: &Group| g.tail_rows(&facts.waits).into_iter().map(claimable).collect();
        let rows = focus.groups.iter().map(of).collect();
        Case {
            facts,
            focus,
            system,
            dropped: None,
            quality,
            names,
            rows,
            found: vec![],
            slow_throughout: false,
        }
    }

    /// Adds to a verdict what there is to say about each of some groups, about that one alone.
    pub(crate) fn of_each(
        &self,
        v: Verdict,
        groups: &[usize],
        add: impl Fn(Verdict, &Group) -> Verdict,
    ) -> Verdict {
        let each = |v: Verdict, number: &usize| add(v.about(*number), &self.focus.groups[*number]);
        groups.iter().fold(v, each).about_all()
    }

    /// Adds how often the page cache was dropped, from the kernel's counters sampled during the recording.
    pub fn counted(mut self, samples: &Samples) -> Self {
        self.dropped = samples.intervals.iter().filter_map(|i| i.dropped).reduce(u64::saturating_add);
        self
    }

    /// The sampled operations of the group's task, the slowest first; empty if the group consists of bios.
    pub fn sampled(&self, group: &Group) -> Vec<&'a SampledOperation> {
        let stats = group.op.and_then(|op| self.facts.operations.groups.get(&op));
        stats.map_or(vec![], |s| s.slowest.of(&group.task))
    }

    /// The sampled operations that are in the group's tail.
    pub fn sampled_of_tail(&self, group: &Group) -> impl Iterator<Item = &'a SampledOperation> + use<'a> {
        let from = group.tail.threshold;
        self.sampled(group).into_iter().filter(move |sampled| sampled.operation.total() >= from)
    }

    /// The groups worth judging, slow or not, each with its index ([`Significance`]).
    pub fn groups(&self) -> impl Iterator<Item = (usize, &'a Group)> {
        let significance = Significance::of(self.facts, self.focus);
        self.focus.groups.iter().enumerate().filter(move |(_, g)| significance.matters(g))
    }

    /// What the tails waited for, of each group that matters and is slow. See [`Slow`].
    pub fn slow(&self) -> Vec<Slow<'a>> {
        self.slow_groups().flat_map(|(at, g)| Slow::of(self.facts, at, g)).collect()
    }

    /// The groups that matter and are slow. For operations the mean of the tail counts, too: most writes only copy to
    /// memory in microseconds, and one in a thousand that waits for 10 ms is what users ask about.
    pub fn slow_groups(&self) -> impl Iterator<Item = (usize, &'a Group)> {
        let mean = |g: &Group| g.tail.sum.time.total.0 / g.tail.sum.time.operations.max(1);
        self.groups().filter(move |(_, g)| g.tail.p99 >= NOT_SLOW || g.op.is_some() && mean(g) >= NOT_SLOW.0)
    }

    /// Claims up to `wanted` of the unclaimed time of one reason, and returns how much was claimed.
    pub fn claim(&mut self, slow: &Slow, reason: Reason, wanted: Nanos) -> Nanos {
        self.claim_of_group(slow.group_number, slow.account(reason), wanted)
    }

    /// Like [`claim`](Case::claim), for a group by index: the rows with that reason give in proportion to what is left of them.
    pub fn claim_of_group(&mut self, group: usize, reason: Reason, wanted: Nanos) -> Nanos {
        self.claim_rows(group, wanted, |row| row.reason == reason)
    }

    /// Claims up to `wanted` of the picked rows, in proportion to their unclaimed time, and returns how much was claimed.
    pub fn claim_rows(&mut self, group: usize, wanted: Nanos, pick: impl Fn(&Claimable) -> bool) -> Nanos {
        let picked: Vec<bool> = self.rows[group].iter().map(pick).collect();
        self.claim_numbered(group, wanted, |number| picked[number])
    }

    /// Like [`claim_rows`](Case::claim_rows), for rows by index.
    pub fn claim_numbered(&mut self, group: usize, wanted: Nanos, pick: impl Fn(usize) -> bool) -> Nanos {
        let rows = &mut self.rows[group];
        let left: Vec<u64> =
            rows.iter().enumerate().map(|(n, r)| if pick(n) { r.left.0 } else { 0 }).collect();
        let given = wanted.min(Nanos(left.iter().sum()));
        for (row, part) in rows.iter_mut().zip(device::largest_remainder(given, &left)) {
            row.left = row.left.since(part);
        }
        given
    }

    /// Claims up to `wanted` of the time of one phase. Time that passed in devices below is known by reason only.
    pub fn claim_phase(&mut self, slow: &Slow, phase: Phase, wanted: Nanos) -> Nanos {
        match slow.is_below() {
            true => self.claim(slow, phase.reason(), wanted),
            false => self.claim_rows(slow.group_number, wanted, |row| row.phase == phase),
        }
    }

    /// The rows of a group's tail, with their unclaimed time.
    pub fn rows(&self, group: usize) -> &[Claimable] {
        &self.rows[group]
    }

    /// The unclaimed time of one reason, at most what `slow` has of it.
    pub fn unclaimed(&self, slow: &Slow, reason: Reason) -> Nanos {
        self.unclaimed_of_group(slow.group_number, slow.account(reason)).min(slow.time(reason))
    }

    /// The unclaimed time of one reason in a group's tail.
    pub(crate) fn unclaimed_of_group(&self, group: usize, reason: Reason) -> Nanos {
        self.unclaimed_rows(group, |row| row.reason == reason)
    }

    /// The unclaimed time of the picked rows of a group's tail.
    pub fn unclaimed_rows(&self, group: usize, pick: impl Fn(&Claimable) -> bool) -> Nanos {
        self.rows[group].iter().filter(|r| pick(r)).map(|r| r.left).sum()
    }

    /// The unclaimed part of a wait in the group's tail, 0 to 1; 1 if the tail has no such wait.
    pub(crate) fn part_left(&self, group: usize, wait: &TailRow) -> f64 {
        let same = |row: &&Claimable| (row.chain, row.culprit) == (wait.chain, wait.culprit);
        let of_tail = self.rows[group].iter().filter(same);
        let (left, time) = of_tail.fold((0, 0), |(left, time), row| (left + row.left.0, time + row.time.0));
        if time == 0 {
            1.0
        } else {
            left as f64 / time as f64
        }
    }

    /// The part of the time of all operations of a group, slow or not, that picked waits take, less what was claimed of each in the tail, 0 to 1.
    pub(crate) fn share_of_all(&self, slow: &Slow, pick: impl Fn(&TailRow) -> bool) -> f64 {
        if slow.is_below() {
            return 0.0;
        }
        let rows = slow.group.rows(&self.facts.waits, Selection::default());
        let left = |row: &TailRow| self.part_left(slow.group_number, row) * row.time.0 as f64;
        let time = rows.iter().filter(|row| pick(row)).map(left).fold(0.0, |all, part| all + part);
        time / slow.group.all.time.total.0.max(1) as f64
    }

    /// The unclaimed time of each row of each group, to see later what a cause claimed, or to roll it back.
    pub(crate) fn unclaimed_now(&self) -> Vec<Vec<Nanos>> {
        self.rows.iter().map(|rows| rows.iter().map(|r| r.left).collect()).collect()
    }

    /// Rolls back the claims made since `before`: they would be too little to report.
    pub(crate) fn rollback(&mut self, before: Vec<Vec<Nanos>>) {
        for (row, left) in self.rows.iter_mut().flatten().zip(before.into_iter().flatten()) {
            row.left = left;
        }
    }

    /// The claims made since `before`.
    pub(crate) fn claims_since(&self, before: &[Vec<Nanos>]) -> Vec<Claim> {
        let mut claims = Vec::new();
        for (group, (was, rows)) in before.iter().zip(&self.rows).enumerate() {
            for (number, (was, row)) in was.iter().zip(rows).enumerate() {
                let time = was.since(row.left);
                if time.0 > 0 {
                    claims.push(Claim { group, row: number, reason: row.reason, time });
                }
            }
        }
        claims
    }

    /// Remembers a found cause for the causes that come after it.
    pub(crate) fn note(&mut self, verdict: &Verdict) {
        if verdict.verdict == Answer::Found {
            let devices = verdict.claims.iter().map(|c| self.focus.groups[c.group].dev).collect();
            self.found.push(Finding { cause: verdict.cause, explains: verdict.explains, devices });
            self.slow_throughout |= !verdict.throughout.is_empty();
        }
    }

    /// Whether a found cause holds for all operations of a group, slow or not.
    pub(crate) fn slow_throughout(&self) -> bool {
        self.slow_throughout
    }

    /// The cause that explains the most time so far, with that time; `None` if none was found.
    pub fn main_finding(&self) -> Option<(&'static str, Nanos)> {
        self.found.iter().map(|f| (f.cause, f.explains)).max_by_key(|(_, t)| *t)
    }

    /// Whether a cause was found so far.
    pub(crate) fn was_found(&self, cause: &str) -> bool {
        self.found.iter().any(|f| f.cause == cause)
    }

    /// Whether a cause was found so far on this device: on another device it explains nothing here.
    pub(crate) fn was_found_on(&self, cause: &str, dev: DevId) -> bool {
        self.found.iter().any(|f| f.cause == cause && f.devices.contains(&dev))
    }

    /// The part of all tails' time, by the clock, that these claims have, 0 to 1.
    pub(crate) fn part_of_all(&self, claims: &[Claim]) -> f64 {
        let groups = &self.focus.groups;
        let all: u64 = groups.iter().map(|g| g.tail_by_the_clock(self.facts, g.tail.sum.time.total).0).sum();
        let its: u64 = claims.iter().map(|c| groups[c.group].tail_by_the_clock(self.facts, c.time).0).sum();
        its as f64 / all.max(1) as f64
    }

    /// The largest part of the time of all operations of a group, slow or not, that these claims stand for, 0 to 1. Each wait counts by the
    /// part that was claimed of it in the tail; a wait that the tail does not have, by that of waits of the same phase and kind of culprit.
    pub(crate) fn part_of_operations(&self, claims: &[Claim]) -> f64 {
        let alike = |phase: Phase, culprit: CulpritId| {
            let who = self.facts.waits.culprit_of(culprit);
            (phase, who.kind, who.io)
        };
        let of_group = |number: usize| {
            let rows = &self.rows[number];
            let part_of = |is_its: &dyn Fn(&Claimable) -> bool| {
                let time: u64 = rows.iter().filter(|row| is_its(row)).map(|row| row.time.0).sum();
                let claimed = claims.iter().filter(|c| c.group == number && is_its(&rows[c.row]));
                (time > 0).then(|| claimed.map(|c| c.time.0).sum::<u64>() as f64 / time as f64)
            };
            let part = |wait: &TailRow| {
                part_of(&|row| (row.chain, row.culprit) == (wait.chain, wait.culprit)).or_else(|| {
                    part_of(&|row| alike(row.phase, row.culprit) == alike(wait.phase, wait.culprit))
                })
            };
            let group = &self.focus.groups[number];
            let all = group.rows(&self.facts.waits, Selection::default());
            let claimed: f64 = all.iter().map(|wait| part(wait).unwrap_or(0.0) * wait.time.0 as f64).sum();
            claimed / group.all.time.total.0.max(1) as f64
        };
        let groups: BTreeSet<usize> = claims.iter().map(|c| c.group).collect();
        groups.into_iter().map(of_group).fold(0.0, f64::max)
    }

    /// The time of all groups' tails together.
    pub fn total(&self) -> Nanos {
        self.focus.time().total
    }

    /// The settings of a device, found by its number or its name; `None` if there are none.
    pub fn settings(&self, dev: DevId) -> Option<&'a evidence::Device> {
        self.system.device_at(dev).or_else(|| self.system.device(&(self.names)(dev)))
    }

    /// The mount of a device; `None` if several of its partitions are mounted, because a command could act on any of them.
    pub(crate) fn mount(&self, dev: DevId) -> Option<&'a evidence::Mount> {
        let mut all = self.system.mounts_on(self.settings(dev)?);
        let first = all.next()?;
        all.all(|other| other.source == first.source).then_some(first)
    }

    /// The file system of a group's operations, by the device number of its events (perhaps a partition's), else by the group's device.
    pub(crate) fn mount_of(&self, group: &Group) -> Option<&'a evidence::Mount> {
        let own = group.op.map(|op| op.dev).filter(|dev| *dev != DevId(0));
        let by_number = own.and_then(|dev| self.system.mounts.iter().find(|m| m.dev == Some(dev)));
        by_number.or_else(|| self.mount(group.dev))
    }

    /// The display name of a device: `sda`.
    pub fn name(&self, dev: DevId) -> String {
        (self.names)(dev)
    }

    /// The task that sent the most requests of some classes to a device, and its part of them, 0 to 1; `None` if it has no usable name.
    pub fn main_task(&self, device: &Device, classes: &[Class]) -> Option<(&'a str, f64)> {
        self.main_task_of(device, classes, |_| true)
    }

    /// Like [`main_task`](Case::main_task), among some tasks only.
    pub(crate) fn main_task_of(
        &self,
        device: &Device,
        classes: &[Class],
        these: impl Fn(&str) -> bool,
    ) -> Option<(&'a str, f64)> {
        let mut by_task = self.requests_by_task(device.id, classes);
        by_task.retain(|task, _| these(task));
        let all: u64 = by_task.values().sum();
        let (name, count) = by_task.into_iter().max_by_key(|(_, n)| *n)?;
        is_named(name).then_some((name, count as f64 / all.max(1) as f64))
    }

    /// How many requests of some classes each task sent to a device.
    pub(crate) fn requests_by_task(&self, dev: DevId, classes: &[Class]) -> BTreeMap<&'a str, u64> {
        let mut by_task = BTreeMap::<&str, u64>::new();
        for (key, phases) in self.facts.cells.iter().filter(|(key, _)| key.dev == dev) {
            if classes.contains(&Class::of(key.op, key.flags)) {
                *by_task.entry(self.facts.tasks.name(key.task)).or_default() += phases.count;
            }
        }
        by_task
    }

    /// Whether requests of a device, or of a device below it, were recorded.
    pub(crate) fn sees_below(&self, dev: DevId) -> bool {
        !leaves(self.facts, dev).is_empty()
    }

    /// The verdict of a cause that had nothing to judge: *cannot tell* if a slow group's I/O went to devices that were
    /// not recorded, else rejected for the reason `otherwise`.
    pub(crate) fn nothing(&self, cause: &'static str, otherwise: &'static str) -> Verdict {
        let blind = |(_, g): &(usize, &Group)| !self.sees_below(g.dev);
        match self.slow_groups().find(blind) {
            Some((_, group)) => {
                let name = self.name(group.dev);
                Verdict::cannot_tell(
                    cause,
                    proof!(
                        "what the devices below {name} did was not recorded; record them with it: blktrace \
                         -d /dev/{name} -d ...",
                        name
                    ),
                )
            }
            None => Verdict::rejected(cause, otherwise),
        }
    }

    /// Like [`nothing`](Case::nothing), for a cause judged after others that explain all time in devices: a rejection is then not shown.
    pub(crate) fn nothing_left(&self, cause: &'static str) -> Verdict {
        let v = self.nothing(cause, "other causes explain all the time in devices");
        Verdict { minor: v.verdict == Answer::Rejected, ..v }
    }

    /// How damaged the recording is.
    pub fn damage(&self) -> Damage {
        Damage::of(self.quality, self.facts)
    }
}

/// Whether a task's name identifies it: it is not empty, not `?`, and does not begin with a parenthesis.
pub(crate) fn is_named(task: &str) -> bool {
    !task.is_empty() && task != "?" && !task.starts_with('(')
}
