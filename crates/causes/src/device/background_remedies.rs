//! What to do about a task whose requests fill the device, the gentlest first.

use crate::case::Case;
use crate::device::{lower_class, moved, own_program};
use crate::interfering::leads_to_the_device;
use crate::limit;
use crate::remedy::{Action, Acts};
use crate::slow::Slow;
use crate::target::{count_syncs, fewer_syncs, of_a_thread, pause, Target};
use crate::thresholds::growth::MIN_SAMPLES_OF_A_ROW;
use crate::unit::Unit;
use crate::verdict::Verdict;
use evidence::Fact;
use ledger::Reason;
use life::{Class, Io};
use operation::Kind;
use stats::Group;
use trace::{is_kernel_thread, Bytes, Call, DevId, Flags, Nanos};
use units::words::shell;
use waits::Selection;

/// Adds remedies, those that cost the task least first: a priority or a limit if the host has them for it, then a pause.
pub(super) fn remedies(v: Verdict, case: &Case, slow: &Slow, task: &str, moved: Bytes) -> Verdict {
    let scheduler = case.settings(slow.on.id).and_then(|s| s.scheduler());
    let orders = scheduler.as_ref().is_some_and(|s| s.value == "bfq" || s.value == "mq-deadline");
    let target = Target::of(case, task);
    let unit = Unit::of(case, task, &slow.group.task);
    let half = moved.0 as f64 / slow.on.duration().seconds().max(f64::MIN_POSITIVE) / 2.0;
    let flushes = mostly_flushes(case, slow, task);
    let limit = |v: Verdict| match flushes || syncs_for_others(case, task) {
        true => v,
        false => limit::of_bytes(v, task, &unit, &case.name(slow.group.dev), half),
    };
    let idle = |v: Verdict| match flushes {
        true => v,
        false => idle_class(
            v,
            &target,
            task,
            &case.name(slow.on.id),
            scheduler.as_ref().filter(|_| !orders),
            orders,
        ),
    };
    let v = lower_class::told(v, case, slow, task);
    let v = match takes_turns(case, slow) {
        true => without_turns(v, &case.name(slow.on.id), task),
        false => v,
    };
    if is_kernel_thread(task) {
        return of_the_kernel(idle(v), case, slow, task);
    }
    if task == BTRFS && !reads_files(case, slow.on.id) {
        return of_btrfs(v, case, slow);
    }
    if let Some(process) = case.facts.operations.process_of_both(task, &slow.group.task) {
        return of_a_thread(v, case, task, process);
    }
    // Who syncs for somebody is rarely started by a timer.
    if flushes {
        let its = case.focus.groups.iter().find(|group| group.task == task && makes_safe(group));
        let count = count_syncs(case, its.unwrap_or(slow.group), Some(task));
        let v = v.try_on(Acts::Culprit(task.into()), fewer_syncs(task), count);
        return pause(v, case, &slow.group.task, task);
    }
    let pause = |v: Verdict| pause(v, case, &slow.group.task, task);
    // What has ended cannot be paused: only its next run can be slowed.
    let v = match (orders, unit.is_known() || target.has_ended()) {
        _ if moved::is_by_commits(case, slow, task) => pause(v),
        (true, true) => pause(limit(idle(v))),
        (true, false) => limit(pause(idle(v))),
        (false, true) => idle(pause(limit(v))),
        (false, false) => limit(idle(pause(v))),
    };
    if own_program::is_another_process(task, &slow.group.task) {
        return own_program::see_what_it_does(v, task, &slow.group.task);
    }
    v.try_this(
        format!("run {task} at another time of day, if a timer or cron starts it"),
        Action::look(
            "systemctl list-timers --all; grep -r . \
         /etc/cron.d /etc/crontab",
        ),
    )
}

/// Whether a group's operations make data safe.
fn makes_safe(group: &Group) -> bool {
    group.op.is_some_and(|op| op.kind.makes_safe())
}

/// Whether a victim mostly waits behind a task's flushes: they have no priority, and a limit of bytes hardly makes them fewer.
fn mostly_flushes(case: &Case, slow: &Slow, task: &str) -> bool {
    let table = &case.facts.waits;
    let (mut flushes, mut all) = (Nanos(0), Nanos(0));
    for row in slow.group.rows(table, Selection::default()) {
        let culprit = table.culprit_of(row.culprit);
        if culprit.name.as_deref() == Some(task) && leads_to_the_device(row.phase) {
            all += row.time;
            flushes += if culprit.io == Some(Io::Flush) { row.time } else { Nanos(0) };
        }
    }
    2 * flushes.0 > all.0
}

/// Whether a victim mostly waits in BFQ, which gives each task the device for a slice of time of its own (`bfq_timeout`, 125 ms,
/// block/bfq-iosched.c), unless it does not wait for a task's next request.
pub(crate) fn takes_turns(case: &Case, slow: &Slow) -> bool {
    let settings = case.settings(slow.on.id);
    let is_bfq = settings.and_then(|s| s.scheduler()).is_some_and(|s| s.value == "bfq");
    let idles = settings.and_then(|s| s.number("queue/iosched/slice_idle")).is_none_or(|s| s.value > 0);
    is_bfq && idles && 2 * slow.time(Reason::Scheduler).0 > slow.group.tail.sum.time.total.0
}

