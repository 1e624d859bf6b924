//! Asks iowhy about every recording of a draw and compares with what was found true: right or wrong, and what was said instead of what.

use super::catalogue::Catalogue;
use super::helped::helped;
use super::truth::Truth;
use crate::outcome::Outcome;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// A culprit counts as named where it has at least this share of the victim's time.
const NAMED: f64 = 0.2;

/// What was right of an answer.
struct Mark {
    name: String,
    cause: bool,
    /// None where nobody is to be named.
    culprit: Option<bool>,
    victim: Option<bool>,
    /// Whether 95 % of the time lost has a cause or a culprit.
    explained: Option<bool>,
    /// Whether the application's own entry among the victims has the cause and culprit, whoever is answered first.
    own: Option<bool>,
    /// Whether the cause is right where the application alone is asked about.
    asked: bool,
    /// Whether nothing helps the application and the answer is about somebody else, whose truth no run has shown.
    of_neighbour: bool,
    healthy: bool,
    /// Whether no cause is named: that nothing was slow is said, or why it cannot be told.
    none_named: bool,
    /// The same where the application alone is asked about.
    none_asked: bool,
    /// Whether the first remedy helps, where a run was made without what it takes away.
    helped: Option<bool>,
    truth: String,
    said: String,
    line: String,
}

/// Judges a folder that a draw left, and prints it.
pub fn judge(iowhy: &Path, folder: &Path) -> Outcome {
    let catalogue = Catalogue::read()?;
    let mut marks = Vec::new();
    let mut undecided = 0;
    let mut names: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    names.sort_by_key(std::fs::DirEntry::file_name);
    for entry in names {
        let file = entry.file_name().to_string_lossy().into_owned();
        let Some(name) = file.strip_suffix(".truth.json") else { continue };
        let truth: Truth = serde_json::from_slice(&std::fs::read(entry.path())?)?;
        if truth.undecided.is_some() {
            undecided += 1;
            continue;
        }
        let ask = |tasks: &[&str]| -> std::io::Result<Value> {
            let tasks = tasks.iter().flat_map(|task| ["--task", task]);
            let out = Command::new(iowhy)
                .args(["explain", "--json"])
                .args(tasks)
                .arg(folder.join(name))
                .output()?;
            Ok(serde_json::from_slice(&out.stdout).unwrap_or_default())
        };
        let said = ask(&[])?;
        let asked = ask(&application(&truth, &said))?;
        let mark = mark(name, &truth, (&said, &asked), &catalogue);
        println!("{}", mark.print());
        marks.push(mark);
    }
    totals(&marks, undecided);
    Ok(())
}

fn text<'a>(of: &'a Value, key: &str) -> Option<&'a str> {
    of.get(key).and_then(Value::as_str)
}

/// Whether kernel threads stand for who waits: where only blocks were recorded.
fn is_for_others(task: &str) -> bool {
    task.starts_with("jbd2") || task.starts_with("kworker")
}

/// The tasks that the application's I/O is recorded as.
fn application<'a>(truth: &'a Truth, said: &'a Value) -> Vec<&'a str> {
    let block = truth.condition.recorded.only_blocks();
    let victims = said["victims"].as_array().map(Vec::as_slice).unwrap_or_default();
    let threads = victims.iter().filter_map(|v| text(v, "task")).filter(|task| block && is_for_others(task));
    truth.victims.iter().map(String::as_str).chain(threads).collect()
}

/// The cause said first.
fn first_cause(said: &Value) -> Option<&str> {
    let answer = &said["answer"];
    let found = |c: &&Value| text(c, "verdict") == Some("found");
    match text(answer, "cause") {
        Some(cause) => Some(cause),
        None if answer.is_object() => text(answer, "kind").filter(|k| *k == "healthy"),
        None => said["causes"]
            .as_array()
            .and_then(|c| c.iter().find(found))
            .and_then(|c| text(c, "cause"))
            .or(Some("healthy")),
    }
}

