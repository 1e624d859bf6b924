//! Collects the remedies, largest gain first.

use crate::result::{Remedy, Scenario};

/// The checkup's own load saturates the device: sending less is no remedy for the user.
const OUR_OWN: &str = "device-saturated";

/// The remedies by their possible gain: the time above a good disk's, times the part that the cause explains.
pub fn remedies(scenarios: &[Scenario]) -> Vec<Remedy> {
    let mut all: Vec<Remedy> = Vec::new();
    for s in scenarios {
        for f in &s.findings {
            let Some(step) = s.steps.iter().find(|step| step.name == f.step) else { continue };
            for c in step.causes.iter().filter(|c| f.causes.contains(&c.cause) && c.cause != OUR_OWN) {
                let gain = (f.measured_ns.saturating_sub(f.expected_ns) as f64 * c.share) as u64;
                for r in &c.remedies {
                    let new =
                        Remedy { cause: c.cause.clone(), scenario: s.number, gain_ns: gain, ..r.clone() };
                    match all.iter_mut().find(|old| old.command == new.command && old.what == new.what) {
                        Some(old) if old.gain_ns >= gain => {}
                        Some(old) => *old = new,
                        None => all.push(new),
                    }
                }
            }
        }
    }
    // The sort is stable: a cause's own remedies keep their order, best first.
    all.sort_by_key(|r| std::cmp::Reverse(r.gain_ns));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::judged::{finding, MS};
    use crate::result::{Finding, Found, Step};

    #[test]
    fn remedies_by_gain() {
        let with = |number: u8, measured: u64| {
            let remedies =
                vec![Remedy { what: format!("of {number}"), command: "x".into(), ..Remedy::default() }];
            let causes = vec![Found { cause: "c".into(), share: 0.5, remedies, ..Found::default() }];
            Scenario {
                number,
                steps: vec![Step { name: "a".into(), causes, ..Step::default() }],
                findings: vec![Finding {
                    causes: vec!["c".into()],
                    ..finding("f", "a", String::new(), measured, MS)
                }],
                ..Scenario::default()
            }
        };
        let all = remedies(&[with(1, 3 * MS), with(2, 11 * MS)]);
        assert_eq!(all.iter().map(|r| (r.scenario, r.gain_ns)).collect::<Vec<_>>(), [(2, 5 * MS), (1, MS)]);
    }
}
