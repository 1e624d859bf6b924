//! The screen of texts, at most 24 lines: the sentence, the cause's best proofs or what is missing, what to try, as many numbers as fit,
//! and how far to trust them. `-v` has all.

use super::order::first_what_matters;
use super::screen::trust_of;
use super::table::{tables, Line, Table};
use crate::answer::{also, line, with_gain, Blocks, INDENT, LINES};
use crate::style::Style;
use crate::wrap::{self, columns_of};
use causes::{Answer as Judged, Verdict};
use explain::answer::Try;
use explain::numbers::cell;
use explain::texts::{tools, Texts};
use explain::{Answer, Explanation};
use std::collections::HashSet;
use tooltext::ToolOutput;
use units::words::{count, counted};

/// Maximal number of unproven causes for which the missing evidence is named.
const LACKING: usize = 2;
/// Maximal number of tables, of lines of each, and of columns of a line's name.
const TABLES: usize = 3;
pub(super) const ROWS: usize = 5;
const OF: usize = 24;
/// Maximal number of settings that are shown if a text has no numbers.
const SETTINGS: usize = 6;

/// Ranks of the blocks, the lowest first; they also limit the number of proofs, remedies and tables.
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

/// Draws the screen of at most 24 lines.
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
    arrays(&mut page, &also(e, a));
    numbers(&mut page, texts, named);
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
    remedies(page, v);
}

/// What to try, and what to look at.
fn remedies(page: &mut Blocks, v: &Verdict) {
    page.gap(rank::GAP);
    let offered = v.remedies.iter().map(|r| Try::of(r, v.cause, None)).filter(Try::is_founded);
    for (i, (offered, rank)) in offered.zip(rank::REMEDIES).enumerate() {
        let heading = if i == 0 { "TRY    " } else { INDENT };
        let (first, other) = (format!("{heading}{}  ", i + 1), format!("{INDENT}   "));
        let said = with_gain(&offered, None);
        page.command(&offered.remedy.command(), &said, &first, &other, rank);
    }
}

/// If no cause is proven: the evidence that is missing, first for causes that some evidence supports, and what shows more of the first of these.
fn lacking(page: &mut Blocks, texts: &Texts) {
    let lacks = texts.verdicts.iter().filter(|v| v.verdict == Judged::CannotTell && !v.missing.is_empty());
    let mut lacks: Vec<&Verdict> = lacks.collect();
    lacks.sort_by_key(|v| v.evidence.is_empty());
    let suspected = lacks.first().copied().filter(|v| !v.evidence.is_empty() && v.refutes.is_empty());
    for (i, (v, rank)) in lacks.into_iter().take(LACKING).zip(rank::LACKING).enumerate() {
        let heading = if i == 0 { "LACKS  " } else { INDENT };
        page.text(&format!("{}: {}", v.cause, v.missing[0].sentence()), heading, INDENT, rank);
        if let Some(proof) = v.evidence.first() {
            let (bullet, below) = (format!("{INDENT}- "), format!("{INDENT}  "));
            page.text(&proof.sentence(), &bullet, &below, rank);
        }
    }
    if let Some(v) = suspected.filter(|v| !v.remedies.is_empty()) {
        remedies(page, v);
        page.gap(rank::GAP);
    }
}

/// What else is wrong with arrays.
fn arrays(page: &mut Blocks, all: &[String]) {
    if all.is_empty() {
        return;
    }
    page.gap(rank::GAP);
    for (i, said) in all.iter().enumerate() {
        let bullet = if i == 0 { "ALSO   - ".to_owned() } else { format!("{INDENT}- ") };
        page.text(said, &bullet, &format!("{INDENT}  "), rank::ALSO);
    }
    page.gap(rank::GAP);
}

fn numbers(page: &mut Blocks, texts: &Texts, named: Option<&Verdict>) {
    let proofs: Vec<String> = named.iter().flat_map(|v| &v.evidence).map(|proof| proof.sentence()).collect();
    let places: HashSet<&str> =
        proofs.iter().flat_map(|p| p.split([' ', ',', '(', ')', ';'])).filter(|w| w.contains(':')).collect();
    let of = |output: &ToolOutput| {
        let proves = |line: &Line| {
            line.values.iter().flatten().any(|n| places.contains(output.at(n.at).to_string().as_str()))
        };
        let mut all = tables(output);
        all.iter_mut().for_each(|table| first_what_matters(table, proves));
        all.into_iter().map(|table| (rank_of(&table, proves), table)).collect::<Vec<_>>()
    };
    let mut all: Vec<(u8, Table)> = texts.outputs.iter().flat_map(of).collect();
    all.sort_by_key(|(rank, _)| *rank);
    let all: Vec<Table> = all.into_iter().map(|(_, table)| table).collect();
    if all.is_empty() {
        return settings(page, &texts.outputs);
    }
    let shown = all.iter().take(TABLES).zip(rank::TABLES).enumerate();
    for (i, (table, rank)) in shown {
        if i > 0 || named.is_some() {
            page.gap(rank::GAP);
        }
        page.lines(draw(table, if i == 0 { "SEEN   " } else { INDENT }, page.width()), rank);
    }
}

