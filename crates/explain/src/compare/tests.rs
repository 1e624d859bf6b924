//! Tests with constructed numbers: by which of its numbers a kind of operation is judged.

use super::{Comparison, Metric, Moved, Outcome, Ranges, Row};
use stats::Range;
use tooltext::Unit;

const MS: f64 = 1e6;

/// A latency of 10 ms before, `ratio` times as much after, with or without a range of that ratio.
fn latency(name: &str, ratio: f64, range: Option<(f64, f64)>) -> Metric {
    let slow = ["slow", "outliers"].contains(&name);
    let ranges = range.map(|(from, to)| Ranges {
        before: Range { from: 9.0 * MS, to: 11.0 * MS },
        after: Range { from: 9.0 * ratio * MS, to: 11.0 * ratio * MS },
        ratio: Range { from, to },
        ratio_99: Range { from: from * 0.9, to: to * 1.1 },
        blocks: [(100, 10); 2],
    });
    Metric {
        name: name.into(),
        threshold: slow.then_some(20_000_000),
        unit: if slow { Unit::Share } else { Unit::Nanoseconds },
        values: [1.0, ratio].map(|times| times * if slow { 0.1 } else { 10.0 * MS }),
        ranges,
        no_range: "",
    }
}

fn row(least: Option<u64>, metrics: Vec<Metric>) -> Row {
    Row { op: "read".into(), what: "reads".into(), counts: true, least, metrics, ..Row::default() }
}

fn compared(rows: Vec<Row>) -> Comparison {
    Comparison { rows, ..Comparison::default() }
}

/// The outcome for one kind, the number that decides it, and whether chance is unlikely.
fn of_one(least: Option<u64>, metrics: Vec<Metric>) -> (Outcome, String, Option<bool>) {
    let c = compared(vec![row(least, metrics)]);
    let by = c.findings().first().map_or(String::new(), |f| f.metric.name.clone());
    (c.outcome(), by, c.is_sure())
}

type Ratio = Option<(f64, f64)>;

const BETTER: Ratio = Some((0.4, 0.6));
const WORSE: Ratio = Some((1.5, 2.5));
const SAME: Ratio = Some((0.2, 3.0));

/// A p99 at the edge of stalls scatters over the whole distance between stall and none; the share of slow operations does not.
#[test]
fn where_the_p99_shows_nothing_it_is_judged_by_how_many_are_slow() {
    use Outcome::{Better, Mixed, NoDifference, Worse};
    for (p99, slow, expected) in [
        (BETTER, SAME, (Better, "p99")),
        (WORSE, SAME, (Worse, "p99")),
        (SAME, BETTER, (Better, "slow")),
        (SAME, WORSE, (Worse, "slow")),
        (SAME, SAME, (NoDifference, "p99")),
        // What the p99 shows comes first, and does not hide the rest.
        (BETTER, WORSE, (Mixed, "p99")),
        (None, BETTER, (Better, "slow")),
        (None, SAME, (NoDifference, "slow")),
    ] {
        let (outcome, by, sure) =
            of_one(Some(5000), vec![latency("p99", 1.0, p99), latency("slow", 1.0, slow)]);
        assert_eq!((outcome, by.as_str(), sure), (expected.0, expected.1, Some(true)), "{p99:?} {slow:?}");
    }
}

/// Both ends of the range are within one step of a histogram.
#[test]
fn what_differs_by_less_than_is_known_is_no_difference() {
    for (range, expected) in [
        ((1.005, 1.015), Outcome::NoDifference),
        ((1.005, 1.02), Outcome::Worse),
        ((0.985, 0.995), Outcome::NoDifference),
        ((0.98, 0.995), Outcome::Better),
    ] {
        assert_eq!(latency("p99", 1.0, Some(range)).outcome(), expected, "{range:?}");
    }
}

