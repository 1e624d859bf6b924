//! The table of victims and their culprits; each column is as wide as its content.
//!
//! Numbers take the columns they need, culprits the rest of the line. If too little is left, culprits move below their victim, and
//! if the numbers alone are too wide, they are left out, the least important first.

use super::blocks::Blocks;
use super::words::{culprit, device, is_place, lost, operations};
use crate::wrap::{columns_of, left, right, wrap};
use explain::answer::{Answer, Because, Sufferer, WORTH_SEEING};
use explain::blame::Which;
use explain::Explanation;
use std::collections::BTreeMap;
use trace::Nanos;
use units::words::{count, counted, percent, time};
use waits::{Culprit, CulpritKind};

/// Maximal number of victims. Maximal number of the first victim's reasons: normally, and if that makes room for another victim.
pub(super) const VICTIMS: usize = 3;
pub(super) const REASONS: [usize; 2] = [4, 3];
/// A reason has a row of its own from this part of the lost time on.
const WORTH_A_ROW: f64 = 0.03;
/// Spaces between two columns.
const GAP: usize = 2;
/// Minimal columns for a culprit beside its victim; its longest word may need more and is not broken.
const CULPRIT: usize = 14;
/// The indent of culprits below their victim.
const BELOW: usize = 2;

/// Ranks: of the first victim with its first culprit, and of its other culprits.
const FIRST: (u8, u8) = (0, 2);
/// Rank of another victim that lost a visible part of what the first one lost.
pub(super) const OTHERS: u8 = 6;
/// Rank of all other victims, and of each victim's second reason.
const LITTLE: u8 = 10;
const BYSTANDERS: u8 = 12;
/// Rank of a victim that lost more than the first one but comes later for another reason.
const LOST_MORE: u8 = 3;

/// A row: a victim and its culprits, each as share and name.
struct Row {
    /// Name, count, p50, p99, lost.
    cells: [String; 5],
    culprits: Vec<(String, String)>,
}

/// Columns in the order in which they are left out if there is no room: count, p50, p99.
const GOES: [usize; 3] = [1, 2, 3];

/// Adds the table of `most` victims; the first one has `reasons` reasons, of which the first is always shown.
pub(super) fn put(page: &mut Blocks, e: &Explanation, a: &Answer, most: usize, reasons: usize) {
    let shown = a.victims.iter().take(most).enumerate();
    let rows: Vec<Row> = shown.map(|(at, v)| row(e, a, v, if at == 0 { reasons } else { 2 })).collect();
    let layout = Layout::of(&rows, page.width());
    page.lines(layout.head(e.subject.which), 0);
    for (at, row) in rows.iter().enumerate() {
        let mut lines = layout.row(row).into_iter();
        let of = &a.victims[at];
        let (victim, more) = match at {
            0 => FIRST,
            _ if lost_more(a, of) => (LOST_MORE, LITTLE),
            _ if lost_much(a, of) => (OTHERS, LITTLE),
            _ => (LITTLE, LITTLE),
        };
        page.lines(lines.next().unwrap_or_default(), victim);
        lines.for_each(|line| page.more_lines(line, more));
    }
    let others = a.bystanders + a.victims.len().saturating_sub(most);
    if others > 0 {
        let hidden = a.victims.get(most..).unwrap_or_default();
        let any = |is: fn(&Answer, &Sufferer) -> bool| hidden.iter().any(|v| is(a, v));
        let rank = match () {
            () if any(lost_more) => LOST_MORE,
            () if any(lost_much) => OTHERS,
            () => BYSTANDERS,
        };
        page.text(&others_in_words(e, a, most, others), "", "", rank);
    }
}

/// Whether a victim lost more than the one that is shown first.
fn lost_more(a: &Answer, v: &Sufferer) -> bool {
    a.victims.first().is_some_and(|first| v.lost > first.lost)
}

/// Whether a victim lost at least [`WORTH_SEEING`] of what the first one lost.
fn lost_much(a: &Answer, v: &Sufferer) -> bool {
    a.victims.first().is_some_and(|first| v.lost.0 as f64 >= WORTH_SEEING * first.lost.0 as f64)
}

