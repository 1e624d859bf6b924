//! Whether a victim would notice that a cause is gone.
//!
//! Every busy machine has a little of everything: a flush, a neighbour, a processor that comes late. A cause that explains half of what
//! was lost explains nothing that matters where hardly anything was lost. It matters where one of these is so:
//!
//! - the victim waited for it for a tenth of the recording, by the clock: without it the application would be faster than its runs differ;
//! - it takes each operation longer than Linux expects of a whole one (a commit longer than etcd expects of one), or a part worth seeing of
//!   one in a hundred that took ten times that: somebody who asks for little waits long each time;
//! - the victim spent much of the recording in operations that take longer than flash takes, and a part worth seeing of them is due to it;
//! - the operations take longer than flash takes, a commit longer than etcd expects, and most of that is due to it: who commits now and then
//!   waits so long each time;
//! - it is rare by nature, such as a stall: its part of all time says nothing.
//!
//! Waiting for a processor behind many tasks, none of which has a part worth seeing, is what a busy machine is like, unless it is most
//! of the time: taking any one of them away changes nothing.
//!
//! What only says where the time passed matters to nobody who waited longer for a processor between the operations than in all of them, unless
//! one in a hundred takes long.
//!
//! A limit sets the pace of all operations: it matters to whoever slept in them for a tenth of the recording, or waits long each time; and
//! always where nobody was seen waiting, and its pace shows it.

use super::because::Because;
use super::precedence::{is_everyday, is_limit, share_of_slowest, WORTH_SEEING};
use super::rank;
use super::victim::Sufferer;
use crate::explanation::Explanation;
use causes::{nature, Nature, Verdict, MIN_SHARE, WBT_FLASH};
use ledger::Reason;
use life::Class;
use stats::{Device, Phases};
use trace::Nanos;
use waits::CulpritKind;

/// Whoever waited for less than this part of the recording hardly noticed.
pub(super) const NOTICED: f64 = 0.1;

/// Whoever waited for a third of the recording did little else.
const MUCH: f64 = 1.0 / 3.0;

/// An operation in a hundred that takes so many times what Linux expects of flash is long.
const LONG: u64 = 10;

/// Who commits now and then is well served by a disk that makes it safe within this: etcd asks that of its log (etcd.io, "Disk", p99 of
/// `wal_fsync_duration_seconds` below 10 ms).
const COMMIT: Nanos = Nanos(10_000_000);

/// Of all causes the one that names whoever ran.
const CPU_WAIT: &str = "cpu-wait";

/// More than half of a time is most of it.
pub(super) const MOSTLY: f64 = 0.5;

/// A p99 of fewer is the longest.
const FEW_FOR_P99: u64 = 100;

/// Whether the cause found is worth acting on for that victim, one of `all`.
pub(crate) fn acting_on(e: &Explanation, v: &Sufferer, all: &[Sufferer], found: &Verdict) -> bool {
    let (recorded, by_the_clock) = (e.facts.duration(), |time| rank::of_the_clock(e, v, time));
    if is_limit(found.cause) && found.throughout.is_empty() {
        return is_paced(v, found.cause, recorded, by_the_clock(slept(e, v)));
    }
    let is_general = nature(found.cause) == Nature::General;
    if is_general && !is_long(v) && e.facts.operations.kept_from_running(&v.task) > v.time {
        return false;
    }
    let always = !found.throughout.is_empty() || !is_everyday(found.cause);
    let of_slowest = share_of_slowest(e, v, found);
    let matters = || {
        is_noticed(v, found.cause, of_slowest, recorded, by_the_clock)
            || commits_for(e, v, all, found.cause).0 as f64 >= NOTICED * recorded.0 as f64
    };
    always || !is_scattered(v, found.cause) && matters()
}

