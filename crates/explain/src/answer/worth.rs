//! Decides whether removing a cause would make a noticeable difference to its victim.
//!
//! Every busy machine has a little of everything: a flush, a neighbour, a processor that comes late. A cause that explains half of
//! the lost time does not matter if almost nothing was lost. It matters if one of these holds:
//!
//! - The victim waited for it for a tenth of the recording, by the clock: removing it gains more than runs of an application differ.
//! - It takes longer per operation than Linux expects of a whole operation (per commit, longer than etcd expects), or it has a visible
//!   part of the time and 1 in 100 operations takes ten times that: a victim with few operations waits long each time.
//! - The victim spent much of the recording in operations that take longer than on flash, and a visible part of that is due to it.
//! - The operations take longer than on flash (a commit longer than etcd expects), and most of that is due to it: a task that commits
//!   only now and then waits that long each time.
//! - It is rare by nature, such as a stall: its part of all time says nothing. A single operation longer than others has to be long itself.
//!
//! A job has to notice it as well ([`job`]). Waiting for a processor behind many tasks, none of which has a visible part, is normal on a
//! busy machine, unless it is most of the time: removing any one of the tasks changes nothing.
//!
//! A general cause, which only says where the time passed, does not matter to a victim that waited longer for a processor between
//! operations than in all of them, unless 1 in 100 operations takes long.
//!
//! A limit sets the pace of all operations: it matters to a victim that slept in them for a tenth of the recording or waits long each
//! time, and always if no victim was seen waiting but the pace shows the limit.

use super::because::Because;
use super::job;
use super::nature::{compares, is_everyday, is_limit};
use super::precedence::share_of_slowest;
use super::rank;
use super::thresholds::{MOSTLY, NOTICED, WORTH_SEEING};
use super::victim::Sufferer;
use super::ERRORS;
use crate::explanation::Explanation;
use causes::{nature, Nature, Verdict, MIN_SHARE, WBT_FLASH};
use ledger::Reason;
use life::Class;
use stats::{Device, Phases};
use trace::Nanos;
use waits::CulpritKind;

/// A victim that waited for a third of the recording did little else.
const MUCH: f64 = 1.0 / 3.0;

/// If 1 in 100 operations takes this many times what Linux expects of flash, the operations take long.
const LONG: u64 = 10;

/// Latency of a commit that is good enough for a task that commits now and then: etcd asks this of its log (etcd.io, "Disk", p99 of
/// `wal_fsync_duration_seconds` below 10 ms).
const COMMIT: Nanos = Nanos(10_000_000);

/// The only cause whose culprits are the tasks that ran on the processor.
const CPU_WAIT: &str = "cpu-wait";

/// With fewer operations than this, the longest latency stands in for the p99.
const FEW_FOR_P99: u64 = 100;

/// Whether a cause is worth acting on for the victim `v`, one of `all`.
pub(crate) fn acting_on(e: &Explanation, v: &Sufferer, all: &[Sufferer], found: &Verdict) -> bool {
    let (recorded, by_the_clock) = (e.facts.duration(), |time| rank::of_the_clock(e, v, time));
    if is_limit(found.cause) && found.throughout.is_empty() {
        return is_paced(v, found.cause, recorded, by_the_clock(slept(e, v)));
    }
    let is_general = nature(found.cause) == Nature::General;
    if is_general && !is_long(v) && e.facts.operations.kept_from_running(&v.task) > v.time {
        return false;
    }
    let is_rare = !is_everyday(found.cause) && !is_of_one(v, found.cause);
    let always = !found.throughout.is_empty() || is_rare;
    let of_slowest = share_of_slowest(e, v, found);
    let matters = || {
        is_noticed(v, found.cause, of_slowest, recorded, by_the_clock)
            || commits_for(e, v, all, found.cause).0 as f64 >= NOTICED * recorded.0 as f64
    };
    always || !is_scattered(v, found.cause) && matters() && job::notices(e, v, found.cause)
}

/// In a recording of block events: the time of a cause in the victim and in the journal's thread on the same device. A task that sends
/// flushes also waits for commits, which such a recording does not show. 0 for other victims.
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

/// Whether most of a victim's lost time is unexplained and the cause has almost none of it, nor of its slowest operations' time.
pub(crate) fn hardly_explains(e: &Explanation, v: &Sufferer, found: &Verdict) -> bool {
    found.throughout.is_empty() && has_little(v, found.cause, share_of_slowest(e, v, found))
}

fn has_little(v: &Sufferer, cause: &str, of_slowest: Option<f64>) -> bool {
    v.is_mostly_unexplained() && v.share_of(cause).max(of_slowest.unwrap_or(0.0)) < MIN_SHARE
}

/// Whether a victim notices its lost time, whatever the cause.
pub(super) fn is_felt(e: &Explanation, v: &Sufferer) -> bool {
    loses_much(v, e.facts.duration(), rank::of_the_clock(e, v, v.lost))
}

