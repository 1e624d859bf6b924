//! The text for the user: an announcement before a checkup, and one screen after it.

use crate::place::Place;
use crate::plan::{Length, Plan};
use crate::result::{Checkup, Latency, Scenario, Trial};
use std::fmt::Write;
use units::words;

/// Maximal number of remedies on the screen; all are in the file.
const REMEDIES: usize = 5;
/// Maximal number of proofs of a finding on the screen.
const PROOFS: usize = 2;
/// The width of a line, in columns.
const WIDTH: usize = 98;

/// Announces what will be done, prominently, because it loads the disk.
pub fn announce(plan: &Plan, place: &Place, trial: bool) -> String {
    let on = place.disk.as_ref().map_or(String::new(), |d| format!(" ({} on {d})", place.fstype));
    let length = match plan.length {
        Length::Quick => "--quick",
        Length::Full => "--full",
    };
    format!(
        "THIS LOADS THE DISK: everything else that uses {}{on} is slowed down meanwhile.\n\
         {length}: about {:.0} s, at most {:.0} s; writes at most {}, needs {} of {} free.\n\
         Its files are in {}/{}*, removed at the end; {}.\n",
        place.dir.display(),
        plan.needs().as_secs_f64(),
        plan.most_time.as_secs_f64(),
        words::bytes(plan.most_bytes),
        words::bytes(plan.size * 3),
        words::bytes(place.free),
        place.dir.display(),
        crate::home::PREFIX,
        if trial {
            "a setting is tried only after you say yes, and restored; its scenario is run once more then"
        } else {
            "no setting is changed"
        }
    )
}

/// Draws the result of a checkup.
pub fn render(c: &Checkup) -> String {
    let mut out = String::new();
    let disk = c.place.disk.as_deref().unwrap_or("no block device");
    let _ = writeln!(
        out,
        "CHECKUP of {} ({} on {disk}), Linux {}, {}",
        c.place.dir.display(),
        c.place.fstype,
        c.kernel,
        c.fio
    );
    let _ = writeln!(
        out,
        "{:.0} s; wrote {} of at most {}; {}",
        c.seconds,
        words::bytes(c.written_bytes),
        words::bytes(c.most_bytes),
        if c.recorded { "recorded" } else { "not all was recorded" }
    );
    let _ = writeln!(out, "\nTHIS DISK  {}", disk_in_words(c));
    out.push('\n');
    for s in &c.scenarios {
        scenario(&mut out, s);
    }
    if !c.remedies.is_empty() {
        let _ = writeln!(out, "\nTRY  the greatest gain first");
        for (i, r) in c.remedies.iter().take(REMEDIES).enumerate() {
            wrap(
                &mut out,
                &format!("  {}. ", i + 1),
                &format!("{} ({}, scenario {}; up to {})", r.what, r.cause, r.scenario, words::ns(r.gain_ns)),
            );
            let _ = writeln!(out, "       {}", r.command);
        }
        if c.remedies.len() > REMEDIES {
            let _ = writeln!(out, "     {} more are in the file", c.remedies.len() - REMEDIES);
        }
    } else if c.scenarios.iter().all(|s| s.verdict == "good") {
        let _ = writeln!(out, "\nNO PROBLEMS FOUND");
    }
    if let Some(t) = &c.trial {
        wrap(&mut out, "TRIED  ", &tried(t));
    }
    if !c.not_seen.is_empty() {
        out.push('\n');
        for words in &c.not_seen {
            wrap(&mut out, "NOT SEEN  ", words);
        }
    }
    out
}

/// What the disk can do, in one line.
pub(crate) fn disk_in_words(c: &Checkup) -> String {
    let p = &c.probe;
    format!(
        "a read of 4 KiB takes {} (p99 {}); {} times as many a second at depth {}; it writes {}/s",
        words::ns(p.floor.p50_ns),
        words::ns(p.floor.p99_ns),
        words::three(p.parallelism),
        p.knee_depth,
        words::bytes(p.write_bytes_per_second)
    )
}