/// What a cause has of the time of a victim and of the journal's thread beside it, of a recording of blocks: who sends flushes waits for
/// commits, too, which nothing shows there.
fn commits_for(e: &Explanation, v: &Sufferer, all: &[Sufferer], cause: &str) -> Nanos {
    let dev = |v: &Sufferer| e.focus.groups.get(v.group).map(|g| g.dev);
    let commits = |s: &&Sufferer| rank::commits(e, s) && dev(s) == dev(v);
    let lost = |s: &Sufferer| rank::of_the_clock(e, s, s.lost_to(cause));
    let journals: Nanos = all.iter().filter(commits).map(lost).sum();
    match v.class(e) {
        Some(Class::Flush | Class::SyncWrite) if journals.0 > 0 && !rank::commits(e, v) => journals + lost(v),
        _ => Nanos(0),
    }
}

/// Whether most of what a victim lost is not explained, and a cause has hardly any of it, nor of its slowest.
pub(crate) fn hardly_explains(e: &Explanation, v: &Sufferer, found: &Verdict) -> bool {
    found.throughout.is_empty() && has_little(v, found.cause, share_of_slowest(e, v, found))
}

fn has_little(v: &Sufferer, cause: &str, of_slowest: Option<f64>) -> bool {
    v.is_mostly_unexplained() && v.share_of(cause).max(of_slowest.unwrap_or(0.0)) < MIN_SHARE
}

/// Whether what a victim lost is felt, whatever it is due to.
pub(super) fn is_felt(e: &Explanation, v: &Sufferer) -> bool {
    loses_much(v, e.facts.duration(), rank::of_the_clock(e, v, v.lost))
}

/// Whether a victim feels what it lost, and most of that is somebody's doing, for a reason that no cause has: neither is it healthy, nor is it
/// known why.
pub(super) fn is_behind_somebody(e: &Explanation, v: &Sufferer) -> bool {
    let behind = |b: &&Because| b.cause.is_none() && b.culprit.name.is_some();
    let sum: Nanos = v.because.iter().filter(behind).map(|b| b.time).sum();
    is_felt(e, v) && part_of(sum, v.lost) > MOSTLY
}

/// Whether it is a visible part of the recording, or much of each operation, or of one in a hundred.
fn loses_much(v: &Sufferer, recorded: Nanos, by_the_clock: Nanos) -> bool {
    let part = by_the_clock.0 as f64 / recorded.0.max(1) as f64;
    is_long(v) || each(v, v.lost) >= WBT_FLASH || part >= NOTICED
}

/// Whether a victim's operations take no longer than flash takes, nor one in a hundred long, and none is stuck.
pub(crate) fn is_quick(v: &Sufferer) -> bool {
    !takes_long(v) && !is_long(v) && v.still_out == 0
}

/// Whether devices read all of enough within what Linux expects of flash, and wrote nothing for which somebody above them may wait.
pub(super) fn read_quickly(devices: &[Device]) -> bool {
    let all = || devices.iter().flat_map(|d| Class::ALL.map(|class| (class, d.phases(class))));
    let quick = |(class, phases): (Class, &Phases)| {
        let q2c = &phases.q2c;
        let was_read = matches!(class, Class::Read) && q2c.quantile(0.99) <= WBT_FLASH.0;
        phases.count == 0 || was_read && q2c.max() <= LONG * WBT_FLASH.0
    };
    all().map(|(_, phases)| phases.count).sum::<u64>() >= FEW_FOR_P99 && all().all(quick)
}

