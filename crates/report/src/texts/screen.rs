//! All that `explain -v` shows of texts: the answer, then the runs and their numbers, then what was left out.

use super::table::{tables, Table};
use crate::screen::{Screen, Style};
use crate::why::{offered, Found, Why};
use crate::wrap::{columns_of, left, right};
use causes::{Answer as Judged, Verdict};
use explain::numbers::cell;
use explain::texts::{tools, Texts};
use std::fmt::Write;
use tooltext::{Mail, Number};
use units::words::{count, counted, percent};

/// Lines of a table on the screen; JSON has all.
const MOST_LINES: usize = 24;
/// Impossible numbers that are named.
const MOST_DOUBTS: usize = 4;
/// Runs that are listed on the screen.
const MOST_RUNS: usize = 30;
/// Columns of a label.
const LABEL: usize = 64;
/// Devices or operations of a table whose differences are told.
const MOST_DIFFERENCES: usize = 4;
/// Between runs of like things a number differs from here on.
const DIFFERS: f64 = 1.25;

/// Draws the screen.
pub(crate) fn render(texts: &Texts, answer: String, style: Style) -> String {
    let mut s = Screen::new(style);
    s.out += &crate::wrap::wrap(&answer, style.width, "", "").join("\n");
    s.out += "\n\n";
    for mail in &texts.mails {
        let tools = tools(std::slice::from_ref(mail)).join(", ");
        let runs = units::words::counted(mail.runs.len() as u64, "run", "runs");
        let words = count(mail.words as u64);
        let _ = write!(s.out, "{}: {runs}", mail.file);
        if !mail.settings.is_empty() {
            let _ = write!(s.out, " and {} settings", count(mail.settings.len() as u64));
        }
        let tools = if tools.is_empty() { tools } else { format!("; {tools}") };
        let _ = writeln!(s.out, " in {words} words{tools}");
    }
    s.blank();
    let none = if texts.verdicts.is_empty() {
        "no cause that counters alone can show; record it: iowhy record, or blktrace -d DEV"
    } else {
        "counters alone prove no cause"
    };
    let found: Vec<Found> = texts.verdicts.iter().filter(|v| v.verdict == Judged::Found).map(part).collect();
    s.why(&Why {
        found: &found,
        all: &texts.verdicts,
        none,
        unexplained: &[],
        title: causes::title_by_counters,
    });
    s.try_(offered(&found, None), None);
    numbers(&texts.mails, &mut s);
    trust(&texts.mails, &mut s);
    s.out
}

/// Counters are sums over all operations: what they explain is a part of an operation's time.
fn part(v: &Verdict) -> Found<'_> {
    (v, (v.share > 0.0).then(|| format!("{} of the time of an operation", percent(v.share))))
}

/// For texts beside a recording: the runs of those that were named, with their numbers, and how far these can be trusted. The
/// others were not asked for, they lie in the recording's folder: a line says which they are, or a recording with all that
/// was kept beside it would be told on ten screens.
pub(crate) fn beside(texts: &Texts, s: &mut Screen) {
    if texts.mails.is_empty() {
        return;
    }
    s.blank();
    let (named, lying) = texts.mails.split_at(texts.named.min(texts.mails.len()));
    if !named.is_empty() {
        numbers(named, s);
        trust(named, s);
    }
    let of = |mail: &Mail| format!("{} ({})", mail.file, tools(std::slice::from_ref(mail)).join(", "));
    if !lying.is_empty() {
        let all = lying.iter().map(of).collect::<Vec<_>>().join(", ");
        s.line("BESIDE", &format!("read for causes and settings too: {all}"));
        s.line("", "their tables: iowhy explain FILE");
    }
    for remark in &texts.remarks {
        s.line("", &format!("- {remark}"));
    }
}

fn numbers(mails: &[Mail], s: &mut Screen) {
    for mail in mails {
        runs(mail, s);
        settings(mail, s);
        let mut heading = "NUMBERS";
        for table in tables(mail) {
            draw(&table, heading, s);
            heading = "";
        }
        submitting(mail, s);
    }
}

