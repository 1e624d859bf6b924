//! `background-task`: another task fills the device: a backup, `updatedb`, a scrub.
//!
//! The device's time is split by whose requests it served. If a task other than the victim had at least a tenth of the
//! slowest operations' time, by its requests in the device or by using up tags, the scheduler or writeback throttling's
//! budget, the device is not too slow for its work: that task could wait. Refuted if no single task had it, or if it
//! was writeback (a flusher's: that is `writeback-flood`) or md's (`raid-resync`).
//!
//! Example: of a read of 40 ms by `postgres`, 30 ms were behind requests of 256 KiB by `tar`: these are due to tar.

use crate::case::{Case, Claimable, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::device::background_remedies::remedies;
use crate::device::device_saturated;
use crate::device::expected::{expected, rotational};
use crate::device::moved;
use crate::interfering::{self, leads_to_the_device};
use crate::memory::in_turn;
use crate::proof::proof;
use crate::slow::Slow;
use crate::target::parent;
use crate::thresholds::growth::MIN_SAMPLES_OF_A_ROW;
use crate::thresholds::healthy::NOT_ITS_OWN;
use crate::verdict::{Confidence, Verdict};
use life::{Class, Io};
use operation::Wait;
use stats::TailRow;
use std::collections::{BTreeMap, BTreeSet};
use trace::{is_journal, is_kernel_thread, is_md, works_for_others, Nanos};
use waits::{ChainId, Culprit, CulpritId, Selection};

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "background-task",
    title: "another task keeps the device busy, and the slow operations wait behind its requests",
    nature: Nature::Contention,
    page: include_str!("../../pages/background-task.md"),
    judge: Judge::Each(Each {
        of,
        unless: "operations just as slow while that task does nothing",
        otherwise: Otherwise::Never(
            "while slow operations were in a device, it served no other task's requests",
        ),
        above: false,
    }),
};

fn of(case: &mut Case, slow: &Slow, mut v: Verdict) -> Said {
    let all = in_the_way(case, slow);
    let Some((task, time)) = all.first().filter(|_| !slow.is_below()) else { return Said::Nothing };
    let name = case.name(slow.on.id);
    let what = slow.words().to_string();
    if all.iter().all(|(task, time)| slow.share(*time) < MIN_SHARE && of_all(case, slow, task) < NOT_ITS_OWN)
    {
        return Said::Not(proof!(
            "the slowest {what} were behind {task}, the other task they waited for most, for {part} of their \
                 time",
            what,
            task,
            part = Share(slow.share(*time))
        ));
    }
    // If no request was ever alone, the time behind others is known only if requests take longer with more in flight, or queue.
    let unknown = slow.group.is_mostly_unknown() && !device_saturated::queues(slow);
    let unhindered =
        interfering::unhindered(slow, &name).filter(|_| unknown && !is_for_writeback(case, slow));
    // If most requests are other tasks', the comparison is about those, and some of them may always be in flight; the
    // same if the device nearly always had another request.
    let says_nothing = !are_its_own(case, slow) || is_never_alone(slow);
    let is_beside_larger = unhindered.is_some() && says_nothing && is_too_slow(case, slow);
    if let Some(unhindered) = unhindered.filter(|_| !is_beside_larger) {
        return Said::Not(unhindered);
    }
    let sure = if is_beside_larger { Confidence::Medium } else { Confidence::High };
    for (task, time) in &all {
        // Before the claim: what is claimed is not left any more.
        let of_all = of_all(case, slow, task);
        v = v.plus(claim(case, slow, task, *time), sure);
        if slow.share(*time) < MIN_SHARE && of_all < NOT_ITS_OWN {
            continue;
        }
        v.of_all.extend(not_of_the_slowest(case, slow, task));
        v = prove(v, case, slow, task, (*time, of_all));
        if loses_more(case, slow, task) {
            let (moved, _) = moved::moved(case, slow, task);
            // Larger read-ahead, by which readers take turns, comes first on a device that may rotate, and last on flash.
            let may_turn = rotational(case, slow.on.id).is_none_or(|turns| turns.value);
            let in_turn = |v| in_turn::of_two(v, case, slow.on, [&slow.group.task, task]);
            v = match may_turn {
                true => remedies(in_turn(v), case, slow, task, moved),
                false => in_turn(remedies(v, case, slow, task, moved)),
            };
        }
    }
    Said::Found(v)
}

