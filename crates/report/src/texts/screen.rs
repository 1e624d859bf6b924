//! The long screen of texts (`explain -v`): the answer, the causes, then the runs with their numbers, then what was left out.

use super::table::{tables, Table};
use crate::screen::Screen;
use crate::style::Style;
use crate::why::{offered, Found, Why};
use crate::wrap::{columns_of, left, right};
use causes::{Answer as Judged, Verdict};
use explain::numbers::cell;
use explain::texts::{tools, Texts};
use std::fmt::Write;
use tooltext::{Number, ToolOutput};
use units::words::{count, counted, percent};

/// Maximal number of lines of a table on the screen; JSON has all.
const MOST_LINES: usize = 24;
/// Maximal number of impossible numbers that are named.
const MOST_DOUBTS: usize = 4;
/// Maximal number of runs that are listed; JSON has all.
const MOST_RUNS: usize = 30;
/// Maximal number of characters of a run's label.
const LABEL: usize = 64;
/// Maximal number of devices or operations of a table whose differences are shown.
const MOST_DIFFERENCES: usize = 4;
/// A number differs between runs if its largest value is at least this many times its smallest.
const DIFFERS: f64 = 1.25;

/// Draws the long screen: the answer, what else is wrong with arrays, all that the texts show.
pub(crate) fn render(texts: &Texts, answer: String, also: &[String], style: Style) -> String {
    let mut s = Screen::new(style);
    for said in std::iter::once(&answer).chain(also) {
        s.out += &crate::wrap::wrap(said, style.width, "", "").join("\n");
        s.out += "\n";
    }
    s.out += "\n";
    for output in &texts.outputs {
        let tools = tools(std::slice::from_ref(output)).join(", ");
        let runs = units::words::counted(output.runs.len() as u64, "run", "runs");
        let words = count(output.words as u64);
        let _ = write!(s.out, "{}: {runs}", output.file);
        if !output.settings.is_empty() {
            let _ = write!(s.out, " and {} settings", count(output.settings.len() as u64));
        }
        let tools = if tools.is_empty() { tools } else { format!("; {tools}") };
        let _ = writeln!(s.out, " in {words} words{tools}");
    }
    s.blank();
    let none = if texts.verdicts.is_empty() {
        "counters alone show no cause; record it: iowhy record, or blktrace -d DEV"
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
    numbers(&texts.outputs, &mut s);
    trust(&texts.outputs, &mut s);
    s.out
}

/// A cause found by counters. These are sums over all operations, so it explains a part of an operation's time.
fn part(v: &Verdict) -> Found<'_> {
    (v, (v.share > 0.0).then(|| format!("{} of the time of an operation", percent(v.share))))
}

/// For texts beside a recording: the runs and numbers of texts that were named as arguments, and how far these can be
/// trusted. Texts that were found in the recording's folder are only listed in a line: their tables would fill ten screens.
pub(crate) fn beside(texts: &Texts, s: &mut Screen) {
    if texts.outputs.is_empty() {
        return;
    }
    s.blank();
    let (named, lying) = texts.outputs.split_at(texts.named.min(texts.outputs.len()));
    if !named.is_empty() {
        numbers(named, s);
        trust(named, s);
    }
    let of =
        |output: &ToolOutput| format!("{} ({})", output.file, tools(std::slice::from_ref(output)).join(", "));
    if !lying.is_empty() {
        let all = lying.iter().map(of).collect::<Vec<_>>().join(", ");
        s.line("BESIDE", &format!("read for causes and settings too: {all}"));
        s.line("", "their tables: iowhy explain FILE");
    }
    for remark in &texts.remarks {
        s.line("", &format!("- {remark}"));
    }
}

fn numbers(outputs: &[ToolOutput], s: &mut Screen) {
    for output in outputs {
        runs(output, s);
        settings(output, s);
        let mut heading = "NUMBERS";
        for table in tables(output) {
            draw(&table, heading, s);
            heading = "";
        }
        submitting(output, s);
    }
}

