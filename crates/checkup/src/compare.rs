//! Compares two checkups: settings, and numbers that differ by more than chance.
//!
//! Each job is measured in slices of its time; the variation of a percentile from slice to slice is its chance. Two numbers
//! differ if they are further apart than [`DEVIATIONS`] standard deviations of both together, and further than two runs on
//! the same disk differ anyway ([`SAME`], [`SAME_TAIL`]). All calculations use logarithms, because times vary by factors:
//!
//! ```text
//! then  4.9 5.2 5.0 5.1 4.9 ms   deviation of the logarithms 0.03
//! now   3.1 3.6 3.0 3.4 3.2 ms                               0.07    3 * sqrt(0.03^2 + 0.07^2) = 0.23
//! ln(5.0 / 3.2) = 0.45 > 0.23, but x1.6 < SAME: no change; x2.1 would be one
//! ```
//!
//! A job with too few slices, or too few operations in them, has no known chance: it is listed, but not compared.

use crate::judge::pair;
use crate::result::{Checkup, Latency, Measured};
use crate::screen::wrap;
use serde::Serialize;
use units::words;

/// Medians of two runs on the same disk differ by up to this factor, whatever their slices show: the place of the data file
/// and the other load of the machine stay the same for a whole run. Measured: docs/checkup.md, "What two runs differ by".
const SAME: f64 = 2.0;
/// Tails of two runs on the same disk differ by up to this factor.
const SAME_TAIL: f64 = 3.0;
/// Differences up to this many standard deviations are chance.
const DEVIATIONS: f64 = 3.0;
/// Smaller differences of medians, in ns, come from processors that are busy.
const LEAST_NS: u64 = 200_000;
/// Smaller differences of tails, in ns, come from processors: those of a busy machine are that late now and then.
const LEAST_TAIL_NS: u64 = 10_000_000;
/// Minimal number of slices from which the variation is known.
const LEAST_SLICES: usize = 4;
/// Minimal number of operations in a slice that counts.
const LEAST_COUNT: u64 = 20;
/// Jobs that only interfere with others: their own latency is not compared.
const LOADS: &[&str] = &["writer", "tarball"];

/// The differences between two checkups.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Changes {
    /// Settings, kernel, disk, ... that differ: name, value then, value now.
    pub settings: Vec<(String, String, String)>,
    /// Numbers that differ by more than chance.
    pub numbers: Vec<Change>,
    /// Whether any number was measured long enough to be compared.
    pub compared: bool,
    /// Steps that were measured too shortly, then or now, to be compared.
    pub too_short: Vec<String>,
    /// Steps that are not compared because other tasks used the disk, then or now.
    pub not_alone: Vec<String>,
    /// Findings that are new, as `NUMBER SCENARIO: FINDING`.
    pub appeared: Vec<String>,
    /// Findings that are gone, in the same form.
    pub gone: Vec<String>,
}

/// A number that differs between two checkups.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Its name: `5 fsync / 1 thread / sync: fsync p50`.
    pub what: String,
    /// Its value then, in nanoseconds.
    pub then: u64,
    /// Its value now, in nanoseconds.
    pub now: u64,
    /// How the processors may explain the difference; `None` if they do not.
    pub processors: Option<String>,
}

impl Change {
    /// Whether the number is smaller now.
    pub fn better(&self) -> bool {
        self.now < self.then
    }
}

/// Compares two checkups.
pub fn compare(then: &Checkup, now: &Checkup) -> Changes {
    let mut c = Changes::default();
    let mut setting = |name: &str, a: &str, b: &str| {
        if a != b {
            c.settings.push((name.into(), a.into(), b.into()));
        }
    };
    setting("kernel", &then.kernel, &now.kernel);
    setting("fio", &then.fio, &now.fio);
    setting("file system", &then.place.fstype, &now.place.fstype);
    setting("mount options", &then.place.options, &now.place.options);
    setting(
        "disk",
        then.place.disk.as_deref().unwrap_or("none"),
        now.place.disk.as_deref().unwrap_or("none"),
    );
    let names: std::collections::BTreeSet<&String> =
        then.settings.keys().chain(now.settings.keys()).collect();
    for name in names {
        let get = |c: &Checkup| c.settings.get(name).cloned().unwrap_or_else(|| "not there".into());
        setting(name, &get(then), &get(now));
    }
    for s in &now.scenarios {
        for step in &s.steps {
            let Some(before) = then.step(s.number, &step.name) else { continue };
            if let Some(other_users) = before.other_users.as_ref().or(step.other_users.as_ref()) {
                c.not_alone.push(format!(
                    "{} {} / {} ({})",
                    s.number,
                    s.name,
                    step.name,
                    other_users.words()
                ));
                continue;
            }
            for m in &step.measured {
                if LOADS.contains(&m.job.as_str()) {
                    continue;
                }
                let Some(b) = before.job(&m.job).filter(|_| m.error.is_none()) else { continue };
                let what = format!("{} {} / {}", s.number, s.name, step.name);
                let from = c.numbers.len();
                match numbers(&mut c.numbers, &format!("{what} / {}", m.job), b, m) {
                    Some(()) => {
                        c.compared = true;
                        let processors = before.processors.zip(step.processors);
                        for n in &mut c.numbers[from..] {
                            n.processors = processors.and_then(|(a, b)| a.explain(&b, n.better()));
                        }
                    }
                    None if c.too_short.last() == Some(&what) => {}
                    None => c.too_short.push(what),
                }
            }
        }
    }
    let names = |c: &Checkup| -> std::collections::BTreeSet<String> {
        c.scenarios
            .iter()
            .flat_map(|s| s.findings.iter().map(|f| format!("{} {}: {}", s.number, s.name, f.name)))
            .collect()
    };
    let (before, after) = (names(then), names(now));
    c.appeared = after.difference(&before).cloned().collect();
    c.gone = before.difference(&after).cloned().collect();
    c
}