/// Whether a victim notices its lost time and most of that is due to a named culprit without a known cause: such a recording is neither
/// healthy nor explained.
pub(super) fn is_behind_somebody(e: &Explanation, v: &Sufferer) -> bool {
    let behind = |b: &&Because| b.cause.is_none() && b.culprit.name.is_some();
    let sum: Nanos = v.because.iter().filter(behind).map(|b| b.time).sum();
    is_felt(e, v) && part_of(sum, v.lost) > MOSTLY
}

/// Whether the lost time is a tenth of the recording, long per operation, or 1 in 100 operations takes long.
fn loses_much(v: &Sufferer, recorded: Nanos, by_the_clock: Nanos) -> bool {
    let part = by_the_clock.0 as f64 / recorded.0.max(1) as f64;
    is_long(v) || each(v, v.lost) >= WBT_FLASH || part >= NOTICED
}

/// Whether a victim's operations take no longer than on flash, 1 in 100 does not take long either, and all of them ended.
pub(crate) fn is_quick(v: &Sufferer) -> bool {
    !takes_long(v) && !is_long(v) && v.still_out == 0
}

/// Whether at least 100 requests completed, all of them reads that are fast for flash. A write may make a layer above wait unseen.
pub(super) fn read_quickly(devices: &[Device]) -> bool {
    let all = || devices.iter().flat_map(|d| Class::ALL.map(|class| (class, d.phases(class))));
    let quick = |(class, phases): (Class, &Phases)| {
        let q2c = &phases.q2c;
        let was_read = matches!(class, Class::Read) && q2c.quantile(0.99) <= WBT_FLASH.0;
        phases.count == 0 || was_read && q2c.max() <= LONG * WBT_FLASH.0
    };
    all().map(|(_, phases)| phases.count).sum::<u64>() >= FEW_FOR_P99 && all().all(quick)
}

/// Whether the time of a cause is long, frequent or large enough to be noticed.
fn is_noticed(
    v: &Sufferer,
    cause: &str,
    of_slowest: Option<f64>,
    recorded: Nanos,
    by_the_clock: impl Fn(Nanos) -> Nanos,
) -> bool {
    let part = |time: Nanos| by_the_clock(time).0 as f64 / recorded.0.max(1) as f64;
    let of_time = part_of(v.due_to(cause), v.time).max(of_slowest.unwrap_or(0.0));
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

/// Whether the victim waited for processors that ran many tasks: none for a visible part, and all for less than half of its time.
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

/// Whether a cause is known only because a single operation took longer than others, and not long. What a stack shows needs no comparison.
fn is_of_one(v: &Sufferer, cause: &str) -> bool {
    let [.., longest] = v.latency;
    compares(cause) && cause != ERRORS && v.lost_to(cause) <= longest && longest.0 < LONG * WBT_FLASH.0
}

/// Whether a victim that slept this long notices a limit.
fn is_paced(v: &Sufferer, cause: &str, recorded: Nanos, slept: Nanos) -> bool {
    let part = slept.0 as f64 / recorded.0.max(1) as f64;
    is_long(v) || each(v, v.lost_to(cause)) >= WBT_FLASH || part >= NOTICED
}

/// Whether 1 in 100 operations takes long.
fn is_long(v: &Sufferer) -> bool {
    let [_, p99, longest] = v.latency;
    let slowest = if v.count < FEW_FOR_P99 { longest } else { p99 };
    slowest.0 >= LONG * WBT_FLASH.0
}

/// Whether operations take longer than on flash, alone or with all their waits: all of them, or those that no cache answered.
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

    /// A victim that lost the given ms to flushes.
    pub fn flushes(lost: u64) -> Because {
        let culprit = Culprit::of(CulpritKind::Device);
        let time = Nanos(lost * MS);
        Because { cause: Some("flush-cost"), culprit, chain: vec![], phase: None, time }
    }

    /// 1,000 operations in 10 s, each of the given us; the given ms in all were lost to flushes.
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

    /// If only the slowest are selected, the time per selected operation counts: 30 of 3,000 that lost 14 ms each.
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
        // Operations of 2 MB each.
        let large = Sufferer { at_once: causes::flash_takes(2 << 20), ..victim(3400, 900, 5000) };
        assert!(!takes_long(&large) && takes_long(&victim(3400, 900, 5000)));
    }

    /// 100 ms lost, the given part of it to a culprit without a cause; 1 in 100 operations takes 20 ms.
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

    /// A pause of 17 ms that one read of ten thousand met says nothing of the device; two of them do, or one of 20 ms.
    #[test]
    fn a_single_operation_has_to_be_long_by_itself() {
        let of = |lost: u64, longest: u64, cause: &'static str| {
            let because = vec![Because { cause: Some(cause), ..flushes(lost) }];
            let latency = [Nanos(MS / 5), Nanos(MS / 4), Nanos(longest * MS)];
            is_of_one(&Sufferer { because, latency, ..victim(200, lost, 250) }, cause)
        };
        assert!(of(17, 18, "device-stall"));
        assert!(!of(34, 18, "device-stall") && !of(20, 20, "device-stall"));
        assert!(!of(17, 18, ERRORS) && !of(17, 18, "stable-page"), "its stack shows it");
    }
}