/// `3 others lost less`, after the victims that are shown. One that lost much, or more than one that is shown, is named.
pub(crate) fn others_in_words(e: &Explanation, a: &Answer, shown: usize, others: usize) -> String {
    let (told, hidden) = a.victims.split_at(shown.min(a.victims.len()));
    let least = told.iter().map(|v| v.lost).min().unwrap_or_default();
    let all = counted(others as u64, "other", "others");
    let named = |v: &Sufferer| format!("most: {} {}", v.task, operations(e, v));
    match hidden.iter().max_by_key(|v| v.lost) {
        Some(v) if v.lost > least => format!("{all} with less to gain; lost {} {}", named(v), lost(v)),
        Some(v) if lost_much(a, v) => format!("{all} lost less, {} {}", named(v), lost(v)),
        _ => format!("{all} lost less"),
    }
}

fn row(e: &Explanation, a: &Answer, v: &Sufferer, most: usize) -> Row {
    let p99 = if v.count >= 100 { time(v.latency[1]) } else { "-".into() };
    let bound = if v.is_bound { "<=" } else { "" };
    let ops = match v.asked < v.count {
        true => format!("{} of {}", count(v.asked), count(v.count)),
        false => count(v.count),
    };
    let who = format!("{} {}", v.task, operations(e, v));
    // The same task and operation on several devices.
    let is_told = |other: &&Sufferer| (&other.task, operations(e, other)) == (&v.task, operations(e, v));
    let several = a.victims.iter().take(VICTIMS).filter(is_told).count() > 1;
    let cells = [
        if several { format!("{who} on {}", device(e, v)) } else { who },
        ops,
        time(v.latency[0]),
        p99,
        format!("{bound}{}", time(v.lost)),
    ];
    Row { cells, culprits: reasons(v, a.cause, most) }
}

/// A victim's lost time by culprit in words, the largest first.
pub(crate) fn by_culprit(v: &Sufferer) -> Vec<(String, Nanos)> {
    summed(&v.because, |b| culprit(&b.culprit))
}

/// Like [`by_culprit`], with the answer's cause beside a culprit that is only a place: `the device: flush (flush-cost)`. A place
/// alone does not show its relation to CAUSE. A named culprit has the cause beside it if the cause's share differs from the row's:
/// `kworker/u4:1: writeback (scheduler-starvation: 56 %)`.
pub(crate) fn by_culprit_and_cause(v: &Sufferer, answer: Option<&str>) -> Vec<(String, Nanos)> {
    let together = is_scattered(&v.because);
    let words = |b: &Because| {
        let whoever = Culprit { name: None, ..b.culprit.clone() };
        let who = if together && b.culprit.kind == CulpritKind::Cpu { &whoever } else { &b.culprit };
        match b.cause {
            // The culprit is unknown, but the cause is known.
            Some(cause) if who.kind == CulpritKind::Unknown => cause.into(),
            Some(cause) if is_place(who) && Some(cause) == answer => format!("{} ({cause})", culprit(who)),
            _ => culprit(who),
        }
    };
    let mut rows = summed(&v.because, words);
    let of_answer = summed(v.because.iter().filter(|b| b.cause.is_some() && b.cause == answer), words);
    for (who, part) in of_answer {
        let Some((words, all)) = rows.iter_mut().find(|(row, _)| *row == who) else { continue };
        let (named, all) = (share(part, v), percent(share(*all, v)));
        let part = percent(named);
        if part != all && named >= WORTH_A_ROW {
            words.push_str(&format!(" ({}: {part})", answer.unwrap_or_default()));
        }
    }
    rows
}

/// A length of time as a part of the victim's lost time.
fn share(time: Nanos, v: &Sufferer) -> f64 {
    time.0 as f64 / v.lost.0.max(1) as f64
}

/// Whether a victim waited for processors and no task ran there for half of that time: separate rows would be too small to show.
fn is_scattered(because: &[Because]) -> bool {
    let mut ran = BTreeMap::<&Option<Box<str>>, u64>::new();
    for b in because.iter().filter(|b| b.culprit.kind == CulpritKind::Cpu) {
        *ran.entry(&b.culprit.name).or_default() += b.time.0;
    }
    2 * ran.values().copied().max().unwrap_or_default() < ran.values().sum()
}