/// If the share has no range either, lower or higher percentiles decide.
#[test]
fn other_percentiles_are_asked_in_turn() {
    let of = |ranged: &[&str]| {
        let all = ["p50", "p90", "p99", "p99.9", "slow"];
        let metrics = all.map(|n| latency(n, 0.5, ranged.contains(&n).then_some((0.4, 0.6))));
        of_one(Some(100), metrics.into()).1
    };
    assert_eq!(of(&["p50", "p90", "p99.9", "slow"]), "slow");
    assert_eq!(of(&["p50", "p90", "p99.9"]), "p99.9");
    assert_eq!((of(&["p50", "p90"]), of(&["p50"]), of(&[])), ("p90".into(), "p50".into(), String::new()));
}

/// A p99 of 1,000 operations without a range that differs by a factor of 2 is reported as possible chance.
#[test]
fn a_p99_that_differs_by_far_is_told_as_chance() {
    use Outcome::{Better, NoDifference, Worse};
    let of = |least: u64, ratio: f64, slow| {
        of_one(Some(least), vec![latency("p99", ratio, None), latency("slow", 1.0, slow)])
    };
    let chance = |outcome| (outcome, "p99".to_string(), Some(false));
    let none = (NoDifference, "slow".to_string(), Some(true));
    assert_eq!((of(1000, 2.01, SAME), of(1000, 0.49, SAME)), (chance(Worse), chance(Better)));
    assert_eq!((of(1000, 1.99, SAME), of(1000, 0.51, SAME)), (none.clone(), none.clone()));
    assert_eq!(of(999, 9.0, SAME), none);
    // A proven difference comes first.
    assert_eq!(of(1000, 9.0, BETTER), (Better, "slow".to_string(), Some(true)));
    // A range says more than the ratio.
    let ranged = of_one(Some(1000), vec![latency("p99", 9.0, Some((0.5, 20.0)))]);
    assert_eq!(ranged, (NoDifference, "p99".to_string(), Some(true)));
}

/// Summaries have no range: a difference of a few percent is no difference.
#[test]
fn summaries_that_differ_by_a_twentieth_differ() {
    use Outcome::{Better, Mixed, NoDifference, Worse};
    let of =
        |ratios: &[(&str, f64)]| of_one(None, ratios.iter().map(|(n, r)| latency(n, *r, None)).collect());
    for (ratio, expected) in [(1.06, Worse), (1.04, NoDifference), (0.96, NoDifference), (0.94, Better)] {
        assert_eq!(of(&[("p99", ratio)]), (expected, "p99".to_string(), None), "{ratio}");
    }
    // The one that differs most represents its direction.
    assert_eq!(of(&[("p99", 1.1), ("p99.9", 3.0)]).1, "p99.9");
    assert_eq!(of(&[("p50", 0.5), ("p99", 1.5)]).0, Mixed);
    // Without percentiles the mean decides.
    assert_eq!(of(&[("mean", 2.0), ("max", 0.1)]), (Worse, "mean".to_string(), None));
}

/// If neither a high percentile nor the share of slow operations is proven, a proven median decides.
#[test]
fn any_number_that_is_proven_is_followed() {
    let all = [("p99", SAME), ("slow", SAME), ("p90", SAME), ("p50", WORSE)];
    let metrics = all.map(|(name, range)| latency(name, 1.0, range));
    assert_eq!(of_one(Some(500), metrics.into()), (Outcome::Worse, "p50".to_string(), Some(true)));
}

/// The sentence has at most three kinds, proven differences first. Kinds that no task waits for are used only if there are no others.
#[test]
fn three_kinds_that_somebody_waits_for_are_the_verdict() {
    let kind = |range, counts| Row { counts, ..row(Some(5000), vec![latency("p99", 1.0, range)]) };
    let of = |kinds: &[(Ratio, bool)]| {
        compared(kinds.iter().map(|(range, counts)| kind(*range, *counts)).collect()).outcome()
    };
    assert_eq!(of(&[(BETTER, true), (SAME, true), (SAME, true), (WORSE, true)]), Outcome::Mixed);
    assert_eq!(of(&[(SAME, true), (SAME, true), (SAME, true), (WORSE, true)]), Outcome::Worse);
    assert_eq!(of(&[(SAME, true), (SAME, true), (SAME, true), (SAME, true)]), Outcome::NoDifference);
    assert_eq!(of(&[(WORSE, false), (BETTER, true)]), Outcome::Better);
    assert_eq!(of(&[(WORSE, false)]), Outcome::Worse);
    assert_eq!((of(&[(None, true)]), of(&[])), (Outcome::CannotTell, Outcome::CannotTell));
}

