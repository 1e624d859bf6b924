//! The screen of at most 24 lines: the sentence, the victims with their culprits, the cause with its best proofs, what to try, and
//! how far to trust it. What does not fit is left out, the least important first; `-v` has all.

use super::blocks::{Blocks, INDENT, LINES};
use super::gain::{falls, told, with_gain};
use super::healthy;
use super::line::line;
use super::namesakes::namesakes;
use super::waited::{self, by_culprit, REASONS, VICTIMS};
use super::words::{confidence, lost, operations_of, the_slowest, NOT_EXPLAINED};
use crate::style::{Detail, Style};
use crate::trust::{failed, trust_line};
use crate::without::{bounds, Bounds};
use causes::{Verdict, WBT_FLASH};
use explain::answer::{most_of_slowest, Answer, Kind, Sufferer, ERRORS, WORTH_SEEING};
use explain::blame::Which;
use explain::device_mapper::InMapper;
use explain::{contradictions, Explanation};
use std::collections::BTreeSet;
use trace::is_journal;
use units::words::{percent, time, whose};
use waits::Absent;

/// Ranks of the blocks, the lowest first; they also limit the number of proofs and remedies. The table of victims has its own ranks.
mod rank {
    use explain::answer::MOST_REMEDIES;

    pub const SENTENCE: u8 = 0;
    /// Shown on every screen, however narrow.
    pub const TRUST: u8 = 0;
    pub const CAUSE: u8 = 1;
    pub const REMEDIES: [u8; MOST_REMEDIES] = [2, 8, 11];
    pub const PROOFS: [u8; 3] = [2, 3, 9];
    pub const NAMESAKES: u8 = 3;
    pub const HAS_MORE: u8 = 4;
    pub const MORE: u8 = 5;
    pub const WITHOUT: u8 = 7;
    pub const FIRST_GAP: u8 = 9;
    pub const ALSO: u8 = 10;
    pub const GAP: u8 = 13;
}

/// Draws the screen with as many victims as fit; the first victim has fewer reasons if that makes room for another victim.
pub fn render(e: &Explanation, a: &Answer, style: Style) -> String {
    let tables = (1..=VICTIMS).rev().flat_map(|victims| REASONS.map(|reasons| (victims, reasons)));
    let pages = tables.map(|(victims, reasons)| page(e, a, style, victims, reasons));
    let holds = |page: &Blocks| page.has_all_of(waited::OTHERS, LINES);
    let page = pages.into_iter().find(holds).unwrap_or_else(|| page(e, a, style, 1, REASONS[0]));
    page.fit(LINES)
}

fn page(e: &Explanation, a: &Answer, style: Style, victims: usize, reasons: usize) -> Blocks {
    let mut page = Blocks::new(style.width);
    page.text(&line(e, a), "", "", rank::SENTENCE);
    if a.kind == Kind::Cause {
        page.gap(rank::FIRST_GAP);
        waited::put(&mut page, e, a, victims, reasons);
        page.gap(rank::GAP);
        cause(&mut page, e, a, style.detail);
    } else if let Some(v) = a.victims.first() {
        seen(&mut page, e, a, v, style.detail);
    }
    page.gap(rank::GAP);
    trust(&mut page, e, a, style.detail);
    page
}