/// Adds that BFQ sends the requests of several tasks together.
fn without_turns(v: Verdict, name: &str, task: &str) -> Verdict {
    v.try_on(
        Acts::Culprit(task.into()),
        "BFQ does not wait for the next request of the task whose turn it is: requests of several tasks are in the device together; less \
         throughput for single readers of a disk that seeks",
        Action::set(name, "queue/iosched/slice_idle", 0),
    )
}

/// Whether a task only syncs what others changed, as sync(1) does. A limit on its unit does not hold for that: each page counts for the
/// control group that changed it (Documentation/admin-guide/cgroup-v2.rst, "Writeback").
fn syncs_for_others(case: &Case, task: &str) -> bool {
    let its = || case.focus.groups.iter().filter(|group| group.task == task).filter_map(|group| group.op);
    let changes = |kind| match kind {
        Kind::Call(call) => {
            matches!(call, Call::Write | Call::Sendfile | Call::CopyFileRange | Call::Fallocate)
        }
        kind => matches!(kind, Kind::RingWrite | Kind::AioWrite),
    };
    let syncs = |kind| matches!(kind, Kind::Call(call) if call.is_sync() && call != Call::Msync);
    its().any(|op| syncs(op.kind)) && !its().any(|op| changes(op.kind))
}

/// The program that asks btrfs to scrub, balance or defragment, all in one call.
const BTRFS: &str = "btrfs";

/// Whether `btrfs` reads files, as `btrfs send` does in its own process: mostly ahead. A scrub reads nothing ahead, a balance writes.
fn reads_files(case: &Case, dev: DevId) -> bool {
    let its = case.facts.cells.iter().filter(|(k, _)| k.dev == dev && case.facts.tasks.name(k.task) == BTRFS);
    let (ahead, all) = its.fold((0, 0), |(ahead, all), (k, phases)| {
        (ahead + if k.flags.has(Flags::AHEAD) { phases.count } else { 0 }, all + phases.count)
    });
    2 * ahead > all
}

/// btrfs goes on in the kernel while the program that asked for it is stopped (measured: 14 commits a second before, 10
/// with the scrub stopped, 154 with its speed limited to 10 MB/s). A scrub only reads, a balance writes what it reads.
fn of_btrfs(v: Verdict, case: &Case, slow: &Slow) -> Verdict {
    let at = case.mount_of(slow.group).map_or("MOUNT".into(), |mount| shell(&mount.target));
    let its = || case.requests_by_task(slow.on.id, &[Class::SyncWrite, Class::Background]);
    let writes = its().get(BTRFS).is_some_and(|n| *n >= MIN_SAMPLES_OF_A_ROW);
    let scrub = |v: Verdict| {
        v.try_on(
            Acts::Culprit(BTRFS.into()),
            "if it is a scrub (btrfs scrub status says so): at most 10 MB a second for each device, from Linux 5.14 on; 0 undoes it",
            "for f in /sys/fs/btrfs/*/devinfo/*/scrub_speed_max; do echo 10m > $f; done",
        )
    };
    let balance = |v: Verdict| {
        v.try_on(
            Acts::Culprit(BTRFS.into()),
            "if it is a balance: pause it (btrfs balance resume goes on)",
            format!("btrfs balance pause {at}"),
        )
    };
    if writes {
        scrub(balance(v))
    } else {
        balance(scrub(v))
    }
}

/// A kernel thread cannot be stopped, is in no unit, and no timer starts it. ext4's can leave the rest of the tables
/// for later (Documentation/admin-guide/ext4.rst, `noinit_itable`).
fn of_the_kernel(v: Verdict, case: &Case, slow: &Slow, task: &str) -> Verdict {
    match case.mount_of(slow.group).filter(|_| task == "ext4lazyinit") {
        Some(mount) => v.try_this(
            "leave inode tables that were never used uninitialised until it is mounted again",
            Action::Remount { mount: shell(&mount.target), options: "noinit_itable".into() },
        ),
        None => v,
    }
}

/// Adds the idle class of I/O priorities, which needs a scheduler with priorities.
fn idle_class(
    v: Verdict,
    target: &Target,
    task: &str,
    name: &str,
    other: Option<&Fact<String>>,
    orders: bool,
) -> Verdict {
    let first = match orders {
        true => String::new(),
        false => format!("echo bfq > /sys/block/{name}/queue/scheduler; "),
    };
    let has = other.map_or(String::new(), |s| format!(", {name} has {} ({})", s.value, s.at));
    v.try_on(
        Acts::Culprit(task.into()),
        format!(
            "idle I/O priority for {}: needs a scheduler with priorities (bfq, mq-deadline){has}; {task} takes longer",
            target.who
        ),
        format!("{first}{}", target.ionice("-c 3")),
    )
}
