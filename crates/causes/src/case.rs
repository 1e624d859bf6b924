//! What causes judge by, and the account that lets each nanosecond of the tail be claimed once.
//!
//! Invariant: what all causes together claim of a group's time of one reason never exceeds that time.

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

/// A cause that was found: how much it explains, and on which devices what it claims was.
struct Finding {
    cause: &'static str,
    explains: Nanos,
    devices: BTreeSet<DevId>,
}

/// The facts of a recording, for causes.
pub struct Case<'a> {
    /// What one pass found out.
    pub facts: &'a Facts,
    /// Whose time is asked about.
    pub focus: &'a Focus,
    /// The host's settings, as far as files beside the trace tell.
    pub system: &'a System,
    /// How often the page cache was dropped while it was recorded, where that was counted.
    pub dropped: Option<u64>,
    /// What was lost.
    pub quality: &'a Quality,
    /// What devices are called.
    pub names: &'a dyn Fn(DevId) -> String,
    /// The rows of each group's tail, and what causes claimed of them.
    rows: Vec<Vec<Claimable>>,
    /// What was found so far, and the time it explains.
    found: Vec<Finding>,
    /// Whether a device is slow for every request.
    slow_throughout: bool,
}

impl<'a> Case<'a> {
    /// A case in which nothing is claimed.
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

    /// Adds what the kernel counted meanwhile.
    pub fn counted(mut self, samples: &Samples) -> Self {
        self.dropped = samples.intervals.iter().filter_map(|i| i.dropped).reduce(u64::saturating_add);
        self
    }