/// A hint at the long screen; empty if this is its beginning.
fn unless_long(detail: Detail, hint: &'static str) -> &'static str {
    if detail > Detail::Screen {
        ""
    } else {
        hint
    }
}

fn cause(page: &mut Blocks, e: &Explanation, a: &Answer, detail: Detail) {
    let Some(v) = e.verdicts.iter().find(|v| Some(v.cause) == a.cause) else {
        let none =
            format!("no known cause explains it{}", unless_long(detail, "; -v shows where the time went"));
        return page.text(&none, "CAUSE  ", INDENT, rank::CAUSE);
    };
    let title = causes::all().iter().find(|c| c.name == v.cause).map_or("", |c| c.title);
    let sure = confidence(v.confidence);
    let name = v.root.map_or(v.cause.to_string(), |root| format!("{root}, seen as {}", v.cause));
    page.text(&format!("{name} ({sure}): {title}"), "CAUSE  ", INDENT, rank::CAUSE);
    let (bullet, below) = (format!("{INDENT}- "), format!("{INDENT}  "));
    let victim = a.victims.first().map_or(0, |first| first.group);
    let mut proofs = v.evidence_of(victim);
    // If several tasks interfere, the proof about the one in the sentence comes first.
    let named = a.culprit.as_ref().and_then(|culprit| culprit.name.as_deref());
    proofs.sort_by_key(|proof| named.is_some() && proof.text("task") != named);
    let root = v.root.and_then(|root| e.verdicts.iter().find(|behind| behind.cause == root));
    if let Some(behind) = root.and_then(|root| root.evidence_of(victim).into_iter().next()) {
        proofs.insert(proofs.len().min(1), behind);
    }
    for (proof, rank) in proofs.into_iter().zip(rank::PROOFS) {
        page.text(&proof.sentence(), &bullet, &below, rank);
    }
    if let Some(text) = a.victims.first().and_then(without) {
        page.text(&text, &bullet, &below, rank::WITHOUT);
    }
    if let Some((text, has_more)) = a.victims.first().and_then(|first| others(first, v)) {
        page.text(&text, INDENT, INDENT, if has_more { rank::HAS_MORE } else { rank::ALSO });
    }
    if let Some(text) = a.victims.first().and_then(|first| of_slowest(e, first, v)) {
        page.text(&text, INDENT, INDENT, rank::HAS_MORE);
    }
    remedies(page, e, a);
}

/// Other causes with a visible part of the victim's lost time, the largest first; and whether one has a larger part than `told`.
fn others(victim: &Sufferer, told: &Verdict) -> Option<(String, bool)> {
    let causes: BTreeSet<&str> = victim.because.iter().filter_map(|b| b.cause).collect();
    let is_other = |cause: &&str| *cause != told.cause && Some(*cause) != told.root;
    let mut parts: Vec<(f64, &str)> =
        causes.into_iter().filter(is_other).map(|cause| (victim.share_of(cause), cause)).collect();
    parts.retain(|(part, _)| *part >= WORTH_SEEING);
    parts.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let each: Vec<String> =
        parts.iter().map(|(part, cause)| format!("{cause} ({})", percent(*part))).collect();
    let (most, _) = parts.first()?;
    let text = format!("also found, of the time lost: {}", each.join(", "));
    Some((text, *most > victim.share_of(told.cause)))
}

/// The cause that most of a victim's slowest operations waited for, if the answer covers all operations and names another cause.
fn of_slowest(e: &Explanation, victim: &Sufferer, told: &Verdict) -> Option<String> {
    let (other, share) = most_of_slowest(e, victim, told).filter(|_| e.subject.which == Which::All)?;
    let (cause, share) = (other.cause, percent(share));
    let slowest = the_slowest(e, victim);
    Some(format!("{slowest} waited for something else: {cause} ({share}); --tail explains them"))
}

/// Adds the answer's remedies, each with what it does, costs and gains.
fn remedies(page: &mut Blocks, e: &Explanation, a: &Answer) {
    for (i, (offered, rank)) in a.remedies(e).into_iter().zip(rank::REMEDIES).enumerate() {
        let heading = if i == 0 { "TRY    " } else { INDENT };
        let (first, other) = (format!("{heading}{}  ", i + 1), format!("{INDENT}   "));
        let said = with_gain(&offered, a.victims.first());
        page.command(&offered.remedy.command(), &said, &first, &other, rank);
    }
}

/// Adds what was checked if no cause is named.
fn seen(page: &mut Blocks, e: &Explanation, a: &Answer, v: &Sufferer, detail: Detail) {
    let by = by_culprit(v).into_iter().next();
    let mostly = by.filter(|(words, time)| time.0 > v.lost.0 / 2 && words != NOT_EXPLAINED);
    let mostly = mostly.map(|(words, time)| {
        format!(" ({words}: {} of that)", percent(time.0 as f64 / v.lost.0.max(1) as f64))
    });
    let verb = if a.too_little.is_some() { "lost" } else { "waited" };
    let waited =
        format!("{} {} {verb} {} of their {}", whose(&v.task), operations_of(e, v), lost(v), time(v.time));
    if a.kind == Kind::Healthy {
        let most = a.too_little.map_or(String::new(), |little| {
            let of = |cause| format!("; {} of that is {cause}", time(little.lost));
            let part = little.cause.map_or(String::new(), of);
            let expected = time(WBT_FLASH);
            match little.as_expected {
                true => {
                    format!("{part}; 99 of 100 took less than the {expected} that Linux expects of flash")
                }
                false => format!("{part}, too little in {} to act on", time(e.facts.recorded())),
            }
        });
        let blind = if e.facts.operations.is_empty() { "; without waits above the block layer" } else { "" };
        let checked = unless_long(detail, "; -v shows what was checked");
        let text = format!("{waited}{}{most}{blind}{checked}", mostly.unwrap_or_default());
        page.text(&text, "", "", rank::CAUSE);
        if let Some(text) = healthy::beside(e, v) {
            page.text(&text, "", "", rank::CAUSE);
        }
        return;
    }
    if let Some(mostly) = mostly.filter(|_| e.lack.is_none()) {
        page.text(&format!("{waited}{mostly}"), "- ", "  ", rank::CAUSE);
    }
    for line in e.in_mapper.iter().map(InMapper::words) {
        page.text(&line, "- ", "  ", rank::CAUSE);
    }
    for hint in hints(e) {
        page.text(&hint, "- ", "  ", rank::CAUSE);
    }
}

fn trust(page: &mut Blocks, e: &Explanation, a: &Answer, detail: Detail) {
    page.text(&trust_line(e), "TRUST  ", INDENT, rank::TRUST);
    if let Some(c) = contradictions(e).first() {
        let text = format!("{} is {} ({}), but {}: ignored", c.setting, c.says, c.at, c.seen);
        page.text(&text, INDENT, INDENT, rank::TRUST);
    }
    if let Some(text) = e.unrecorded() {
        page.text(&text, INDENT, INDENT, rank::TRUST);
    }
    if let Some(text) = failed(e).first() {
        page.text(text, INDENT, INDENT, rank::TRUST);
    }
    if let Some(text) = failed_beside(e, a) {
        page.text(&text, INDENT, INDENT, rank::TRUST);
    }
    if let Some(text) = e.unseen().filter(|_| a.kind != Kind::Cause) {
        page.text(&text, INDENT, INDENT, rank::NAMESAKES);
    }
    let victim = a.victims.first().filter(|_| a.kind == Kind::Cause);
    if let Some(text) = victim.and_then(|v| namesakes(e, v)) {
        page.text(&text, INDENT, INDENT, rank::NAMESAKES);
    }
    let more = match detail {
        Detail::All => return,
        Detail::More => "-vv: everything that was judged",
        Detail::Brief | Detail::Screen => "-v: where the time went, what else was checked",
    };
    page.text(more, INDENT, INDENT, rank::MORE);
}

/// The requests that failed, if they are not the answer; `None` if none failed.
fn failed_beside(e: &Explanation, a: &Answer) -> Option<String> {
    let of_errors = |v: &&Verdict| v.cause == ERRORS && v.verdict == causes::Answer::Found;
    let errors = e.verdicts.iter().find(of_errors).filter(|v| a.cause != Some(v.cause))?;
    Some(format!("{ERRORS}: {}", errors.evidence.first()?.sentence()))
}

/// The prediction without the heaviest culprit; `None` if that is nobody who could stop, or no improvement is predicted.
fn without(v: &Sufferer) -> Option<String> {
    let w = v.without.first()?;
    let Absent::Task(who) = &w.who else { return None };
    if is_journal(who) {
        return None;
    }
    let then = w.then.ok()?;
    let (what, predicted, now) = told(then.p99, then.mean, v);
    if matches!(bounds(predicted), Bounds::AtMost(_)) && predicted.high >= now {
        return None;
    }
    if !falls(predicted, now) {
        return None;
    }
    let now = time(now);
    Some(match bounds(predicted) {
        Bounds::Known { value, from, to } => {
            format!("without {who} {what} would be about {value} ({from} to {to}), now {now}")
        }
        Bounds::AtMost(most) => {
            format!("without {who} {what} would be at most {most}, now {now}; possibly far less")
        }
    })
}

/// What to suspect if the recording does not show the cause, and what to run next.
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
    hints.push(match e.facts.operations.is_empty() {
        true => "to see the waits: sudo iowhy record -o slow; iowhy explain slow".into(),
        false => "what the slowest operations waited for: iowhy slow -n 3 CAPTURE".into(),
    });
    hints
}