/// Whether a cause, or its root, is true.
fn is_true(truth: &Truth, said: &Value) -> bool {
    let accepted = |c: Option<&str>| c.is_some_and(|c| truth.causes.iter().any(|t| t == c));
    !said.is_null() && (accepted(first_cause(said)) || accepted(text(&said["answer"], "root")))
}

fn names_no_cause(said: &Value) -> bool {
    said["answer"].is_object() && text(&said["answer"], "kind") != Some("cause")
}

/// Compares one answer (`iowhy.explain/2`; of `/1` only the first cause can be compared), and that of the application alone.
fn mark(name: &str, truth: &Truth, (said, asked): (&Value, &Value), catalogue: &Catalogue) -> Mark {
    let answer = &said["answer"];
    let (first, root) = (first_cause(said), text(answer, "root"));
    let healthy =
        truth.helps.is_empty() || first == Some("healthy") && truth.causes.iter().any(|c| c == "healthy");
    let victim = said["victims"].as_array().and_then(|v| v.first());
    let because = victim.and_then(|v| v["because"].as_array()).map(Vec::as_slice).unwrap_or_default();
    let mut named: BTreeSet<&str> = because
        .iter()
        .filter(|b| b["share"].as_f64().unwrap_or(0.0) >= NAMED)
        .filter_map(|b| text(&b["culprit"], "name"))
        .collect();
    named.extend(text(answer, "culprit"));
    let block = truth.condition.recorded.only_blocks();
    let is_victim = |v: &str| truth.victims.iter().any(|t| t == v) || block && is_for_others(v);
    let neighbours = |v: &str| {
        truth.condition.neighbours.iter().any(|n| catalogue.neighbour[n].culprits.iter().any(|c| c == v))
    };
    let answered = text(answer, "victim");
    Mark {
        name: name.to_string(),
        cause: is_true(truth, said),
        culprit: (!truth.culprits.is_empty())
            .then(|| truth.culprits.iter().any(|c| named.contains(c.as_str()))),
        victim: (!healthy).then(|| text(answer, "victim").is_some_and(is_victim)),
        explained: (!healthy).then(|| said["unexplained"].as_f64().is_some_and(|u| u <= 0.05)),
        own: (!healthy).then(|| own_entry(truth, said)),
        asked: is_true(truth, asked),
        of_neighbour: truth.helps.is_empty() && answered.is_some_and(|v| !is_victim(v) && neighbours(v)),
        healthy,
        none_named: names_no_cause(said),
        none_asked: names_no_cause(asked),
        helped: helped(truth, answer, catalogue),
        truth: match truth.helps.is_empty() {
            true => "healthy".into(),
            false => truth.helps.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or "),
        },
        said: match (first, root) {
            (Some(c), Some(r)) if c != r => format!("{c} (root {r})"),
            (Some(c), _) => c.to_string(),
            (None, _) => "nothing".to_string(),
        },
        line: text(answer, "line").unwrap_or_default().to_string(),
    }
}

/// Of the application's entry (the one that lost most, if several): its heaviest cause, and who has a share worth naming.
fn own_entry(truth: &Truth, said: &Value) -> bool {
    let lost = |v: &&Value| v["lost_ns"].as_u64().unwrap_or(0);
    let its = |v: &&Value| text(v, "task").is_some_and(|t| truth.victims.iter().any(|x| x == t));
    let Some(entry) = said["victims"].as_array().and_then(|v| v.iter().filter(its).max_by_key(lost)) else {
        return false;
    };
    let mut causes: BTreeMap<&str, u64> = BTreeMap::new();
    let mut culprits: BTreeMap<&str, f64> = BTreeMap::new();
    for b in entry["because"].as_array().map(Vec::as_slice).unwrap_or_default() {
        if let Some(cause) = text(b, "cause") {
            *causes.entry(cause).or_default() += b["ns"].as_u64().unwrap_or(0);
        }
        if let Some(name) = text(&b["culprit"], "name") {
            *culprits.entry(name).or_default() += b["share"].as_f64().unwrap_or(0.0);
        }
    }
    let heaviest = causes.iter().max_by_key(|(_, ns)| **ns).map(|(c, _)| *c);
    let named = |c: &String| culprits.get(c.as_str()).is_some_and(|share| *share >= NAMED);
    let cause = heaviest.is_some_and(|c| truth.causes.iter().any(|t| t == c));
    cause && (truth.culprits.is_empty() || truth.culprits.iter().any(named))
}