fn summed<'a>(
    because: impl IntoIterator<Item = &'a Because>,
    words: impl Fn(&Because) -> String,
) -> Vec<(String, Nanos)> {
    let mut sums: Vec<(String, Nanos)> = vec![];
    for b in because {
        let words = words(b);
        match sums.iter_mut().find(|(w, _)| *w == words) {
            Some((_, time)) => *time += b.time,
            None => sums.push((words, b.time)),
        }
    }
    sums.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    sums
}

/// Rows such as `94 %`, `the device: flush`, the largest first; a last row has the rest.
fn reasons(v: &Sufferer, cause: Option<&str>, most: usize) -> Vec<(String, String)> {
    let mut sums = by_culprit_and_cause(v, cause);
    sums.retain(|(_, time)| share(*time, v) >= LEAST);
    let worth = sums.iter().filter(|(_, t)| share(*t, v) >= WORTH_A_ROW).count().max(1);
    // Instead of a row `1 more`, the reason itself is shown.
    let shown = if sums.len() <= most && sums.len() <= worth + 1 { sums.len() } else { worth.min(most - 1) };
    let told = sums.iter().take(shown).map(|(words, t)| (percent(share(*t, v)), words.clone()));
    let mut rows: Vec<(String, String)> = told.collect();
    let rest: Nanos = sums.iter().skip(shown).map(|(_, t)| *t).sum();
    if rest.0 > 0 {
        rows.push((percent(share(rest, v)), format!("{} more", sums.len() - shown)));
    }
    rows
}

/// The smallest part that is shown; a smaller one would read `0 %`.
const LEAST: f64 = 0.0005;

/// The layout of the table.
struct Layout {
    /// The columns that are shown: index and width of each.
    shown: Vec<(usize, usize)>,
    /// The column at which culprits begin, beside their victim or below it.
    culprits: usize,
    is_below: bool,
    /// The width of their shares.
    share: usize,
    width: usize,
}

const HEAD: [&str; 5] = ["WHO WAITED", "ops", "p50", "p99", "lost"];
/// The first heading if the lost time is that of the slowest operations.
const SLOWEST: &str = "SLOWEST";
const BECAUSE: &str = "BECAUSE OF";

impl Layout {
    fn of(rows: &[Row], width: usize) -> Layout {
        let wide = |at: usize| {
            let cells = rows.iter().map(|r| columns_of(&r.cells[at]));
            cells.chain([HEAD[at].len()]).max().unwrap_or(0)
        };
        let mut shown: Vec<(usize, usize)> = (0..HEAD.len()).map(|at| (at, wide(at))).collect();
        let end = |shown: &[(usize, usize)]| shown.iter().map(|(_, w)| w + GAP).sum::<usize>();
        let shares = rows.iter().flat_map(|r| &r.culprits).map(|(share, _)| columns_of(share));
        let share = shares.max().unwrap_or(0);
        let needs = |words: &str| {
            let longest = words.split(' ').map(columns_of).max().unwrap_or(0);
            columns_of(words).min(CULPRIT).max(longest)
        };
        let culprits = rows.iter().flat_map(|r| &r.culprits).map(|(_, words)| needs(words));
        let needed = culprits.max().unwrap_or(0);
        let is_below = end(&shown) + share + GAP + needed > width;
        for at in GOES {
            if end(&shown) - GAP > width {
                shown.retain(|(column, _)| *column != at);
            }
        }
        let culprits = if is_below { BELOW } else { end(&shown) };
        Layout { shown, culprits, is_below, share, width }
    }

    fn head(&self, which: Which) -> Vec<String> {
        let mut cells = HEAD.map(str::to_string);
        if which == Which::Slowest {
            cells[0] = SLOWEST.into();
        }
        let head = self.cells(&cells);
        match self.is_below {
            true => vec![head],
            false => vec![format!("{head}{:GAP$}{BECAUSE}", "")],
        }
    }

    /// The cells of a row in one line: the name left-aligned, numbers right-aligned.
    fn cells(&self, cells: &[String; 5]) -> String {
        let cell = |(at, wide): &(usize, usize)| match at {
            0 => left(&cells[0], *wide),
            at => right(&cells[*at], *wide),
        };
        self.shown.iter().map(cell).collect::<Vec<_>>().join(&" ".repeat(GAP))
    }

