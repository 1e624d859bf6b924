//! What iowhy predicts of an application without a neighbour or without the cause that it names, beside what the application reported when it
//! ran without it.
//!
//! Predicted is the mean of the application's operations in a recording (`iowhy whatif --without`; of a cause what `iowhy explain` says of its
//! remedies), measured the mean of whatever the application calls an operation: both as parts of the mean as it was. Where neighbour and
//! application are the same program, a name does not tell them apart, and nothing is compared.

use super::catalogue::Catalogue;
use super::condition::Thing;
use super::truth::Truth;
use crate::outcome::Outcome;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Something that was taken away.
struct Pair {
    name: String,
    without: String,
    predicted: f64,
    measured: f64,
    /// Whether the measured mean lies in the interval.
    within: bool,
    /// Why it was not predicted.
    refused: Option<String>,
}

/// What is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum What {
    /// Each neighbour.
    Neighbours,
    /// What stands for the cause that is named, if it is no neighbour.
    Causes,
}

/// Compares all of some draws, and prints it.
pub fn compare(iowhy: &Path, what: What, folders: &[std::path::PathBuf]) -> Outcome {
    let catalogue = Catalogue::read()?;
    let mut pairs = Vec::new();
    for folder in folders {
        let mut files: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
        files.sort_by_key(std::fs::DirEntry::file_name);
        for file in files.iter().map(|f| f.file_name().to_string_lossy().into_owned()) {
            let Some(name) = file.strip_suffix(".truth.json") else { continue };
            let truth: Truth = serde_json::from_slice(&std::fs::read(folder.join(&file))?)?;
            if truth.undecided.is_none() {
                let capture = folder.join(name);
                pairs.extend(match what {
                    What::Neighbours => of_truth(iowhy, &catalogue, &capture, &truth),
                    What::Causes => of_cause(iowhy, &catalogue, &capture, &truth),
                });
            }
        }
    }
    for p in &pairs {
        let Pair { name, without, predicted, measured, within, refused } = p;
        let missed = if *within { "" } else { "  not within" };
        let told = match refused {
            Some(why) => format!("measured {measured:.2}, refused: {why}"),
            None => format!("predicted {predicted:.2} measured {measured:.2}{missed}"),
        };
        println!("{name:<24} without {without:<20} {told}");
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
        // Of one because of whom nobody waited nothing is saved.
        let refused = told.iter().find_map(|v| refused(v, &truth.victims));
        pairs.push(Pair { refused, ..Pair::of(truth, neighbour.clone(), rerun.mean, saved) });
    }
    pairs
}

/// The cause that is named, beside the runs without what stands for it.
fn of_cause(iowhy: &Path, catalogue: &Catalogue, capture: &Path, truth: &Truth) -> Vec<Pair> {
    let explained = Command::new(iowhy).args(["explain", "--json"]).arg(capture).output();
    let told = explained.ok().and_then(|out| serde_json::from_slice::<Value>(&out.stdout).ok());
    let Some(told) = told else { return vec![] };
    let Some(cause) = told["answer"]["cause"].as_str() else { return vec![] };
    let stands_for = |thing: &Thing| {
        let is_other = matches!(thing, Thing::Neighbour(_) | Thing::Neighbours | Thing::Depth);
        !is_other && truth.condition.causes(thing, catalogue).iter().any(|c| c == cause)
    };
    let reruns = truth.reruns.iter().filter(|r| stands_for(&r.without));
    let saved = |of: &str| saved_of_cause(&told, &truth.victims, cause, of);
    let refused =
        (saved("value") == 0.0).then(|| "the application's own operations do not show it".to_string());
    let pair = |r: &super::truth::Rerun| Pair {
        refused: refused.clone(),
        ..Pair::of(truth, format!("{}: {cause}", r.without), r.mean, saved)
    };
    reruns.map(pair).collect()
}

/// Which part of the time of an application's operations would be saved without a cause.
fn saved_of_cause(told: &Value, victims: &[String], cause: &str, of: &str) -> f64 {
    let (mut saved, mut time) = (0.0, 0.0);
    for v in its(told, victims) {
        let (n, now) = (number(&v["count"]), number(&v["latency_ns"]["mean"]));
        time += n * now;
        let relieved = v["relieved"].as_array().into_iter().flatten().find(|r| r["cause"] == cause);
        saved += relieved.and_then(|r| r["mean_ns"][of].as_f64()).map_or(0.0, |then| n * (now - then));
    }
    saved / f64::max(time, 1.0)
}

impl Pair {
    fn of(truth: &Truth, without: String, mean: f64, saved: impl Fn(&str) -> f64) -> Pair {
        let all = truth.baseline.mean().max(f64::MIN_POSITIVE);
        let (measured, noise) = (mean / all, truth.baseline.noise() / all);
        let (low, high) = (1.0 - saved("low"), 1.0 - saved("high"));
        let within = low - noise <= measured && measured <= high + noise;
        let name = truth.condition.name.clone();
        Pair { name, without, predicted: 1.0 - saved("value"), measured, within, refused: None }
    }
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
