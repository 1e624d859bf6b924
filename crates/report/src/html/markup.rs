//! The part of the page in plain markup, which can be read without scripts, printed and searched: what was slow, where its time
//! went, why, what to try, how far to trust it. The words are those of the screen.

use super::escape::escape;
use super::shown::{PageInput, Shown};
use super::waits::waits;
use crate::answer::{confidence, with_gain};
use crate::screen::about;
use crate::slow_rows::{slow_rows, Row};
use crate::style::Detail;
use crate::why::{found_by, remedies, sentence, Found};
use causes::Answer as Judged;
use explain::{where_time, Answer};
use ledger::Reason;
use stats::Group;
use std::fmt::Write;
use units::words::{count, ns, percent, time};

/// Maximal number of devices in the head.
const DEVICES: usize = 8;
/// Maximal number of groups whose tail is broken down.
const GROUPS: usize = 4;
/// Maximal number of rows in the table of latencies, and of waits below a bar.
const ROWS: usize = 16;
/// Maximal number of proofs of a cause: each of hundreds of victims may have its own.
const PROOFS: usize = 24;
/// Maximal number of remedies.
const TRIES: usize = 24;

/// The verdict of a capture; `number` is its index on the page.
pub fn verdict(told: &PageInput, number: usize) -> String {
    let PageInput { shown, answer, .. } = told;
    let found = found_by(&shown.explanation, answer);
    let mut out = String::new();
    let _ = write!(out, "<section class=\"verdict\" id=\"capture-{number}\">\n{}", head(shown));
    out += &why(shown, &found);
    out += &try_(shown, answer, &found);
    out += &slow(shown);
    out += &where_(shown);
    out += &waits(shown);
    out += &trust(shown);
    out += "</section>\n";
    out
}

fn head(shown: &Shown) -> String {
    let e = &shown.explanation;
    let mut out = format!("<h2>{}: what was checked</h2>\n<p class=\"about\">", escape(&shown.label));
    for device in e.top_devices().into_iter().take(DEVICES) {
        let _ = write!(out, "{}<br>", escape(&about(e, device)));
    }
    let kernel = e.kernel().map_or(String::new(), |k| format!("Linux {k}; "));
    let q = &e.subject.quality;
    let lost = match q.lost_total() {
        0 => "none lost".to_string(),
        n => format!("{} lost", count(n)),
    };
    let part = e.subject.window.map_or(String::new(), |w| format!(" ({})", crate::window::part(w)));
    let text = format!(
        "{kernel}{} of {}{part}, {} events, {lost}",
        time(e.duration()),
        e.subject.sources.join(", "),
        count(q.events)
    );
    let _ = writeln!(out, "{}</p>", escape(&text));
    out
}

fn why(shown: &Shown, found: &[Found]) -> String {
    let verdicts = &shown.explanation.verdicts;
    let mut out = String::from("<h3>Why</h3>\n");
    for (v, part) in found {
        let sure = confidence(v.confidence);
        let title = causes::all().iter().find(|c| c.name == v.cause).map(|c| sentence(c.title));
        let explains = part.as_ref().map_or(String::new(), |part| format!("explains {}, ", escape(part)));
        let _ = writeln!(
            out,
            "<div class=\"cause\"><p><strong>{}</strong> <span class=\"sure\">{explains}confidence: {sure}</span><br>{}.</p>\n<ul>",
            escape(v.cause),
            escape(&title.unwrap_or_default())
        );
        v.evidence.iter().take(PROOFS).for_each(|text| {
            let _ = writeln!(out, "<li>{}</li>", escape(&text.sentence()));
        });
        out += &more(v.evidence.len(), PROOFS);
        out += "</ul></div>\n";
    }
    if found.is_empty() {
        out += "<p>No known cause explains it; the breakdown below is what was measured.</p>\n";
    }
    for in_mapper in &shown.explanation.in_mapper {
        let _ = writeln!(out, "<p>{}.</p>", escape(&sentence(&in_mapper.words())));
    }
    let mut rest = String::new();
    for v in verdicts.iter().filter(|v| v.verdict == Judged::Rejected && !v.minor) {
        if let Some(because) = v.refutes.first() {
            let _ = writeln!(
                rest,
                "<li>Ruled out: <strong>{}</strong>: {}</li>",
                escape(v.cause),
                escape(&because.sentence())
            );
        }
    }
    for v in verdicts.iter().filter(|v| v.verdict == Judged::CannotTell) {
        let told =
            v.evidence.iter().chain(&v.missing).map(causes::Proof::sentence).collect::<Vec<_>>().join("; ");
        let _ =
            writeln!(rest, "<li>Cannot tell: <strong>{}</strong>: {}</li>", escape(v.cause), escape(&told));
    }
    if !rest.is_empty() {
        let _ = writeln!(
            out,
            "<details><summary>Rejected causes, and those that cannot be \
             judged</summary><ul>\n{rest}</ul></details>"
        );
    }
    out
}

/// A list item with the number of items that are not shown; empty if that is 0.
fn more(all: usize, shown: usize) -> String {
    match all.saturating_sub(shown) {
        0 => String::new(),
        n => format!("<li>{} more (iowhy explain --json has all)</li>\n", count(n as u64)),
    }
}