    /// The lines of a victim with its first culprit, then those of each further culprit.
    fn row(&self, row: &Row) -> Vec<Vec<String>> {
        let victim = self.cells(&row.cells);
        let mut blocks: Vec<Vec<String>> = row.culprits.iter().map(|c| self.culprit(c)).collect();
        let Some(first) = blocks.first_mut() else { return vec![vec![victim]] };
        if self.is_below {
            first.insert(0, victim);
        } else if let Some(line) = first.first_mut() {
            *line = left(&victim, line.len() - line.trim_start().len()) + line.trim_start();
        }
        blocks
    }

    fn culprit(&self, (share, words): &(String, String)) -> Vec<String> {
        let first = format!("{:at$}{share:>wide$}{:GAP$}", "", "", at = self.culprits, wide = self.share);
        wrap(words, self.width, &first, &" ".repeat(first.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(culprits: &[(&str, &str)]) -> Vec<Row> {
        let cells = ["redis-server fdatasyncs", "895", "5.08 ms", "9.67 ms", "4.32 s"].map(str::to_string);
        let culprits = culprits.iter().map(|(s, w)| (s.to_string(), w.to_string())).collect();
        vec![Row { cells, culprits }]
    }

    fn drawn(rows: &[Row], width: usize) -> Vec<String> {
        let layout = Layout::of(rows, width);
        let rows = rows.iter().flat_map(|r| layout.row(r)).flatten();
        layout.head(Which::All).into_iter().chain(rows).map(|l| l.trim_end().to_string()).collect()
    }

    const CULPRITS: [(&str, &str); 2] =
        [("71 %", "the device: flush"), ("9.3 %", "redis-server: journal writes")];

    #[test]
    fn culprits_are_readable_in_80_columns() {
        assert_eq!(
            drawn(&rows(&CULPRITS), 80),
            [
                "WHO WAITED               ops      p50      p99    lost  BECAUSE OF",
                "redis-server fdatasyncs  895  5.08 ms  9.67 ms  4.32 s   71 %  the device: flush",
                "                                                        9.3 %  redis-server:",
                "                                                               journal writes",
            ]
        );
    }

    #[test]
    fn a_narrow_screen_has_culprits_below_and_fewer_numbers() {
        assert_eq!(
            drawn(&rows(&CULPRITS), 44),
            [
                "WHO WAITED                   p99    lost",
                "redis-server fdatasyncs  9.67 ms  4.32 s",
                "   71 %  the device: flush",
                "  9.3 %  redis-server: journal writes",
            ]
        );
    }

    #[test]
    fn processors_that_nobody_had_for_most_of_the_time_are_one_row() {
        let ran = |name: &str, ms: u64| {
            let culprit = Culprit { name: Some(name.into()), ..Culprit::of(CulpritKind::Cpu) };
            Because { cause: None, culprit, chain: vec![], phase: None, time: Nanos(ms) }
        };
        assert!(is_scattered(&[ran("bash", 4), ran("top", 3), ran("bash", 1), ran("ls", 3)]));
        assert!(!is_scattered(&[ran("bash", 4), ran("top", 3), ran("bash", 1), ran("ls", 2)]));
        assert!(!is_scattered(&[]));
    }

    /// Numbers stay aligned if a task's name has characters of two columns.
    #[test]
    fn names_of_wide_characters_leave_numbers_in_their_columns() {
        let mut rows = rows(&CULPRITS);
        rows[0].cells[0] = "数据库服务器 fdatasyncs".into();
        let lines = drawn(&rows, 80);
        let column = |line: &str, of: &str| line.find(of).map(|at| columns_of(&line[..at]) + of.len());
        assert_eq!(column(&lines[0], "p50"), column(&lines[1], "5.08 ms"));
        assert!(lines.iter().all(|line| columns_of(line) <= 80), "{lines:#?}");
    }

    #[test]
    fn nothing_stands_out_of_any_width() {
        for width in 40..140 {
            let lines = drawn(&rows(&CULPRITS), width);
            assert!(lines.iter().all(|l| l.chars().count() <= width), "{width}: {lines:#?}");
            let text = lines.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains("71 % the device: flush") && text.contains("redis-server: journal writes"));
        }
    }
}