/// Whether it is long, often or much enough.
fn is_noticed(
    v: &Sufferer,
    cause: &str,
    of_slowest: Option<f64>,
    recorded: Nanos,
    by_the_clock: impl Fn(Nanos) -> Nanos,
) -> bool {
    let part = |time: Nanos| by_the_clock(time).0 as f64 / recorded.0.max(1) as f64;
    let due = v.due.get(cause).copied().unwrap_or_default().max(v.lost_to(cause));
    let of_time = part_of(due, v.time).max(of_slowest.unwrap_or(0.0));
    let is_slow = takes_long(v) && part(v.time) >= MUCH;
    let is_worth_seeing = of_time >= WORTH_SEEING && (is_slow || is_long(v));
    let least = if v.commits { COMMIT } else { WBT_FLASH };
    let takes_long_for_it = takes_long(v) && (!v.commits || each(v, v.time) >= COMMIT);
    let is_most_of_each = takes_long_for_it && of_time >= MOSTLY;
    is_worth_seeing
        || is_most_of_each
        || each(v, v.lost_to(cause)) >= least
        || part(v.lost_to(cause)) >= NOTICED
}

/// Whether it waited for processors that ran many tasks, each for a part that is not worth seeing, and not for most of its time.
fn is_scattered(v: &Sufferer, cause: &str) -> bool {
    let behind = v.because.iter().filter(|b| b.cause == Some(cause) && b.culprit.kind == CulpritKind::Cpu);
    let most = behind.filter(|b| b.culprit.name.is_some()).map(|b| b.time).max().unwrap_or_default();
    let all = v.lost_to(cause);
    cause == CPU_WAIT && part_of(most, v.time) < WORTH_SEEING && part_of(all, v.time) < MOSTLY
}

fn part_of(time: Nanos, all: Nanos) -> f64 {
    time.0 as f64 / all.0.max(1) as f64
}

/// How long a victim's operations were neither on a processor nor waiting for one.
fn slept(e: &Explanation, v: &Sufferer) -> Nanos {
    let time = e.focus.groups.get(v.group).map(|g| g.all.time).unwrap_or_default();
    time.total.since(time.of(Reason::OnCpu)).since(time.of(Reason::WaitCpu))
}

/// Whether a limit is felt by a victim that slept so long.
fn is_paced(v: &Sufferer, cause: &str, recorded: Nanos, slept: Nanos) -> bool {
    let part = slept.0 as f64 / recorded.0.max(1) as f64;
    is_long(v) || each(v, v.lost_to(cause)) >= WBT_FLASH || part >= NOTICED
}

/// Whether one operation in a hundred takes long.
fn is_long(v: &Sufferer) -> bool {
    let [_, p99, longest] = v.latency;
    let slowest = if v.count < FEW_FOR_P99 { longest } else { p99 };
    slowest.0 >= LONG * WBT_FLASH.0
}

/// Whether operations take longer than flash takes: alone, or with all that they waited for; all of them, or those that no cache answered.
fn takes_long(v: &Sufferer) -> bool {
    let takes_long = |(count, time): (u64, Nanos)| {
        let each = |time: Nanos| Nanos(time.0 / count.max(1));
        each(time.since(v.lost)) > v.at_once || each(time) > v.at_once.max(WBT_FLASH)
    };
    takes_long((v.asked, v.time)) || takes_long(v.in_devices)
}

