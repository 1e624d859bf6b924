//! The opening of the page: the answer in one sentence, and the victims with their culprits. Rows name their task,
//! device and victim (`data-task`, `data-device`, `data-victim`) for the page's filter.

use super::escape::escape;
use super::shown::PageInput;
use crate::answer::{by_culprit_and_cause, device, line, operations, others_in_words};
use explain::answer::{Kind, Sufferer};
use explain::{Answer, Explanation};
use std::fmt::Write;
use trace::Nanos;
use units::words::{count, percent, time};

/// Maximal number of victims, and of culprits of each: this leaves room for a picture on a small screen.
const VICTIMS: usize = 3;
const CULPRITS: usize = 2;

/// The opening of a capture; `number` is its index on the page.
pub fn opening(told: &PageInput, number: usize) -> String {
    let PageInput { shown, answer, .. } = told;
    let e = &shown.explanation;
    let mut out = format!(
        "<section class=\"opening\" id=\"answer-{number}\">\n<h2>{}</h2>\n<p class=\"so {}\">{}</p>\n",
        escape(&shown.label),
        answer.kind.name(),
        escape(&line(e, answer))
    );
    if answer.kind == Kind::Cause {
        out += &victims(e, answer);
    }
    out + "</section>\n"
}

fn victims(e: &Explanation, answer: &Answer) -> String {
    let mut out = String::from(
        "<table class=\"numbers victims\"><thead><tr><th>who waited</th><th>p50</th><th>p99</th><th>lost</th>\
         <th>because of</th></tr></thead><tbody>\n",
    );
    for v in answer.victims.iter().take(VICTIMS) {
        let p99 = if v.count >= 100 { time(v.latency[1]) } else { String::new() };
        let bound = if v.is_bound { "&lt;=" } else { "" };
        let _ = writeln!(
            out,
            "<tr {}><td>{} {} {}</td><td>{}</td><td>{p99}</td><td>{bound}{}</td><td>{}</td></tr>",
            of(&v.task, &device(e, v), &format!("{} {} on {}", v.task, operations(e, v), device(e, v))),
            count(v.count),
            escape(&v.task),
            operations(e, v),
            time(v.latency[0]),
            time(v.lost),
            escape(&because(v, answer.cause))
        );
    }
    out += "</tbody></table>\n";
    let others = answer.bystanders + answer.victims.len().saturating_sub(VICTIMS);
    if others > 0 {
        let words = escape(&others_in_words(e, answer, VICTIMS, others));
        let _ = writeln!(out, "<p class=\"small\">{words}</p>");
    }
    out
}

/// A victim's culprits: `71 % the device: flush (flush-cost), 19 % redis-server: journal writes`.
fn because(v: &Sufferer, cause: Option<&str>) -> String {
    let sums = by_culprit_and_cause(v, cause);
    let share = |t: Nanos| percent(t.0 as f64 / v.lost.0.max(1) as f64);
    let told = sums.iter().take(CULPRITS).map(|(words, t)| format!("{} {words}", share(*t)));
    told.collect::<Vec<_>>().join(", ")
}

/// Attributes that name the task, the device and the victim of an element, for the page's filter.
pub fn of(task: &str, device: &str, victim: &str) -> String {
    let (task, device, victim) = (escape(task), escape(device), escape(victim));
    format!("data-task=\"{task}\" data-device=\"{device}\" data-victim=\"{victim}\"")
}