/// Tables that prove the cause come first, unless they have only one column and so repeat the proof. Tables of processors come last, and so
/// does what top says of the machine: the question is about I/O.
fn rank_of(table: &Table, proves: impl Fn(&Line) -> bool) -> u8 {
    match () {
        () if table.columns.len() > 1 && table.lines.iter().any(proves) => 0,
        () if table.lines.iter().all(|line| line.of.split(' ').next() == Some("cpu")) => 2,
        () if table.tool == "top" && table.lines.iter().all(|l| OF_THE_MACHINE.contains(&l.of.as_str())) => 2,
        () => 1,
    }
}

/// What top says of the machine that is of little use for I/O.
const OF_THE_MACHINE: [&str; 4] = ["load", "tasks", "threads", "swap"];

/// Tools whose last column is always shown: it is a maximum or the device's utilization. For others, only if it is no extreme.
const LAST_STAYS: [&str; 4] = ["fio", "iostat", "sar", "histograms"];
/// A drive's state and its counters of unreadable sectors, which are shown before other attributes.
const SECTORS: [&str; 8] = [
    "failing",
    "Reported_Uncorrect",
    "critical warning",
    "spare",
    "media errors",
    "Reallocated_Sector_Ct",
    "Current_Pending_Sector",
    "Offline_Uncorrectable",
];

/// The lateness of a minimum or a maximum.
const EXTREME: u8 = 3;

/// The order in which columns are added, 0 first: waits, then means, then others, then extremes, which describe single requests.
fn lateness(column: &str) -> u8 {
    let extreme = ["min", "max", "stddev"].iter().any(|end| column.ends_with(end));
    let mean = ["bw", "iops", "p99", "p99 below"].contains(&column) || column.ends_with("mean");
    match () {
        () if column.ends_with("await") || SECTORS.contains(&column) => 0,
        () if mean => 1,
        () if extreme => EXTREME,
        () => 2,
    }
}

/// A name that is not too wide for a table. What tells names apart is often at their ends: the middle is left out.
fn short(of: &str) -> String {
    let all: Vec<char> = of.chars().collect();
    let (head, tail) = ((OF - 3).div_ceil(2), (OF - 3) / 2);
    match all.len() {
        n if n > OF => all[..head].iter().chain(&['.'; 3]).chain(&all[n - tail..]).collect(),
        _ => of.to_string(),
    }
}