    /// The slowest operations of a group that were kept, the slowest first: its task's, no neighbour's.
    pub fn sampled(&self, group: &Group) -> Vec<&'a SampledOperation> {
        let stats = group.op.and_then(|op| self.facts.operations.groups.get(&op));
        stats.map_or(vec![], |s| s.slowest.of(&group.task))
    }

    /// Those of them that are in the group's tail.
    pub fn kept_of_tail(&self, group: &Group) -> impl Iterator<Item = &'a SampledOperation> + use<'a> {
        let from = group.tail.threshold;
        self.sampled(group).into_iter().filter(move |sampled| sampled.operation.total() >= from)
    }

    /// The groups worth judging, slow or not, with their numbers.
    pub fn groups(&self) -> impl Iterator<Item = (usize, &'a Group)> {
        let significance = Significance::of(self.facts, self.focus);
        self.focus.groups.iter().enumerate().filter(move |(_, g)| significance.matters(g))
    }

    /// What the slowest operations waited for, for each group that matters and is slow. See [`Slow`].
    pub fn slow(&self) -> Vec<Slow<'a>> {
        self.slow_groups().flat_map(|(at, g)| Slow::of(self.facts, at, g)).collect()
    }

    /// The groups that matter and are slow. Of operations the mean of the slowest counts: most writes only copy to memory
    /// in microseconds, and one in a thousand that waits for 10 ms is what users ask about.
    pub fn slow_groups(&self) -> impl Iterator<Item = (usize, &'a Group)> {
        let mean = |g: &Group| g.tail.sum.time.total.0 / g.tail.sum.time.operations.max(1);
        self.groups().filter(move |(_, g)| g.tail.p99 >= NOT_SLOW || g.op.is_some() && mean(g) >= NOT_SLOW.0)
    }

    /// Claims up to `wanted` of the time of one reason; what others have claimed before is not given again.
    pub fn claim(&mut self, slow: &Slow, reason: Reason, wanted: Nanos) -> Nanos {
        self.claim_of_group(slow.group_number, slow.account(reason), wanted)
    }

    /// The same for a group by number: of each row with that reason in proportion.
    pub fn claim_of_group(&mut self, group: usize, reason: Reason, wanted: Nanos) -> Nanos {
        self.claim_rows(group, wanted, |row| row.reason == reason)
    }

    /// Claims up to `wanted` of some rows' time, of each in proportion; what others have claimed before is not given again.
    pub fn claim_rows(&mut self, group: usize, wanted: Nanos, pick: impl Fn(&Claimable) -> bool) -> Nanos {
        let picked: Vec<bool> = self.rows[group].iter().map(pick).collect();
        self.claim_numbered(group, wanted, |number| picked[number])
    }

    /// The same of rows by number.
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

    /// Claims up to `wanted` of the time of one phase; of what was done below, of its reason.
    pub fn claim_phase(&mut self, slow: &Slow, phase: Phase, wanted: Nanos) -> Nanos {
        match slow.is_below() {
            true => self.claim(slow, phase.reason(), wanted),
            false => self.claim_rows(slow.group_number, wanted, |row| row.phase == phase),
        }
    }

    /// The rows of a group's tail.
    pub fn rows(&self, group: usize) -> &[Claimable] {
        &self.rows[group]
    }

    /// What is unclaimed of the time of one reason.
    pub fn unclaimed(&self, slow: &Slow, reason: Reason) -> Nanos {
        self.unclaimed_of_group(slow.group_number, slow.account(reason)).min(slow.time(reason))
    }

    /// What is unclaimed of a group's time of one reason.
    pub(crate) fn unclaimed_of_group(&self, group: usize, reason: Reason) -> Nanos {
        self.unclaimed_rows(group, |row| row.reason == reason)
    }

    /// What is unclaimed of some rows.
    pub fn unclaimed_rows(&self, group: usize, pick: impl Fn(&Claimable) -> bool) -> Nanos {
        self.rows[group].iter().filter(|r| pick(r)).map(|r| r.left).sum()
    }

    /// The part of a wait that is unclaimed in the group's tail, 0 to 1; all of one that the tail does not have.
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

    /// The part of the time of all operations of a group, slow or not, that some waits have which no cause claimed of the slowest, 0 to 1.
    pub(crate) fn share_of_all(&self, slow: &Slow, pick: impl Fn(&TailRow) -> bool) -> f64 {
        if slow.is_below() {
            return 0.0;
        }
        let rows = slow.group.rows(&self.facts.waits, Selection::default());
        let left = |row: &TailRow| self.part_left(slow.group_number, row) * row.time.0 as f64;
        let time = rows.iter().filter(|row| pick(row)).map(left).fold(0.0, |all, part| all + part);
        time / slow.group.all.time.total.0.max(1) as f64
    }

    /// What is unclaimed of each row; to learn what a cause claims, or to give it back.
    pub(crate) fn unclaimed_now(&self) -> Vec<Vec<Nanos>> {
        self.rows.iter().map(|rows| rows.iter().map(|r| r.left).collect()).collect()
    }

    /// Rolls back what was claimed since then: it would be too little to report.
    pub(crate) fn rollback(&mut self, before: Vec<Vec<Nanos>>) {
        for (row, left) in self.rows.iter_mut().flatten().zip(before.into_iter().flatten()) {
            row.left = left;
        }
    }

    /// What was claimed since then.
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

    /// Notes a verdict for the causes that come after.
    pub(crate) fn note(&mut self, verdict: &Verdict) {
        if verdict.verdict == Answer::Found {
            let devices = verdict.claims.iter().map(|c| self.focus.groups[c.group].dev).collect();
            self.found.push(Finding { cause: verdict.cause, explains: verdict.explains, devices });
            self.slow_throughout |= !verdict.throughout.is_empty();
        }
    }

    /// Whether a device was found that is slow for every request.
    pub(crate) fn slow_throughout(&self) -> bool {
        self.slow_throughout
    }

    /// The cause that explains most so far.
    pub fn main_finding(&self) -> Option<(&'static str, Nanos)> {
        self.found.iter().map(|f| (f.cause, f.explains)).max_by_key(|(_, t)| *t)
    }

    /// Whether a cause was found so far.
    pub(crate) fn was_found(&self, cause: &str) -> bool {
        self.found.iter().any(|f| f.cause == cause)
    }

    /// The same for operations on a device: on another one it explains nothing of this one.
    pub(crate) fn was_found_on(&self, cause: &str, dev: DevId) -> bool {
        self.found.iter().any(|f| f.cause == cause && f.devices.contains(&dev))
    }

    /// The part of all tails' time that some claims have, by the clock, 0 to 1.
    pub(crate) fn part_of_all(&self, claims: &[Claim]) -> f64 {
        let groups = &self.focus.groups;
        let all: u64 = groups.iter().map(|g| g.tail_by_the_clock(self.facts, g.tail.sum.time.total).0).sum();
        let its: u64 = claims.iter().map(|c| groups[c.group].tail_by_the_clock(self.facts, c.time).0).sum();
        its as f64 / all.max(1) as f64
    }

    /// The largest part that claims have of the time of all operations of a group, slow or not: of each wait what was claimed of the
    /// slowest's, and of a wait that these did not have what was claimed of alike ones; 0 to 1.
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

    /// The tail's time in all.
    pub fn total(&self) -> Nanos {
        self.focus.time().total
    }

    /// Settings of a device.
    pub fn settings(&self, dev: DevId) -> Option<&'a evidence::Device> {
        self.system.device_at(dev).or_else(|| self.system.device(&(self.names)(dev)))
    }

    /// What is mounted of a device; nothing where that is several of its partitions, and commands would act on any of them.
    pub(crate) fn mount(&self, dev: DevId) -> Option<&'a evidence::Mount> {
        let mut all = self.system.mounts_on(self.settings(dev)?);
        let first = all.next()?;
        all.all(|other| other.source == first.source).then_some(first)
    }

    /// The file system of a group's operations: by its own number where they tell it, that of a partition perhaps.
    pub(crate) fn mount_of(&self, group: &Group) -> Option<&'a evidence::Mount> {
        let own = group.op.map(|op| op.dev).filter(|dev| *dev != DevId(0));
        let by_number = own.and_then(|dev| self.system.mounts.iter().find(|m| m.dev == Some(dev)));
        by_number.or_else(|| self.mount(group.dev))
    }

    /// What a device is called.
    pub fn name(&self, dev: DevId) -> String {
        (self.names)(dev)
    }

    /// The task that sent most requests of some classes to a device, and its part of them.
    pub fn main_task(&self, device: &Device, classes: &[Class]) -> Option<(&'a str, f64)> {
        self.main_task_of(device, classes, |_| true)
    }

    /// The same of some tasks.
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

    /// Whether a device has requests, or one below it that was recorded has.
    pub(crate) fn sees_below(&self, dev: DevId) -> bool {
        !leaves(self.facts, dev).is_empty()
    }

    /// The verdict of a cause that found nothing to judge: that nothing of the kind was slow, or that what was slow
    /// went to devices that were not recorded.
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

    /// The same of a cause that comes after others: they explain all waiting in a device, and it need not be reported.
    pub(crate) fn nothing_left(&self, cause: &'static str) -> Verdict {
        let v = self.nothing(cause, "other causes explain all the time in devices");
        Verdict { minor: v.verdict == Answer::Rejected, ..v }
    }

    /// How damaged the recording is.
    pub fn damage(&self) -> Damage {
        Damage::of(self.quality, self.facts)
    }
}

/// Whether a task's name says who it is.
pub(crate) fn is_named(task: &str) -> bool {
    !task.is_empty() && task != "?" && !task.starts_with('(')
}
