//! Whether a victim would notice that a cause is gone.
//!
//! Every busy machine has a little of everything: a flush, a neighbour, a processor that comes late. A cause that explains half of what
//! was lost explains nothing that matters where hardly anything was lost. It matters where one of these is so:
//!
//! - the victim waited for it for a tenth of the recording, by the clock: without it the application would be faster than its runs differ;
//! - it takes each operation longer than Linux expects of a whole one, or one in a hundred took ten times that: somebody who asks
//!   for little waits long each time;
//! - the victim spent much of the recording in operations that take longer than flash takes: then it is slow, whatever has a part in it;
//! - it is rare by nature, such as a stall: its part of all time says nothing.
//!
//! A limit sets the pace of all operations: it matters to whoever slept in them for a tenth of the recording, or waits long each time; and
//! always where nobody was seen waiting, and its pace shows it.

use super::precedence::{is_everyday, is_limit};
use super::rank;
use super::victim::Sufferer;
use crate::explanation::Explanation;
use causes::{Verdict, FLASH_ALONE, WBT_FLASH};
use ledger::Reason;
use trace::Nanos;

/// Whoever waited for less than this part of the recording hardly noticed.
const NOTICED: f64 = 0.1;

/// Whoever waited for a third of the recording did little else.
const MUCH: f64 = 1.0 / 3.0;

/// An operation in a hundred that takes so many times what Linux expects of flash is long.
const LONG: u64 = 10;

/// A p99 of fewer is the longest.
const FEW_FOR_P99: u64 = 100;

/// Whether the cause found is worth acting on for that victim.
pub(crate) fn acting_on(e: &Explanation, v: &Sufferer, found: &Verdict) -> bool {
    let (recorded, by_the_clock) = (e.facts.duration(), |time| rank::of_the_clock(e, v, time));
    if is_limit(found.cause) && found.throughout.is_empty() {
        return is_paced(v, found.cause, recorded, by_the_clock(slept(e, v)));
    }
    let always = !found.throughout.is_empty() || !is_everyday(found.cause);
    always || is_noticed(v, found.cause, recorded, by_the_clock)
}

/// Whether a victim's operations take no longer than flash takes, nor one in a hundred long.
pub(crate) fn is_quick(v: &Sufferer) -> bool {
    !takes_long(v) && !is_long(v)
}

/// Whether it is long, often or much enough.
fn is_noticed(v: &Sufferer, cause: &str, recorded: Nanos, by_the_clock: impl Fn(Nanos) -> Nanos) -> bool {
    let part = |time: Nanos| by_the_clock(time).0 as f64 / recorded.0.max(1) as f64;
    let is_slow = takes_long(v) && part(v.time) >= MUCH;
    is_long(v) || each(v, v.lost_to(cause)) >= WBT_FLASH || is_slow || part(v.lost_to(cause)) >= NOTICED
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

/// Whether operations take longer than flash takes: alone, or with all that they waited for.
fn takes_long(v: &Sufferer) -> bool {
    each(v, v.time.since(v.lost)) > FLASH_ALONE || each(v, v.time) > WBT_FLASH
}

fn each(v: &Sufferer, time: Nanos) -> Nanos {
    Nanos(time.0 / v.count.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::because::{Because, Source};
    use waits::CulpritKind;

    const MS: u64 = 1_000_000;

    /// A thousand operations within ten seconds, of so many microseconds each; so many milliseconds in all were lost to flushes.
    fn victim(each: u64, lost: u64, p99: u64) -> Sufferer {
        let flush = Source { kind: CulpritKind::Device, name: None, dirtied_by: None, io: None };
        let lost = Nanos(lost * MS);
        let because =
            Because { cause: Some("flush-cost"), source: flush, chain: vec![], phase: None, time: lost };
        Sufferer {
            group: 0,
            task: "fio".into(),
            role: None,
            cgroup: None,
            count: 1000,
            time: Nanos(each * MS),
            lost,
            noise: Nanos(0),
            is_bound: false,
            is_thin: false,
            latency: [each, p99, p99].map(|us| Nanos(us * 1000)),
            alone: None,
            because: vec![because],
            without: vec![],
        }
    }

    fn noticed(each: u64, lost: u64, p99: u64) -> bool {
        is_noticed(&victim(each, lost, p99), "flush-cost", Nanos(10_000 * MS), |time| time)
    }

    #[test]
    fn a_tenth_of_the_recording_is_noticed() {
        assert!(noticed(1000, 1000, 2000));
        assert!(!noticed(1000, 990, 2000));
    }

    #[test]
    fn a_limit_that_sets_the_pace_is_felt_in_all_operations() {
        let felt = |v: Sufferer| is_paced(&v, "flush-cost", Nanos(10_000 * MS), v.time);
        assert!(felt(victim(1000, 10, 2000)), "a tenth of the recording");
        assert!(!felt(victim(900, 800, 2000)));
        assert!(felt(victim(900, 10, 20_000)), "one in a hundred is long");
        assert!(felt(Sufferer { count: 10, ..victim(60, 50, 6000) }), "5 ms each time");
    }

    #[test]
    fn whoever_asks_seldom_notices_what_each_takes() {
        // Once a second, 6 ms each: 0.6 % of the time.
        let seldom = |each: u64| {
            let v = Sufferer { count: 10, ..victim(10 * each / 1000, 10 * each / 1000, each) };
            is_noticed(&v, "flush-cost", Nanos(10_000 * MS), |time| time)
        };
        assert!(seldom(6000));
        assert!(!seldom(1000));
    }

    #[test]
    fn one_in_a_hundred_that_takes_long_is_noticed() {
        assert!(noticed(300, 250, 20_000));
        assert!(!noticed(300, 250, 19_000));
    }

    #[test]
    fn whoever_does_little_else_notices_unless_it_is_as_fast_as_flash() {
        assert!(noticed(3400, 900, 5000));
        assert!(!noticed(3200, 900, 5000), "less than a third");
        let quick = Sufferer { count: 20_000, ..victim(3400, 900, 5000) };
        assert!(!is_noticed(&quick, "flush-cost", Nanos(10_000 * MS), |time| time));
    }
}