/// Draws a table's first lines with as many of its columns as fit.
fn draw(table: &Table, heading: &str, width: usize) -> Vec<String> {
    let mut rows: Vec<Vec<String>> = vec![vec![short(&table.tool)]];
    rows[0].extend(table.columns.iter().cloned());
    for line in table.lines.iter().take(ROWS) {
        let mut row = vec![format!("{} {}", short(&line.of), line.run)];
        row.extend(line.values.iter().map(|v| cell(*v)));
        rows.push(row);
    }
    rows[0][0] += " run";
    let wide = |c: usize| rows.iter().map(|r| columns_of(&r[c])).max().unwrap_or(0);
    let last = rows[0].len() - 1;
    // Columns of zeros are added last, unless zero is what the reader asks for.
    let zero = |c: &usize| table.lines.iter().all(|l| l.values[c - 1].is_none_or(|n| n.value == 0.0));
    let asked = |c: &usize| SECTORS.contains(&rows[0][*c].as_str());
    let (zeros, mut told): (Vec<usize>, Vec<usize>) = (1..=last).partition(|c| zero(c) && !asked(c));
    let own = LAST_STAYS.contains(&table.tool.as_str());
    let stays = told.last().is_some_and(|c| own || lateness(&rows[0][*c]) < EXTREME);
    let last = if stays { told.pop() } else { None };
    told.sort_by_key(|c| (lateness(&rows[0][*c]), zero(c)));
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

fn settings(page: &mut Blocks, outputs: &[ToolOutput]) {
    let all: Vec<_> = outputs.iter().flat_map(|m| m.settings.iter().map(move |s| (m, s))).collect();
    let mut lines = vec![];
    for (i, (output, s)) in all.iter().take(SETTINGS).enumerate() {
        let heading = if i == 0 { "SET    " } else { INDENT };
        let text = format!("{} = {}  ({})", s.name, s.value, output.at(s.at));
        lines.extend(crate::wrap::wrap(&text, page.width(), heading, INDENT));
    }
    if all.len() > SETTINGS {
        lines.push(format!("{INDENT}and {} more", all.len() - SETTINGS));
    }
    page.lines(lines, rank::SETTINGS);
}

fn trust(page: &mut Blocks, texts: &Texts) {
    let runs: usize = texts.outputs.iter().map(|m| m.runs.len()).sum();
    let words = count(texts.outputs.iter().map(|m| m.words as u64).sum());
    let tools = tools(&texts.outputs).join(", ");
    let by = if tools.is_empty() { String::new() } else { format!(" of {tools}") };
    let runs = match runs {
        0 => "no run".to_string(),
        n => counted(n as u64, "run", "runs"),
    };
    let mut text = format!("{runs}{by} in {words} words");
    if let [one] = &texts.outputs[..] {
        text = format!("{text}; {}", trust_of(one));
    }
    page.text(&text, "TRUST  ", INDENT, rank::TRUST);
    page.text("-v: all evidence, all numbers, what else was checked", INDENT, INDENT, rank::MORE);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_at_the_end_stay_different() {
        let of = ["writing", "syncing"].map(|what| short(&format!("PostgreSQL checkpoint {what}")));
        assert_eq!(of, ["PostgreSQL ...nt writing", "PostgreSQL ...nt syncing"]);
        assert_eq!(short("a name of just 24 letters"[..OF].trim()), "a name of just 24 letter");
    }

    fn shown(text: &str, proves: &str) -> Vec<String> {
        let mut all = tables(&ToolOutput::read("io.txt", text.as_bytes()));
        let table = &mut all[0];
        first_what_matters(table, |line| line.of == proves);
        draw(table, "", 80)
    }

    fn names(lines: &[String]) -> Vec<&str> {
        lines.iter().filter_map(|line| line.split_whitespace().next()).collect()
    }

    const HEADING: &str = "Device r/s w/s await aqu-sz %util\n";

    #[test]
    fn rows_that_prove_come_first_then_the_busy_then_the_slow_and_zeros_last() {
        let rows =
            "sda 0.00 0.00 0.00 0.00 0.00\nsdb 1.00 2.00 3.00 0.10 1.00\nsdc 1.00 2.00 3.00 0.10 99.00\n\
            sdd 1.00 2.00 90.00 0.10 1.00\nsde 0.50 0.00 1.00 0.10 0.10\nsdf 1.00 2.00 3.00 9.10 1.00\n";
        let lines = shown(&format!("{HEADING}{rows}"), "sde");
        assert_eq!(names(&lines), ["iostat", "sde", "sdc", "sdd", "sdf", "sdb", "and"]);
        // All rows fit, so their order is kept.
        let few: String = rows.lines().take(3).map(|line| format!("{line}\n")).collect();
        assert_eq!(names(&shown(&format!("{HEADING}{few}"), "sdc")), ["iostat", "sda", "sdb", "sdc"]);
    }

    #[test]
    fn the_longest_statements_come_first() {
        let statements = ["BEGIN", "SELECT 1", "SELECT 2", "UPDATE a", "UPDATE b", "END"];
        let rows: String = statements
            .iter()
            .zip(1..)
            .map(|(s, ms)| format!("         {ms}.000           0  {s};\n"))
            .collect();
        let text = format!("$ pgbench -r\nstatement latencies in milliseconds and failures:\n{rows}");
        assert_eq!(names(&shown(&text, ""))[1..4], ["END;", "UPDATE", "UPDATE"]);
    }

    #[test]
    fn tables_that_prove_come_first_and_processors_last() {
        let text = format!("avg-cpu: %user %nice %system %iowait %steal %idle\n 1.00 0.00 1.00 0.00 0.00 98.00\n\n{HEADING}sda 1.00 2.00 3.00 0.10 1.00\n");
        let all = tables(&ToolOutput::read("io.txt", text.as_bytes()));
        let of =
            |proof: &str| all.iter().map(|table| rank_of(table, |line| line.of == proof)).collect::<Vec<_>>();
        assert_eq!((of("sda"), of("cpu"), of("")), (vec![2, 0], vec![0, 1], vec![2, 1]));
    }

    #[test]
    fn the_mean_since_boot_comes_behind_the_intervals_and_is_marked_where_it_stands_alone() {
        let report = |await_ms: u32| {
            let row = |disk: &str| format!("{disk} 5.00 2.00 {await_ms}.00 1.00 50.00\n");
            format!("{HEADING}{}{}\n", row("sda"), row("sdb"))
        };
        let lines = shown(&format!("# iostat -x 1 3\n{}{}{}", report(777), report(5), report(6)), "");
        assert!(lines[1..5].iter().all(|line| !line.contains("777 ms")), "{lines:?}");
        let alone = shown(&format!("# iostat -x\n{}", report(777)), "");
        assert!(alone[1].contains("sda (since boot)"), "{alone:?}");
    }

    #[test]
    fn means_come_before_extremes_and_sectors_before_other_attributes() {
        let names =
            ["size", "bw", "bw.stddev", "bw.max", "lat.mean", "lat.min", "r_await", "Reallocated_Sector_Ct"];
        let mut order = names.to_vec();
        order.sort_by_key(|name| lateness(name));
        let expected =
            ["r_await", "Reallocated_Sector_Ct", "bw", "lat.mean", "size", "bw.stddev", "bw.max", "lat.min"];
        assert_eq!(order, expected);
    }
}
