//! The screen of texts: at most 24 lines. The sentence, the cause's best proofs or what it lacks, what to try, the numbers as far as
//! there is room, and how far to trust them. `-v` has all.

use super::screen::trust_of;
use super::table::{tables, Table};
use crate::answer::{line, with_gain, Blocks, INDENT, LINES};
use crate::screen::Style;
use crate::wrap::{self, columns_of};
use causes::{Answer as Judged, Verdict};
use explain::answer::Try;
use explain::numbers::cell;
use explain::texts::{tools, Texts};
use explain::{Answer, Explanation};
use tooltext::Mail;
use units::words::{count, counted};

/// Causes of which it is told what they lack.
const LACKING: usize = 2;
/// Tables, lines of each, columns of what a line is of.
const TABLES: usize = 3;
const ROWS: usize = 5;
const OF: usize = 24;
/// Settings, where a text has nothing else.
const SETTINGS: usize = 6;

/// How much each part matters, the most first, and so how many proofs and remedies there are.
mod rank {
    pub const SENTENCE: u8 = 0;
    pub const TRUST: u8 = 0;
    pub const MORE: u8 = 1;
    pub const REMEDIES: [u8; 3] = [2, 7, 11];
    pub const PROOFS: [u8; 3] = [2, 3, 5];
    pub const ALSO: u8 = 4;
    pub const LACKING: [u8; 2] = [3, 8];
    pub const TABLES: [u8; 3] = [6, 9, 10];
    pub const SETTINGS: u8 = 5;
    pub const FIRST_GAP: u8 = 8;
    pub const GAP: u8 = 12;
}

/// Draws the screen.
pub(crate) fn render(e: &Explanation, a: &Answer, style: Style) -> String {
    let mut page = Blocks::new(style.width);
    page.text(&line(e, a), "", "", rank::SENTENCE);
    page.gap(rank::FIRST_GAP);
    let texts = &e.texts;
    let found = || texts.verdicts.iter().filter(|v| v.verdict == Judged::Found);
    let named = found().find(|v| Some(v.cause) == a.cause);
    match named {
        Some(v) => cause(&mut page, v, &found().filter(|v| Some(v.cause) != a.cause).collect::<Vec<_>>()),
        None => lacking(&mut page, texts),
    }
    numbers(&mut page, texts, named.is_some());
    page.gap(rank::GAP);
    trust(&mut page, texts);
    page.fit(LINES)
}

fn cause(page: &mut Blocks, v: &Verdict, others: &[&Verdict]) {
    let (bullet, below) = (format!("{INDENT}- "), format!("{INDENT}  "));
    for (i, (proof, rank)) in v.evidence.iter().zip(rank::PROOFS).enumerate() {
        let bullet = if i == 0 { "PROOF  - " } else { &bullet };
        page.text(&proof.sentence(), bullet, &below, rank);
    }
    if let Some((first, more)) = others.split_first() {
        let proof = first.evidence.first().map(|proof| format!(": {}", proof.sentence())).unwrap_or_default();
        page.text(&format!("also found: {}{proof}", first.cause), INDENT, INDENT, rank::ALSO);
        if !more.is_empty() {
            let names: Vec<&str> = more.iter().map(|v| v.cause).collect();
            page.text(&format!("and {}", names.join(", ")), INDENT, INDENT, rank::ALSO);
        }
    }
    page.gap(rank::GAP);
    let offered = v.remedies.iter().map(|r| Try::of(r, v.cause, None)).filter(Try::is_founded);
    for (i, (offered, rank)) in offered.zip(rank::REMEDIES).enumerate() {
        let heading = if i == 0 { "TRY    " } else { INDENT };
        let (first, other) = (format!("{heading}{}  ", i + 1), format!("{INDENT}   "));
        let said = with_gain(&offered, None);
        page.command(&offered.remedy.command(), &said, &first, &other, rank);
    }
}

/// What would have to be known, where no cause is shown: first of those for which something speaks.
fn lacking(page: &mut Blocks, texts: &Texts) {
    let lacks = texts.verdicts.iter().filter(|v| v.verdict == Judged::CannotTell && !v.missing.is_empty());
    let mut lacks: Vec<&Verdict> = lacks.collect();
    lacks.sort_by_key(|v| v.evidence.is_empty());
    for (i, (v, rank)) in lacks.into_iter().take(LACKING).zip(rank::LACKING).enumerate() {
        let heading = if i == 0 { "LACKS  " } else { INDENT };
        page.text(&format!("{}: {}", v.cause, v.missing[0].sentence()), heading, INDENT, rank);
        if let Some(proof) = v.evidence.first() {
            let (bullet, below) = (format!("{INDENT}- "), format!("{INDENT}  "));
            page.text(&proof.sentence(), &bullet, &below, rank);
        }
    }
}

