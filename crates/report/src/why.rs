//! WHY on the long screen: the causes found, in the order of the answer, with how much each explains; the causes rejected; what
//! cannot be told; what to try.
//!
//! The answer covers all operations of its first victim, but causes are proven on the slowest ones. So both shares are shown beside
//! each cause, each with what it is a share of.

use crate::answer::{confidence, explains, with_gain};
use crate::screen::{Screen, MARGIN};
use crate::style::Detail;
use crate::wrap::wrap_command;
use causes::{Answer as Judged, Proof, Verdict};
use explain::answer::{slows, Sufferer, Try};
use explain::{Answer, Explanation};
use std::cmp::Reverse;
use std::fmt::Write;

/// Maximal number of causes that are named together because they lack the same evidence.
const FEW: usize = 3;
/// Maximal number of remedies on the screen.
const REMEDIES: usize = 4;

/// A cause that was found, and in words what it explains; `None`: no share of the time.
pub(crate) type Found<'a> = (&'a Verdict, Option<String>);

/// The parts of the section WHY.
pub(crate) struct Why<'a> {
    /// The causes found, in the order in which they are shown.
    pub found: &'a [Found<'a>],
    /// All verdicts, whatever their outcome.
    pub all: &'a [Verdict],
    /// The line that is shown if no cause was found.
    pub none: &'a str,
    /// Further lines below the causes.
    pub unexplained: &'a [String],
    /// What a cause claims, in one line; `None` if there is no cause with this name.
    pub title: fn(&str) -> Option<&'static str>,
}

/// The causes found in a recording: the answer's cause, then the others by the time that its first victim lost to them, most first.
/// Causes without such time come last.
pub(crate) fn found_by<'a>(e: &'a Explanation, a: &Answer) -> Vec<Found<'a>> {
    let mut found: Vec<&Verdict> = e.verdicts.iter().filter(|v| v.verdict == Judged::Found).collect();
    let lost = |v: &Verdict| a.victims.first().map(|victim| victim.lost_to(v.cause));
    // Causes with equal parts keep the order of their parts of the slowest operations.
    found.sort_by_key(|v| (Some(v.cause) != a.cause, Reverse(lost(v))));
    let found = found.into_iter().map(|v| (v, explains(e, a, v)));
    // Drops causes that claim time without a share that could be given for any victim.
    found.filter(|(v, part)| part.is_some() || v.claims.is_empty() || Some(v.cause) == a.cause).collect()
}

/// What to try: the answer's remedies, then those of all causes found.
pub(crate) fn remedies<'a>(e: &'a Explanation, a: &Answer, found: &[Found<'a>]) -> Vec<Try<'a>> {
    let victim = a.victims.first();
    let operations = victim.and_then(|v| e.focus.groups.get(v.group)).map_or("", |group| group.words());
    // A remedy whose test made operations like the victim's slower is left out.
    let slower = |t: &Try| t.tested.as_ref().and_then(|tested| tested.slower).map(|(latency, _)| latency);
    let harms = |t: &Try| slower(t).is_some_and(|latency| latency.split(' ').next() == Some(operations));
    let slowed = |t: &Try| victim.is_some_and(|v| slows(e, v, t.remedy));
    a.remedies(e).into_iter().chain(offered(found, victim).filter(|t| !harms(t) && !slowed(t))).collect()
}

/// The remedies of all causes found, each with the victim's possible gain; a change whose gain is unknown is left out.
pub(crate) fn offered<'a: 'b, 'b>(
    found: &'b [Found<'a>],
    victim: Option<&'b Sufferer>,
) -> impl Iterator<Item = Try<'a>> + 'b {
    found
        .iter()
        .flat_map(move |(v, _)| v.remedies.iter().map(move |r| Try::of(r, v.cause, victim)))
        .filter(Try::is_founded)
}

impl Screen {
    /// Draws the causes found, rejected and unknown.
    pub(crate) fn why(&mut self, why: &Why) {
        let mut heading = "WHY";
        for (v, part) in why.found {
            let part = part.as_ref().map_or(String::new(), |part| format!(" explains {part}"));
            self.line(heading, &format!("{}{part} (confidence: {})", v.cause, confidence(v.confidence)));
            heading = "";
            if let Some(title) = (why.title)(v.cause) {
                self.line("", &format!("{}.", sentence(title)));
            }
            for evidence in &v.evidence {
                self.line("", &format!("- {evidence}"));
            }
            if self.detail() == Detail::All {
                self.refuted_by(v);
            }
        }
        if why.found.is_empty() {
            self.line(heading, why.none);
        }
        for line in why.unexplained {
            self.line("", line);
        }
        if self.detail() == Detail::All {
            self.others_in_full(why.all);
        } else {
            self.not_it(why.all);
            self.cannot_tell(why.all);
        }
        self.blank();
    }