/// A job whose syncs take nearly all of its time is judged by them, not by its writes into memory.
#[test]
fn syncs_decide_where_they_are_the_time() {
    let run = |write: u32, sync: u32| {
        let text = format!(
            "j: (groupid=0, jobs=1): err= 0: pid=1\n  write: IOPS=4696, BW=18.3MiB/s (19.2MB/s)(36.7MiB/2001msec)\n\
             \x20   clat (usec): min=3, max=710, avg= 4.00, stdev=14.73\n    clat percentiles (usec):\n\
             \x20    | 50.00th=[    4], 99.00th=[{write}]\n  fsync/fdatasync/sync_file_range:\n\
             \x20   sync (usec): min=66, max=5138, avg={sync}.76, stdev=241.57\n    sync percentiles (usec):\n\
             \x20    | 50.00th=[  128], 99.00th=[{sync}]\n     issued rwts: total=0,9398,0,9398 short=0,0,0,0\n"
        );
        tooltext::ToolOutput::read("fio.txt", text.as_bytes())
    };
    let (before, after) = (run(8, 1287), run(16, 500));
    let of = |output| super::RunOf { output, run: 0 };
    let c = Comparison::of_runs(of(&before), of(&after));
    assert_eq!((c.rows[0].op.as_str(), c.outcome()), ("sync", Outcome::Better));
    // Excerpts have no counts of syncs, and some versions print 0.
    for count in ["", "     issued rwts: total=0,9398,0,0 short=0,0,0,0\n"] {
        let short = |write: u32, sync: u32| {
            let text = format!(
                "  write: IOPS=4696, BW=18.3MiB/s (19.2MB/s)(36.7MiB/2001msec)\n    clat (usec): min=3, max=710, avg={write}.00, stdev=14.73\n\
                 \x20   sync (usec): min=66, max=5138, avg={sync}.76, stdev=241.57\n{count}"
            );
            tooltext::ToolOutput::read("fio.txt", text.as_bytes())
        };
        let (before, after) = (short(4, 205), short(8, 190));
        let run = |output| super::RunOf { output, run: 0 };
        let c = Comparison::of_runs(run(&before), run(&after));
        let of_write = c.rows.iter().find(|row| row.op == "write").map(|row| row.counts);
        assert_eq!((c.rows[0].op.as_str(), of_write), ("sync", Some(false)), "{count}");
    }
    // If syncs take little of the time, both count.
    let (before, after) = (run(80_000, 1287), run(160_000, 500));
    let slow = |output: &tooltext::ToolOutput| {
        let mut output = output.clone();
        let row = output.runs[0].readings[0].rows.iter_mut().find(|row| row.of == "sync");
        assert!(row.is_some());
        row.into_iter().for_each(|row| row.values = tooltext::Values::default());
        output
    };
    let (before, after) = (slow(&before), slow(&after));
    assert_eq!(Comparison::of_runs(of(&before), of(&after)).outcome(), Outcome::Worse);
}

/// A range of the ratio that includes 1 shows no difference, nor does a difference of 5 % or less without a range.
#[test]
fn what_reaches_one_is_no_difference() {
    use Outcome::{Better, NoDifference, Worse};
    let of = |range, ratio| latency("p99", ratio, range).outcome();
    assert_eq!([(1.0, 2.0), (0.5, 1.0)].map(|range| of(Some(range), 1.3)), [NoDifference; 2]);
    assert_eq!((of(Some((1.01, 2.0)), 1.3), of(Some((0.5, 0.99)), 0.7)), (Worse, Better));
    assert_eq!([1.05, 0.953].map(|ratio| of(None, ratio)), [NoDifference; 2]);
}

