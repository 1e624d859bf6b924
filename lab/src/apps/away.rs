//! A draw: conditions are written down, then each is recorded and run again until its truth is known.
//!
//! Resumable: a condition whose truth is there is done; one that was begun is begun anew.

use super::catalogue::Catalogue;
use super::condition::{Condition, Thing};
use super::rig::{seconds, Rig, Work};
use super::truth::{accepted, helping, Baseline, Rerun, Truth};
use crate::Outcome;
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// How often a run that failed is tried.
const TRIES: u32 = 2;
/// Most operations of a run, and fewest.
const MOST: u64 = 40_000;
const FEWEST: u64 = 4;
/// A recorded run that is so far from its repeat is recorded once more.
const UNLIKE: f64 = 0.4;

/// Draws, records, runs again.
pub fn draw(rig: &Rig, seed: u64, count: u64, folder: &Path) -> Outcome {
    let catalogue = Catalogue::read()?;
    std::fs::create_dir_all(folder)?;
    std::fs::copy(super::catalogue::folder().join("catalogue.toml"), folder.join("catalogue.toml"))?;
    let drawn: Vec<Condition> = (0..count).map(|n| Condition::drawn(&catalogue, seed, n)).collect();
    for c in &drawn {
        write(&folder.join(format!("{}.condition.json", c.name)), c)?;
    }
    for c in &drawn {
        let truth = folder.join(format!("{}.truth.json", c.name));
        if truth.is_file() {
            continue;
        }
        match condition(rig, &catalogue, c, &folder.join(&c.name)) {
            Ok(t) => {
                println!("{}: {}", c.name, summary(&t));
                std::io::stdout().flush()?;
                write(&truth, &t)?;
            }
            Err(e) => eprintln!("{}: skipped: {e}", c.name),
        }
    }
    Ok(())
}

fn write(path: &Path, what: &impl Serialize) -> Outcome {
    let unfinished = path.with_extension("unfinished");
    std::fs::write(&unfinished, serde_json::to_vec_pretty(what)?)?;
    Ok(std::fs::rename(unfinished, path)?)
}

/// Records a condition and finds out its truth.
fn condition(rig: &Rig, catalogue: &Catalogue, c: &Condition, capture: &Path) -> Outcome<Truth> {
    let versions = rig.versions(catalogue, c)?;
    let image = rig.image(catalogue, c)?;
    let run = |c: &Condition, work: Work| {
        let mut failed = None;
        for _ in 0..TRIES {
            match rig.run(catalogue, c, image.path(), work) {
                Ok(reported) => return Ok(reported),
                Err(e) => failed = Some(e),
            }
        }
        Err(failed.unwrap_or_else(|| "it was not tried".into()))
    };
    let measured = run(c, Work::Measure)?.operations;
    let most = catalogue.workload[&c.workload].most.unwrap_or(MOST);
    let operations = measured.clamp(FEWEST, most);
    let mean = |c: &Condition| run(c, Work::Fixed(operations)).map(|r| r.mean);
    let long = seconds(operations, measured);
    let record = || run(c, Work::Recorded { operations, seconds: long, capture }).map(|r| r.mean);
    let mut baseline = Baseline { recorded: record()?, repeats: vec![mean(c)?] };
    if (baseline.recorded - baseline.mean()).abs() > UNLIKE * baseline.mean() {
        baseline.recorded = record()?;
    }
    let mut reruns = Vec::new();
    for without in c.things(catalogue) {
        let mean = mean(&c.without(&without, catalogue))?;
        reruns.push(Rerun { without, mean });
    }
    baseline.repeats.push(mean(c)?);
    let mut helps = helping(&baseline, &reruns);
    if helps.is_err() {
        // Once more: two repeats may be far apart by chance.
        baseline.repeats.push(mean(c)?);
        helps = helping(&baseline, &reruns);
    }
    if helps == Ok(vec![]) && c.neighbours.len() > 1 {
        let mean = mean(&c.without(&Thing::Neighbours, catalogue))?;
        reruns.push(Rerun { without: Thing::Neighbours, mean });
        helps = helping(&baseline, &reruns);
    }
    if helps == Ok(vec![]) && !catalogue.disk[&c.disk].good {
        let mean = mean(&c.without(&Thing::Disk, catalogue))?;
        reruns.push(Rerun { without: Thing::Disk, mean });
        helps = helping(&baseline, &reruns);
    }
    if helps == Ok(vec![]) && reruns.len() > 1 {
        let mean = mean(&c.without(&Thing::Everything, catalogue))?;
        if baseline.helped(mean) {
            helps = Err(format!("only several together help ({mean:.0} us without everything)"));
        }
        reruns.push(Rerun { without: Thing::Everything, mean });
    }
    let (helps, undecided) = match helps {
        Ok(helps) => (helps, None),
        Err(why) => (vec![], Some(why)),
    };
    let (causes, culprits) = accepted(c, &helps, catalogue);
    let victims = catalogue.workload[&c.workload].victims.clone();
    Ok(Truth { condition: c.clone(), versions, operations, baseline, reruns, helps, causes, culprits, victims, undecided })
}

/// A line about a truth.
pub fn summary(t: &Truth) -> String {
    let runs: Vec<String> = t.reruns.iter().map(|r| format!("without {} {:.0}", r.without, r.mean)).collect();
    let helps: Vec<String> = t.helps.iter().map(Thing::to_string).collect();
    let verdict = match &t.undecided {
        Some(why) => format!("undecided: {why}"),
        None if helps.is_empty() => "healthy".to_string(),
        None => helps.join(" or "),
    };
    format!(
        "{verdict}; {} operations of {:.0} us (recorded {:.0}, noise {:.0}); {}",
        t.operations,
        t.baseline.mean(),
        t.baseline.recorded,
        t.baseline.noise(),
        runs.join(", ")
    )
}
