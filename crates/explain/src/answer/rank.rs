//! Ranks victims: the task that was delayed longest, by the clock, comes first.
//!
//! A task waits for all operations that it has in flight at the same time: their lost time counts once, without the time that they
//! lost to one another. A task that delays others more than they delay it ranks after them. A job, which runs as long as it takes
//! ([`Roles`](super::roles)), or a task with many operations in flight that is no server, needs throughput: it ranks after tasks on
//! the same disk that wait for each operation. Among tasks with the same lost time, one that delays nobody comes first.

use super::nature::is_limit;
use super::thresholds::{NOTICED, WORTH_SEEING};
use super::victim::Sufferer;
use crate::explanation::Explanation;
use crate::which::Which;
use causes::{Answer, KEPT_WAITING};
use life::Class;
use operation::Kind;
use stats::{Group, FEW};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use trace::{is_journal, DevId, Nanos};
use waits::CulpritKind;

/// Sorts victims by rank: by time lost or, if at most a fifth of all their time was lost beyond noise, by time taken.
pub(crate) fn sort(e: &Explanation, all: &mut [Sufferer]) {
    let lost: Nanos = all.iter().map(|s| s.lost.since(s.noise)).sum();
    let time: Nanos = all.iter().map(|s| s.time).sum();
    // With so little lost time, all operations took the device's own time.
    let by_time = !is_worth_seeing(lost, time);
    let balance = balance(e, all);
    let costs_more = |s: &Sufferer| {
        let beside_own = s.lost.since(own_queue(s));
        let in_the_way = |b: &Balance| b.cost > b.lost_by_the_clock && is_worth_seeing(b.lost, beside_own);
        // A server's clients wait for one another: tasks that wait for the server are reported beside the clients.
        let is_of_clients = s.role.is_some() && 2 * own_queue(s).0 > s.lost.0 && s.time > e.facts.duration();
        !is_of_clients && balance.get(&s.task).is_some_and(in_the_way)
    };
    let least = e.facts.duration().0 / KEPT_WAITING;
    let keeps_waiting = |s: &Sufferer, lost: Nanos| {
        let lost = by_the_clock(e, s, lost.since(s.noise));
        !s.is_thin && lost.0 >= least && is_worth_seeing(s.lost, s.time)
    };
    let waits = |s: &&Sufferer| keeps_waiting(s, s.lost);
    // Devices with delayed tasks that delay nobody; below, devices with delayed tasks that are no jobs.
    let in_nobodys_way = |s: &&Sufferer| !costs_more(s);
    let victims: BTreeSet<DevId> =
        all.iter().filter(waits).filter(in_nobodys_way).map(|s| device(e, s)).collect();
    let no_jobs = || all.iter().filter(|s| !is_job(e, s));
    let beside_jobs: BTreeSet<DevId> = no_jobs().filter(waits).map(|s| device(e, s)).collect();
    let commits_wait = all.iter().filter(|s| commits(e, s)).filter(waits);
    let beside_commits: BTreeSet<DevId> = commits_wait.map(|s| device(e, s)).collect();
    // Many requests in flight delay nobody on a processor.
    let for_the_disk = |s: &&Sufferer| keeps_waiting(s, s.lost.since(for_a_processor(s)));
    let noticed = (NOTICED * e.facts.duration().0 as f64) as u64;
    // Nor is a single operation of a job delayed, unless it did not end, nor a single operation of any task that is hardly noticeable.
    let waits_for_each = |s: &&Sufferer| {
        let alone = (!e.subject.roles.is_job(&s.task) || s.waits_without_end())
            && by_the_clock(e, s, s.lost.since(s.noise)).0 >= noticed;
        for_the_disk(s) && (s.count >= FEW || alone)
    };
    let no_queues = || all.iter().filter(|s| !is_queue(e, s));
    let beside_queues: BTreeSet<DevId> = no_queues().filter(waits_for_each).map(|s| device(e, s)).collect();
    let notices = |s: &&Sufferer| by_the_clock(e, s, s.lost.since(s.noise)).0 >= noticed;
    let nobody_noticed = !all.iter().any(|s| notices(&s));
    let unnoticed = unnoticed(all.iter().map(|s| (device(e, s), notices(&s))));
    let class = |s: &Sufferer| {
        let dev = device(e, s);
        // A job waits for each of its operations, a queue for none.
        let runs_on = match e.subject.roles.is_job(&s.task) {
            _ if is_queue(e, s) && beside_queues.contains(&dev) => 3,
            true if commits(e, s) && beside_jobs.contains(&dev) => 1,
            true if beside_jobs.contains(&dev) || !commits(e, s) && beside_commits.contains(&dev) => 2,
            _ => 0,
        };
        // If most of a task's operations are among the slowest, none of them is slower than the others.
        let has_no_tail = e.subject.which == Which::Slowest && s.count >= FEW && 2 * s.asked > s.count;
        let is_last = s.is_thin || e.subject.roles.is_recorder(&s.task) || is_elsewhere(e, dev);
        (is_last, unnoticed.contains(&dev), has_no_tail, runs_on, costs_more(s) && victims.contains(&dev))
    };
    let by = |s: &Sufferer| if by_time { s.time } else { s.lost.since(s.noise) };
    // If no other task waits long, time lost to the task's own queue counts too.
    // Several processes of one name may wait at once: what counts is how long each of them waits.
    let each = |s: &Sufferer| match (nobody_noticed, overlaps(e, s)) {
        (_, false) => of_one(e, s, by(s)),
        (true, _) => of_the_clock(e, s, by(s)),
        (false, _) => by_the_clock(e, s, by(s)),
    };
    all.sort_by_cached_key(|s| (class(s), Reverse(each(s))));
    let its = |s: &Sufferer| (class(s), device(e, s), s.task.clone());
    let lost = |s: &Sufferer| by(s).since(if nobody_noticed { Nanos(0) } else { own_queue_of_many(e, s) });
    most_of_each_first(all, &its, &lost);
    let cost = |s: &Sufferer| balance.get(&s.task).map_or(Nanos(0), |b| b.cost);
    let alike =
        all.iter().take_while(|s| (class(s), device(e, s)) == (class(&all[0]), device(e, &all[0]))).count();
    let is_known = |s: &Sufferer| e.focus.groups.get(s.group).is_none_or(|g| !g.is_mostly_unknown());
    let is_innocent = |s: &Sufferer| !is_worth_seeing(cost(s), of_one(e, s, lost(s)));
    first_of_equals(&mut all[..alike], &each, &[&is_innocent, &is_known]);
}