/// Whether readers mostly wait for pages of their file under writeback, as direct reads do: how reads fare says nothing of that.
fn is_for_writeback(case: &Case, slow: &Slow) -> bool {
    if slow.group.class != Class::Read {
        return false;
    }
    let rows = || case.rows(slow.group_number).iter().filter(|row| leads_to_the_device(row.phase));
    let sum = |its: &dyn Fn(&&Claimable) -> bool| rows().filter(its).map(|row| row.left).sum::<Nanos>();
    2 * sum(&|row| row.waits.has(Wait::OwnData)).0 > sum(&|_| true).0
}

/// Whether most of the requests that are compared are the victim's, or were sent by threads that work for others.
fn are_its_own(case: &Case, slow: &Slow) -> bool {
    let by_task = case.requests_by_task(slow.on.id, &[slow.class]);
    let is_own = |task: &str| task == slow.group.task || works_for_others(task);
    let own: u64 = by_task.iter().filter(|(task, _)| is_own(task)).map(|(_, n)| n).sum();
    2 * own >= by_task.values().sum()
}

/// Whether there was nearly always another request in the device.
fn is_never_alone(slow: &Slow) -> bool {
    let alone = slow.contention().by_depth.rows().find(|row| row.from == 0);
    alone.is_none_or(|row| row.count < MIN_SAMPLES_OF_A_ROW)
}

/// Whether the slowest operations take longer than Linux expects of such a device.
fn is_too_slow(case: &Case, slow: &Slow) -> bool {
    let (enough, _) = expected(&rotational(case, slow.on.id));
    slow.group.tail.p99 > enough
}

/// The other tasks that interfered with a group, each with the unclaimed time that the slowest operations spent behind
/// it, the most first; tasks that only delayed other operations of the group come last, with no time. Writeback is left
/// out (it is a flood's: [`writeback_flood`](crate::memory::writeback_flood)), so are discards (`discard-stall`) and
/// threads that work for other tasks. Another task's flush counts as that task's: without the task there is no flush.
fn in_the_way(case: &Case, slow: &Slow) -> Vec<(String, Nanos)> {
    let table = &case.facts.waits;
    let mut all = BTreeMap::<&str, Nanos>::new();
    let mut add = |id: CulpritId, time: Nanos| {
        let culprit = table.culprit_of(id);
        if let Some(name) = culprit.name.as_deref().filter(|_| is_another_task(case, slow, culprit)) {
            *all.entry(name).or_default() += time;
        }
    };
    let of_all = slow.group.rows(table, Selection::default());
    of_all.iter().filter(|row| leads_to_the_device(row.phase)).for_each(|row| add(row.culprit, Nanos(0)));
    let slowest = case.rows(slow.group_number).iter().filter(|row| leads_to_the_device(row.phase));
    slowest.for_each(|row| add(row.culprit, row.left));
    let mut all: Vec<_> = all.into_iter().map(|(name, time)| (name.to_string(), time)).collect();
    all.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    all
}

/// The part of the time of all operations that was behind a task: the slowest may have met something else.
fn of_all(case: &Case, slow: &Slow, task: &str) -> f64 {
    let of_task = culprits_of(case, slow, task);
    case.share_of_all(slow, |row| leads_to_the_device(row.phase) && of_task.contains(&row.culprit))
}

/// The waits behind a task that the slowest operations did not have.
fn not_of_the_slowest(case: &Case, slow: &Slow, task: &str) -> Vec<(usize, ChainId, CulpritId)> {
    let (of_task, table) = (culprits_of(case, slow, task), &case.facts.waits);
    let slowest: BTreeSet<_> =
        case.rows(slow.group_number).iter().map(|row| (row.chain, row.culprit)).collect();
    let rows = slow.group.rows(table, Selection::default());
    rows.iter()
        .filter(|row| leads_to_the_device(row.phase) && of_task.contains(&row.culprit))
        .filter(|row| !slowest.contains(&(row.chain, row.culprit)))
        .map(|row| (slow.group_number, row.chain, row.culprit))
        .collect()
}

