//! A draw: conditions are written down, then each is recorded and run again until its truth is known.
//!
//! Resumable: a condition whose truth is there is done; one that was begun is begun anew.

use super::catalogue::Catalogue;
use super::condition::{Condition, Thing};
use super::rig::{Reported, Rig, Work, TOO_LONG};
use super::truth::{accepted, decided, enough, helping, Baseline, Helps, Rerun, Truth};
use crate::outcome::Outcome;
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// How often a run that failed is tried.
const TRIES: u32 = 2;
/// Most operations of a run, and fewest.
const MOST: u64 = 40_000;
const FEWEST: u64 = 4;
/// A run that took less than this share of the usual time needs no second one.
const CONFIRMED: f64 = 0.4;
/// A recorded run that is so far from its repeat is recorded once more.
const UNLIKE: f64 = 0.4;

/// Draws, records, runs again.
pub fn draw(rig: &Rig, seed: u64, count: u64, folder: &Path) -> Outcome {
    let mut catalogue = Catalogue::read()?;
    if rig.machine.is_some() {
        catalogue.keep_for_machine();
    }
    std::fs::create_dir_all(folder)?;
    let kept = folder.join("catalogue.toml");
    if !kept.is_file() {
        std::fs::copy(super::catalogue::folder().join("catalogue.toml"), kept)?;
    }
    let mut drawn = Vec::new();
    for number in 0..count {
        // What was written down stays, whatever the catalogue has become.
        let mut c = Condition::drawn(&catalogue, seed, number);
        if rig.machine.is_some() {
            c.recorded.in_a_machine();
        }
        let path = folder.join(format!("{}.condition.json", c.name));
        match std::fs::read(&path) {
            Ok(written) => drawn.push(serde_json::from_slice(&written)?),
            Err(_) => {
                write(&path, &c)?;
                drawn.push(c);
            }
        }
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
    let disk = rig.image(catalogue, c)?;
    let run = |c: &Condition, work: Work| {
        let mut failed = None;
        for _ in 0..TRIES {
            match rig.run(catalogue, c, &disk, work) {
                Ok(reported) => return Ok(reported),
                // It would again.
                Err(e) if e.to_string().starts_with(TOO_LONG) => return Err(e),
                Err(e) => failed = Some(e),
            }
        }
        Err(failed.unwrap_or_else(|| "it was not tried".into()))
    };
    let measured = run(c, Work::Measure)?.operations;
    let most = catalogue.workload[&c.workload].most.unwrap_or(MOST);
    let operations = measured.clamp(FEWEST, most);
    let mean = |c: &Condition| run(c, Work::Fixed(operations)).map(|r| r.mean);
    let long = rig.seconds(operations, measured);
    let record = || run(c, Work::Recorded { operations, seconds: long, capture });
    let emulated = rig.machine.is_some();
    let mut recorded = record()?;
    let repeat = mean(c)?;
    if (recorded.mean - repeat).abs() > UNLIKE * repeat {
        recorded = record()?;
    }
    let Reported { mean: latency, window, .. } = recorded;
    let mut baseline = Baseline { recorded: latency, repeats: vec![repeat], operations, window, emulated };
    let runs = Reruns { catalogue, c, mean: &mean };
    let (reruns, alone, helps) = runs.made(&mut baseline)?;
    let sharing = runs.without_sharing(&helps)?;
    let over_before = c.over_before_neighbours(operations);
    let (helps, undecided) = match decided(&baseline, &reruns, helps, sharing, over_before) {
        Ok(helps) => (helps, None),
        Err(why) => (vec![], Some(why)),
    };
    let (causes, culprits) = accepted(c, &helps, catalogue);
    let victims = catalogue.workload[&c.workload].victims.clone();
    Ok(Truth {
        condition: c.clone(),
        versions,
        baseline,
        reruns,
        alone,
        sharing,
        helps,
        causes,
        culprits,
        victims,
        undecided,
    })
}

/// Of those that help the one that saves most.
fn best_of<'a>(reruns: &'a mut [Rerun], helps: &[Thing]) -> Option<&'a mut Rerun> {
    let counts = reruns.iter_mut().filter(|r| helps.contains(&r.without));
    counts.min_by(|a, b| a.mean.total_cmp(&b.mean))
}

