//! What iowhy predicts of an application without a neighbour, beside what the application reported when it ran without it.
//!
//! Predicted is the mean of the application's operations in a recording (`iowhy whatif --without`), measured the mean of whatever the
//! application calls an operation: both as parts of the mean beside the neighbour. Where neighbour and application are the same program,
//! a name does not tell them apart, and nothing is compared.

use super::catalogue::Catalogue;
use super::condition::Thing;
use super::truth::Truth;
use crate::Outcome;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A neighbour that was taken away.
struct Pair {
    name: String,
    neighbour: String,
    predicted: f64,
    measured: f64,
    /// Whether the measured mean lies in the interval.
    within: bool,
    /// Why it was not predicted.
    refused: Option<String>,
}

/// Compares all of some draws, and prints it.
pub fn compare(iowhy: &Path, folders: &[std::path::PathBuf]) -> Outcome {
    let catalogue = Catalogue::read()?;
    let mut pairs = Vec::new();
    for folder in folders {
        let mut files: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
        files.sort_by_key(std::fs::DirEntry::file_name);
        for file in files.iter().map(|f| f.file_name().to_string_lossy().into_owned()) {
            let Some(name) = file.strip_suffix(".truth.json") else { continue };
            let truth: Truth = serde_json::from_slice(&std::fs::read(folder.join(&file))?)?;
            if truth.undecided.is_none() {
                pairs.extend(of_truth(iowhy, &catalogue, &folder.join(name), &truth));
            }
        }
    }
    for p in &pairs {
        let Pair { name, neighbour, predicted, measured, within, refused } = p;
        let missed = if *within { "" } else { "  not within" };
        let told = match refused {
            Some(why) => format!("measured {measured:.2}, refused: {why}"),
            None => format!("predicted {predicted:.2} measured {measured:.2}{missed}"),
        };
        println!("{name:<24} without {neighbour:<14} {told}");
    }
    let (refused, told): (Vec<Pair>, Vec<Pair>) = pairs.into_iter().partition(|p| p.refused.is_some());
    totals(&told);
    println!("refused:                  {} more", refused.len());
    Ok(())
}

fn of_truth(iowhy: &Path, catalogue: &Catalogue, capture: &Path, truth: &Truth) -> Vec<Pair> {
    let same = |culprits: &[String]| culprits.iter().any(|c| truth.victims.contains(c));
    let mut pairs = Vec::new();
    for rerun in &truth.reruns {
        let Thing::Neighbour(neighbour) = &rerun.without else { continue };
        let Some(kind) = catalogue.neighbour.get(neighbour).filter(|n| !same(&n.culprits)) else { continue };
        let told: Vec<Value> = kind.culprits.iter().filter_map(|c| ask(iowhy, capture, c)).collect();
        let saved = |of: &str| told.iter().map(|v| part_saved(v, &truth.victims, of)).sum::<f64>();
        let measured = rerun.mean / truth.baseline.mean().max(f64::MIN_POSITIVE);
        // Nobody waited because of that one: nothing would change.
        let (low, high) = match told.is_empty() {
            true => (1.0, 1.0),
            false => (1.0 - saved("low"), 1.0 - saved("high")),
        };
        let noise = truth.baseline.noise() / truth.baseline.mean().max(f64::MIN_POSITIVE);
        pairs.push(Pair {
            name: truth.condition.name.clone(),
            neighbour: neighbour.clone(),
            predicted: 1.0 - saved("value"),
            measured,
            within: low - noise <= measured && measured <= high + noise,
            refused: told.iter().find_map(|v| refused(v, &truth.victims)),
        });
    }
    pairs
}

fn ask(iowhy: &Path, capture: &Path, without: &str) -> Option<Value> {
    let mut command = Command::new(iowhy);
    let out = command.args(["whatif", "--json"]).arg(capture).args(["--without", without]).output().ok()?;
    out.status.success().then(|| serde_json::from_slice(&out.stdout).ok())?
}

/// Which part of the time of an application's operations would be saved; `of` is a field of a prediction.
fn part_saved(told: &Value, victims: &[String], of: &str) -> f64 {
    let (mut saved, mut time) = (0.0, 0.0);
    for v in its(told, victims) {
        let (n, now) = (number(&v["count"]), number(&v["now_ns"]["mean"]));
        time += n * now;
        saved += v["without"]["mean_ns"][of].as_f64().map_or(0.0, |then| n * (now - then));
    }
    if time > 0.0 {
        saved / time
    } else {
        0.0
    }
}

/// Why nothing is predicted of the application, if that is so of the operations with most of its time.
fn refused(told: &Value, victims: &[String]) -> Option<String> {
    let time = |v: &&Value| number(&v["count"]) * number(&v["now_ns"]["mean"]);
    let most = its(told, victims).max_by(|a, b| time(a).total_cmp(&time(b)))?;
    most["without"]["refused"].as_str().map(str::to_string)
}

/// What is told of the application.
fn its<'a>(told: &'a Value, victims: &'a [String]) -> impl Iterator<Item = &'a Value> {
    let all = told["victims"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter(|v| v["task"].as_str().is_some_and(|t| victims.iter().any(|x| x == t)))
}

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or(0.0)
}

fn totals(pairs: &[Pair]) {
    let n = pairs.len().max(1) as f64;
    let part = |is: &dyn Fn(&Pair) -> bool| 100.0 * pairs.iter().filter(|p| is(p)).count() as f64 / n;
    let mut off: Vec<f64> = pairs.iter().map(|p| (p.measured - p.predicted).abs()).collect();
    let mut still: Vec<f64> = pairs.iter().map(|p| (1.0 - p.measured).abs()).collect();
    println!("\n{} pairs", pairs.len());
    println!(
        "median difference:        {:.2} of the mean; \"nothing changes\": {:.2}",
        median(&mut off),
        median(&mut still)
    );
    println!("within 0.15 of the mean:  {:.0} %", part(&|p| (p.measured - p.predicted).abs() <= 0.15));
    println!("within the interval:      {:.0} %", part(&|p| p.within));
}

fn median(all: &mut [f64]) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}
