//! The screen: at most 24 lines. The sentence, who waited because of whom, the cause with its best proofs, what to try, and how
//! far to trust it. What does not fit goes, the least important first; `-v` has all.

use super::line::line;
use super::words::{culprit, of, operations};
use crate::screen::Style;
use crate::trust::trust_lines;
use crate::wrap::wrap;
use causes::{Acts, Confidence, Verdict};
use explain::answer::{Answer, Kind, Sufferer};
use explain::device_mapper::InMapper;
use explain::{contradictions, Explanation};
use trace::Nanos;
use units::words::{count, counted, percent, time};
use waits::CulpritKind;

/// Lines of a terminal of 24 by 80, less the prompt's.
const LINES: usize = 23;
/// Victims, and reasons of each, at most.
const VICTIMS: usize = 3;
const REASONS: usize = 4;
/// A reason is told from this part of what was lost on.
const WORTH_A_ROW: f64 = 0.03;
/// Proofs and remedies at most.
const PROOFS: usize = 3;
const REMEDIES: usize = 3;
/// Columns of the indent below headings.
const INDENT: &str = "       ";

/// A line, and how soon it goes if there are too many: the largest first.
struct Line {
    text: String,
    goes: u8,
}

/// Draws the screen.
pub fn render(e: &Explanation, a: &Answer, style: Style) -> String {
    let mut page = Page { lines: vec![], width: style.width };
    page.put(&line(e, a), "", "", 0);
    if a.kind == Kind::Cause {
        page.gap();
        page.victims(e, a);
        page.gap();
        page.cause(e, a);
    } else if let Some(v) = a.victims.first() {
        page.seen(e, a, v);
    }
    page.trust(e);
    page.fit()
}

struct Page {
    lines: Vec<Line>,
    width: usize,
}

impl Page {
    fn put(&mut self, text: &str, first: &str, other: &str, goes: u8) {
        let lines = wrap(text, self.width, first, other);
        self.lines.extend(lines.into_iter().map(|text| Line { text, goes }));
    }

    /// The same in at most so many lines: a sentence is cut rather than a screen overrun.
    fn put_short(&mut self, text: &str, first: &str, other: &str, most: usize, goes: u8) {
        let mut lines = wrap(text, self.width, first, other);
        if lines.len() > most {
            lines.truncate(most);
            if let Some(last) = lines.last_mut() {
                while last.chars().count() + 4 > self.width {
                    let Some((head, _)) = last.rsplit_once(' ') else { break };
                    *last = head.to_string();
                }
                last.push_str(" ...");
            }
        }
        self.lines.extend(lines.into_iter().map(|text| Line { text, goes }));
    }

    fn gap(&mut self) {
        self.lines.push(Line { text: String::new(), goes: 9 });
    }

    fn victims(&mut self, e: &Explanation, a: &Answer) {
        let shown: Vec<&Sufferer> = a.victims.iter().take(VICTIMS).collect();
        let name = |v: &&Sufferer| format!("{} {}", v.task, operations(e, v));
        let wide = shown.iter().map(|v| name(v).chars().count()).max().unwrap_or(0).clamp(10, 26);
        let head = format!(
            "{:<wide$} {:>8} {:>8} {:>8} {:>8}  BECAUSE OF",
            "WHO WAITED", "ops", "p50", "p99", "lost"
        );
        self.lines.push(Line { text: head, goes: 0 });
        for (at, v) in shown.iter().enumerate() {
            let p99 = if v.count >= 100 { time(v.latency[1]) } else { "-".into() };
            let called: String = name(v).chars().take(wide).collect();
            let bound = if v.is_bound { "<" } else { "" };
            let row = format!(
                "{called:<wide$} {:>8} {:>8} {:>8} {:>8}",
                count(v.count),
                time(v.latency[0]),
                p99,
                format!("{bound}{}", time(v.lost))
            );
            let most = if at == 0 { REASONS } else { 1 };
            for (i, reason) in reasons(v, most).iter().enumerate() {
                let head = if i == 0 { row.clone() } else { " ".repeat(wide + 36) };
                let text: String = format!("{head}  {reason}").chars().take(self.width).collect();
                self.lines.push(Line {
                    text: text.trim_end().into(),
                    goes: if at == 0 && i < 2 { 0 } else { 5 + at as u8 },
                });
            }
        }
        let others = a.bystanders + a.victims.len().saturating_sub(VICTIMS);
        if others > 0 {
            let text = format!("{} lost less", counted(others as u64, "other", "others"));
            self.lines.push(Line { text, goes: 8 });
        }
    }

    fn cause(&mut self, e: &Explanation, a: &Answer) {
        let Some(v) = e.verdicts.iter().find(|v| Some(v.cause) == a.cause) else {
            self.put(
                "no cause that iowhy knows explains it; -v shows where the time went",
                "CAUSE  ",
                INDENT,
                0,
            );
            return;
        };
        let title = causes::all().iter().find(|c| c.name == v.cause).map_or("", |c| c.title);
        let sure = match v.confidence {
            Some(Confidence::High) => "high",
            Some(Confidence::Medium) => "medium",
            _ => "low",
        };
        let name = v.root.map_or(v.cause.to_string(), |root| format!("{root}, seen as {}", v.cause));
        self.put_short(&format!("{name} ({sure}): {title}"), "CAUSE  ", INDENT, 2, 0);
        for (i, proof) in v.evidence.iter().take(PROOFS).enumerate() {
            self.put_short(&proof.sentence(), &format!("{INDENT}- "), &format!("{INDENT}  "), 2, 2 + i as u8);
        }
        if let Some(text) = a.victims.first().and_then(without) {
            self.put_short(&text, &format!("{INDENT}- "), &format!("{INDENT}  "), 2, 1);
        }
        self.remedies(a, v);
    }

