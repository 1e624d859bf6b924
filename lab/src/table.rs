//! `docs/corpus.md`: how often iowhy is right, by cause and by half.

use crate::judge::{Judged, Said};
use crate::outcome::Outcome;
use crate::remedy::{proof_of, Proof};
use crate::scenario::{Half, Role, Scenario};
use std::collections::BTreeSet;
use std::fmt::Write;

const HEAD: &str = include_str!("corpus-head.md");
/// How draws are made.
const AWAY: &str = include_str!("apps/away.md");

/// Names of causes that scripts rely on (`iowhy explain --json`).
const NAMES: &str = include_str!("cause-names.txt");

/// How often.
#[derive(Clone, Copy, Default)]
struct Tally {
    all: usize,
    found: usize,
    cannot_tell: usize,
}

impl Tally {
    fn add(&mut self, said: Option<&Said>) {
        self.all += 1;
        match said {
            Some(Said::Found(_)) => self.found += 1,
            Some(Said::CannotTell) | None => self.cannot_tell += 1,
            Some(Said::Rejected) => {}
        }
    }

    fn cells(self) -> String {
        match self.all {
            0 => "- | -".into(),
            n => format!("{} of {n} | {}", self.found, self.cannot_tell),
        }
    }
}

/// The document.
pub fn table(scenarios: &[Scenario], judged: &[Judged]) -> Outcome<String> {
    let mut text = HEAD.to_string();
    whole(&mut text, scenarios, judged)?;
    by_cause(&mut text, scenarios, judged)?;
    wrong(&mut text, judged)?;
    remedies(&mut text, scenarios)?;
    untried(&mut text, scenarios)?;
    recordings(&mut text, judged)?;
    not_yet(&mut text, scenarios)?;
    text += AWAY;
    Ok(text)
}

/// Of which causes there are scenarios.
fn with_scenario(scenarios: &[Scenario]) -> BTreeSet<&str> {
    scenarios.iter().map(|s| s.cause.as_str()).collect()
}

fn whole(text: &mut String, scenarios: &[Scenario], judged: &[Judged]) -> Outcome {
    let causes = with_scenario(scenarios).len();
    writeln!(text, "{} scenarios of {causes} causes, {} recordings.\n", scenarios.len(), judged.len())?;
    writeln!(
        text,
        "| half | recordings | right one first | cause found in its scenarios | cause found in its twins |"
    )?;
    writeln!(text, "|---|---|---|---|---|")?;
    for (name, half) in [("tuning", Some(Half::Tuning)), ("held out", Some(Half::HeldOut)), ("both", None)] {
        let these: Vec<_> = judged.iter().filter(|j| half.is_none_or(|h| j.half == h)).collect();
        let right = these.iter().filter(|j| j.right_first()).count();
        let of = |role: Role| {
            let own = |j: &&&Judged| j.role == role;
            let found = |j: &&&Judged| matches!(j.said.get(&j.cause), Some(Said::Found(_)));
            format!(
                "{} of {}",
                these.iter().filter(own).filter(found).count(),
                these.iter().filter(own).count()
            )
        };
        writeln!(
            text,
            "| {name} | {} | {right} ({:.0} %) | {} | {} |",
            these.len(),
            100.0 * right as f64 / these.len().max(1) as f64,
            of(Role::Scenario),
            of(Role::Twin)
        )?;
    }
    Ok(())
}

const BY_CAUSE: &str = "
## By cause

How often a cause was found where it is true, and in all other recordings. A recording whose scenario lists the cause as also true
is in neither column.

| cause | half | true: found | cannot tell | not true: found | cannot tell |
|---|---|---|---|---|---|
";

fn by_cause(text: &mut String, scenarios: &[Scenario], judged: &[Judged]) -> Outcome {
    text.push_str(BY_CAUSE);
    let mut causes = with_scenario(scenarios);
    causes.extend(judged.iter().flat_map(|j| j.said.keys().map(String::as_str)));
    for cause in causes {
        for (name, half) in [("tuning", Half::Tuning), ("held out", Half::HeldOut)] {
            let (mut when_true, mut when_false) = (Tally::default(), Tally::default());
            for j in judged.iter().filter(|j| j.half == half) {
                let said = j.said.get(cause);
                if j.truth.first().is_some_and(|t| t == cause) {
                    when_true.add(said);
                } else if !j.is_true(cause) {
                    when_false.add(said);
                }
            }
            writeln!(text, "| `{cause}` | {name} | {} | {} |", when_true.cells(), when_false.cells())?;
        }
    }
    Ok(())
}