/// Compares a job's numbers. `None` if it was measured too shortly, then or now.
fn numbers(out: &mut Vec<Change>, what: &str, then: &Measured, now: &Measured) -> Option<()> {
    let (a, b) = (slices(then)?, slices(now)?);
    // With fsync, an operation before it only copies to memory: its latency is about processors, so only fsyncs are compared.
    let (name, (before, after)) = match (&then.fsync, &now.fsync) {
        (Some(a), Some(b)) => ("fsync ", (a, b)),
        _ => ("", (&then.latency, &now.latency)),
    };
    let mut number = |name: String, of: &dyn Fn(&Latency) -> u64, same: f64, least: u64| {
        let (x, y) = (of(before).max(1), of(after).max(1));
        let factor = x.max(y) as f64 / x.min(y) as f64;
        let chance = DEVIATIONS * (deviation(&a, of).powi(2) + deviation(&b, of).powi(2)).sqrt();
        if factor > same && factor.ln() > chance && x.abs_diff(y) > least {
            out.push(Change { what: format!("{what}: {name}"), then: x, now: y, processors: None });
        }
    };
    number(format!("{name}p50"), &|l| l.p50_ns, SAME, LEAST_NS);
    // The rarest percentile that each slice supports.
    let few = a.iter().chain(&b).min_by_key(|s| s.count)?;
    let ((tail, _), _) = pair(few, few);
    if tail != "p50" {
        let of = |l: &Latency| pair(few, l).1 .1;
        number(format!("{name}{tail}"), &of, SAME_TAIL, LEAST_TAIL_NS);
    }
    Some(())
}

/// The slices with enough operations; `None` if there are too few.
fn slices(m: &Measured) -> Option<Vec<Latency>> {
    let long: Vec<Latency> = m.slices.iter().filter(|s| s.count >= LEAST_COUNT).copied().collect();
    (long.len() >= LEAST_SLICES).then_some(long)
}