fn claim(case: &mut Case, slow: &Slow, task: &str, time: Nanos) -> Nanos {
    let of_task = culprits_of(case, slow, task);
    let is_its = |row: &Claimable| leads_to_the_device(row.phase) && of_task.contains(&row.culprit);
    case.claim_rows(slow.group_number, time, is_its)
}

/// Adds the proof: the slowest operations spent `time` behind the task, all operations the part `of_all`.
fn prove(v: Verdict, case: &Case, slow: &Slow, task: &str, (time, of_all): (Nanos, f64)) -> Verdict {
    let name = case.name(slow.on.id);
    let victim = &slow.group.task;
    let behind = match slow.share(time) < MIN_SHARE {
        true => proof!(
            "all {what} of {victim} were behind requests of {task} on {name} for {part} of their time",
            victim,
            what = slow.words(),
            task,
            name,
            part = Share(of_all)
        ),
        false => proof!(
            "the slowest {what} of {victim} were behind requests of {task} on {name} for {part} of their time ({time})",
            victim,
            what = slow.words(),
            task,
            name,
            part = Share(slow.share(time)),
            time
        ),
    };
    let v = moved::proof(case, slow, task).into_iter().fold(v.because(behind), Verdict::because);
    let Some((pid, by)) = parent(case, task) else { return v };
    let by = format!("{by} (PID {})", pid.0);
    v.because(match case.facts.operations.processes_of(task).count() as u64 {
        1 => proof!("{by} started {task}", by, task),
        n => proof!("{by} started {task} {n} times", by, task, n = Count(n)),
    })
}

/// Whether a culprit is another task. The journal's writes of the victim's own changes carry the victim's name.
fn is_another_task(case: &Case, slow: &Slow, c: &Culprit) -> bool {
    let name = c.name.as_deref().unwrap_or("?");
    c.is_somebody()
        && name != slow.group.task
        && !is_committed(case, slow, name)
        && !matches!(c.io, Some(Io::BackgroundWrite | Io::Discard))
        && !is_md(name)
        && !works_for_others(name)
}

/// Whether a journal's thread commits for a task, in a recording of blocks: the task sends most of the synchronous writes that are not the kernel's,
/// with at least one commit for each (a task that writes past the cache commits nothing). Its data goes before the commit.
fn is_committed(case: &Case, slow: &Slow, task: &str) -> bool {
    if !case.facts.operations.is_empty() || !is_journal(&slow.group.task) {
        return false;
    }
    let mut synced = case.requests_by_task(slow.on.id, &[Class::SyncWrite]);
    let commits = synced.get(&*slow.group.task).copied().unwrap_or(0);
    synced.retain(|task, _| !is_kernel_thread(task));
    let all: u64 = synced.values().sum();
    synced.get(task).is_some_and(|its| 2 * its > all && *its <= commits)
}

fn culprits_of(case: &Case, slow: &Slow, task: &str) -> Vec<CulpritId> {
    let all = case.facts.waits.culprits();
    all.filter(|(_, c)| c.name.as_deref() == Some(task) && is_another_task(case, slow, c))
        .map(|(id, _)| id)
        .collect()
}

/// Whether a victim loses at least as much to a task as the task to the victim, for one waiter each however many wait
/// at once: only a task that interferes more than it suffers is slowed.
fn loses_more(case: &Case, slow: &Slow, task: &str) -> bool {
    let table = &case.facts.waits;
    let lost = |victim: &str, by: &str| -> Nanos {
        let because = |row: &TailRow| {
            leads_to_the_device(row.phase) && table.culprit_of(row.culprit).name.as_deref() == Some(by)
        };
        let each = case.focus.groups.iter().filter(|g| *g.task == *victim).map(|group| {
            let rows = group.rows(table, Selection::default());
            let lost = rows.into_iter().filter(because).map(|row| row.time).sum();
            group.of_one(case.facts, lost)
        });
        each.sum()
    };
    lost(&slow.group.task, task) >= lost(task, &slow.group.task)
}