/// For rows of fio whose time passed in the submitting call: says why total latencies are shown.
fn submitting(output: &ToolOutput, s: &mut Screen) {
    let rows =
        output.runs.iter().flat_map(|run| run.of("fio")).flat_map(|r| r.rows.iter().map(move |row| (r, row)));
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

fn trust(outputs: &[ToolOutput], s: &mut Screen) {
    let mut heading = "TRUST";
    for output in outputs {
        s.line(heading, &format!("{}: {}", output.file, trust_of(output)));
        heading = "";
    }
    s.line("", "- counters are totals: they cannot say where a single operation's time went");
}

/// How much of a text was recognised, and what of it is not used.
pub(super) fn trust_of(output: &ToolOutput) -> String {
    let share = output.understood as f64 / output.words.max(1) as f64;
    let mut text = format!("{} of the words were recognised as output of tools", percent(share));
    match (output.left_out, output.first_left_out) {
        (n, Some(at)) if n > 0 => {
            let numbers = counted(n as u64, "number is", "numbers are");
            let _ = write!(text, "; {numbers} left out, the first at {}", output.at(at));
        }
        _ => text += "; every line with numbers was read",
    }
    if output.cut {
        let most = units::words::size(trace::Bytes(tooltext::MOST_BYTES_OF_MAIL as u64));
        let _ = write!(text, "; only its first {most} were read");
    }
    if let Some(at) = output.broken {
        let _ = write!(text, "; a JSON document breaks off and is left out ({})", output.at(at));
    }
    let mut left = output.doubts.len();
    // The numbers of a row that cannot be for one reason are told together.
    for alike in output.doubts.chunk_by(|a, b| a.of == b.of && a.why == b.why).take(MOST_DOUBTS) {
        let doubt = &alike[0];
        let _ = write!(
            text,
            "; impossible, so not used: {} {} {} ({}; {})",
            doubt.of,
            doubt.name,
            cell(Some(doubt.number)),
            output.at(doubt.at()),
            doubt.why
        );
        if alike.len() > 1 {
            let _ = write!(text, " and {} more for that reason", alike.len() - 1);
        }
        left -= alike.len();
    }
    if left > 0 {
        let _ = write!(text, "; and {left} more impossible numbers");
    }
    if output.repeated > 0 {
        let _ = write!(
            text,
            "; {} others",
            counted(output.repeated as u64, "reading repeats", "readings repeat")
        );
    }
    if output.too_many > 0 {
        let _ = write!(text, "; {} too many", counted(output.too_many as u64, "reading is", "readings are"));
    }
    text
}

fn runs(output: &ToolOutput, s: &mut Screen) {
    let shown =
        output.runs.iter().enumerate().filter(|(_, run)| run.readings.iter().any(|r| !r.rows.is_empty()));
    let mut heading = "RUNS";
    let total = shown.clone().count();
    for (i, run) in shown.take(MOST_RUNS) {
        let label: String = match run.label.as_str() {
            "" => "(no words before it)".into(),
            label if label.chars().count() <= LABEL => label.into(),
            label => label.chars().take(LABEL).chain("...".chars()).collect(),
        };
        s.line(heading, &format!("{:>2}  {label}  ({})", i + 1, output.at(run.at)));
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

/// Draws the settings in a text, each with its place.
fn settings(output: &ToolOutput, s: &mut Screen) {
    let mut heading = "SET";
    for setting in output.settings.iter().take(MOST_LINES) {
        s.line(heading, &format!("{} = {}  ({})", setting.name, setting.value, output.at(setting.at)));
        heading = "";
    }
    if output.settings.len() > MOST_LINES {
        s.line("", &format!("and {} more; --json has all", output.settings.len() - MOST_LINES));
    }
    if !output.settings.is_empty() {
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
    // Tables of unknown tools compare different things; for events, only the phases matter.
    if !["table", "blkparse", "btt"].contains(&table.tool.as_str()) {
        for text in differences(table) {
            s.line("", &text);
        }
    }
    s.blank();
}

/// For each thing with several runs: the columns that differ between them and by how much, the largest ratio first.
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
        // A count is no result.
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