#[test]
fn outcomes_are_called_as_json_has_them() {
    use Outcome::{Better, CannotTell, Mixed, NoDifference, Worse};
    for outcome in [Better, Worse, Mixed, NoDifference, CannotTell] {
        assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.name());
    }
}

/// At least ten operations must be slower than a percentile that is compared; other numbers always count.
#[test]
fn a_percentile_rests_on_ten_that_are_slower() {
    let of = |name: &str, count: f64| super::texts::rests_on_enough(name, Some(count));
    assert!(of("p99", 1000.0) && !of("p99", 990.0));
    assert!(of("p50", 20.0) && !of("p50", 19.0));
    assert!(of("mean", 3.0) && super::texts::rests_on_enough("p99.99", None), "their number is not known");
}

/// The median is slower by microseconds, and stalls of milliseconds are gone: the larger movement decides, and is reported even if it may
/// be chance.
#[test]
fn what_moved_most_decides() {
    use Outcome::{Better, Mixed, Worse};
    let of = |faster: f64, slower: f64, metrics: &[(&str, f64, Ratio)]| {
        let metrics = metrics.iter().map(|(name, ratio, range)| latency(name, *ratio, *range)).collect();
        let c = compared(vec![Row { moved: Some(Moved { faster, slower }), ..row(Some(500), metrics) }]);
        let told: Vec<String> = c.findings().iter().map(|f| f.metric.name.clone()).collect();
        (c.outcome(), told.join(" "), c.is_sure())
    };
    let both = [("outliers", 0.1, BETTER), ("p50", 2.0, WORSE)];
    assert_eq!(of(100.0, 5.0, &both), (Better, "outliers".into(), Some(true)));
    assert_eq!(of(5.0, 100.0, &both), (Worse, "p50".into(), Some(true)));
    assert_eq!(of(50.0, 50.0, &both), (Mixed, "outliers p50".into(), Some(true)));
    // The stalls were too few for a range.
    let (max, mean) = (("max", 0.1, None), ("mean", 0.3, None));
    let half = [max, mean, ("p50", 2.0, WORSE)];
    assert_eq!(of(100.0, 5.0, &half), (Mixed, "p50 mean".into(), Some(false)));
    assert_eq!(of(50.0, 50.0, &half), (Worse, "p50".into(), Some(true)));
    // A further number in the same direction adds nothing.
    let same = [max, ("mean", 3.0, None), ("p50", 2.0, WORSE)];
    assert_eq!(of(100.0, 5.0, &same), (Worse, "p50".into(), Some(true)));
}

/// A share of few operations describes the tail; if it includes most operations, a mean or a median says more.
#[test]
fn a_share_of_most_operations_is_told_last() {
    let of = |shares: [f64; 2]| {
        let share = Metric { values: shares, ..latency("outliers", 0.1, BETTER) };
        of_one(Some(500), vec![share, latency("p50", 0.5, BETTER)]).1
    };
    assert_eq!((of([0.03, 0.0]), of([1.0, 0.0])), ("outliers".into(), "p50".into()));
}

/// None before and some after: the ratio has no upper bound, and its lower bound decides.
#[test]
fn what_was_not_there_before_is_worse() {
    let none = |from: f64| {
        let range = Some((from, f64::INFINITY));
        let metric = Metric { values: [0.0, 0.03], ..latency("outliers", 1.0, range) };
        (metric.outcome(), metric.told())
    };
    let (outcome, told) = none(5.1);
    assert_eq!(
        (outcome, told.ends_with("0 % -> 3 % (95 %: 5.10 or more)")),
        (Outcome::Worse, true),
        "{told}"
    );
    assert_eq!(none(0.2).0, Outcome::NoDifference);
}

/// A mean of few operations that differs by a large factor but only by microseconds shows no difference.
#[test]
fn a_mean_may_be_chance() {
    let of = |least: u64, max_ms: f64| {
        let max = Metric { values: [max_ms * MS, 0.0], ..latency("max", 1.0, None) };
        of_one(Some(least), vec![max, latency("mean", 0.1, None)])
    };
    assert_eq!(of(100, 300.0), (Outcome::Better, "mean".into(), Some(false)));
    assert_eq!(of(99, 300.0).0, Outcome::CannotTell);
    assert_eq!(of(100, 0.05).0, Outcome::CannotTell);
}

