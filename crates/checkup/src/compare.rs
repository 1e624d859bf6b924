//! What changed since another checkup: the settings, and the numbers beyond what two runs on the same disk differ by.
//!
//! fio says of each job how much its operations per second varied. A number has changed if it differs by more than
//! three of those deviations, and by more than what two runs differ by anyway ([`SAME`], [`SAME_TAIL`]).

use crate::judge::pair;
use crate::result::{Checkup, Latency, Measured};
use crate::screen::wrap;
use crate::units::time;
use serde::Serialize;
use std::fmt::Write;

/// Two runs on the same disk differ by up to this part in their medians and rates (measured on the project's disk model,
/// on two shared processors).
const SAME: f64 = 0.35;
/// And their tails by this factor.
const SAME_TAIL: f64 = 3.0;
/// Deviations of a run that are chance.
const DEVIATIONS: f64 = 3.0;
/// Differences of times below this are processors at work.
const LEAST_NS: u64 = 500_000;
/// And of the tails of runs that are short: a busy machine's processors are that late once in a while.
const LEAST_TAIL_NS: u64 = 10_000_000;
/// Runs with so many operations are not short.
const MANY: u64 = 5_000;
/// Fewer operations have no percentile to compare.
const LEAST_COUNT: u64 = 50;

/// What changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Changes {
    /// Settings, kernel, disk: name, then, now.
    pub settings: Vec<(String, String, String)>,
    /// Numbers: which, then, now, and whether it is better.
    pub numbers: Vec<Change>,
    /// Findings that are new.
    pub appeared: Vec<String>,
    /// Findings that are gone.
    pub gone: Vec<String>,
}

/// A number that changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Which: `5 fsync / 1 thread / sync: fsync p50`.
    pub what: String,
    /// Before.
    pub then: f64,
    /// Now.
    pub now: f64,
    /// Whether that is better.
    pub better: bool,
    /// Nanoseconds, or operations a second.
    pub is_time: bool,
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
            for m in &step.measured {
                let Some(b) = before.job(&m.job).filter(|_| m.error.is_none()) else { continue };
                numbers(
                    &mut c.numbers,
                    &format!("{} {} / {} / {}", s.number, s.name, step.name, m.job),
                    b,
                    m,
                );
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

fn numbers(out: &mut Vec<Change>, what: &str, then: &Measured, now: &Measured) {
    let chance = 1.0 + (DEVIATIONS * then.noise.max(now.noise)).max(SAME);
    let mut time = |name: &str, a: u64, b: u64, factor: f64, least: u64| {
        let ratio = a.max(b) as f64 / a.min(b).max(1) as f64;
        if ratio > factor && a.abs_diff(b) > least {
            out.push(Change {
                what: format!("{what}: {name}"),
                then: a as f64,
                now: b as f64,
                better: b < a,
                is_time: true,
            });
        }
    };
    let mut latency = |name: &str, a: &Latency, b: &Latency| {
        if a.count.min(b.count) >= LEAST_COUNT {
            let ((tail, then), (_, now)) = pair(a, b);
            let least = if a.count.min(b.count) >= MANY { LEAST_NS } else { LEAST_TAIL_NS };
            time(&format!("{name}p50"), a.p50_ns, b.p50_ns, chance, LEAST_NS);
            time(&format!("{name}{tail}"), then, now, chance.max(SAME_TAIL), least);
        }
    };
    match (&then.fsync, &now.fsync) {
        // What is made safe by an fsync is only copied to memory before: that tells of processors.
        (Some(a), Some(b)) => latency("fsync ", a, b),
        _ => latency("", &then.latency, &now.latency),
    }
}

/// In words.
pub fn render(c: &Changes, then: &Checkup) -> String {
    let mut out = format!("\nSINCE {}\n", then.when);
    for (name, a, b) in &c.settings {
        wrap(&mut out, "  ", &format!("{name}: {a} -> {b}"));
    }
    for n in &c.numbers {
        let say = |v: f64| if n.is_time { time(v as u64) } else { format!("{v:.0}/s") };
        wrap(
            &mut out,
            "  ",
            &format!(
                "{} {}: {} -> {}",
                if n.better { "better" } else { "WORSE" },
                n.what,
                say(n.then),
                say(n.now)
            ),
        );
    }
    for f in &c.appeared {
        wrap(&mut out, "  ", &format!("NEW {f}"));
    }
    for f in &c.gone {
        wrap(&mut out, "  ", &format!("gone {f}"));
    }
    if *c == Changes::default() {
        let _ = writeln!(out, "  no change beyond what two runs on the same disk differ by");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Scenario, Step};

    fn with(p50: u64, noise: f64) -> Checkup {
        let latency = Latency {
            count: 1_000,
            p50_ns: p50,
            mean_ns: p50,
            p95_ns: p50,
            p99_ns: p50,
            p999_ns: p50,
            max_ns: p50,
        };
        let m = Measured { job: "reads".into(), latency, noise, ..Measured::default() };
        let step = Step { name: "depth 1".into(), measured: vec![m], ..Step::default() };
        Checkup {
            scenarios: vec![Scenario { number: 1, steps: vec![step], ..Scenario::default() }],
            ..Checkup::default()
        }
    }

    #[test]
    fn chance_is_no_change() {
        assert_eq!(compare(&with(1_000_000, 0.05), &with(1_300_000, 0.05)), Changes::default());
        assert_eq!(compare(&with(1_000_000, 0.5), &with(2_400_000, 0.1)), Changes::default());
        let worse = compare(&with(1_000_000, 0.05), &with(4_000_000, 0.05));
        assert_eq!(worse.numbers.len(), 1);
        assert!(!worse.numbers[0].better);
    }

    #[test]
    fn settings_are_told() {
        let mut now = with(1, 0.0);
        now.settings.insert("queue/scheduler".into(), "none".into());
        assert_eq!(
            compare(&with(1, 0.0), &now).settings,
            [("queue/scheduler".into(), "not there".into(), "none".into())]
        );
    }
}