/// Moves to the front a victim that lost about as much as the first one: preferably one that delays nobody, else one whose lost time is
/// known and not only an upper bound.
fn first_of_equals(
    all: &mut [Sufferer],
    lost: &dyn Fn(&Sufferer) -> Nanos,
    preferred: &[&dyn Fn(&Sufferer) -> bool],
) {
    let Some(most) = all.first().map(lost) else { return };
    let as_much = |s: &Sufferer| !is_worth_seeing(most.since(lost(s)), most);
    let found = preferred.iter().find_map(|is| all.iter().position(|s| is(s) && as_much(s)));
    if let Some(at) = found {
        all[..=at].rotate_right(1);
    }
}

/// Devices without a noticeable delay, if another device has one: their victims rank last. The order of victims matters only on a
/// shared disk. `all`: each victim's device, and whether its delay is noticeable.
fn unnoticed<D: Ord>(all: impl Iterator<Item = (D, bool)>) -> BTreeSet<D> {
    let mut noticed_on = BTreeMap::<D, bool>::new();
    all.for_each(|(dev, noticed)| *noticed_on.entry(dev).or_default() |= noticed);
    let anybody = noticed_on.values().any(|noticed| *noticed);
    noticed_on.into_iter().filter(|(_, noticed)| anybody && !noticed).map(|(dev, _)| dev).collect()
}