/// Runs of a condition with something taken away, as many as a decision needs.
struct Reruns<'a> {
    catalogue: &'a Catalogue,
    c: &'a Condition,
    /// The mean latency of a run of the usual amount of work.
    mean: &'a dyn Fn(&Condition) -> Outcome<f64>,
}

impl Reruns<'_> {
    fn without(&self, thing: Thing) -> Outcome<Rerun> {
        let mean = (self.mean)(&self.c.without(&thing, self.catalogue))?;
        Ok(Rerun { without: thing, mean })
    }

    /// Where nothing helps but neighbours that can work on another disk: the mean latency where they do.
    fn without_sharing(&self, helps: &Helps) -> Outcome<Option<f64>> {
        let movable = self.c.movable(self.catalogue);
        let is_moved = |thing: &Thing| match thing {
            Thing::Neighbour(n) => movable.contains(n),
            Thing::Neighbours => !movable.is_empty(),
            _ => false,
        };
        let Some(_) = helps.as_ref().ok().filter(|h| !h.is_empty() && h.iter().all(is_moved)) else {
            return Ok(None);
        };
        Ok(Some(self.without(Thing::Sharing)?.mean))
    }

    /// Runs without one thing each, those with only one left, and what they say.
    fn made(&self, baseline: &mut Baseline) -> Outcome<(Vec<Rerun>, Vec<Rerun>, Helps)> {
        let things = self.c.things(self.catalogue);
        let mut reruns = things.iter().map(|t| self.without(t.clone())).collect::<Outcome<Vec<_>>>()?;
        baseline.repeats.push((self.mean)(self.c)?);
        let mut helps = helping(baseline, &reruns, self.c.clients);
        if helps.is_err() {
            // Once more: two repeats may be far apart by chance.
            baseline.repeats.push((self.mean)(self.c)?);
            helps = helping(baseline, &reruns, self.c.clients);
        }
        if let Some(best) = helps.as_ref().ok().and_then(|helps| best_of(&mut reruns, helps)) {
            // What saves not so much is confirmed: of two runs the slower counts, and the repeats become three.
            if best.mean > CONFIRMED * baseline.mean() {
                best.mean = best.mean.max(self.without(best.without.clone())?.mean);
                baseline.repeats.push((self.mean)(self.c)?);
                helps = helping(baseline, &reruns, self.c.clients);
            }
        }
        let several = (self.c.neighbours.len() > 1).then_some(Thing::Neighbours);
        for thing in several.into_iter().chain(self.c.exchangeable(self.catalogue)) {
            if helps == Ok(vec![]) {
                reruns.push(self.without(thing)?);
                helps = helping(baseline, &reruns, self.c.clients);
            }
        }
        let mut alone = Vec::new();
        if helps == Ok(vec![]) && reruns.len() > 1 {
            let everything = self.without(Thing::Everything)?;
            if baseline.helped(everything.mean) {
                let left = things.into_iter().filter(|t| *t != Thing::Depth);
                for thing in left.chain(self.c.exchangeable(self.catalogue)) {
                    let mean = (self.mean)(&self.c.with_only(Some(&thing), self.catalogue))?;
                    alone.push(Rerun { without: thing, mean });
                }
                helps = enough(baseline, everything.mean, &alone);
            }
            reruns.push(everything);
        }
        Ok((reruns, alone, helps))
    }
}

/// A line about a truth.
pub fn summary(t: &Truth) -> String {
    let runs: Vec<String> = t.reruns.iter().map(|r| format!("without {} {:.0}", r.without, r.mean)).collect();
    let helps: Vec<String> = t.helps.iter().map(Thing::to_string).collect();
    let sharing = t.sharing.map_or(String::new(), |mean| format!(", without {} {mean:.0}", Thing::Sharing));
    let verdict = match &t.undecided {
        Some(why) => format!("undecided: {why}"),
        None if helps.is_empty() => "healthy".to_string(),
        None => helps.join(" or "),
    };
    format!(
        "{verdict}; {} operations of {:.0} us (recorded {:.0}, noise {:.0}); {}{sharing}",
        t.baseline.operations,
        t.baseline.mean(),
        t.baseline.recorded,
        t.baseline.noise(),
        runs.join(", ")
    )
}