/// The standard deviation of the logarithms of a number.
fn deviation(slices: &[Latency], of: &dyn Fn(&Latency) -> u64) -> f64 {
    let logs: Vec<f64> = slices.iter().map(|s| (of(s).max(1) as f64).ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
    let squares: f64 = logs.iter().map(|l| (l - mean).powi(2)).sum();
    (squares / (logs.len().max(2) - 1) as f64).sqrt()
}

/// The differences in words, one line each.
pub fn rows(c: &Changes) -> Vec<String> {
    let mut out: Vec<String> = c.settings.iter().map(|(name, a, b)| format!("{name}: {a} -> {b}")).collect();
    for n in &c.numbers {
        let (mark, why) = match (n.better(), &n.processors) {
            // A difference that processors explain may be no difference of the disk.
            (_, Some(why)) => ("maybe", format!(" (or the processors: {why})")),
            (true, None) => ("better", String::new()),
            (false, None) => ("WORSE", String::new()),
        };
        out.push(format!("{mark} {}: {} -> {}{why}", n.what, words::ns(n.then), words::ns(n.now)));
    }
    out.extend(c.appeared.iter().map(|f| format!("NEW {f}")));
    out.extend(c.gone.iter().map(|f| format!("gone {f}")));
    if out.is_empty() && c.compared {
        out.push("no change larger than between two runs on the same disk".into());
    }
    if !c.not_alone.is_empty() {
        out.push(format!("not compared because others used the disk: {}", c.not_alone.join(", ")));
    }
    if !c.too_short.is_empty() {
        out.push(format!("too short to be compared (--full is longer): {}", c.too_short.join(", ")));
    }
    out
}

/// The differences for the screen, wrapped.
pub fn render(c: &Changes, then: &Checkup) -> String {
    let mut out = format!("\nSINCE {}\n", then.when);
    rows(c).iter().for_each(|row| wrap(&mut out, "  ", row));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::other_users::OtherUsers;
    use crate::processors::Processors;
    use crate::result::{Scenario, Step};

    fn latency(p50: u64, count: u64) -> Latency {
        Latency {
            count,
            p50_ns: p50,
            mean_ns: p50,
            p80_ns: p50,
            p95_ns: p50,
            p99_ns: p50,
            p999_ns: p50,
            max_ns: p50,
        }
    }

    /// A checkup whose slices have these medians in microseconds, each with `count` operations.
    fn with(slices: &[u64], count: u64) -> Checkup {
        let mut sorted = slices.to_vec();
        sorted.sort_unstable();
        let slices: Vec<Latency> = slices.iter().map(|us| latency(us * 1_000, count)).collect();
        let latency = latency(sorted[sorted.len() / 2] * 1_000, count * slices.len() as u64);
        let m = Measured { job: "reads".into(), latency, slices, ..Measured::default() };
        let step = Step { name: "depth 1".into(), measured: vec![m], ..Step::default() };
        Checkup {
            scenarios: vec![Scenario { number: 1, steps: vec![step], ..Scenario::default() }],
            ..Checkup::default()
        }
    }

    fn changed(then: &[u64], now: &[u64]) -> Vec<bool> {
        let c = compare(&with(then, 90), &with(now, 90));
        assert_eq!(c.too_short, [""; 0]);
        c.numbers.iter().map(Change::better).collect()
    }

    #[test]
    fn chance_is_no_change() {
        let calm = [1_000, 1_020, 990, 1_010, 1_000];
        assert_eq!(changed(&calm, &[1_900, 1_910, 1_890, 1_900, 1_900]), [true; 0], "within SAME");
        assert_eq!(changed(&calm, &[4_000, 4_100, 3_900, 4_000, 4_000]), [false]);
        assert_eq!(changed(&[4_000, 4_100, 3_900, 4_000, 4_000], &calm), [true]);
        // Seen on a shared machine: x1.6 between runs whose slices vary as much.
        assert_eq!(
            changed(&[5_010, 3_400, 5_900, 4_100, 6_200], &[3_230, 2_500, 4_400, 3_000, 4_000]),
            [true; 0]
        );
        assert_eq!(changed(&[10, 11, 10, 11, 10], &[90, 90, 91, 90, 90]), [true; 0], "processors at work");
    }

    #[test]
    fn what_is_too_short_is_said_and_not_compared() {
        let (long, slow) = (with(&[1_000; 5], 90), with(&[9_000; 5], 90));
        for short in [with(&[9_000; 5], 19), with(&[9_000; 3], 90)] {
            let c = compare(&long, &short);
            assert_eq!((c.numbers.len(), c.too_short.len()), (0, 1));
            let words = render(&c, &long);
            assert!(words.contains("too short to be compared") && !words.contains("no change"), "{words}");
        }
        assert!(render(&compare(&long, &long), &long).contains("no change larger"));
        assert!(render(&compare(&long, &slow), &long).contains("WORSE"));
    }

    #[test]
    fn what_was_measured_beside_others_is_not_compared() {
        let (then, mut now) = (with(&[1_000; 5], 90), with(&[9_000; 5], 90));
        now.scenarios[0].steps[0].other_users =
            Some(OtherUsers { tasks: vec!["cp".into()], bytes: 1, share: 0.5 });
        let words = render(&compare(&then, &now), &then);
        assert!(words.contains("others used the disk") && !words.contains("WORSE"), "{words}");
        assert!(!words.contains("no change"), "{words}");
    }

    #[test]
    fn what_the_processors_explain_is_no_change_of_the_disk() {
        let run = |us: u64, busy: f64| {
            let mut c = with(&[us; 5], 90);
            c.scenarios[0].steps[0].processors =
                Some(Processors { busy: Some(busy), stolen: None, work_ns: 1_000_000 });
            c
        };
        let told = |then: &Checkup, now: &Checkup| render(&compare(then, now), then);
        let words = told(&run(1_000, 0.1), &run(9_000, 0.8));
        let row =
            "maybe 1 / depth 1 / reads: p50: 1 ms -> 9 ms (or the processors: 10 % busy then, 80 % now)";
        assert!(words.split_whitespace().collect::<Vec<_>>().join(" ").contains(row), "{words}");
        assert!(told(&run(1_000, 1.0), &run(1_000, 1.0)).contains("no change larger"), "that is no doubt");
        // The disk is slower although the processors are less busy.
        assert!(told(&run(1_000, 0.8), &run(9_000, 0.1)).contains("WORSE"));
    }

    #[test]
    fn settings_are_told() {
        let mut now = with(&[1; 5], 90);
        now.settings.insert("queue/scheduler".into(), "none".into());
        assert_eq!(
            compare(&with(&[1; 5], 90), &now).settings,
            [("queue/scheduler".into(), "not there".into(), "none".into())]
        );
    }
}