    /// What to do: nothing that slows the victim for somebody else's sake.
    fn remedies(&mut self, a: &Answer, v: &Verdict) {
        let blamed = a.culprit.is_some();
        let fits = |r: &&causes::Remedy| !(blamed && r.acts == Acts::Victim);
        for (i, remedy) in v.remedies.iter().filter(fits).take(REMEDIES).enumerate() {
            let heading = if i == 0 { "TRY    " } else { INDENT };
            let goes = if i == 0 { 0 } else { 3 + 2 * i as u8 };
            // Never broken: it is to be copied.
            self.put(&remedy.command(), &format!("{heading}{}  ", i + 1), &format!("{INDENT}   "), goes);
            self.put_short(&remedy.what, &format!("{INDENT}   "), &format!("{INDENT}   "), 2, goes.max(2));
        }
    }

    /// What was looked at where no cause is named.
    fn seen(&mut self, e: &Explanation, a: &Answer, v: &Sufferer) {
        if a.kind == Kind::Healthy {
            let text = format!(
                "{} of {} {} {} was waiting; -v shows what was looked at",
                time(v.lost),
                time(v.time),
                of(&v.task),
                operations(e, v)
            );
            return self.put(&text, "", "", 1);
        }
        for line in e.in_mapper.iter().map(InMapper::words) {
            self.put(&line, "- ", "  ", 1);
        }
        for hint in hints(e) {
            self.put_short(&hint, "- ", "  ", 2, 1);
        }
    }

    fn trust(&mut self, e: &Explanation) {
        let mut text = trust_lines(e).into_iter().next().unwrap_or_default();
        let kernel = e.kernel().map_or(String::new(), |k| format!(", Linux {k}"));
        text += &format!(". {} of {}{kernel}", time(e.facts.duration()), e.subject.sources.join(", "));
        self.gap();
        self.put_short(&text, "TRUST  ", INDENT, 2, 1);
        if let Some(c) = contradictions(e).first() {
            let text = format!("{} says {} of {}, but {}: not used", c.at, c.says, c.setting, c.seen);
            self.put_short(&text, INDENT, INDENT, 2, 1);
        }
        self.put("-v: where the time went, what else was looked at", INDENT, INDENT, 7);
    }

    /// The lines, as many as fit.
    fn fit(mut self) -> String {
        while self.lines.len() > LINES {
            let most = self.lines.iter().map(|l| l.goes).max().unwrap_or(0);
            let Some(at) = self.lines.iter().rposition(|l| l.goes == most).filter(|_| most > 0) else {
                break;
            };
            self.lines.remove(at);
        }
        let mut text: String = self.lines.iter().map(|l| format!("{}\n", l.text)).collect();
        if self.lines.is_empty() {
            text.push('\n');
        }
        text
    }
}

/// `94 %  the device: flush`, the largest first; what is left is a row of its own.
fn reasons(v: &Sufferer, most: usize) -> Vec<String> {
    let mut sums: Vec<(String, Nanos)> = vec![];
    for b in &v.because {
        let words = culprit(&b.source);
        match sums.iter_mut().find(|(w, _)| *w == words) {
            Some((_, time)) => *time += b.time,
            None => sums.push((words, b.time)),
        }
    }
    sums.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    let share = |t: Nanos| t.0 as f64 / v.lost.0.max(1) as f64;
    let shown =
        sums.iter().filter(|(_, t)| share(*t) >= WORTH_A_ROW).take(most.saturating_sub(1).max(1)).count();
    let mut rows: Vec<String> =
        sums.iter().take(shown).map(|(words, t)| format!("{:>5}  {words}", percent(share(*t)))).collect();
    let rest: Nanos = sums.iter().skip(shown).map(|(_, t)| *t).sum();
    if most > 1 && rest.0 > 0 {
        rows.push(format!("{:>5}  {} more", percent(share(rest)), sums.len() - shown));
    }
    if rows.is_empty() {
        rows.push(String::new());
    }
    rows
}

/// What would be without whoever had most.
fn without(v: &Sufferer) -> Option<String> {
    let w = v.without.iter().find(|w| w.source.kind == CulpritKind::Task)?;
    let io = w.source.io.map_or(String::new(), |io| format!(" ({})", io.name()));
    let who = w.source.name.as_deref()?;
    Some(match w.p99 {
        Some(p99) => {
            format!("without {who}{io} p99 would be about {}, now {}", time(p99), time(v.latency[1]))
        }
        None => {
            let mean = Nanos(v.time.0 / v.count.max(1));
            format!("without {who}{io} the mean would be about {}, now {}", time(w.mean), time(mean))
        }
    })
}

/// What to suspect where the recording does not tell.
fn hints(e: &Explanation) -> Vec<String> {
    let found =
        e.verdicts.iter().filter(|v| v.verdict == causes::Answer::CannotTell && !v.evidence.is_empty());
    let mut hints: Vec<String> =
        found.map(|v| format!("suspected: {} ({})", v.cause, v.evidence[0].sentence())).take(2).collect();
    let slow = e.focus.groups.first().map(|g| e.name(g.dev));
    for device in &e.subject.system.devices {
        let (name, settings) = device;
        let stable = settings.stable_writes().filter(|s| s.value && slow.as_ref().is_none_or(|d| d == name));
        if let Some(stable) = stable {
            hints.push(format!(
                "suspected: stable-page: {name} asks for stable pages (stable_writes is 1, {})",
                stable.at
            ));
        }
    }
    hints.push("to see what waited: sudo iowhy record -o slow; iowhy explain slow".into());
    hints
}
