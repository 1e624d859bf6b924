use super::*;
use proptest::prelude::*;

/// Values of every magnitude; extreme and small values are more frequent than by chance.
fn value() -> impl Strategy<Value = u64> {
    prop_oneof![
        (any::<u64>(), 0u32..64).prop_map(|(v, shift)| v >> shift),
        0u64..200,
        Just(0),
        Just(u64::MAX),
        (0u32..64).prop_map(|s| 1 << s),
        (0u32..64).prop_map(|s| (1u64 << s).wrapping_sub(1)),
    ]
}

fn of(values: &[u64]) -> Distribution {
    values.iter().copied().collect()
}

#[test]
fn worked_example_of_the_module_head() {
    let (row, column) = place(1000);
    assert_eq!((row, column), (4, 61));
    assert_eq!(bounds(row, column), (1000, 1007));
    assert_eq!(of(&[1, 1000, 1001, 5000]).quantile(0.5), 1004);
}

#[test]
fn buckets_touch_and_cover_all_of_u64() {
    let mut next = 0u64;
    for row in 0..OCTAVES {
        for column in 0..SUBS {
            let (lower, upper) = bounds(row, column);
            assert_eq!(lower, next);
            assert_eq!((place(lower), place(upper)), ((row, column), (row, column)));
            next = upper.wrapping_add(1);
        }
    }
    assert_eq!(next, 0, "the last bucket ends at u64::MAX");
}

#[test]
fn empty_is_all_zero_and_small() {
    let d = Distribution::new();
    assert_eq!(d.summary(), Summary::default());
    assert_eq!((d.mean(), d.buckets().count()), (0.0, 0));
    assert!(std::mem::size_of::<Distribution>() < 600);
}

#[test]
fn extremes() {
    let d = of(&[0, u64::MAX, u64::MAX]);
    assert_eq!((d.min(), d.max(), d.sum()), (0, u64::MAX, 2 * u64::MAX as u128));
    assert_eq!((d.quantile(0.0), d.quantile(1.0), d.quantile(0.5)), (0, u64::MAX, u64::MAX - (1 << 56) + 1));
    for q in [f64::NAN, f64::NEG_INFINITY, -1.0] {
        assert_eq!(d.quantile(q), 0);
    }
    assert_eq!(d.quantile(f64::INFINITY), u64::MAX);
}

#[test]
fn counts_saturate() {
    let mut d = Distribution::new();
    for _ in 0..3 {
        d.record_n(u64::MAX, u64::MAX);
        d.record_n(7, u64::MAX);
    }
    assert_eq!(d.count(), u64::MAX);
    assert_eq!(d.summary().max, u64::MAX);
    let twin = d.clone();
    d.merge(&twin);
    assert_eq!(d.buckets().map(|b| b.count).collect::<Vec<_>>(), [u64::MAX, u64::MAX]);
}

#[test]
fn recording_none_changes_nothing() {
    let mut d = Distribution::new();
    d.record_n(5, 0);
    assert_eq!(d, Distribution::new());
}

#[test]
fn json_is_sparse() {
    let d = of(&[3, 3, 1000, 1001]);
    let json = serde_json::to_string(&d).unwrap();
    assert_eq!(json, r#"{"count":4,"sum":"2007","min":3,"max":1001,"buckets":[[3,2],[1000,2]]}"#);
}

#[test]
fn impossible_json_is_refused() {
    for (json, why) in [
        (r#"{"count":1,"sum":"0","min":0,"max":0,"buckets":[]}"#, "count says 1"),
        (r#"{"count":1,"sum":"x","min":5,"max":5,"buckets":[[5,1]]}"#, "sum"),
        (r#"{"count":1,"sum":"6","min":5,"max":5,"buckets":[[5,1]]}"#, "does not fit"),
        (r#"{"count":1,"sum":"5","min":4,"max":5,"buckets":[[5,1]]}"#, "outside"),
        (r#"{"count":2,"sum":"10","min":5,"max":5,"buckets":[[5,1],[5,1]]}"#, "out of order"),
        (r#"{"count":1,"sum":"1001","min":1001,"max":1001,"buckets":[[1001,1]]}"#, "starts at 1000"),
        (r#"{"count":0,"sum":"1","min":0,"max":0,"buckets":[]}"#, "not 0"),
    ] {
        let error = serde_json::from_str::<Distribution>(json).unwrap_err().to_string();
        assert!(error.contains(why), "{json}: {error}");
    }
}

proptest! {
    /// The bound of the module's documentation, against the exact nearest rank in the sorted values.
    #[test]
    fn quantiles_are_within_1_in_128(mut values in prop::collection::vec(value(), 1..300), permille in 0u64..=1000) {
        let d = of(&values);
        values.sort_unstable();
        let rank = (permille * values.len() as u64).div_ceil(1000).max(1);
        let exact = values[rank as usize - 1];
        let got = d.quantile(permille as f64 / 1000.0);
        prop_assert!(got.abs_diff(exact) as u128 * 128 <= exact as u128, "{got} for {exact}");
        if exact < 128 {
            prop_assert_eq!(got, exact);
        }
    }

    #[test]
    fn basic_numbers_are_exact(values in prop::collection::vec(value(), 1..300)) {
        let d = of(&values);
        prop_assert_eq!(d.count(), values.len() as u64);
        prop_assert_eq!(d.sum(), values.iter().map(|&v| v as u128).sum::<u128>());
        prop_assert_eq!(Some(d.min()), values.iter().copied().min());
        prop_assert_eq!(Some(d.max()), values.iter().copied().max());
        prop_assert_eq!(d.buckets().map(|b| b.count).sum::<u64>(), d.count());
        for b in d.buckets() {
            prop_assert_eq!(b.count as usize, values.iter().filter(|v| (b.lower..=b.upper).contains(v)).count());
        }
    }

    #[test]
    fn merging_is_exact(a in prop::collection::vec(value(), 0..200), b in prop::collection::vec(value(), 0..200)) {
        let mut merged = of(&a);
        merged.merge(&of(&b));
        prop_assert_eq!(merged, of(&[a, b].concat()));
    }

    #[test]
    fn recording_n_is_recording_n_times(v in value(), n in 0u64..50) {
        let mut d = Distribution::new();
        d.record_n(v, n);
        prop_assert_eq!(d, of(&vec![v; n as usize]));
    }

    #[test]
    fn json_round_trips(values in prop::collection::vec(value(), 0..200)) {
        let d = of(&values);
        let json = serde_json::to_string(&d).unwrap();
        prop_assert_eq!(serde_json::from_str::<Distribution>(&json).unwrap(), d);
    }
}
