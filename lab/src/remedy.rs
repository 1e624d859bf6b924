//! Proof by remedy: what `iowhy` printed is done, the same load runs again, and `iowhy compare` says what came of it.

use crate::folder::folder;
use crate::outcome::Outcome;
use crate::scenario::Remedy;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;

/// The command of the first remedy of a cause that was found and whose command has these words.
pub fn pick(explained: &Value, cause: &str, words: &str) -> Option<String> {
    let causes = explained["causes"].as_array()?;
    let found = causes.iter().find(|c| c["cause"] == cause && c["verdict"] == "found")?;
    let commands = found["remedies"].as_array()?.iter().filter_map(|r| r["command"].as_str());
    commands.map(str::to_string).find(|c| c.contains(words))
}

/// Where the proof of a scenario lies in the repository.
pub fn proof_of(name: &str) -> PathBuf {
    folder().join("corpus").join(format!("{name}.proof.json"))
}

/// What came of a remedy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// The command as it was printed.
    pub command: String,
    /// `compare`'s verdict of the operations that it should help: `better`, `no-difference`, ...
    pub verdict: String,
    /// And its numbers, in a sentence.
    pub sentence: String,
    /// The same of the operations that it harms, if it does.
    pub harms: Option<String>,
    /// The part of the slowest operations' time that the cause explained before, 0 to 1.
    pub before: f64,
    /// And after.
    pub after: f64,
}

impl Proof {
    /// From what `compare` and `explain` printed.
    pub fn of(
        cause: &str,
        command: &str,
        compared: &str,
        explained: [&str; 2],
        remedy: &Remedy,
    ) -> Outcome<Proof> {
        let compared: Value = serde_json::from_str(compared)?;
        let share = |text: &str| -> Outcome<f64> {
            let v: Value = serde_json::from_str(text)?;
            let one = v["causes"].as_array().into_iter().flatten().find(|c| c["cause"] == cause).cloned();
            Ok(one.and_then(|c| c["share"].as_f64()).unwrap_or(0.0))
        };
        let [before, after] = explained;
        let (verdict, sentence) = match remedy.helps.as_str() {
            "" => (text(&compared["verdict"]), text(&compared["sentence"])),
            kind => {
                let told = told(&compared, kind, &remedy.by);
                let [before, after] = explained.map(serde_json::from_str::<Value>);
                told.or(gone(&before?, &after?, kind))
                    .ok_or_else(|| format!("compare says nothing of {kind}"))?
            }
        };
        let harms = Some(&remedy.harms).filter(|h| !h.is_empty()).and_then(|h| told(&compared, h, ""));
        Ok(Proof {
            command: command.trim().into(),
            verdict,
            sentence,
            harms: harms.map(|(verdict, sentence)| format!("{verdict}: {sentence}")),
            before: share(before)?,
            after: share(after)?,
        })
    }
}

fn text(v: &Value) -> String {
    v.as_str().unwrap_or_default().to_string()
}

/// A p99 that differs by this is what is told, with a range or without.
const BY_FAR: f64 = 1.5;

/// Metrics by which a kind is judged: the p99 if it differs by far, else the first that shows a difference with a range. Where the
/// slowest came in a few stalls the range of a p99 is as wide as those, and how many are as slow (`slow`) says more.
const BY: [&str; 5] = ["p99", "slow", "p90", "p50", "mean"];