/// Within each set of similar operations (one task's on one device), puts the one with most lost time first. By the clock, overlapping
/// operations cannot lose more than the length of the recording, so the full lost time decides.
fn most_of_each_first<K: Ord>(
    all: &mut [Sufferer],
    its: &dyn Fn(&Sufferer) -> K,
    lost: &dyn Fn(&Sufferer) -> Nanos,
) {
    // There may be thousands: computes each loss once.
    let mut losses: Vec<Nanos> = all.iter().map(lost).collect();
    let mut alike = BTreeMap::<K, Vec<usize>>::new();
    for (at, s) in all.iter().enumerate() {
        alike.entry(its(s)).or_default().push(at);
    }
    for places in alike.values() {
        for (n, at) in places.iter().enumerate() {
            let most = places[n..].iter().max_by_key(|other| (losses[**other], Reverse(**other)));
            let most = *most.unwrap_or(at);
            all.swap(*at, most);
            losses.swap(*at, most);
        }
    }
}

/// Moves to the front the victim that a limit held back longest before its requests were visible, if that is longer than the first lost.
pub(crate) fn held_first(e: &Explanation, all: &mut [Sufferer]) {
    let Some(first) = all.first().map(|s| of_the_clock(e, s, s.lost)) else { return };
    let held = all.iter().enumerate().filter_map(|(at, s)| Some((held(e, s)?, at)));
    let most = held.max_by_key(|(held, at)| (*held, Reverse(*at)));
    if let Some((_, at)) = most.filter(|(held, _)| *held > first) {
        all[..=at].rotate_right(1);
    }
}

/// How long a limit held a victim back before its requests were visible; `None` if no limit did.
fn held(e: &Explanation, s: &Sufferer) -> Option<Nanos> {
    let found = e.verdicts.iter().filter(|v| is_limit(v.cause) && v.verdict == Answer::Found);
    let unseen = found.filter(|v| s.lost_to(v.cause) == Nanos(0)).flat_map(|v| &v.throughout);
    let part = unseen.filter(|(group, _)| *group == s.group).map(|(_, part)| *part).next()?;
    Some(Nanos((part * e.facts.duration().0 as f64) as u64))
}

/// Whether `part` is more than a fifth of `of` ([`WORTH_SEEING`]).
pub(super) fn is_worth_seeing(part: Nanos, of: Nanos) -> bool {
    part.0 as f64 > WORTH_SEEING * of.0 as f64
}

fn overlaps(e: &Explanation, s: &Sufferer) -> bool {
    e.focus.groups.get(s.group).is_some_and(|g| g.overlaps(&e.facts))
}

fn is_job(e: &Explanation, s: &Sufferer) -> bool {
    e.subject.roles.is_job(&s.task) || is_queue(e, s)
}

/// Whether a task that is no job noticed its loss: by the clock, it is a tenth of the recording.
pub(super) fn noticed(e: &Explanation, s: &Sufferer) -> bool {
    let lost = by_the_clock(e, s, s.lost.since(s.noise));
    !is_job(e, s) && lost.0 as f64 >= NOTICED * e.facts.duration().0 as f64
}

/// Whether other tasks wait for its writes, unseen in a recording without operations: the journal's thread.
pub(super) fn commits(e: &Explanation, s: &Sufferer) -> bool {
    e.facts.operations.is_empty() && is_journal(&s.task)
}

/// Whether it keeps operations in flight and is no server, or a server whose clients do not wait for these. Not if it is a writer in a
/// recording of block events: a task may wait for all its writes together (a sync). Not if a limit holds it for most of its time, or if it
/// mostly waits for others: then it does not keep the disk busy.
pub(super) fn is_queue(e: &Explanation, s: &Sufferer) -> bool {
    let waited_for = |g: &Group| g.op.is_none() && g.class != Class::Read;
    let limited: Nanos =
        s.because.iter().filter(|b| b.culprit.kind == CulpritKind::Limit).map(|b| b.time).sum();
    let is_held = limited.0 > s.time.0 / 2;
    let is_of_pages = |g: &Group| g.op.is_some_and(|op| matches!(op.kind, Kind::RingWrite | Kind::AioWrite));
    let nobody_waits =
        || e.subject.roles.writes_behind(&s.task) && e.focus.groups.get(s.group).is_some_and(is_of_pages);
    (s.role.is_none() || nobody_waits())
        && !is_held
        && !is_mostly_behind_others(s)
        && overlaps(e, s)
        && !e.focus.groups.get(s.group).is_some_and(waited_for)
}