    /// What would refute a cause that was found, and what was not recorded of it.
    fn refuted_by(&mut self, v: &Verdict) {
        for refuted in &v.refutes {
            self.line("", &format!("- would refute it: {refuted}"));
        }
        for missing in &v.missing {
            self.line("", &format!("- not known: {missing}"));
        }
    }

    /// The causes that were rejected or cannot be judged, with all that was said of them; also those whose subject does not occur. Causes
    /// without evidence share a line if they have the same reason.
    fn others_in_full(&mut self, verdicts: &[Verdict]) {
        for (answer, says) in [(Judged::Rejected, "not it"), (Judged::CannotTell, "cannot tell")] {
            let mut lines: Vec<(String, Vec<&Verdict>)> = vec![];
            for v in verdicts.iter().filter(|v| v.verdict == answer) {
                let reason = joined(if answer == Judged::Rejected { &v.refutes } else { &v.missing });
                let is_alike = |(other, line): &&mut (String, Vec<&Verdict>)| {
                    *other == reason && line[0].evidence.is_empty()
                };
                match lines.iter_mut().find(is_alike).filter(|_| v.evidence.is_empty()) {
                    Some((_, line)) => line.push(v),
                    None => lines.push((reason, vec![v])),
                }
            }
            for (reason, line) in lines {
                let causes: Vec<&str> = line.iter().map(|v| v.cause).collect();
                self.line("", &format!("{}: {says} ({reason})", causes.join(", ")));
                for evidence in line.iter().flat_map(|v| &v.evidence) {
                    self.line("", &format!("- {evidence}"));
                }
            }
        }
    }

    fn not_it(&mut self, verdicts: &[Verdict]) {
        let rejected: Vec<String> = verdicts
            .iter()
            .filter(|v| v.verdict == Judged::Rejected && !v.minor)
            .filter_map(|v| Some(format!("{} ({})", v.cause, v.refutes.first()?)))
            .collect();
        if !rejected.is_empty() {
            self.line("", &format!("Ruled out: {}", rejected.join("; ")));
        }
    }

    /// Causes that lack the same evidence share a line, unless something is known of them.
    fn cannot_tell(&mut self, verdicts: &[Verdict]) {
        let mut unknown: Vec<(String, Vec<&str>)> = Vec::new();
        for v in verdicts.iter().filter(|v| v.verdict == Judged::CannotTell && v.evidence.is_empty()) {
            let missing = joined(&v.missing);
            match unknown.iter_mut().find(|(m, _)| *m == missing) {
                Some((_, causes)) => causes.push(v.cause),
                None => unknown.push((missing, vec![v.cause])),
            }
        }
        for (missing, causes) in unknown {
            self.line("", &format!("Cannot tell: {} ({missing})", few(&causes)));
        }
        for v in verdicts.iter().filter(|v| v.verdict == Judged::CannotTell && !v.evidence.is_empty()) {
            self.line("", &format!("Cannot tell: {} ({})", v.cause, joined(&v.missing)));
            for evidence in &v.evidence {
                self.line("", &format!("- {evidence}"));
            }
        }
    }

    /// Draws what to try: each command once, [`REMEDIES`] at most.
    pub(crate) fn try_<'a>(&mut self, offered: impl IntoIterator<Item = Try<'a>>, victim: Option<&Sufferer>) {
        let mut seen: Vec<String> = Vec::new();
        for offered in offered {
            let remedy = offered.remedy;
            if seen.len() == self.detail().most(REMEDIES) || seen.contains(&remedy.command()) {
                continue;
            }
            let heading = if seen.is_empty() { "TRY" } else { "" };
            seen.push(remedy.command());
            let head = self.heading(heading);
            let first = format!("{}  ", seen.len());
            let lines = wrap_command(&remedy.command(), self.width(), &first, &" ".repeat(first.len()));
            for (i, line) in lines.iter().enumerate() {
                let begin = if i == 0 { head.clone() } else { " ".repeat(MARGIN) };
                let _ = writeln!(self.out, "{begin}{line}");
            }
            self.line("", &format!("   {}", with_gain(&offered, victim)));
        }
        if !seen.is_empty() {
            self.line("", "then record again and compare");
            self.blank();
        }
    }
}

/// `swap, reclaim, stable-page and others`: on a screen a long list hides the answer; JSON has all. The number of the others is
/// left out: it says nothing about the recording.
fn few(causes: &[&str]) -> String {
    match causes.len() {
        n if n > FEW + 1 => format!("{} and others", causes[..FEW].join(", ")),
        _ => causes.join(", "),
    }
}

/// All sentences in one line, separated by semicolons.
fn joined(proofs: &[Proof]) -> String {
    proofs.iter().map(Proof::sentence).collect::<Vec<_>>().join("; ")
}

/// The text with its first letter in upper case.
pub(crate) fn sentence(text: &str) -> String {
    let mut c = text.chars();
    c.next().map_or(String::new(), |first| first.to_uppercase().chain(c).collect())
}