/// What `compare` says of one kind of operation, by a metric or (if none is named) by the one that tells most.
///
/// Where a recording has several devices a kind says on which (`reads on loop1`): then the one that matters most stands first, and
/// is taken. The scenario's are those on its file system; where it has none, the requests of its device. What is on an unknown file system may
/// be anybody's on the machine, and is taken only where there is nothing else.
fn told(compared: &Value, kind: &str, by: &str) -> Option<(String, String)> {
    let rows = compared["operations"].as_array()?;
    let named = |r: &&Value, fits: &dyn Fn(&str) -> bool| {
        r["what"].as_str().is_some_and(|w| fits(&without_device(w)))
    };
    let (on, elsewhere) = (format!("{kind} ("), format!("{kind} (unknown)"));
    let row = rows
        .iter()
        .find(|r| named(r, &|w| w.starts_with(&on) && w != elsewhere))
        .or_else(|| rows.iter().find(|r| named(r, &|w| w == kind)))
        .or_else(|| rows.iter().find(|r| named(r, &|w| w == elsewhere)))?;
    let metrics = row["metrics"].as_array()?;
    let of = |name: &&str| metrics.iter().find(|m| m["name"] == **name);
    let shows = |m: &&Value| m["outcome"] == "better" || m["outcome"] == "worse";
    let ranged = |m: &&Value| !m["range_95"].is_null();
    let by_far = |m: &&Value| m["ratio"].as_f64().is_some_and(|r| r > 0.0 && r.ln().abs() > BY_FAR.ln());
    let chosen = of(&BY[0]).filter(by_far).or_else(|| BY.iter().filter_map(of).filter(ranged).find(shows));
    let named = metrics.iter().find(|m| m["name"] == by);
    let chosen = named.or(chosen).or_else(|| BY.iter().filter_map(of).find(shows));
    let m = chosen.or_else(|| BY.iter().find_map(of))?;
    let ms = |v: &Value| v.as_f64().unwrap_or(0.0) / 1e6;
    let shown = |v: &Value| match m["unit"] == "share" {
        true => format!("{:.2} %", v.as_f64().unwrap_or(0.0) * 100.0),
        false => format!("{:.3} ms", ms(v)),
    };
    let which = match m["threshold_ns"].as_u64() {
        Some(ns) => format!("of {:.3} ms or more", ns as f64 / 1e6),
        None => text(&m["name"]),
    };
    let range = match m["range_95"]["ratio"].as_array() {
        Some(r) => {
            let end = |i: usize| r.get(i).and_then(Value::as_f64).unwrap_or(0.0);
            format!(" (95 %: {:.2} to {:.2})", end(0), end(1))
        }
        None => " (no range: too few)".into(),
    };
    let tail = of(&BY[0]).filter(|_| named.is_some()).map_or(String::new(), |p99| {
        format!("; p99 {:.3} ms -> {:.3} ms", ms(&p99["before"]), ms(&p99["after"]))
    });
    let sentence = format!(
        "{} {which} {} -> {}, {:.2} times{range}{tail}",
        text(&row["what"]),
        shown(&m["before"]),
        shown(&m["after"]),
        m["ratio"].as_f64().unwrap_or(0.0)
    );
    Some((text(&m["outcome"]), sentence))
}

/// Operations of a kind that are not there any more: with a file in memory nobody waits for a page of it, and there is nothing
/// to compare.
fn gone(before: &Value, after: &Value, kind: &str) -> Option<(String, String)> {
    let of = |explained: &Value| {
        let is = |row: &&Value| format!("{}s", text(&row["op"]).replace('-', " ")) == kind;
        let row =
            explained["operations"].as_array()?.iter().filter(|r| r["level"] == "operation").find(is)?;
        Some((row["count"].as_u64()?, row["latency_ns"]["p99"].as_f64()? / 1e6))
    };
    let (count, p99) = of(before)?;
    of(after)
        .is_none()
        .then(|| ("better".into(), format!("{kind} p99 {p99:.3} ms of {count} -> none any more")))
}

