//! Judges what is worse than on a good disk.
//!
//! The reference is the floor of the same disk: a random read of 4 KiB on the quiet disk. So a slow kind of disk is not
//! blamed for being slow, only for being slower under a load that leaves it two thirds of its time. The causes in the
//! step's recording explain why it is worse; if the processors explain it, it is no finding about the disk.

mod beside;
mod judged;
mod quiet;
mod remedies;
mod sizes;
mod stall;
mod writes;

pub use quiet::probe;
pub use remedies::remedies;
pub use stall::pair;

use crate::result::{Finding, Found, Probe, Scenario};
use judged::{Judged, WHY};
use std::collections::BTreeMap;

/// Causes that are not a fault of the disk.
const NOT_STORAGE: &[&str] = &["healthy", "outside-io", "cpu-wait", "journal-cpu"];

/// Numbers of scenarios whose limits are multiples of what the first one measured.
const BY_THE_FLOOR: &[u8] = &[2, 5, 6, 7];

/// Judges a scenario by what a good disk does: sets its findings, what is good, remarks, and the verdict.
pub fn judge(s: &mut Scenario, p: &Probe, disk: Option<&str>, settings: &BTreeMap<String, String>) {
    let mut judged = Judged::default();
    match s.number {
        1 => quiet::quiet(s, p, &mut judged),
        2 => {
            beside::beside(s, p, &mut judged);
            beside::unthrottled(s, disk, settings, &judged.findings);
        }
        3 => writes::appends(s, &mut judged),
        4 => {
            sizes::sizes(s, &mut judged);
            sizes::cut(s, disk, settings, &mut judged);
        }
        5 => writes::fsync(s, p, &mut judged),
        6 => beside::heartbeat(s, p, &mut judged),
        _ => writes::small(s, p, &mut judged),
    }
    s.good = judged.good;
    let mut stood_still = false;
    for finding in judged.findings {
        let step = s.steps.iter().find(|step| step.name == finding.step);
        if step.is_some_and(|step| step.other_users.is_some()) {
            s.remarks.push(format!("{}, but other I/O ran beside it", finding.says));
            continue;
        }
        if let Some(stolen) = step.and_then(|step| step.processors?.stolen()) {
            s.remarks.push(format!("{}, but {stolen} meanwhile", finding.says));
            stood_still = true;
            continue;
        }
        let causes = step.map_or(&[][..], |step| &step.causes);
        let storage: Vec<&Found> = causes.iter().filter(|c| c.share >= WHY && !is_elsewhere(c)).collect();
        let mut elsewhere = causes.iter().filter(|c| c.cause != "healthy" && is_elsewhere(c));
        // The time that remains without the processors' part.
        let part: f64 = elsewhere.clone().map(|c| c.share).sum();
        let left = finding.measured_ns as f64 * (1.0 - part).max(0.0);
        let not_the_disk = storage.is_empty() && part >= WHY || left <= finding.expected_ns as f64;
        if let (true, Some(why)) = (not_the_disk, elsewhere.next()) {
            s.remarks.push(format!(
                "{}; not the disk: {} ({:.0} %)",
                finding.says,
                why.title.to_lowercase().trim_end_matches('.'),
                part * 100.0
            ));
            continue;
        }
        let causes = storage.iter().map(|c| c.cause.clone()).collect();
        s.findings.push(Finding { causes, ..finding });
    }
    let failed = s.steps.iter().filter_map(|step| Some(format!("{}: {}", step.name, step.trouble.as_ref()?)));
    let failed: Vec<String> = failed.collect();
    // The limits are multiples of a floor that was too high; so what exceeds them is certainly a finding.
    let mild = p.other_users.as_ref().filter(|_| BY_THE_FLOOR.contains(&s.number));
    let alone = !stood_still && mild.is_none() && s.steps.iter().all(|step| step.other_users.is_none());
    let measured = s.steps.iter().any(|step| !step.measured.is_empty());
    s.verdict = match (s.findings.is_empty(), failed.is_empty() && measured && alone) {
        (false, _) => "suffers",
        (true, true) => "good",
        (true, false) => "cannot-tell",
    }
    .into();
    let other_users = s.steps.iter().filter_map(|step| Some((&step.name, step.other_users.as_ref()?)));
    let other_users: Vec<String> =
        other_users.map(|(name, c)| format!("OTHER I/O in {name}: {}", c.words())).collect();
    s.remarks.extend(other_users);
    s.remarks.extend(mild.map(|c| {
        format!(
            "OTHER I/O ran beside the reference read, so limits that are multiples of it are too mild: {}",
            c.words()
        )
    }));
    s.remarks.extend(failed);
}

fn is_elsewhere(c: &Found) -> bool {
    NOT_STORAGE.contains(&c.cause.as_str())
}

#[cfg(test)]
mod tests {
    use super::judged::MS;
    use super::*;
    use crate::other_users::OtherUsers;
    use crate::processors::Processors;
    use crate::result::{Latency, Measured, Step};

    fn latency(p50: u64, p99: u64) -> Latency {
        Latency {
            count: 1_000,
            p50_ns: p50,
            mean_ns: p50,
            p80_ns: p50,
            p95_ns: p99,
            p99_ns: p99,
            p999_ns: p99,
            max_ns: p99,
        }
    }

    fn step(name: &str, job: &str, l: Latency, causes: &[(&str, f64)]) -> Step {
        let found = |c: &(&str, f64)| Found {
            cause: c.0.into(),
            title: c.0.into(),
            share: c.1,
            confidence: "high".into(),
            ..Found::default()
        };
        let measured = vec![Measured { job: job.into(), latency: l, ..Measured::default() }];
        Step { name: name.into(), measured, causes: causes.iter().map(found).collect(), ..Step::default() }
    }