fn wrong(text: &mut String, judged: &[Judged]) -> Outcome {
    let is_wrong = |j: &&Judged| !j.right_first() || j.found.iter().any(|(c, _)| !j.is_true(c));
    let wrong: Vec<_> = judged.iter().filter(is_wrong).collect();
    writeln!(text, "\n## What is not right\n")?;
    if wrong.is_empty() {
        writeln!(text, "Nothing: the right one is first everywhere, and nothing else is found.")?;
        return Ok(());
    }
    writeln!(text, "| recording | true | found | |\n|---|---|---|---|")?;
    for j in wrong {
        let what = if j.right_first() { "also found" } else { "not the right one first" };
        writeln!(text, "| {} | {} | {} | {what} |", j.name, j.truth.join(" or "), found(j))?;
    }
    Ok(())
}

fn found(j: &Judged) -> String {
    let each: Vec<_> = j.found.iter().map(|(c, share)| format!("{c} {:.0} %", share * 100.0)).collect();
    if each.is_empty() {
        "nothing".into()
    } else {
        each.join(", ")
    }
}

const REMEDIES: &str = "
## Proof by remedy

The command that iowhy printed was run, the same load ran again, and `iowhy compare` gave the result. *Explains*: the part of
the slowest operations' time that the cause explained before and after, in two recordings made one after the other (so *before*
differs a little from the recording below). What a command leaves to the user (which file, which device) is set by the scenario's
`fill`; where the remedy needs another load or mount than the recording, `remedy.on` says so.
All are of one run of `make lab` and one of `make lab-vm`, but for `page-fault-read` (no page fault was left, and nothing to
compare), `cpu-wait` and `scheduler-throttle` (tried again after the scenario and the remedy were changed), `stable-page` (twice 0.26
times, with a range too wide to decide), `crypt-queue` (three times: only the third time its cause was found) and
`raid-read-modify-write` (the emulated processors had stood still).

| scenario | command | | compare | explains |
|---|---|---|---|---|
";

fn remedies(text: &mut String, scenarios: &[Scenario]) -> Outcome {
    text.push_str(REMEDIES);
    for s in scenarios {
        let Ok(proof) = std::fs::read(proof_of(&s.name)) else { continue };
        let p: Proof = serde_json::from_slice(&proof)?;
        let harms = p.harms.map_or(String::new(), |h| format!("; and {h}"));
        writeln!(
            text,
            "| {} | `{}` | {} | {}{harms} | {:.0} % -> {:.0} % |",
            s.name,
            p.command.replace('|', "\\|"),
            p.verdict,
            p.sentence,
            p.before * 100.0,
            p.after * 100.0
        )?;
    }
    Ok(())
}

const NO_PROOF: &str = "
No command can be tried here for these:

";

/// Causes none of whose remedies can be tried in the lab, and why.
fn untried(text: &mut String, scenarios: &[Scenario]) -> Outcome {
    text.push_str(NO_PROOF);
    for s in scenarios.iter().filter(|s| s.name == s.cause && !s.sick.no_proof.is_empty()) {
        writeln!(text, "- `{}`: {}", s.cause, s.sick.no_proof)?;
    }
    Ok(())
}

fn recordings(text: &mut String, judged: &[Judged]) -> Outcome {
    writeln!(
        text,
        "\n## Every recording\n\n| recording | half | true | also true | found |\n|---|---|---|---|---|"
    )?;
    for j in judged {
        let half = if j.half == Half::Tuning { "tuning" } else { "held out" };
        writeln!(
            text,
            "| {} | {half} | {} | {} | {} |",
            j.name,
            j.truth.join(" or "),
            j.also.join(", "),
            found(j)
        )?;
    }
    Ok(())
}

fn not_yet(text: &mut String, scenarios: &[Scenario]) -> Outcome {
    let there = with_scenario(scenarios);
    let missing: Vec<_> =
        NAMES.split_whitespace().filter(|n| !there.contains(n)).map(|n| format!("`{n}`")).collect();
    writeln!(
        text,
        "\n## Not judged here\n\nCauses without a scenario in this corpus: {}.",
        missing.join(", ")
    )?;
    Ok(())
}
