//! The result as a page: one self-contained file without scripts, for a ticket or a mail.
//!
//! It has the words of the screen, and also every step with its numbers, every proof and every remedy. Text from
//! outside (names, options, settings, output of fio) gets into the page only through [`escape`].

use crate::compare::{rows, Changes};
use crate::result::{Checkup, Finding, Measured, Scenario};
use report::html::escape;
use std::fmt::Write;
use units::words;

const STYLE: &str = include_str!("page.css");

/// The page; `changes` are the differences from another checkup, with that one.
pub fn html(c: &Checkup, changes: Option<(&Changes, &Checkup)>) -> String {
    let mut body = head(c);
    if let Some((changes, then)) = changes {
        body += &since(changes, then);
    }
    body += &remedies(c);
    c.scenarios.iter().for_each(|s| body += &scenario(s, c));
    body += &rest(c);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         base-uri 'none'; form-action 'none'\">\n\
         <title>iowhy checkup: {}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        escape(&c.place.dir.display().to_string())
    )
}

/// A table with a head; this function escapes the cells.
fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let cells = |tag: &str, row: &mut dyn Iterator<Item = &str>| {
        row.fold(String::from("<tr>"), |out, c| out + &format!("<{tag}>{}</{tag}>", escape(c))) + "</tr>\n"
    };
    let body: String = rows.iter().map(|r| cells("td", &mut r.iter().map(String::as_str))).collect();
    let head = cells("th", &mut head.iter().copied());
    format!("<table>\n<thead>{head}</thead>\n<tbody>\n{body}</tbody>\n</table>\n")
}

fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        _ => {
            let items: String = words.iter().map(|w| format!("<li>{}</li>\n", escape(w))).collect();
            format!("<ul>\n{items}</ul>\n")
        }
    }
}

fn head(c: &Checkup) -> String {
    let suffers = c.scenarios.iter().filter(|s| s.verdict == "suffers").count();
    let unknown = c.scenarios.iter().filter(|s| s.verdict != "suffers" && s.verdict != "good").count();
    let (class, verdict) = match (suffers, unknown) {
        (0, 0) => ("good", "No problems found".to_string()),
        (0, n) => (
            "fair",
            format!("No problems found, but {n} of {} scenarios could not be judged", c.scenarios.len()),
        ),
        (n, _) => ("bad", format!("Problems found in {n} of {} scenarios", c.scenarios.len())),
    };
    let about = format!(
        "{} on {}, Linux {}, {}; {}, {:.0} s, wrote {} of at most {}",
        c.place.fstype,
        c.place.disk.as_deref().unwrap_or("no block device"),
        c.kernel,
        c.fio,
        c.when,
        c.seconds,
        words::bytes(c.written_bytes),
        words::bytes(c.most_bytes)
    );
    let disk = format!("This disk: {}", crate::screen::disk_in_words(c));
    format!(
        "<header>\n<h1>Checkup of {}</h1>\n<p class=\"soft\">{}</p>\n</header>\n<p class=\"verdict {class}\">{}</p>\n<p>{}</p>\n",
        escape(&c.place.dir.display().to_string()),
        escape(&about),
        escape(&verdict),
        escape(&disk)
    )
}

fn since(changes: &Changes, then: &Checkup) -> String {
    format!(
        "<section class=\"since\">\n<h2>Since {}</h2>\n{}</section>\n",
        escape(&then.when),
        list(&rows(changes))
    )
}

fn remedies(c: &Checkup) -> String {
    if c.remedies.is_empty() {
        return String::new();
    }
    let mut out = String::from("<section class=\"try\">\n<h2>Try, largest gain first</h2>\n<ol>\n");
    for r in &c.remedies {
        let why = format!("{}, scenario {}; up to {}", r.cause, r.scenario, words::ns(r.gain_ns));
        let _ = writeln!(
            out,
            "<li>{} <span class=\"soft\">({})</span><pre>{}</pre></li>",
            escape(&r.what),
            escape(&why),
            escape(&r.command)
        );
    }
    out += "</ol>\n";
    if let Some(words) = c.trial.as_ref().map(crate::screen::tried) {
        let _ = writeln!(out, "<p>Tried: {}</p>", escape(&words));
    }
    out + "</section>\n"
}