fn numbers(page: &mut Blocks, texts: &Texts, a_cause: bool) {
    let all: Vec<Table> = texts.mails.iter().flat_map(tables).collect();
    if all.is_empty() {
        return settings(page, &texts.mails);
    }
    let shown = all.iter().take(TABLES).zip(rank::TABLES).enumerate();
    for (i, (table, rank)) in shown {
        if i > 0 || a_cause {
            page.gap(rank::GAP);
        }
        page.lines(draw(table, if i == 0 { "SEEN   " } else { INDENT }, page.width()), rank);
    }
}

/// A table's first lines, and as many of its columns as there is room for.
fn draw(table: &Table, heading: &str, width: usize) -> Vec<String> {
    let short = |of: &str| match of.chars().count() {
        n if n > OF => of.chars().take(OF - 3).chain("...".chars()).collect(),
        _ => of.to_string(),
    };
    let mut rows: Vec<Vec<String>> = vec![vec![short(&table.tool)]];
    rows[0].extend(table.columns.iter().cloned());
    for (run, of, values) in table.lines.iter().take(ROWS) {
        let mut row = vec![format!("{} {run}", short(of))];
        row.extend(values.iter().map(|v| cell(*v)));
        rows.push(row);
    }
    rows[0][0] += " run";
    let wide = |c: usize| rows.iter().map(|r| columns_of(&r[c])).max().unwrap_or(0);
    // The last one is a maximum or how busy the device was: it stays.
    let last = rows[0].len() - 1;
    // Columns of nothing but zeros come when there is room left.
    let zero =
        |c: &usize| table.lines.iter().all(|(_, _, values)| values[c - 1].is_none_or(|n| n.value == 0.0));
    let (zeros, mut told): (Vec<usize>, Vec<usize>) = (1..=last).partition(zero);
    let last = told.pop();
    // How long requests waited is what is asked: of iostat's columns those go in first, reads' and writes' alike.
    told.sort_by_key(|c| !rows[0][*c].ends_with("await"));
    let mut left = width.saturating_sub(INDENT.len() + wide(0));
    let mut columns = vec![];
    for c in last.into_iter().chain(told).chain(zeros) {
        if wide(c) + 2 > left {
            break;
        }
        left -= wide(c) + 2;
        columns.push(c);
    }
    columns.sort_unstable();
    let mut lines: Vec<String> = vec![];
    for (i, row) in rows.iter().enumerate() {
        let mut line = format!("{}{}", if i == 0 { heading } else { INDENT }, wrap::left(&row[0], wide(0)));
        columns.iter().for_each(|c| line += &format!("  {}", wrap::right(&row[*c], wide(*c))));
        lines.push(line);
    }
    if table.lines.len() > ROWS {
        lines.push(format!("{INDENT}and {} more", table.lines.len() - ROWS));
    }
    lines
}

fn settings(page: &mut Blocks, mails: &[Mail]) {
    let all: Vec<_> = mails.iter().flat_map(|m| m.settings.iter().map(move |s| (m, s))).collect();
    let mut lines = vec![];
    for (i, (mail, s)) in all.iter().take(SETTINGS).enumerate() {
        let heading = if i == 0 { "SET    " } else { INDENT };
        let text = format!("{} = {}  ({})", s.name, s.value, mail.at(s.at));
        lines.extend(crate::wrap::wrap(&text, page.width(), heading, INDENT));
    }
    if all.len() > SETTINGS {
        lines.push(format!("{INDENT}and {} more", all.len() - SETTINGS));
    }
    page.lines(lines, rank::SETTINGS);
}

fn trust(page: &mut Blocks, texts: &Texts) {
    let runs: usize = texts.mails.iter().map(|m| m.runs.len()).sum();
    let words = count(texts.mails.iter().map(|m| m.words as u64).sum());
    let tools = tools(&texts.mails).join(", ");
    let by = if tools.is_empty() { String::new() } else { format!(" of {tools}") };
    let runs = match runs {
        0 => "no run".to_string(),
        n => counted(n as u64, "run", "runs"),
    };
    let mut text = format!("{runs}{by} in {words} words");
    if let [one] = &texts.mails[..] {
        text = format!("{text}; {}", trust_of(one));
    }
    page.text(&text, "TRUST  ", INDENT, rank::TRUST);
    page.text("-v: all evidence, all numbers, what else was checked", INDENT, INDENT, rank::MORE);
}