/// Whether it lost more than half of its lost time to other tasks: then they delay it, whatever its queue depth.
fn is_mostly_behind_others(s: &Sufferer) -> bool {
    let others: Nanos = s.because.iter().filter(|b| b.culprit.is_another_than(&s.task)).map(|b| b.time).sum();
    others.0 > s.lost.0 / 2
}

/// Its time lost to waiting for a processor, not for a disk.
fn for_a_processor(s: &Sufferer) -> Nanos {
    s.because.iter().filter(|b| b.culprit.kind == CulpritKind::Cpu).map(|b| b.time).sum()
}

/// The wall-clock part of `time`: overlapping operations count once, without the wait in their own queue.
fn by_the_clock(e: &Explanation, s: &Sufferer, time: Nanos) -> Nanos {
    of_the_clock(e, s, time.since(own_queue_of_many(e, s)))
}

/// The time that overlapping operations lost to one another; 0 if they do not overlap.
fn own_queue_of_many(e: &Explanation, s: &Sufferer) -> Nanos {
    let many = overlaps(e, s) && s.time > e.facts.duration();
    if many {
        own_queue(s)
    } else {
        Nanos(0)
    }
}

/// Its time lost to its own requests.
fn own_queue(s: &Sufferer) -> Nanos {
    s.because.iter().filter(|b| b.culprit.kind == CulpritKind::Own).map(|b| b.time).sum()
}

/// The wall-clock part of `time`: overlapping operations count once.
pub(crate) fn of_the_clock(e: &Explanation, s: &Sufferer, time: Nanos) -> Nanos {
    e.focus.groups.get(s.group).map_or(time, |g| g.by_the_clock(&e.facts, time))
}

/// The wall-clock part of `time` for one of the operations that were in flight at the same time on average.
fn of_one(e: &Explanation, s: &Sufferer, time: Nanos) -> Nanos {
    stats::of_one(s.time, e.facts.duration(), time)
}

/// Whether the recording was limited to other devices: it then contains almost nothing of this device.
fn is_elsewhere(e: &Explanation, dev: DevId) -> bool {
    let only = &e.subject.only;
    if only.is_empty() || dev == DevId(0) {
        return false;
    }
    let name = e.name(dev);
    let disk = e.subject.system.disk_of(&name).map(|disk| &*disk.name);
    !only.iter().any(|recorded| *recorded == name || Some(&**recorded) == disk)
}

fn device(e: &Explanation, s: &Sufferer) -> DevId {
    e.focus.groups.get(s.group).map_or(DevId(0), |g| g.dev)
}

/// The time that a task lost to other tasks and that they lost to it.
#[derive(Clone, Copy, Default)]
struct Balance {
    /// Time that it lost because of others, summed over its operations.
    lost: Nanos,
    /// The same by the clock.
    lost_by_the_clock: Nanos,
    /// Time that others lost because of it, by the clock.
    cost: Nanos,
}

