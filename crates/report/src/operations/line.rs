//! The lines of a folded account, as the screen and JSON show them.
//!
//! A branch with a single part shares its line: a sleep, for a request, of some device.
//! Invariant: the lines within a line sum to it, to the nanosecond, and so do the shown microseconds.

use super::branch::{Branch, What};
use super::fold::fold;
use super::shares::{shares, whole};
use super::words::{instead, label, meanwhile, says_all};
use explain::Places;
use ledger::Reason;
use serde::Serialize;
use stats::SampledOperation;
use trace::Nanos;

/// The parts of a part below 1/100 of the operation's time are shown on that part's line...
const INLINE_PART: u64 = 100;
/// ...if there are at most this many.
const MOST_INLINE: usize = 4;

/// A line of the account; the lines within it sum to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    /// The length of time, in nanoseconds.
    #[serde(rename = "ns")]
    pub time: Nanos,
    /// The same in microseconds, rounded so that the lines of a level add up.
    #[serde(rename = "shown_us")]
    pub shown: u64,
    /// The line as the screen shows it.
    pub text: String,
    /// The reason for this time, if it has no parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// What the device or the processor did meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The number of similar parts that it stands for, if more than one.
    #[serde(skip_serializing_if = "is_one")]
    pub count: u64,
    /// Whether the lines within are shown on this one.
    #[serde(skip)]
    pub inline: bool,
    /// The lines within; they sum to this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Line>,
}

fn is_one(count: &u64) -> bool {
    *count <= 1
}

/// The lines of an operation's folded account.
pub fn lines(sampled: &SampledOperation, places: &Places) -> Vec<Line> {
    let total = sampled.account.total();
    let parts = fold(Branch::all(sampled), total);
    level(&parts, whole(total), total, places)
}

fn level(parts: &[Branch], shown: u64, total: Nanos, places: &Places) -> Vec<Line> {
    let times: Vec<Nanos> = parts.iter().map(|b| b.time).collect();
    let shown = shares(shown, &times);
    parts.iter().zip(shown).map(|(b, shown)| line(b, shown, total, places)).collect()
}

fn line(branch: &Branch, shown: u64, total: Nanos, places: &Places) -> Line {
    let mut text = label(branch, places);
    let (mut last, mut met, mut ran) = (branch, branch.met.clone(), branch.ran.clone());
    while let ([only], false) = (&last.parts[..], matches!(last.what, What::Rest)) {
        match (&last.what, &only.what) {
            (What::Wait { wait, .. }, What::Leaf(reason)) if says_all(*wait, *reason) => {}
            (_, What::Leaf(reason)) => text = format!("{text}, {}", reason.words()),
            _ => text = format!("{text}: {}", label(only, places)),
        }
        met.extend(only.met.iter().cloned());
        ran.extend(only.ran.iter().cloned());
        last = only;
    }
    let lines = level(&last.parts, shown, total, places);
    let leaves = lines.iter().all(|l| l.reason.is_some() && l.note.is_none() && l.lines.is_empty());
    let short = branch.time.0.saturating_mul(INLINE_PART) < total.0 && lines.len() <= MOST_INLINE;
    let is_rest = matches!(last.what, What::Rest);
    Line {
        time: branch.time,
        shown,
        count: branch.count,
        text,
        note: meanwhile(&met).or_else(|| instead(&ran)),
        reason: if let What::Leaf(reason) = last.what { Some(reason) } else { None },
        inline: !lines.is_empty() && leaves && (short || is_rest),
        lines,
    }
}