fn slow(shown: &Shown) -> String {
    let e = &shown.explanation;
    let rows = slow_rows(e, Detail::More);
    if rows.is_empty() {
        return "<h3>Slow</h3>\n<p>No I/O was completed in this recording.</p>\n".into();
    }
    let mut out = String::from(
        "<h3>Slow</h3>\n<table class=\"numbers\"><thead><tr><th>what</th><th>p50</th><th>p99</th><th>p99.9</th>\
         <th>max</th><th>how many</th></tr></thead><tbody>\n",
    );
    let several = e.top_devices().len() > 1 || rows.iter().any(|r| matches!(r, Row::Operations(..)));
    for row in rows.iter().take(ROWS) {
        let d = row.latency();
        let _ = write!(out, "<tr><td>{}</td>", escape(&row.words(several)));
        for value in [d.quantile(0.5), d.quantile(0.99), d.quantile(0.999), d.max()] {
            let _ = write!(out, "<td>{}</td>", ns(value));
        }
        let of = match row.mean_size() {
            size if size.is_empty() => size,
            size => format!(" of {size}"),
        };
        let _ = writeln!(out, "<td>{}{}</td></tr>", count(d.count()), escape(&of));
    }
    out += "</tbody></table>\n";
    out
}

/// Draws one bar for each group: the time of its tail by reason.
fn where_(shown: &Shown) -> String {
    let e = &shown.explanation;
    let mut out = String::new();
    for group in e.focus.groups.iter().filter(|g| e.matters(g)).take(GROUPS) {
        let sum = &group.tail.sum.time;
        let _ = writeln!(
            out,
            "<p>The slowest {} ({} or more) spent {}:</p>",
            escape(&e.slowest_words(group)),
            time(group.tail.threshold),
            time(sum.total)
        );
        let reasons = sum.by_size();
        out += "<div class=\"bar\" role=\"img\" aria-label=\"time by reason, as listed below\">";
        for (reason, _) in &reasons {
            let share = sum.share(*reason) * 100.0;
            let _ = write!(
                out,
                "<span class=\"{}\" style=\"width:{share:.3}%\" title=\"{}: {}\"></span>",
                reason_class(*reason),
                reason.words(),
                percent(sum.share(*reason))
            );
        }
        out += "</div>\n<ul class=\"legend\">\n";
        for (reason, spent) in reasons.iter().filter(|(r, _)| sum.share(*r) >= WORTH_A_LINE) {
            let _ = writeln!(
                out,
                "<li><i class=\"{}\"></i>{} <b>{}</b> {}</li>",
                reason_class(*reason),
                reason.words(),
                percent(sum.share(*reason)),
                time(*spent)
            );
        }
        out += "</ul>\n";
        if group.op.is_some() {
            out += &within(shown, group);
        }
    }
    if out.is_empty() {
        return out;
    }
    format!("<h3>Where</h3>\n{out}")
}

/// For a group of operations: a table of the waits in which the tail's time passed.
fn within(shown: &Shown, group: &Group) -> String {
    let total = group.tail.sum.time.total.0.max(1) as f64;
    let rows = where_time::rows(&shown.explanation.facts, group);
    let mut out = String::from("<table class=\"numbers\"><tbody>\n");
    for (words, time) in rows.iter().filter(|(_, t)| t.0 as f64 >= total * WORTH_A_ROW).take(ROWS) {
        let share = percent(time.0 as f64 / total);
        let _ = writeln!(out, "<tr><td>{}</td><td>{share}</td></tr>", escape(words));
    }
    out + "</tbody></table>\n"
}

/// A wait with less than this part of the tail's time has no row.
const WORTH_A_ROW: f64 = 0.005;
/// A reason with less than this part of the tail's time is in the bar, but not in its legend.
const WORTH_A_LINE: f64 = 0.001;

/// The class of a reason in the style sheet, which sets its colour.
fn reason_class(reason: Reason) -> String {
    format!("r r-{}", reason.name())
}

fn try_(shown: &Shown, answer: &Answer, found: &[Found]) -> String {
    let mut seen: Vec<String> = vec![];
    let mut out = String::new();
    for offered in remedies(&shown.explanation, answer, found) {
        let remedy = offered.remedy;
        if seen.contains(&remedy.command()) {
            continue;
        }
        seen.push(remedy.command());
        if seen.len() <= TRIES {
            let _ = writeln!(
                out,
                "<li><code class=\"command\">{}</code><br>{}</li>",
                escape(&remedy.command()),
                escape(&with_gain(&offered, answer.victims.first()))
            );
        }
    }
    if out.is_empty() {
        return out;
    }
    out += &more(seen.len(), TRIES);
    format!("<h3>Try</h3>\n<ol class=\"try\">\n{out}</ol>\n<p>Then record again and compare.</p>\n")
}

fn trust(shown: &Shown) -> String {
    let (e, lines) = (&shown.explanation, crate::trust::trust_lines(&shown.explanation));
    let (first, notes) =
        lines.split_first().map_or((String::new(), vec![]), |(f, n)| (f.clone(), n.to_vec()));
    let mut out = format!("<h3>Trust</h3>\n<p class=\"trust {}\">{}</p>\n", e.trust.name(), escape(&first));
    if !notes.is_empty() {
        out += "<ul>\n";
        notes.iter().for_each(|note| {
            let _ = writeln!(out, "<li>{}</li>", escape(note));
        });
        out += "</ul>\n";
    }
    out
}