/// The result of a trial, in one sentence.
pub(crate) fn tried(t: &Trial) -> String {
    let after = t.scenario.findings.iter().find(|f| f.name == t.finding).map(|f| f.measured_ns);
    let now = after.map_or("the finding is gone".into(), |ns| format!("{} now", words::ns(ns)));
    format!(
        "{} = {} for one scenario: {} before, {now}; it is {} again",
        t.setting.display(),
        t.tried,
        words::ns(t.before_ns),
        t.was
    )
}

fn scenario(out: &mut String, s: &Scenario) {
    let mark = match s.verdict.as_str() {
        "good" => "good",
        "suffers" => "SUFFERS",
        _ => "cannot tell",
    };
    let _ = writeln!(out, "{} {:<13} {mark:<12} {}", s.number, s.name, numbers(s));
    for f in &s.findings {
        let good = format!("; a good disk stays below {}", words::ns(f.expected_ns));
        wrap(out, "    - ", &format!("{}{}", f.says, if f.is_time() { &good } else { "" }));
        let causes = s.steps.iter().find(|step| step.name == f.step).map_or(&[][..], |step| &step.causes);
        match f.causes.first().and_then(|name| causes.iter().find(|c| c.cause == *name)) {
            Some(c) => {
                let also: Vec<&str> = f.causes.iter().skip(1).map(String::as_str).collect();
                let also =
                    if also.is_empty() { String::new() } else { format!("; also {}", also.join(", ")) };
                wrap(
                    out,
                    "      ",
                    &format!(
                        "WHY {} explains {:.0} % of the time of the slowest (confidence: {}){also}",
                        c.cause,
                        c.share * 100.0,
                        c.confidence
                    ),
                );
                for proof in c.evidence.iter().take(PROOFS) {
                    wrap(out, "          ", proof);
                }
            }
            None => wrap(out, "      ", "why: not recorded, or no cause explains it"),
        }
    }
    for remark in &s.remarks {
        wrap(out, "    ", remark);
    }
}

/// The main numbers of a scenario in one line.
fn numbers(s: &Scenario) -> String {
    let of =
        |step: &str, job: &str| s.steps.iter().find(|x| x.name == step).and_then(|x| x.job(job)).cloned();
    let p = |l: &Latency| format!("p50 {} p99 {}", words::ns(l.p50_ns), words::ns(l.p99_ns));
    let many = |job: &str| {
        let each = s
            .steps
            .iter()
            .filter_map(|step| Some(format!("{} {}", step.name, words::ns(step.job(job)?.latency.p99_ns))));
        each.collect::<Vec<_>>().join(", ")
    };
    match s.number {
        1 => of("depth 1", "reads").map(|m| format!("{} max {}", p(&m.latency), words::ns(m.latency.max_ns))),
        2 => Some(format!("p99: {}", many("reads"))),
        3 => of("appends", "appends").map(|m| {
            format!(
                "{} p99.9 {} max {}",
                p(&m.latency),
                words::ns(m.latency.p999_ns),
                words::ns(m.latency.max_ns)
            )
        }),
        4 => of("large reads", "reads").map(|m| format!("1 MiB: {}", p(&m.latency))),
        5 => of("1 thread", "sync").and_then(|m| m.fsync).map(|l| format!("fsync {}", p(&l))),
        6 => of("beside a tarball", "heartbeat")
            .map(|m| format!("{} max {}", p(&m.latency), words::ns(m.latency.max_ns))),
        _ => of("one at a time", "writes").map(|m| p(&m.latency)),
    }
    .unwrap_or_default()
}

/// Appends a wrapped text; `mark` precedes its first line, spaces all further lines.
pub(crate) fn wrap(out: &mut String, mark: &str, words: &str) {
    for line in report::wrap::wrap(words, WIDTH, mark, &" ".repeat(mark.len())) {
        let _ = writeln!(out, "{line}");
    }
}