/// The balance of each task by name. A task that costs others more than it loses to them delays them, unless a visible part of its loss,
/// without its own queue, is due to others. Measured by the clock: of many operations in flight, all lose to each request ahead of them.
/// Time that a job loses to a task that is no job does not count.
fn balance(e: &Explanation, all: &[Sufferer]) -> BTreeMap<String, Balance> {
    let mut sums = BTreeMap::<String, Balance>::new();
    for s in all.iter().filter(|s| !s.is_thin) {
        for b in s.because.iter().filter(|b| b.culprit.is_another_than(&s.task)) {
            let Some(by) = b.culprit.name.as_deref() else { continue };
            let by_the_clock = of_one(e, s, b.time);
            let own = sums.entry(s.task.clone()).or_default();
            own.lost += b.time;
            own.lost_by_the_clock += by_the_clock;
            if e.subject.roles.is_job(by) || !is_job(e, s) {
                sums.entry(by.to_string()).or_default().cost += by_the_clock;
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::because::Because;
    use super::super::worth::tests::{flushes, victim};
    use super::*;

    #[test]
    fn where_nobody_noticed_anything_comes_after_where_somebody_did() {
        let of = |all: [(&'static str, bool); 3]| unnoticed(all.into_iter());
        assert_eq!(of([("vda", false), ("loop0", true), ("loop0", false)]), ["vda"].into());
        assert!(of([("vda", false), ("loop0", false), ("loop0", false)]).is_empty());
        assert!(of([("vda", true), ("vda", false), ("loop0", true)]).is_empty());
    }

    #[test]
    fn of_equals_who_is_in_nobodys_way_comes_first() {
        let of = |task: &str, lost: u64| Sufferer { task: task.into(), ..victim(1000, lost, 2 * lost) };
        let first = |all: [(&str, u64); 2], cost: u64| {
            let mut all = all.map(|(task, lost)| of(task, lost));
            let cost = |s: &Sufferer| Nanos(if s.task == "dd" { cost * 1_000_000 } else { 0 });
            let is_innocent = |s: &Sufferer| !is_worth_seeing(cost(s), s.lost);
            let is_known = |s: &Sufferer| s.task == "tar";
            first_of_equals(&mut all, &|s| s.lost, &[&is_innocent, &is_known]);
            all[0].task.clone()
        };
        assert_eq!(first([("dd", 100), ("tar", 98)], 30), "tar");
        assert_eq!(first([("dd", 100), ("tar", 98)], 5), "dd", "it is in nobody's way either");
        assert_eq!(first([("dd", 100), ("tar", 60)], 30), "dd", "it lost more");
        assert_eq!(first([("dd", 100), ("dd", 98)], 30), "dd");
    }

    #[test]
    fn whoever_loses_more_to_others_than_to_itself_is_mostly_behind_them() {
        let to = |kind, name: &str, ms| {
            let culprit = waits::Culprit { name: Some(name.into()), ..waits::Culprit::of(kind) };
            Because { culprit, ..flushes(ms) }
        };
        let of = |others: u64| {
            let own = Because { culprit: waits::Culprit::of(CulpritKind::Own), ..flushes(100 - others) };
            let because = vec![own, to(CulpritKind::Task, "dd", others)];
            is_mostly_behind_others(&Sufferer { because, ..victim(1000, 100, 2000) })
        };
        assert!(of(51) && !of(50));
    }

    #[test]
    fn of_one_task_what_lost_most_takes_its_first_place() {
        let of = |task: &str, lost: u64| Sufferer { task: task.into(), ..victim(1000, lost, 2 * lost) };
        let mut all = [of("db", 5), of("cp", 4), of("db", 25), of("db", 1)];
        most_of_each_first(&mut all, &|s| s.task.clone(), &|s| s.lost);
        assert_eq!(all.map(|s| s.lost.0 / 1_000_000), [25, 4, 5, 1]);
    }

    /// Equal losses keep their order. The key and loss of each are computed once, even with many tasks: each needs a role lookup by name.
    #[test]
    fn each_of_many_is_looked_at_once() {
        let tasks = (0..600).map(|n| (n % 300, n)).map(|(task, n)| Sufferer {
            task: format!("db{task}"),
            count: n,
            ..victim(1000, 5 + n % 2, 100)
        });
        let mut all: Vec<Sufferer> = tasks.collect();
        let looked = std::cell::Cell::new([0, 0]);
        let look =
            |[keys, losses]: [usize; 2]| looked.set([looked.get()[0] + keys, looked.get()[1] + losses]);
        let its = |s: &Sufferer| {
            look([1, 0]);
            s.task.clone()
        };
        let lost = |s: &Sufferer| {
            look([0, 1]);
            s.lost
        };
        most_of_each_first(&mut all, &its, &lost);
        assert_eq!(looked.get(), [600, 600]);
        assert!(all.iter().map(|s| s.count).eq(0..600), "what is as much stays where it was");
    }
}
