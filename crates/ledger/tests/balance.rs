//! The ledger balances, whatever the stamps.

use ledger::{Ledger, Reason, RollUp};
use life::{FlushWait, Timeline};
use proptest::prelude::*;
use trace::Nanos;

fn stamp() -> impl Strategy<Value = Option<Nanos>> {
    prop_oneof![1 => Just(None), 4 => (0u64..1000).prop_map(|t| Some(Nanos(t))), 1 => any::<u64>().prop_map(|t| Some(Nanos(t)))]
}

fn flush() -> impl Strategy<Value = Option<FlushWait>> {
    (stamp(), stamp())
        .prop_map(|(a, b)| Some(FlushWait { issued: a?, completed: b?, ..FlushWait::default() }))
}

prop_compose! {
    fn timeline()(
        (queued, got, inserted, first_issued) in (stamp(), stamp(), stamp(), stamp()),
        (issued, data_completed, completed) in (stamp(), stamp(), stamp()),
        requeues in 0u32..3, requeued in 0u64..2000,
        preflush in flush(), postflush in flush(), flushed in any::<bool>(),
    ) -> Timeline {
        Timeline {
            queued, got, inserted, first_issued, issued, data_completed,
            completed: completed.unwrap_or_default(),
            requeues, given_up: 0, requeued: Nanos(requeued), preflush, postflush, flushed,
        }
    }
}

proptest! {
    /// Segments touch and sum to the whole, also where stamps are missing or out of order.
    #[test]
    fn segments_touch_and_sum(t in timeline()) {
        let l = Ledger::of(&t);
        let mut at = l.from;
        for s in &l.segments {
            prop_assert_eq!(s.from, at);
            prop_assert!(s.to > s.from);
            at = s.to;
        }
        prop_assert_eq!(at, l.to);
        let by_reason: Nanos = Reason::ALL.iter().map(|r| l.of_reason(*r)).sum();
        prop_assert_eq!(by_reason, l.total());
    }

    /// Where the stamps are in order, the whole is exactly Q2C.
    #[test]
    fn in_order_it_is_q2c(mut t in prop::collection::vec(0u64..1_000_000, 6), extra in 0u64..1000) {
        t.sort();
        let time = Timeline {
            queued: Some(Nanos(t[0])), got: Some(Nanos(t[1])), inserted: Some(Nanos(t[2])),
            first_issued: Some(Nanos(t[3])), issued: Some(Nanos(t[3])), data_completed: Some(Nanos(t[4])),
            completed: Nanos(t[5] + extra), ..Timeline::default()
        };
        let l = Ledger::of(&time);
        prop_assert_eq!(l.total(), time.q2c().unwrap());
        prop_assert_eq!(l.of_reason(Reason::GetRequest), time.q2g().unwrap());
        prop_assert_eq!(l.of_reason(Reason::Prepare), time.g2i().unwrap());
        prop_assert_eq!(l.of_reason(Reason::Scheduler), time.i2d().unwrap());
        prop_assert_eq!(l.of_reason(Reason::Device), time.d2c().unwrap());
    }

    /// Adding up is exact and does not depend on the order.
    #[test]
    fn roll_ups_merge_exactly(ts in prop::collection::vec(timeline(), 0..40), cut in 0usize..40) {
        let add = |ts: &[Timeline]| {
            let mut r = RollUp::default();
            ts.iter().for_each(|t| r.add(&Ledger::of(t)));
            r
        };
        let cut = cut.min(ts.len());
        let mut halves = add(&ts[..cut]);
        halves.merge(&add(&ts[cut..]));
        prop_assert_eq!(halves, add(&ts));
    }
}

/// A write that was flushed before and after: each step has its own segment.
#[test]
fn a_flushed_write_is_split_into_its_flushes() {
    let at = |n| Some(Nanos(n));
    let flush = |a, b| Some(FlushWait { issued: Nanos(a), completed: Nanos(b), ..FlushWait::default() });
    let t = Timeline {
        queued: at(0),
        got: at(1),
        first_issued: at(20),
        issued: at(20),
        data_completed: at(30),
        completed: Nanos(51),
        preflush: flush(5, 18),
        postflush: flush(33, 50),
        flushed: true,
        ..Timeline::default()
    };
    let l = Ledger::of(&t);
    let told: Vec<_> = l.segments.iter().map(|s| (s.reason.name(), s.length().0)).collect();
    assert_eq!(
        told,
        [
            ("get-request", 1),
            ("flush-queue", 4),
            ("preflush", 13),
            ("flush-queue", 2),
            ("device", 10),
            ("flush-queue", 3),
            ("postflush", 17),
            ("completion", 1),
        ]
    );
}