/// `reads on loop1 (ext4)` is `reads (ext4)`.
fn without_device(what: &str) -> String {
    match what.split_once(" on ") {
        Some((kind, rest)) => kind.to_string() + rest.find(" (").map_or("", |at| &rest[at..]),
        None => what.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{all, Scenario};
    use serde_json::json;

    /// What iowhy says of remedies that were tried.
    const TOLD: &str = include_str!("../../crates/causes/src/tested.tsv");

    /// A new proof needs a line there; a line that is no longer proven goes.
    #[test]
    fn what_is_told_of_remedies_is_what_was_measured() {
        let proven: Vec<Scenario> =
            all().unwrap().into_iter().filter(|s| proof_of(&s.name).is_file()).collect();
        let lines: Vec<Vec<&str>> = TOLD.lines().skip(1).map(|l| l.split('\t').collect()).collect();
        assert_eq!(lines.len(), proven.len());
        for s in proven {
            let proof: Proof = serde_json::from_slice(&std::fs::read(proof_of(&s.name)).unwrap()).unwrap();
            let line =
                lines.iter().find(|l| l[2] == s.name).unwrap_or_else(|| panic!("no line for {}", s.name));
            let [cause, words, _, latency, times, slower, slower_times] = line[..] else {
                panic!("{line:?}")
            };
            assert_eq!((cause, proof.verdict.as_str()), (s.cause.as_str(), "better"));
            assert!(proof.command.contains(words), "{line:?}");
            let (what, metric) = latency.rsplit_once(' ').unwrap();
            let is_gone = times == "0.00" && proof.sentence.ends_with("none any more");
            let says = |sentence: &str, times: &str| sentence.contains(&format!(", {times} times"));
            assert!(proof.sentence.starts_with(what) && proof.sentence.contains(metric), "{line:?}");
            assert!(is_gone || says(&proof.sentence, times), "{line:?}: {}", proof.sentence);
            assert_eq!(proof.harms.is_none(), slower.is_empty(), "{line:?}");
            if let Some(harms) = proof.harms {
                assert!(harms.contains(slower.rsplit_once(' ').unwrap().0), "{line:?}");
                assert!(says(&harms, slower_times), "{line:?}: {harms}");
            }
        }
    }

    #[test]
    fn the_first_remedy_that_fits() {
        let remedies =
            json!([{ "what": "a", "command": "echo 1 > a" }, { "what": "b", "command": "echo 2 > b" }]);
        let e = json!({ "causes": [
            { "cause": "x", "verdict": "rejected", "remedies": [] },
            { "cause": "y", "verdict": "found", "remedies": remedies },
        ]});
        assert_eq!(pick(&e, "y", "echo").as_deref(), Some("echo 1 > a"));
        assert_eq!(pick(&e, "y", "> b").as_deref(), Some("echo 2 > b"));
        assert_eq!(pick(&e, "y", "mount"), None);
        assert_eq!(pick(&e, "x", ""), None);
    }

    #[test]
    fn what_is_not_there_any_more_is_better() {
        let faults = json!({ "operations": [
            { "op": "page-fault", "level": "bio", "count": 9, "latency_ns": { "p99": 9e6 } },
            { "op": "page-fault", "level": "operation", "count": 12, "latency_ns": { "p99": 3e6 } },
        ]});
        let none = json!({ "operations": [{ "op": "close", "level": "operation", "count": 1 }] });
        let (verdict, sentence) = gone(&faults, &none, "page faults").unwrap();
        assert_eq!(
            (verdict.as_str(), sentence.as_str()),
            ("better", "page faults p99 3.000 ms of 12 -> none any more")
        );
        assert_eq!(gone(&faults, &faults, "page faults"), None);
        assert_eq!(gone(&none, &faults, "page faults"), None);
    }

    #[test]
    fn what_compare_said_of_one_kind() {
        let metric = |name: &str, outcome: &str, ratio: f64, range: Value| {
            json!({ "name": name, "before": 2e6, "after": 1e6, "ratio": ratio, "outcome": outcome,
                    "range_95": range })
        };
        let c = json!({ "operations": [
            { "what": "fsyncs (xfs)", "metrics": [metric("p99", "no-difference", 0.9, Value::Null)] },
            { "what": "reads (xfs)", "metrics": [
                metric("p99", "no-difference", 0.9, json!({ "ratio": [0.1, 1.5] })),
                metric("p50", "better", 0.5, json!({ "ratio": [0.4, 0.6] })),
            ] },
        ]});
        let (verdict, sentence) = told(&c, "reads", "").unwrap();
        assert_eq!(verdict, "better");
        assert_eq!(sentence, "reads (xfs) p50 2.000 ms -> 1.000 ms, 0.50 times (95 %: 0.40 to 0.60)");
        let (verdict, sentence) = told(&c, "reads", "p99").unwrap();
        assert_eq!(verdict, "no-difference");
        assert!(sentence.contains("0.90 times (95 %: 0.10 to 1.50); p99 2.000 ms"), "{sentence}");
        assert_eq!(told(&c, "fsyncs", "").unwrap().0, "no-difference");
        let row =
            |what: &str| json!({ "what": what, "metrics": [metric("p99", "better", 0.5, Value::Null)] });
        let which = |rows: &[&str]| {
            let rows: Vec<Value> = rows.iter().map(|w| row(w)).collect();
            told(&json!({ "operations": rows }), "reads", "")
                .map(|(_, s)| s.split(" p99").next().unwrap().to_string())
        };
        assert_eq!(which(&["reads (unknown)", "reads", "reads (ext4)"]).unwrap(), "reads (ext4)");
        assert_eq!(which(&["reads (unknown)", "reads"]).unwrap(), "reads");
        assert_eq!(
            which(&["reads on loop1 (unknown)", "reads on loop1", "reads on loop0"]).unwrap(),
            "reads on loop1"
        );
        assert_eq!(which(&["reads on loop1", "reads on loop0 (ext4)"]).unwrap(), "reads on loop0 (ext4)");
        assert_eq!(which(&["libaio reads", "reads (unknown)"]).unwrap(), "reads (unknown)");
        assert_eq!(told(&c, "writes", ""), None);
    }
}
