//! Makes an account short enough to read, without losing a nanosecond.
//!
//! - Leaves of one reason under one part become one: the fourteen times in which a task ran become one sum.
//! - A long series of similar parts becomes one with their count; the parts within them are joined in the same way.
//! - Parts that are too short to matter share one line, by reason.
//!
//! ```text
//! wait 71 ms, cpu 1, wait 73 ms, cpu 2, wait 72 ms, cpu 1    ->    3 waits 216 ms, cpu 4 ms
//! ```

use super::branch::{Branch, What};
use trace::Nanos;

/// This many similar parts become one line.
const SERIES: usize = 3;
/// A part of at least 1/10 of the operation's time keeps its own line even in a series.
const LARGE: u64 = 10;
/// A part is short if it is below 1/1000 of the operation's time...
const SHORT_PART: u64 = 1000;
/// ...and below this: the cost of a wakeup and a few switches on a busy machine.
const SHORT: Nanos = Nanos(50_000);
/// Maximal number of lines below one part; the longest parts have lines, the others are joined.
const MOST_LINES: usize = 12;

/// Folds the parts of an operation that took `total`.
pub fn fold(parts: Vec<Branch>, total: Nanos) -> Vec<Branch> {
    fold_within(parts, total, SERIES)
}

/// Folds parts of which `series` similar ones become one line: 2 within a series, else [`SERIES`].
fn fold_within(parts: Vec<Branch>, total: Nanos, series: usize) -> Vec<Branch> {
    let mut parts = shorten(alike(parts, total, series), total);
    for part in &mut parts {
        if !matches!(part.what, What::Rest) {
            let series = if part.count > 1 { 2 } else { SERIES };
            part.parts = fold_within(std::mem::take(&mut part.parts), total, series);
        }
    }
    parts
}

/// Joins similar parts in the place of the first one; joined leaves come last.
fn alike(parts: Vec<Branch>, total: Nanos, series: usize) -> Vec<Branch> {
    let is_leaf = |b: &Branch| matches!(b.what, What::Leaf(_));
    let own_line = |b: &Branch| !is_leaf(b) && b.time.0.saturating_mul(LARGE) >= total.0;
    // Groups of similar parts; each large part has a group of its own.
    let mut groups: Vec<Vec<Branch>> = Vec::new();
    for part in parts {
        let own = own_line(&part);
        let same = |g: &&mut Vec<Branch>| g.first().is_some_and(|f| f.is_like(&part) && !own_line(f));
        match groups.iter_mut().find(same).filter(|_| !own) {
            Some(group) => group.push(part),
            None => groups.push(vec![part]),
        }
    }
    let (mut lines, mut last) = (Vec::new(), Vec::new());
    for mut group in groups {
        let leaf = group.first().is_some_and(is_leaf);
        if group.len() < if leaf { 2 } else { series } {
            lines.append(&mut group);
            continue;
        }
        let joined = group.into_iter().reduce(|mut all, one| {
            all.join(one);
            all
        });
        if leaf { &mut last } else { &mut lines }.extend(joined);
    }
    lines.sort_by_key(|b| b.from);
    lines.append(&mut last);
    lines
}

/// Joins parts that are short, or beyond [`MOST_LINES`], into one.
fn shorten(mut parts: Vec<Branch>, total: Nanos) -> Vec<Branch> {
    let mut least = Nanos(total.0.div_ceil(SHORT_PART)).min(SHORT);
    if parts.len() > MOST_LINES {
        let mut times: Vec<Nanos> = parts.iter().map(|b| b.time).collect();
        times.sort_by_key(|t| std::cmp::Reverse(*t));
        least = least.max(times[MOST_LINES - 1]);
    }
    if parts.iter().filter(|b| b.time < least).count() < 2 {
        return parts;
    }
    let (keep, short) = std::mem::take(&mut parts).into_iter().partition(|b: &Branch| b.time >= least);
    parts = keep;
    parts.push(Branch::rest(short));
    parts
}
