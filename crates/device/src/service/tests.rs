//! What is known after which samples.

use super::*;

fn shape(kib: u64) -> Shape {
    Shape::new(0, false, Bytes(kib << 10))
}

#[test]
fn nothing_is_known_of_few() {
    let mut s = Services::default();
    (1..MIN_QUIET).for_each(|_| s.quiet(shape(4), Nanos(80_000), Nanos(0)));
    assert_eq!(s.of(shape(4)), None);
    s.quiet(shape(4), Nanos(80_000), Nanos(0));
    let q = s.of(shape(4)).unwrap();
    assert!(q.p50.0.abs_diff(80_000) < 8_000 && q.samples == MIN_QUIET);
}

#[test]
fn reads_in_order_between_seeks_do_not_look_like_parallel_service() {
    let of = |in_order: u64| {
        let mut s = Services::default();
        for i in 0..300 {
            let took = Nanos(if i % 3 == 0 { 8_000_000 } else { in_order });
            s.busy(shape(4), took, Nanos(took.0.max(600_000)));
        }
        s.is_one_by_one()
    };
    assert!(of(600_000));
    assert!(!of(100_000), "together with the one before");
}

#[test]
fn sizes_between_known_ones_lie_between() {
    let mut s = Services::default();
    for _ in 0..20 {
        s.quiet(shape(4), Nanos(100_000), Nanos(0));
        s.quiet(shape(1024), Nanos(10_000_000), Nanos(0));
    }
    let between = s.of(shape(512)).unwrap();
    assert!(between.p50.0 > 4_000_000 && between.p50.0 < 6_000_000 && between.samples == 0);
    assert_eq!(s.of(shape(16 << 10)), None, "16 MiB are too far from 1 MiB");
}

#[test]
fn between_sizes_time_grows_with_bytes() {
    let mut s = Services::default();
    for _ in 0..20 {
        s.quiet(shape(32), Nanos(1_000_000), Nanos(0));
        s.quiet(shape(128), Nanos(4_000_000), Nanos(0));
    }
    let between = s.of(shape(64)).unwrap().p50.0;
    assert!(between.abs_diff(2_000_000) < 200_000, "{between}");
}

#[test]
fn an_unknown_request_costs_what_others_took_by_number_and_size() {
    let mut s = Services::default();
    assert_eq!(s.cost(shape(64)), 65_536.0, "nothing is known");
    for _ in 0..4 {
        s.busy(shape(4), Nanos(1_000_000), Nanos(9_000_000));
        s.busy(shape(12), Nanos(3_000_000), Nanos(9_000_000));
    }
    // 2 ms for 8 KiB on average.
    assert_eq!(s.cost(shape(8)), 2e6);
    assert_eq!(s.cost(shape(24)), 4e6);
    assert_eq!(s.cost(shape(4)), 1.5e6, "four are too few");
    for _ in 0..6 {
        s.busy(shape(4), Nanos(1_000_000), Nanos(9_000_000));
    }
    assert_eq!(s.cost(shape(4)), 1e6);
}

#[test]
fn a_flush_that_was_never_alone_takes_what_it_has_the_device_for() {
    let flush = Shape::new(3, true, Bytes(0));
    let with = |gaps: [u64; 2], turns: [u64; 2]| {
        let mut s = Services::default();
        for i in 0..40 {
            s.busy(shape(4), Nanos(gaps[i % 2]), Nanos(9_000_000));
            s.busy(flush, Nanos(turns[i % 2]), Nanos(9_000_000));
            s.empty(Nanos(9_000_000));
        }
        s.of(flush).unwrap().p50.0
    };
    let is = |took: u64, about: u64| took.abs_diff(about) < about / 10;
    let side_by_side = [10_000, 900_000];
    assert!(is(with([500_000, 700_000], [300_000, 2_100_000]), 1_200_000), "one at a time");
    assert!(is(with([8_000_000, 7_000_000], [30_000, 30_000]), 30_000), "over as soon as its turn comes");
    assert!(is(with(side_by_side, [1_000_000, 1_400_000]), 1_200_000), "always as long after the one before");
    assert!(is(with([10_000, 9_000_000], [100_000, 1_500_000]), 800_000), "right after the one before");
    assert!(is(with(side_by_side, [100_000, 2_300_000]), 9_000_000), "side by side: no gap is anybody's");
}

/// Flushes of 429 ms behind a queue of writes that are completed one by one, every 4.4 ms, or so that none is anybody's turn.
#[test]
fn the_turns_of_a_few_flushes_tell_what_one_takes() {
    let flush = Shape::new(3, true, Bytes(0));
    let takes = |flushes: usize, gaps: [u64; 2]| {
        let mut s = Services::default();
        (0..40).for_each(|i| s.busy(shape(4), Nanos(gaps[i % 2]), Nanos(400_000_000)));
        for _ in 0..flushes {
            s.busy(flush, Nanos(3_000_000), Nanos(429_000_000));
            s.empty(Nanos(429_000_000));
        }
        s.of(flush).map(|q| q.p50)
    };
    let one_by_one = [4_400_000; 2];
    assert_eq!(
        (takes(4, one_by_one), takes(1, one_by_one)),
        (Some(Nanos(3_000_000)), Some(Nanos(3_000_000)))
    );
    assert_eq!(takes(1, [10_000, 8_790_000]), None);
}

#[test]
fn it_is_settled_when_nearly_all_shapes_are_known() {
    let mut s = Services::default();
    (0..95).for_each(|_| s.busy(shape(4), Nanos(80_000), Nanos(80_000)));
    (0..MIN_QUIET).for_each(|_| s.quiet(shape(4), Nanos(80_000), Nanos(0)));
    assert!(!s.is_settled(), "too few");
    (0..5).for_each(|_| s.busy(shape(1024), Nanos(80_000), Nanos(80_000)));
    assert!(s.is_settled(), "five of a hundred are of another shape");
    s.busy(shape(1024), Nanos(80_000), Nanos(80_000));
    assert!(!s.is_settled());
    let crowded = |at_once: u64| {
        let mut s = Services::default();
        (0..SETTLED_AFTER).for_each(|_| s.busy(shape(4), Nanos(80_000), Nanos(80_000 * at_once)));
        s.is_settled()
    };
    assert!(!crowded(7) && crowded(8), "of eight at a time");
}

#[test]
fn a_rested_device_counts_more() {
    let mut s = Services::default();
    for _ in 0..50 {
        s.quiet(shape(4), Nanos(4_000_000), Nanos(10_000));
    }
    for _ in 0..MIN_QUIET {
        s.quiet(shape(4), Nanos(100_000), Nanos(9_000_000));
    }
    assert!(s.of(shape(4)).unwrap().p50.0 < 120_000);
}

/// Of two flushes of 820 and 26 ms, the longer one waited for something else; a single one cannot be compared.
#[test]
fn the_fastest_of_a_few_flushes_tells_what_one_takes() {
    let flush = Shape::new(3, false, Bytes(0));
    let mut s = Services::default();
    s.empty(Nanos(820_000_000));
    assert!(s.of(flush).is_none());
    s.empty(Nanos(26_000_000));
    let takes = s.of(flush).expect("two are compared").p50;
    assert!(takes.0.abs_diff(26_000_000) < 2_600_000, "{takes:?}");
}