fn scenario(s: &Scenario, c: &Checkup) -> String {
    let (class, mark) = match s.verdict.as_str() {
        "good" => ("good", "good"),
        "suffers" => ("bad", "suffers"),
        _ => ("fair", "cannot tell"),
    };
    let mut out = format!(
        "<section class=\"scenario\">\n<h2>{} {} <span class=\"mark {class}\">{mark}</span></h2>\n<p class=\"soft\">{}</p>\n",
        s.number,
        escape(&s.name),
        escape(&s.about)
    );
    s.findings.iter().for_each(|f| out += &finding(f, s));
    let measured: Vec<Vec<String>> =
        s.steps.iter().flat_map(|step| step.measured.iter().map(|m| row(&step.name, m, c))).collect();
    if !measured.is_empty() {
        let head = ["step", "job", "operations", "a second", "p50", "p99", "longest", "p50 by a read's"];
        out += &table(&head, &measured);
    }
    if !s.good.is_empty() {
        let _ = write!(out, "<p>Within what a good disk does:</p>\n{}", list(&s.good));
    }
    out += &list(&s.remarks);
    out + "</section>\n"
}

/// The cells of a job: of its fsyncs if it has any, else of its operations.
fn row(step: &str, m: &Measured, c: &Checkup) -> Vec<String> {
    let (what, l) = m.fsync.as_ref().map_or((m.op.as_str(), &m.latency), |l| ("fsync", l));
    let floor = c.probe.floor.p50_ns;
    let times = if floor > 0 && l.count > 0 {
        format!("x{}", words::three(l.p50_ns as f64 / floor as f64))
    } else {
        String::new()
    };
    vec![
        step.into(),
        format!("{} ({what})", m.job),
        words::count(l.count),
        format!("{:.0}", m.iops),
        words::ns(l.p50_ns),
        words::ns(l.p99_ns),
        words::ns(l.max_ns),
        times,
    ]
}

fn finding(f: &Finding, s: &Scenario) -> String {
    let mut out = format!("<div class=\"finding\">\n<p><strong>{}</strong></p>\n", escape(&f.says));
    let values = [words::ns(f.measured_ns), words::ns(f.expected_ns)].map(|w| w.to_string());
    // If the numbers are not times (but bytes per second), they are not shown.
    if f.is_time() {
        out += &table(&["measured", "a good disk stays below"], &[values.to_vec()]);
    }
    let causes = s.steps.iter().find(|step| step.name == f.step).map_or(&[][..], |step| &step.causes);
    let why: Vec<_> = f.causes.iter().filter_map(|name| causes.iter().find(|c| c.cause == *name)).collect();
    for c in &why {
        let _ = writeln!(
            out,
            "<div class=\"cause\"><p><strong>{}</strong> explains {} of the time of its slowest operations (confidence: {}): {}</p>\n{}</div>",
            escape(&c.cause),
            words::percent(c.share),
            escape(&c.confidence),
            escape(&c.title),
            list(&c.evidence)
        );
    }
    if why.is_empty() {
        out += "<p>Why: not recorded, or no cause explains it.</p>\n";
    }
    out + "</div>\n"
}

fn rest(c: &Checkup) -> String {
    let mut out = String::new();
    if !c.not_seen.is_empty() {
        let _ = write!(out, "<section>\n<h2>Not seen</h2>\n{}</section>\n", list(&c.not_seen));
    }
    let settings: Vec<Vec<String>> = c.settings.iter().map(|(k, v)| vec![k.clone(), v.clone()]).collect();
    let options = format!("mounted with {}", c.place.options);
    let _ = write!(
        out,
        "<section>\n<h2>Settings</h2>\n<p>{}</p>\n<details><summary>of the disk and of writeback</summary>\n{}</details>\n</section>\n",
        escape(&options),
        table(&["setting", "value"], &settings)
    );
    out
}

#[cfg(test)]
mod tests;
