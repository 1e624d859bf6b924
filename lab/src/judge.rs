//! What `iowhy explain` says of a kept recording, beside the truth.

use crate::outcome::Outcome;
use crate::scenario::{Half, Role, Scenario};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

/// An answer to a cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Said {
    /// Found, with its share of the slowest operations' time.
    Found(f64),
    /// Rejected.
    Rejected,
    /// Cannot tell.
    CannotTell,
}

/// A recording and what was said of it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The recording.
    pub name: String,
    /// The cause that its scenario is about.
    pub cause: String,
    /// Whether the cause is in it.
    pub role: Role,
    /// Which half it belongs to.
    pub half: Half,
    /// What may be said first.
    pub truth: Vec<String>,
    /// What is true besides.
    pub also: Vec<String>,
    /// The answer to each cause.
    pub said: BTreeMap<String, Said>,
    /// What was found, in the order in which it was said.
    pub found: Vec<(String, f64)>,
    /// Events that were lost.
    pub lost: u64,
}

/// Causes that lie in what else the machine did while it recorded.
const OF_THE_MACHINE: [&str; 2] = ["cpu-wait", "outside-io"];

impl Judged {
    /// Whether what was said first is true.
    pub fn right_first(&self) -> bool {
        self.found.first().is_some_and(|(cause, _)| self.truth.contains(cause))
    }

    /// Whether a cause is in the recording. Where the processors were busy with something else that is in it, too: whether
    /// they were is not in the lab's hands.
    pub fn is_true(&self, cause: &str) -> bool {
        OF_THE_MACHINE.contains(&cause) || self.truth.iter().chain(&self.also).any(|c| c == cause)
    }
}

/// Judges all recordings that are there, on all processors; in order.
pub fn judge(iowhy: &Path, scenarios: &[Scenario]) -> Outcome<Vec<Judged>> {
    let work: Vec<_> = scenarios
        .iter()
        .flat_map(|s| s.recordings().map(|(name, role, setting)| (s, name, role, setting)))
        .filter(|(_, name, _, setting)| setting.recording(name).exists())
        .collect();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let worker = || {
        while let Some((at, (s, name, role, setting))) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            work.get(at).map(|w| (at, w))
        } {
            let judged = explain(iowhy, &setting.recording(name)).map(|e| Judged {
                name: name.clone(),
                cause: s.cause.clone(),
                role: *role,
                half: s.half,
                truth: setting.truth.clone(),
                also: setting.also.clone(),
                said: said(&e),
                found: found(&e),
                lost: e["quality"]["lost"].as_u64().unwrap_or(0),
            });
            done.lock().unwrap_or_else(|e| e.into_inner()).push((at, judged));
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(worker))));
    let mut done = done.into_inner().unwrap_or_else(|e| e.into_inner());
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, judged)| judged).collect()
}

fn explain(iowhy: &Path, recording: &Path) -> Outcome<Value> {
    let out = Command::new(iowhy).args(["explain", "--json"]).arg(recording).output()?;
    if !out.status.success() {
        return Err(format!("{}: {}", recording.display(), String::from_utf8_lossy(&out.stderr)).into());
    }
    Ok(serde_json::from_slice(&out.stdout)?)
}

fn causes(e: &Value) -> impl Iterator<Item = (String, Said)> + '_ {
    e["causes"].as_array().into_iter().flatten().filter_map(|c| {
        let said = match c["verdict"].as_str()? {
            "found" => Said::Found(c["share"].as_f64().unwrap_or(0.0)),
            "rejected" => Said::Rejected,
            _ => Said::CannotTell,
        };
        Some((c["cause"].as_str()?.to_string(), said))
    })
}

fn said(e: &Value) -> BTreeMap<String, Said> {
    causes(e).collect()
}

/// The answer where nobody lost time worth acting on.
const HEALTHY: &str = "healthy";

/// What was found, the answer first: it is what is read first.
fn found(e: &Value) -> Vec<(String, f64)> {
    let share = |(cause, said)| match said {
        Said::Found(share) => Some((cause, share)),
        _ => None,
    };
    let mut found: Vec<(String, f64)> = causes(e).filter_map(share).collect();
    let answer = e["answer"]["cause"].as_str();
    found.sort_by_key(|(cause, _)| Some(cause.as_str()) != answer);
    // Nothing is worth acting on: what was found explains little.
    if answer == Some(HEALTHY) && found.first().is_none_or(|(cause, _)| cause != HEALTHY) {
        found.insert(0, (HEALTHY.into(), 0.0));
    }
    found
}