fn each(v: &Sufferer, time: Nanos) -> Nanos {
    Nanos(time.0 / v.asked.max(1))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    use waits::Culprit;

    const MS: u64 = 1_000_000;

    /// So many milliseconds that were lost to flushes.
    pub fn flushes(lost: u64) -> Because {
        let culprit = Culprit::of(CulpritKind::Device);
        let time = Nanos(lost * MS);
        Because { cause: Some("flush-cost"), culprit, chain: vec![], phase: None, time }
    }

    /// A thousand operations within ten seconds, of so many microseconds each; so many milliseconds in all were lost to flushes.
    pub fn victim(each: u64, lost: u64, p99: u64) -> Sufferer {
        Sufferer {
            group: 0,
            task: "fio".into(),
            role: None,
            cgroup: None,
            count: 1000,
            commits: false,
            asked: 1000,
            in_devices: (1000, Nanos(each * MS)),
            at_once: causes::flash_takes(4096),
            time: Nanos(each * MS),
            lost: Nanos(lost * MS),
            noise: Nanos(0),
            is_bound: false,
            is_thin: false,
            still_out: 0,
            begun_before: false,
            latency: [each, p99, p99].map(|us| Nanos(us * 1000)),
            alone: None,
            because: vec![flushes(lost)],
            due: Default::default(),
            without: vec![],
            relieved: Default::default(),
        }
    }

    fn noticed(each: u64, lost: u64, p99: u64) -> bool {
        is_noticed(&victim(each, lost, p99), "flush-cost", None, Nanos(10_000 * MS), |time| time)
    }

    #[test]
    fn a_tenth_of_the_recording_is_noticed() {
        assert!(noticed(1000, 1000, 2000));
        assert!(!noticed(3000, 990, 6000));
    }

    #[test]
    fn what_is_most_of_each_long_operation_is_noticed() {
        assert!(noticed(1900, 960, 2100) && !noticed(1900, 940, 2100));
        assert!(!noticed(60, 40, 100), "flash takes as long");
    }

    #[test]
    fn what_is_lost_to_nothing_known_is_felt_from_a_tenth_of_the_recording_on() {
        let felt = |v: Sufferer| loses_much(&v, Nanos(10_000 * MS), v.lost);
        assert!(felt(victim(1100, 1000, 2000)) && !felt(victim(1100, 990, 2000)));
        assert!(felt(victim(1100, 10, 20_000)), "one in a hundred is long");
        assert!(felt(Sufferer { count: 10, asked: 10, ..victim(60, 50, 6000) }), "5 ms each time");
    }

    #[test]
    fn what_has_little_of_what_nothing_explains_is_no_answer() {
        let with = |flush: u64, unknown: u64| {
            let culprit = Culprit::of(CulpritKind::Unknown);
            let rest = Because { cause: None, culprit, ..flushes(unknown) };
            Sufferer { because: vec![flushes(flush), rest], ..victim(1000, 100, 2000) }
        };
        assert!(has_little(&with(9, 91), "flush-cost", Some(0.09)));
        assert!(!has_little(&with(10, 90), "flush-cost", None), "a tenth");
        assert!(!has_little(&with(9, 91), "flush-cost", Some(0.1)), "a tenth of the slowest");
        assert!(!has_little(&with(9, 49), "flush-cost", None), "most is explained");
    }

    #[test]
    fn a_limit_that_sets_the_pace_is_felt_in_all_operations() {
        let felt = |v: Sufferer| is_paced(&v, "flush-cost", Nanos(10_000 * MS), v.time);
        assert!(felt(victim(1000, 10, 2000)), "a tenth of the recording");
        assert!(!felt(victim(900, 800, 2000)));
        assert!(felt(victim(900, 10, 20_000)), "one in a hundred is long");
        assert!(felt(Sufferer { count: 10, asked: 10, ..victim(60, 50, 6000) }), "5 ms each time");
    }

    #[test]
    fn whoever_asks_seldom_notices_what_each_takes() {
        // Once a second, 6 ms each: 0.6 % of the time.
        let seldom = |commits: bool, each: u64| {
            let all = 10 * each / 1000;
            let v = Sufferer { commits, count: 10, asked: 10, ..victim(all, all, each) };
            is_noticed(&v, "flush-cost", None, Nanos(10_000 * MS), |time| time)
        };
        assert!(seldom(false, 6000) && !seldom(false, 1000));
        assert!(seldom(true, 11_000) && !seldom(true, 9000), "a commit");
    }

    /// Of the slowest only, each of these counts, not each of all: 30 of 3,000 that lost 14 ms each.
    #[test]
    fn the_slowest_are_as_slow_as_each_of_them_is() {
        let of = |asked| {
            let v = Sufferer { count: 3000, asked, ..victim(430, 420, 10_000) };
            is_noticed(&v, "flush-cost", None, Nanos(10_000 * MS), |time| time)
        };
        assert!(of(30) && !of(3000));
    }

    #[test]
    fn one_in_a_hundred_that_takes_long_is_noticed() {
        assert!(noticed(300, 250, 20_000));
        assert!(!noticed(300, 250, 19_000));
        let of_slowest = |part| {
            is_noticed(&victim(300, 30, 20_000), "flush-cost", Some(part), Nanos(10_000 * MS), |time| time)
        };
        assert!(of_slowest(0.2) && !of_slowest(0.1), "something else made them long");
    }

    #[test]
    fn many_who_ran_are_nobody_in_particular() {
        let behind = |name: &str, time: u64| Because {
            cause: Some(CPU_WAIT),
            culprit: Culprit { name: Some(name.into()), ..Culprit::of(CulpritKind::Cpu) },
            chain: vec![],
            phase: None,
            time: Nanos(time * MS),
        };
        let of = |because| Sufferer { because, ..victim(1000, 500, 2000) };
        assert!(is_scattered(&of(vec![behind("a", 150), behind("b", 150), behind("c", 150)]), CPU_WAIT));
        assert!(!is_scattered(&of(vec![behind("a", 200), behind("b", 150)]), CPU_WAIT), "one of them is");
        let most = vec![behind("a", 190), behind("b", 190), behind("c", 190)];
        assert!(!is_scattered(&of(most), CPU_WAIT), "most of its time");
    }

    #[test]
    fn a_device_that_read_quickly_and_wrote_nothing_kept_nobody_waiting() {
        let of = |class: Class, count: u64, took: u64| {
            let mut device = Device::new(trace::DevId(1));
            let phases = &mut device.requests[class.index()];
            (0..count).for_each(|_| phases.q2c.record(took * MS));
            phases.count = count;
            read_quickly(&[device])
        };
        assert!(of(Class::Read, 100, 2) && !of(Class::Read, 100, 3) && !of(Class::Read, 99, 2));
        assert!(!of(Class::Background, 100, 1), "whoever writes may wait above the device");
    }

    #[test]
    fn whoever_does_little_else_notices_unless_it_is_as_fast_as_flash() {
        assert!(noticed(3400, 900, 5000));
        assert!(!noticed(3200, 900, 5000), "less than a third");
        assert!(!noticed(3400, 600, 5000), "a sixth of its time");
        let due = [("flush-cost", Nanos(1000 * MS))].into();
        let due = Sufferer { due, ..victim(3400, 600, 5000) };
        assert!(
            is_noticed(&due, "flush-cost", None, Nanos(10_000 * MS), |time| time),
            "what is not lost, too"
        );
        let quick = |in_devices| {
            let v = Sufferer { count: 20_000, asked: 20_000, in_devices, ..victim(3400, 900, 5000) };
            !is_noticed(&v, "flush-cost", None, Nanos(10_000 * MS), |time| time)
        };
        assert!(quick((20_000, Nanos(3400 * MS))));
        assert!(!quick((5_000, Nanos(3300 * MS))), "a cache answered the others");
        // Of two megabytes each.
        let large = Sufferer { at_once: causes::flash_takes(2 << 20), ..victim(3400, 900, 5000) };
        assert!(!takes_long(&large) && takes_long(&victim(3400, 900, 5000)));
    }

    /// 100 ms, of which so many behind somebody, for a reason that no cause has; one in a hundred takes 20 ms.
    #[test]
    fn who_is_behind_somebody_for_most_of_what_it_lost_is_not_healthy() {
        let e = Explanation::of_texts(crate::texts::Texts::default());
        let of = |ms: u64, cause, p99| {
            let culprit = Culprit { name: Some("cp".into()), ..Culprit::of(CulpritKind::Task) };
            let because = vec![Because { cause, culprit, ..flushes(ms) }];
            is_behind_somebody(&e, &Sufferer { because, ..victim(1000, 100, p99) })
        };
        assert_eq!((of(51, None, 20_000), of(50, None, 20_000)), (true, false));
        assert!(!of(51, Some("background-task"), 20_000));
    }
}