    fn readers(beside: Latency, causes: &[(&str, f64)]) -> Scenario {
        let steps = vec![
            step("alone", "reads", latency(MS, 2 * MS), &[]),
            step("beside buffered", "reads", beside, causes),
        ];
        let mut s = Scenario { number: 2, steps, ..Scenario::default() };
        judge(&mut s, &Probe::default(), None, &BTreeMap::new());
        s
    }

    #[test]
    fn readers_beside_a_writer() {
        let good = readers(latency(MS, 10 * MS), &[("writeback-flood", 0.9)]);
        assert_eq!(good.verdict, "good");
        let told =
            "readers take 10 ms at p99 beside buffered writes, 2 ms alone; a good disk stays below 22 ms";
        assert_eq!(good.good, [told]);
        let s = readers(latency(MS, 100 * MS), &[("writeback-flood", 0.9), ("cpu-wait", 0.1)]);
        assert_eq!((s.verdict.as_str(), s.findings[0].name.as_str()), ("suffers", "writers-starve-readers"));
        assert_eq!(s.findings[0].causes, ["writeback-flood"]);
    }

    #[test]
    fn processors_are_not_the_disk() {
        // Nor if the disk has a small part: 100 ms minus the processors' 80 % is what a good disk does.
        let both = readers(latency(MS, 100 * MS), &[("journal-cpu", 0.8), ("flush-cost", 0.2)]);
        assert_eq!(both.verdict, "good");
        let both = readers(latency(MS, 100 * MS), &[("journal-cpu", 0.5), ("flush-cost", 0.5)]);
        assert_eq!(both.findings[0].causes, ["flush-cost"]);
        let s = readers(latency(MS, 100 * MS), &[("cpu-wait", 0.9)]);
        assert_eq!((s.verdict.as_str(), s.findings.len()), ("good", 0));
        // A cause that explains hardly anything does not clear the disk.
        assert_eq!(readers(latency(MS, 100 * MS), &[("cpu-wait", 0.01)]).verdict, "suffers");
        assert!(s.remarks[0].contains("not the disk"), "{:?}", s.remarks);
    }

    #[test]
    fn what_was_measured_beside_others_is_not_the_disks() {
        let other_users = Some(OtherUsers { tasks: vec!["cp".into()], bytes: 1 << 30, share: 0.43 });
        for beside in [latency(MS, 100 * MS), latency(MS, 10 * MS)] {
            let steps = vec![
                step("alone", "reads", latency(MS, 2 * MS), &[]),
                Step { other_users: other_users.clone(), ..step("beside buffered", "reads", beside, &[]) },
            ];
            let mut s = Scenario { number: 2, steps, ..Scenario::default() };
            judge(&mut s, &Probe::default(), None, &BTreeMap::new());
            assert_eq!((s.verdict.as_str(), s.findings.len()), ("cannot-tell", 0));
            let last = s.remarks.last().unwrap();
            assert_eq!(last, "OTHER I/O in beside buffered: cp moved 1 GiB meanwhile, 43 % of all");
        }
    }

    #[test]
    fn what_was_slow_while_the_host_took_the_processors_is_not_the_disks() {
        let judged = |beside, stolen| {
            let processors = Some(Processors { stolen: Some(stolen), ..Processors::default() });
            let steps = vec![
                step("alone", "reads", latency(MS, 2 * MS), &[]),
                Step { processors, ..step("beside buffered", "reads", beside, &[]) },
            ];
            let mut s = Scenario { number: 2, steps, ..Scenario::default() };
            judge(&mut s, &Probe::default(), None, &BTreeMap::new());
            s
        };
        let slow = judged(latency(MS, 100 * MS), 0.12);
        assert_eq!((slow.verdict.as_str(), slow.findings.len()), ("cannot-tell", 0));
        assert!(
            slow.remarks[0]
                .ends_with("but the host gave 12 % of the processors' time to other machines meanwhile"),
            "{:?}",
            slow.remarks
        );
        assert_eq!(judged(latency(MS, 100 * MS), 0.01).verdict, "suffers");
        assert_eq!(judged(latency(MS, 10 * MS), 0.12).verdict, "good", "it was good all the same");
    }

    #[test]
    fn limits_by_a_floor_beside_others_are_too_mild() {
        let other_users = Some(OtherUsers { tasks: vec!["cp".into()], bytes: 1 << 30, share: 0.43 });
        let beside_others = Probe { other_users, ..Probe::default() };
        let judged = |beside, probe: &Probe| {
            let steps = vec![
                step("alone", "reads", latency(MS, 2 * MS), &[]),
                step("beside buffered", "reads", beside, &[]),
            ];
            let mut s = Scenario { number: 2, steps, ..Scenario::default() };
            judge(&mut s, probe, None, &BTreeMap::new());
            s
        };
        let within = judged(latency(MS, 10 * MS), &beside_others);
        assert_eq!(within.verdict, "cannot-tell");
        assert!(within.remarks[0].contains("too mild: cp moved 1 GiB"), "{:?}", within.remarks);
        assert_eq!(judged(latency(MS, 10 * MS), &Probe::default()).verdict, "good");
        assert_eq!(judged(latency(MS, 100 * MS), &beside_others).verdict, "suffers");
    }

    #[test]
    fn what_was_not_measured_is_not_good() {
        let mut s = Scenario {
            number: 7,
            steps: vec![Step { trouble: Some("full".into()), ..Step::default() }],
            ..Scenario::default()
        };
        judge(&mut s, &Probe::default(), None, &BTreeMap::new());
        assert_eq!(s.verdict, "cannot-tell");
    }
}