/// Rows of fio's whose time passed in the call that submits: why no completion latencies are shown of them.
fn submitting(mail: &Mail, s: &mut Screen) {
    let rows =
        mail.runs.iter().flat_map(|run| run.of("fio")).flat_map(|r| r.rows.iter().map(move |row| (r, row)));
    let waiting: Vec<_> = rows.filter(|(_, row)| row.waits_to_submit()).collect();
    for (reading, row) in waiting.iter().take(MOST_DIFFERENCES) {
        let (submit, complete) = (cell(row.get("slat.mean")), cell(row.get("clat.mean")));
        s.line(
            "",
            &format!(
                "{} ({}): shown is the total latency: submitting takes {submit} of it, completing {complete} (mean)",
                row.of, reading.name
            ),
        );
    }
    if !waiting.is_empty() {
        s.blank();
    }
}

fn trust(mails: &[Mail], s: &mut Screen) {
    let mut heading = "TRUST";
    for mail in mails {
        s.line(heading, &format!("{}: {}", mail.file, trust_of(mail)));
        heading = "";
    }
    s.line("", "- counters are totals: they cannot say where a single operation's time went");
}

/// How far a text was understood, and what of it is not used.
pub(super) fn trust_of(mail: &Mail) -> String {
    let share = mail.understood as f64 / mail.words.max(1) as f64;
    let mut text = format!("{} of the words were recognised as output of tools", percent(share));
    match (mail.left_out, mail.first_left_out) {
        (n, Some(at)) if n > 0 => {
            let numbers = counted(n as u64, "number is", "numbers are");
            let _ = write!(text, "; {numbers} left out, the first at {}", mail.at(at));
        }
        _ => text += "; no number is left out",
    }
    if mail.cut {
        let most = units::words::size(trace::Bytes(tooltext::MOST_BYTES_OF_MAIL as u64));
        let _ = write!(text, "; only its first {most} were read");
    }
    if let Some(at) = mail.broken {
        let _ = write!(text, "; a JSON document breaks off and is left out ({})", mail.at(at));
    }
    for doubt in mail.doubts.iter().take(MOST_DOUBTS) {
        let _ = write!(
            text,
            "; impossible, so not used: {} {} {} ({}; {})",
            doubt.of,
            doubt.name,
            cell(Some(doubt.number)),
            mail.at(doubt.at()),
            doubt.why
        );
    }
    if mail.doubts.len() > MOST_DOUBTS {
        let _ = write!(text, "; and {} more impossible numbers", mail.doubts.len() - MOST_DOUBTS);
    }
    if mail.repeated > 0 {
        let _ =
            write!(text, "; {} others", counted(mail.repeated as u64, "reading repeats", "readings repeat"));
    }
    if mail.too_many > 0 {
        let _ = write!(text, "; {} too many", counted(mail.too_many as u64, "reading is", "readings are"));
    }
    text
}

fn runs(mail: &Mail, s: &mut Screen) {
    let shown =
        mail.runs.iter().enumerate().filter(|(_, run)| run.readings.iter().any(|r| !r.rows.is_empty()));
    let mut heading = "RUNS";
    let total = shown.clone().count();
    for (i, run) in shown.take(MOST_RUNS) {
        let label: String = match run.label.as_str() {
            "" => "(no words before it)".into(),
            label if label.chars().count() <= LABEL => label.into(),
            label => label.chars().take(LABEL).chain("...".chars()).collect(),
        };
        s.line(heading, &format!("{:>2}  {label}  ({})", i + 1, mail.at(run.at)));
        heading = "";
        for command in
            run.commands.iter().filter(|c| c.lasts() || run.readings.iter().any(|r| r.tool == c.program()))
        {
            s.line("", &format!("    $ {}", command.text));
        }
    }
    if total > MOST_RUNS {
        s.line("", &format!("    and {} more; --json has all", total - MOST_RUNS));
    }
    if total > 0 {
        s.blank();
    }
}