/// Two stretches of one load with correlated operations are rarely called different, although seven numbers are tested.
#[test]
fn one_load_is_the_same_as_itself() {
    let mut state = 7u64;
    let mut unit = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    };
    let mut normal = || (-2.0 * unit().ln()).sqrt() * (std::f64::consts::TAU * unit()).cos();
    let mut series = || {
        let (mut blocks, mut x) = (stats::Blocks::default(), normal());
        for _ in 0..4000 {
            x = 0.8 * x + 0.6 * normal();
            blocks.record((14.0 + x).exp() as u64);
        }
        blocks
    };
    let pairs = 200;
    let mut differ = || -> Option<bool> {
        let (before, after) = (series(), series());
        let moved = Some(Moved::of(&before.all(), &after.all()));
        let row = Row { moved, ..row(Some(4000), super::metrics::of_order([&before, &after])) };
        let c = compared(vec![row]);
        c.is_sure().filter(|_| c.outcome() != Outcome::NoDifference)
    };
    let different: Vec<bool> = (0..pairs).filter_map(|_| differ()).collect();
    let sure = different.iter().filter(|sure| **sure).count();
    let told = format!("of {pairs} {} are called different, {sure} of these surely", different.len());
    eprintln!("{told}");
    assert!(sure <= 16 && different.len() <= 45, "{told}");
}

/// Syncs became writes: the common kinds say little of the waits.
#[test]
fn what_was_waited_for_elsewhere_decides_nothing() {
    let elsewhere = Some("fsyncs (xfs) only before: 288 of 25.1 ms".to_string());
    let c = Comparison { elsewhere, ..compared(vec![row(Some(5000), vec![latency("p99", 2.0, WORSE)])]) };
    assert_eq!((c.outcome(), c.is_sure()), (Outcome::CannotTell, Some(false)));
    let said = c.verdict();
    assert!(
        said.starts_with("Cannot tell: most of what was waited for is on one side alone: fsyncs"),
        "{said}"
    );
    assert!(said.contains("; besides: reads p99"), "{said}");
}

/// The displayed value is a bucket's: a narrow range could exclude it.
#[test]
fn a_range_holds_the_number_beside_it() {
    let side = |shift: u64| {
        let mut blocks = stats::Blocks::default();
        (0..20_000u64).for_each(|i| blocks.record(1_000_000 + shift + i * 7919 % 12_000));
        blocks
    };
    let (before, after) = (side(0), side(3000));
    let metrics = super::metrics::of_order([&before, &after]);
    let ranged: Vec<_> = metrics.iter().filter_map(|m| Some((m, m.ranges?))).collect();
    assert!(ranged.len() >= 4, "{metrics:?}");
    for (metric, ranges) in ranged {
        let holds = |range: Range, value: f64| range.from <= value && value <= range.to;
        let [b, a] = metric.values;
        assert!(holds(ranges.before, b) && holds(ranges.after, a), "{metric:?}");
        assert!(holds(ranges.ratio, a / b) && holds(ranges.ratio_99, a / b), "{metric:?}");
    }
}

/// The number of outliers exists even if neither side has any.
#[test]
fn no_outliers_are_none() {
    let mut even = stats::Blocks::default();
    (0..500).for_each(|i| even.record(3000 + i % 7));
    let metric = super::metrics::outliers(Some((&even, &even)), even.all().quantile(0.99)).expect("a number");
    assert_eq!(
        (metric.values, metric.ranges.is_none(), metric.outcome()),
        ([0.0; 2], true, Outcome::CannotTell)
    );
    let c = compared(vec![row(Some(500), vec![metric])]);
    let holds = |text: &str| text.parse::<super::Condition>().unwrap().test(&c).unwrap().holds;
    assert!(!holds("read.outliers > 1.1x") && holds("read.outliers < 1.1x"));
}
