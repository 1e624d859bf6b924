//! Several captures on one page: each against the first, with the metrics of `compare`.

use super::escape::escape;
use super::shown::Shown;
use crate::compare::worth;
use explain::compare::{span, times, Comparison, Metric};
use std::fmt::Write;
use tooltext::Unit;
use trace::Bytes;
use units::words::{count, ns, percent, size};

/// Maximal number of kinds of operations in one table; `compare --json` has all.
const MOST_KINDS: usize = 6;
/// A kind with fewer operations on a side is left out, unless the verdict mentions it.
const FEW: u64 = 20;
/// Maximal number of culprits of each victim.
const MOST_CULPRITS: usize = 5;
/// Maximal number of settings and differences of load that are listed.
const MOST_DIFFERENCES: usize = 16;
/// The metrics that are shown for each kind, by their names in `compare`.
const METRICS: [&str; 10] =
    ["p50", "p90", "p99", "p99.9", "slow", "outliers", "max", "mean", "iops", "bandwidth"];

/// Compares each further capture with the first one; empty if there is only one.
pub fn compared(captures: &[&Shown]) -> String {
    let [first, others @ ..] = captures else { return String::new() };
    let mut out = String::new();
    for other in others {
        let names = [first.label.clone(), other.label.clone()];
        let comparison = Comparison::of_recordings(names, &first.explanation, &other.explanation);
        out += &one(&comparison);
    }
    out
}

fn one(c: &Comparison) -> String {
    let [before, after] = [&c.names[0], &c.names[1]].map(|n| escape(n));
    let mut out = format!(
        "<section class=\"compared\">\n<h2>{after} against {before}</h2>\n<p class=\"so {}\">{}.</p>\n",
        c.outcome().name(),
        escape(&c.verdict())
    );
    let mut unlike: Vec<String> = c.load.iter().map(|d| d.text.clone()).collect();
    unlike.extend(c.settings.iter().map(|s| format!("{}: {} -> {}", s.what, s.kept, s.other)));
    if !unlike.is_empty() {
        let title = if c.is_unlike() { "The loads differ" } else { "Other differences" };
        let _ = writeln!(out, "<p>{title}:</p>\n<ul>");
        for text in unlike.iter().take(MOST_DIFFERENCES) {
            let _ = writeln!(out, "<li>{}</li>", escape(text));
        }
        out += "</ul>\n";
    }
    let several = |r: &&explain::compare::Row| r.least.is_none_or(|n| n >= FEW) || c.tells(r);
    let mut rows: Vec<&explain::compare::Row> = c.rows.iter().filter(several).collect();
    rows.sort_by_key(|r| !c.tells(r));
    let _ = writeln!(
        out,
        "<table class=\"numbers\"><thead><tr><th>what</th><th></th><th>{before}</th><th>{after}</th><th>times</th>\
         <th>95 % range</th><th></th></tr></thead><tbody>"
    );
    for row in rows.into_iter().take(MOST_KINDS) {
        let mut what = row.what.as_str();
        let shown = |m: &&Metric| METRICS.contains(&m.name.as_str()) && worth(row, m);
        for metric in row.metrics.iter().filter(shown) {
            let range = metric.ranges.map(|r| span(r.ratio));
            // Only a metric with an interval has a colour: without one, its difference may be chance.
            let class = metric.ranges.map_or("", |_| metric.outcome().name());
            let _ = writeln!(
                out,
                "<tr class=\"{}\"><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                class,
                escape(what),
                escape(&name(metric)),
                value(metric, metric.values[0]),
                value(metric, metric.values[1]),
                metric.ratio().map_or(String::new(), times),
                range.unwrap_or_default(),
                metric.said(),
            );
            what = "";
        }
    }
    out += "</tbody></table>\n";
    out += &blame(c);
    if !c.notes.is_empty() {
        out += "<ul class=\"small\">\n";
        for note in &c.notes {
            let _ = writeln!(out, "<li>{}</li>", escape(note));
        }
        out += "</ul>\n";
    }
    out + "</section>\n"
}

/// Draws the mean lost time of an operation, by culprit; empty if no victim has enough operations.
fn blame(c: &Comparison) -> String {
    let several = |b: &&explain::compare::Blamed| b.operations.iter().all(|n| *n >= FEW);
    let mut rows = String::new();
    for b in c.blamed.iter().filter(several).take(MOST_KINDS) {
        let mut who = b.victim.as_str();
        let whole = ("all", b.lost);
        let because = b.because.iter().map(|(words, each)| (words.as_str(), *each)).take(MOST_CULPRITS);
        for (words, each) in std::iter::once(whole).chain(because) {
            let [before, after] = each.map(|t| ns(t as u64));
            let _ = writeln!(
                rows,
                "<tr><td>{}</td><td>{}</td><td>{before}</td><td>{after}</td></tr>",
                escape(who),
                escape(words)
            );
            who = "";
        }
    }
    match rows.is_empty() {
        true => rows,
        false => format!(
            "<table class=\"numbers\"><thead><tr><th>each of</th><th>lost because of</th><th>{}</th><th>{}</th></tr></thead>\
             <tbody>\n{rows}</tbody></table>\n",
            escape(&c.names[0]),
            escape(&c.names[1])
        ),
    }
}

fn name(metric: &Metric) -> String {
    match (metric.name.as_str(), metric.threshold) {
        (_, Some(threshold)) => format!("at least {}", ns(threshold)),
        (name, _) => name.into(),
    }
}

fn value(metric: &Metric, v: f64) -> String {
    match metric.unit {
        Unit::Nanoseconds => ns(v.max(0.0) as u64),
        Unit::Bytes => size(Bytes(v.max(0.0) as u64)),
        Unit::BytesPerSecond => format!("{}/s", size(Bytes(v.max(0.0) as u64))),
        Unit::Share => percent(v),
        _ => count(v.max(0.0).round() as u64),
    }
}