/// What was set, each with its place.
fn settings(mail: &Mail, s: &mut Screen) {
    let mut heading = "SET";
    for setting in mail.settings.iter().take(MOST_LINES) {
        s.line(heading, &format!("{} = {}  ({})", setting.name, setting.value, mail.at(setting.at)));
        heading = "";
    }
    if mail.settings.len() > MOST_LINES {
        s.line("", &format!("and {} more; --json has all", mail.settings.len() - MOST_LINES));
    }
    if !mail.settings.is_empty() {
        s.blank();
    }
}

fn draw(table: &Table, heading: &str, s: &mut Screen) {
    let mut rows: Vec<Vec<String>> = vec![];
    let mut head = vec!["run".to_string(), table.tool.clone()];
    head.extend(table.columns.iter().cloned());
    rows.push(head);
    for line in table.lines.iter().take(MOST_LINES) {
        let mut row = vec![line.run.to_string(), line.of.clone()];
        row.extend(line.values.iter().map(|v| cell(*v)));
        rows.push(row);
    }
    let widths: Vec<usize> =
        (0..rows[0].len()).map(|c| rows.iter().map(|r| columns_of(&r[c])).max().unwrap_or(0)).collect();
    for (i, row) in rows.iter().enumerate() {
        let mut line = s.heading(if i == 0 { heading } else { "" });
        line.push(' ');
        for (c, (text, width)) in row.iter().zip(&widths).enumerate() {
            let gap = if c == 0 { "" } else { "  " };
            let pad = if c == 1 { left } else { right };
            let _ = write!(line, "{gap}{}", pad(text, *width));
        }
        let _ = writeln!(s.out, "{}", line.trim_end());
    }
    if table.lines.len() > MOST_LINES {
        s.line("", &format!("and {} more; --json has all", table.lines.len() - MOST_LINES));
    }
    // Tables that people make are of different things; of events only the phases tell.
    if !["table", "blkparse", "btt"].contains(&table.tool.as_str()) {
        for text in differences(table) {
            s.line("", &text);
        }
    }
    s.blank();
}

/// What differs between runs of the same thing: the columns by how much, the most first.
fn differences(table: &Table) -> Vec<String> {
    let mut subjects: Vec<&str> = vec![];
    for line in &table.lines {
        if !subjects.contains(&line.of.as_str()) {
            subjects.push(&line.of);
        }
    }
    let mut all = vec![];
    let lines_of = |subject: &str| table.lines.iter().filter(|line| line.of == subject).collect::<Vec<_>>();
    for subject in subjects.into_iter().filter(|s| lines_of(s).len() >= 2).take(MOST_DIFFERENCES) {
        let lines = lines_of(subject);
        let mut differ: Vec<(f64, String)> = vec![];
        let mut same: Vec<&str> = vec![];
        // How many there were is no result.
        for (c, column) in table.columns.iter().enumerate().filter(|(_, name)| *name != "count") {
            let values: Vec<Number> =
                lines.iter().filter_map(|line| line.values[c]).filter(|n| n.value > 0.0).collect();
            let least = values.iter().copied().min_by(|a, b| a.value.total_cmp(&b.value));
            let most = values.iter().copied().max_by(|a, b| a.value.total_cmp(&b.value));
            let (Some(least), Some(most)) = (least, most) else { continue };
            let ratio = most.value / least.value;
            if ratio < DIFFERS {
                same.push(column);
            } else {
                let times = if ratio >= 9.95 { format!("{ratio:.0}") } else { format!("{ratio:.1}") };
                differ.push((
                    ratio,
                    format!("{column} {times} times ({} to {})", cell(Some(least)), cell(Some(most))),
                ));
            }
        }
        differ.sort_by(|a, b| b.0.total_cmp(&a.0));
        if !differ.is_empty() {
            let words: Vec<String> = differ.into_iter().take(3).map(|(_, text)| text).collect();
            let same = if same.is_empty() {
                String::new()
            } else {
                format!("; about the same: {}", same.join(", "))
            };
            all.push(format!("{subject} differs between runs: {}{same}", words.join(", ")));
        }
    }
    all
}