impl Mark {
    fn right(&self) -> bool {
        self.cause && self.culprit != Some(false) && self.victim != Some(false)
    }

    fn print(&self) -> String {
        let mut wrong = Vec::new();
        for (what, is) in [("cause", Some(self.cause)), ("culprit", self.culprit), ("victim", self.victim)] {
            if is == Some(false) {
                wrong.push(what);
            }
        }
        let mark = if self.right() { "right".to_string() } else { format!("wrong {}", wrong.join(", ")) };
        format!(
            "{:<24} {mark:<30} own entry {:<6} asked {:<6} remedy {:<6} truth: {:<36} said: {}; {}",
            self.name,
            self.own.map_or("-", |o| if o { "right" } else { "wrong" }),
            if self.asked { "right" } else { "wrong" },
            self.helped.map_or("-", |h| if h { "helps" } else { "idle" }),
            self.truth,
            self.said,
            self.line
        )
    }
}

/// A share with Wilson's 95 % interval.
fn share(marks: impl Iterator<Item = bool>) -> String {
    let (mut right, mut all) = (0.0, 0.0);
    for m in marks {
        all += 1.0;
        right += f64::from(u8::from(m));
    }
    if all == 0.0 {
        return "none".to_string();
    }
    let (p, z) = (right / all, 1.96_f64);
    let middle = (p + z * z / (2.0 * all)) / (1.0 + z * z / all);
    let half = z / (1.0 + z * z / all) * (p * (1.0 - p) / all + z * z / (4.0 * all * all)).sqrt();
    format!(
        "{right} of {all} ({:.0} %, {:.0} to {:.0})",
        p * 100.0,
        ((middle - half) * 100.0).max(0.0),
        (middle + half) * 100.0
    )
}

fn totals(marks: &[Mark], undecided: u32) {
    println!("\n{} recordings, {undecided} more are undecided", marks.len());
    println!("all right:  {}", share(marks.iter().map(Mark::right)));
    println!("cause:      {}", share(marks.iter().map(|m| m.cause)));
    println!("culprit:    {}", share(marks.iter().filter_map(|m| m.culprit)));
    println!("victim:     {}", share(marks.iter().filter_map(|m| m.victim)));
    println!("healthy:    {}", share(marks.iter().filter(|m| m.healthy).map(|m| m.cause)));
    println!("no cause:   {}", share(marks.iter().filter(|m| m.healthy).map(|m| m.none_named)));
    let of_application = |m: &&Mark, own: bool, asked: bool| if m.of_neighbour { asked } else { own };
    println!("of the application, where an answer is about a neighbour that no run measured:");
    println!("cause:      {}", share(marks.iter().map(|m| of_application(&m, m.cause, m.asked))));
    let healthy = marks.iter().filter(|m| m.healthy);
    println!("no cause:   {}", share(healthy.map(|m| of_application(&m, m.none_named, m.none_asked))));
    println!("own entry:  {}", share(marks.iter().filter_map(|m| m.own)));
    println!("asked:      {}", share(marks.iter().map(|m| m.asked)));
    println!("remedy:     {}", share(marks.iter().filter_map(|m| m.helped)));
    println!("95 % named: {}", share(marks.iter().filter_map(|m| m.explained)));
    let mut table: BTreeMap<(&str, &str), (u32, bool)> = BTreeMap::new();
    for m in marks {
        let cell = table.entry((&m.truth, &m.said)).or_default();
        *cell = (cell.0 + 1, m.cause);
    }
    println!("\n| truth | said | recordings |\n|---|---|---|");
    for ((truth, said), (n, right)) in table {
        println!("| {truth} | {said}{} | {n} |", if right { "" } else { " (wrong)" });
    }
}
