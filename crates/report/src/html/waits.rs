//! The table of waits as plain markup: which victim waits for which culprit (a matrix), and in which waits (a flame graph).

use super::escape::escape;
use super::opening::of;
use super::shown::Shown;
use explain::blame::{self, culprit_name, Blame};
use explain::Explanation;
use std::collections::BTreeMap;
use std::fmt::Write;
use trace::Nanos;
use units::words::{percent, time};

/// Maximal number of rows (victims) and columns (culprits) of the matrix.
const VICTIMS: usize = 12;
const CULPRITS: usize = 8;
/// A frame narrower than this part of the whole width is not drawn.
const NARROWEST: f64 = 0.002;
/// Maximal number of frames on top of one another.
const DEEPEST: usize = 12;
/// The height of a frame, in pixels.
const FRAME: usize = 20;

/// The matrix and the flame graph of a capture; empty if no task lost time.
pub fn waits(shown: &Shown) -> String {
    let e = &shown.explanation;
    let blame = Blame::of(e);
    if blame.lost == Nanos(0) {
        return String::new();
    }
    matrix(e, &blame) + &flame(e, &blame)
}

fn matrix(e: &Explanation, blame: &Blame) -> String {
    let culprits = &blame.culprits[..blame.culprits.len().min(CULPRITS)];
    let more = blame.culprits.len() > culprits.len();
    let mut out = String::from(
        "<h3>Who waits for whom</h3>\n<p class=\"small\">What each lost, by culprit; darker is more.</p>\n\
         <table class=\"numbers blame\"><thead><tr><th>who waited</th>",
    );
    for c in culprits {
        let _ = write!(out, "<th>{}</th>", escape(&culprit_name(&c.culprit)));
    }
    out += if more { "<th>others</th>" } else { "" };
    out += "<th>lost</th></tr></thead><tbody>\n";
    for (at, v) in blame.victims.iter().enumerate().take(VICTIMS).filter(|(_, v)| v.lost.0 > 0) {
        let _ = write!(out, "<tr {}><td>{}</td>", of(&v.task, &e.name(v.dev), &v.name), escape(&v.name));
        let mut told = Nanos(0);
        for c in culprits {
            let lost: Nanos = c.by.iter().filter(|(victim, ..)| *victim == at).map(|(.., t)| *t).sum();
            told += lost;
            out += &cell(lost, blame.lost);
        }
        if more {
            out += &cell(v.lost.since(told), blame.lost);
        }
        let _ = writeln!(out, "<td>{}</td></tr>", time(v.lost));
    }
    out + "</tbody></table>\n"
}

/// A cell of the matrix. Its colour follows the square root of its part, so that small parts are visible too.
fn cell(lost: Nanos, all: Nanos) -> String {
    let part = lost.0 as f64 / all.0.max(1) as f64;
    match lost.0 {
        0 => "<td></td>".into(),
        _ => format!("<td style=\"--part:{:.0}%\">{}</td>", 60.0 * part.sqrt(), time(lost)),
    }
}

/// A frame of the flame graph: its time, and the frames above it by name.
#[derive(Default)]
struct Frame<'a> {
    time: Nanos,
    above: BTreeMap<&'a str, Frame<'a>>,
}

fn flame(e: &Explanation, blame: &Blame) -> String {
    let stacks = blame::stacks(e, e.subject.which);
    let mut root = Frame::default();
    for (stack, time) in &stacks {
        let mut words = stack.split(';');
        // Stacks of tasks that are not victims are left out.
        let is_victim = |name: &str| blame.victims.iter().any(|v| v.name == name);
        if !words.clone().next().is_some_and(is_victim) {
            continue;
        }
        root.time += *time;
        let mut at = &mut root;
        for word in words.by_ref().take(DEEPEST) {
            at = at.above.entry(word).or_default();
            at.time += *time;
        }
    }
    if root.time == Nanos(0) {
        return String::new();
    }
    let (mut frames, mut deepest) = (String::new(), 0);
    for (name, frame, left) in in_order(&root, 0.0, root.time) {
        let victim = blame.victims.iter().find(|v| v.name == *name);
        let whose = victim.map_or(String::new(), |v| of(&v.task, &e.name(v.dev), &v.name));
        let _ = writeln!(frames, "<div {whose}>");
        deepest = deepest.max(draw(&mut frames, name, frame, (left, 0), root.time));
        frames += "</div>\n";
    }
    format!(
        "<h3>What they waited for</h3>\n<p class=\"small\">A flame graph of waits: each victim at the top, below it what it \
         waited in, at the bottom the culprit; as wide as the time. Point at a frame for its time.</p>\n\
         <div class=\"flame\" style=\"height:{}px\">\n{frames}</div>\n",
        deepest * FRAME
    )
}

/// The frames above one, widest first, each with its left edge as a part of the whole width.
fn in_order<'a, 'b>(frame: &'b Frame<'a>, left: f64, all: Nanos) -> Vec<(&'b &'a str, &'b Frame<'a>, f64)> {
    let mut above: Vec<_> = frame.above.iter().collect();
    above.sort_by_key(|(_, f)| std::cmp::Reverse(f.time));
    let place = |at: &mut f64, (name, f): (&'b &'a str, &'b Frame<'a>)| {
        let begins = *at;
        *at += f.time.0 as f64 / all.0 as f64;
        Some((name, f, begins))
    };
    above.into_iter().scan(left, place).collect()
}

/// Draws a frame and those above it; returns the depth below the deepest frame.
fn draw(out: &mut String, name: &str, frame: &Frame, (left, depth): (f64, usize), all: Nanos) -> usize {
    let part = frame.time.0 as f64 / all.0 as f64;
    if part < NARROWEST {
        return depth;
    }
    let name = escape(name);
    let _ = writeln!(
        out,
        "<span class=\"f{}\" style=\"left:{:.3}%;width:{:.3}%;top:{}px\" title=\"{name}: {} ({})\">{name}</span>",
        depth.min(3),
        left * 100.0,
        part * 100.0,
        depth * FRAME,
        time(frame.time),
        percent(part)
    );
    let above = in_order(frame, left, all).into_iter();
    above.map(|(name, f, left)| draw(out, name, f, (left, depth + 1), all)).max().unwrap_or(0).max(depth + 1)
}
