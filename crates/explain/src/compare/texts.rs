//! Compares two runs in texts: the numbers that both have, their commands and their settings.

use super::comparison::{Comparison, Difference, Metric, Row};
use super::metrics::of_order;
use super::moved::Moved;
use evidence::{Conflict, Fact};
use stats::Blocks;
use std::collections::{HashMap, HashSet};
use tooltext::{Number, Reading, Row as Printed, Run, ToolOutput, Unit};

/// A run in a text.
#[derive(Clone, Copy, Debug)]
pub struct RunOf<'a> {
    /// The text.
    pub output: &'a ToolOutput,
    /// The index of the run, from 0.
    pub run: usize,
}

/// fio's settings that change the load.
const OF_THE_LOAD: [&str; 14] = [
    "rw",
    "bs",
    "readwrite",
    "blocksize",
    "iodepth",
    "numjobs",
    "direct",
    "size",
    "rate",
    "rate_iops",
    "fsync",
    "fdatasync",
    "rwmixread",
    "random_distribution",
];
/// Names of latencies in a comparison of texts, from the mean to the maximum.
pub(super) const NAMES: [&str; 9] = ["mean", "p50", "p90", "p95", "p99", "p99.9", "p99.95", "p99.99", "max"];

/// A percentile is compared if at least this many operations are slower.
const LEAST_BEYOND: f64 = 10.0;

/// Finds a run by its number from 1 or by a part of its label.
pub fn choose(output: &ToolOutput, wanted: &str) -> Result<usize, String> {
    let with_numbers = |run: &Run| run.readings.iter().any(|r| !r.rows.is_empty());
    if let Ok(number) = wanted.parse::<usize>() {
        let fits = number.checked_sub(1).filter(|i| output.runs.get(*i).is_some_and(with_numbers));
        return fits.ok_or_else(|| format!("{} has no run {number}", output.file));
    }
    let lower = wanted.to_lowercase();
    let labelled: Vec<usize> = (0..output.runs.len())
        .filter(|i| with_numbers(&output.runs[*i]) && output.runs[*i].label.to_lowercase().contains(&lower))
        .collect();
    match labelled[..] {
        [one] => Ok(one),
        [] => Err(format!("no run of {} is called {wanted}", output.file)),
        _ => Err(format!("{} runs of {} are called {wanted}", labelled.len(), output.file)),
    }
}

impl RunOf<'_> {
    pub(super) fn run(&self) -> &Run {
        &self.output.runs[self.run]
    }

    /// Its name: file, number and label.
    pub(super) fn name(&self) -> String {
        // Logs are named by their file.
        let label: String = match self.output.file.ends_with(&self.run().label) {
            true => String::new(),
            false => self.run().label.chars().take(60).collect(),
        };
        let number =
            if self.output.runs.len() > 1 { format!(", run {}", self.run + 1) } else { String::new() };
        let label = if label.is_empty() { label } else { format!(": {label}") };
        format!("{}{number}{label}", self.output.file)
    }
}

impl Comparison {
    /// Compares two runs.
    pub fn of_runs(before: RunOf, after: RunOf) -> Comparison {
        let mut c = Comparison { names: [before.name(), after.name()], ..Comparison::default() };
        let [of_before, of_after] = [before, after].map(|side| side.run().of_intervals());
        let mut partners = Partners::new(&of_before, &of_after);
        for reading in &of_before.readings {
            let found = partners.of(reading);
            let Some(other) = found else {
                if !reading.rows.is_empty() {
                    c.load.push(Difference { text: only(reading, "before"), unlike: false });
                }
                continue;
            };
            let other = &of_after.readings[other];
            settings(&mut c, (&before, reading), (&after, other));
            let first = c.rows.len();
            let [mine, theirs] = [reading, other].map(by_name);
            for row in &reading.rows {
                if let Some(printed) = theirs.get(row.of.as_str()) {
                    c.rows.extend(compared(reading, row, printed, c.rows.len()));
                } else {
                    let text = format!("{} ({}) only before", row.of, reading.tool);
                    c.load.push(Difference { text, unlike: reading.tool == "fio" });
                }
            }
            by_syncs(&mut c.rows[first..], reading, other);
            for row in other.rows.iter().filter(|row| !mine.contains_key(row.of.as_str())) {
                let text = format!("{} ({}) only after", row.of, reading.tool);
                c.load.push(Difference { text, unlike: reading.tool == "fio" });
            }
        }
        for (i, reading) in of_after.readings.iter().enumerate().filter(|(_, r)| !r.rows.is_empty()) {
            if !partners.used.contains(&i) {
                c.load.push(Difference { text: only(reading, "after"), unlike: false });
            }
        }
        of_machine(&mut c, &before, &after);
        commands(&mut c, before.run(), after.run());
        let sides =
            if std::ptr::eq(before.output, after.output) { vec![before] } else { vec![before, after] };
        c.notes.extend(sides.iter().filter_map(|side| impossible(side.output)));
        if [before, after].iter().any(|side| side.run().has_intervals()) {
            c.notes.push(INTERVALS.into());
        }
        if c.rows.iter().any(|r| r.least.is_none()) {
            c.notes.push(SUMMARIES.into());
        }
        c
    }
}

/// A reading's rows by name; the first if several have the same name.
fn by_name(reading: &Reading) -> HashMap<&str, &Printed> {
    reading.rows.iter().rev().map(|row| (row.of.as_str(), row)).collect()
}

/// Says that only one side has a reading.
fn only(reading: &Reading, side: &str) -> String {
    let name = if reading.name.is_empty() { String::new() } else { format!(" {}", reading.name) };
    format!("{}{name} only {side}", reading.tool)
}

pub(super) const INTERVALS: &str =
    "of tables of several intervals the median of each number is compared; the first one of iostat, \
    vmstat and others is of the time since the machine was started and left out";
pub(super) const SUMMARIES: &str =
    "these are summaries, which do not say how far percentiles scatter; repeat the runs, or record them";

/// Describes the text's impossible numbers, which are in no row.
fn impossible(output: &ToolOutput) -> Option<String> {
    let first = output.doubts.first()?;
    let more = match output.doubts.len() {
        1 => String::new(),
        n => format!(", and {} more", n - 1),
    };
    Some(format!(
        "impossible, so not compared: {} {} ({}; {}){more}",
        first.of,
        first.name,
        output.at(first.at()),
        first.why
    ))
}

/// Matches readings with those of the other run; each is used once.
struct Partners<'a> {
    /// Readings with numbers by tool and name, the last first.
    named: HashMap<(&'a str, &'a str), Vec<usize>>,
    /// The only reading of a tool, where both runs have just one.
    alone: HashMap<&'a str, usize>,
    used: HashSet<usize>,
}

impl<'a> Partners<'a> {
    fn new(before: &'a Run, after: &'a Run) -> Partners<'a> {
        let mut named: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
        let mut counts: HashMap<&str, [usize; 2]> = HashMap::new();
        before.readings.iter().for_each(|r| counts.entry(r.tool).or_default()[0] += 1);
        for r in &after.readings {
            counts.entry(r.tool).or_default()[1] += 1;
        }
        let with_numbers = || after.readings.iter().enumerate().filter(|(_, r)| !r.rows.is_empty());
        for (i, r) in with_numbers().collect::<Vec<_>>().into_iter().rev() {
            named.entry((r.tool, r.name.as_str())).or_default().push(i);
        }
        let single = |tool: &str| counts.get(tool) == Some(&[1, 1]);
        let alone = with_numbers().filter(|(_, r)| single(r.tool)).map(|(i, r)| (r.tool, i)).collect();
        Partners { named, alone, used: HashSet::new() }
    }

    /// The reading of the other run with the same tool and name, else the only one of the tool.
    fn of(&mut self, reading: &'a Reading) -> Option<usize> {
        let same = self.named.get_mut(&(reading.tool, reading.name.as_str())).and_then(Vec::pop);
        let found = same.or_else(|| self.alone.get(reading.tool).copied())?;
        self.used.insert(found).then_some(found)
    }
}

fn settings(c: &mut Comparison, (before, b): (&RunOf, &Reading), (after, a): (&RunOf, &Reading)) {
    for setting in &b.settings {
        let Some(other) = a.settings.iter().find(|s| s.name == setting.name && s.value != setting.value)
        else {
            continue;
        };
        if OF_THE_LOAD.contains(&setting.name.as_str()) {
            let text = format!(
                "{} {}: {} before, {} after ({}, {})",
                b.tool,
                setting.name,
                setting.value,
                other.value,
                before.output.at(setting.at),
                after.output.at(other.at)
            );
            c.load.push(Difference { text, unlike: true });
        } else {
            c.settings.push(Conflict {
                what: format!("{} {}", b.tool, setting.name),
                kept: Fact { value: setting.value.clone(), at: before.output.at(setting.at) },
                other: Fact { value: other.value.clone(), at: after.output.at(other.at) },
            });
        }
    }
}

/// Compares the machine's settings in the texts, as they were for each run.
fn of_machine(c: &mut Comparison, before: &RunOf, after: &RunOf) {
    let mut seen: Vec<&str> = vec![];
    for setting in &before.output.settings {
        if seen.contains(&setting.name.as_str()) {
            continue;
        }
        seen.push(&setting.name);
        let held = |side: &RunOf| {
            let found = side.output.setting(&setting.name, side.run().at)?;
            Some(Fact { value: found.value.clone(), at: side.output.at(found.at) })
        };
        if let Some((kept, other)) = held(before).zip(held(after)).filter(|(b, a)| b.value != a.value) {
            c.settings.push(Conflict { what: setting.name.clone(), kept, other });
        }
    }
}

fn commands(c: &mut Comparison, before: &Run, after: &Run) {
    let only = |these: &Run, others: &Run, side: &str, into: &mut Vec<Difference>| {
        for command in these.commands.iter().filter(|x| !others.commands.iter().any(|o| o.text == x.text)) {
            into.push(Difference { text: format!("only {side}: $ {}", command.text), unlike: false });
        }
    };
    only(before, after, "before", &mut c.load);
    only(after, before, "after", &mut c.load);
}

fn compared(reading: &Reading, before: &Printed, after: &Printed, place: usize) -> Option<Row> {
    let orders = before.in_order.as_deref().zip(after.in_order.as_deref());
    if let Some((b, a)) = orders {
        return Some(one_by_one(reading, before, [b, a], place));
    }
    let mut metrics: Vec<Metric> = vec![];
    let mut add = |name: &str, b: Number, a: Number| {
        // If no operation was done, both times are 0 and say nothing.
        let is_idle = b.unit == Unit::Nanoseconds && b.value == 0.0 && a.value == 0.0;
        if b.unit == a.unit && !is_idle && !metrics.iter().any(|m| m.name == name) {
            metrics.push(Metric {
                name: name.into(),
                threshold: None,
                unit: b.unit,
                values: [b.value, a.value],
                ranges: None,
                no_range: "",
            });
        }
    };
    // If one run waits to submit, completion latencies of both would not be comparable: total latencies are.
    let total = before.waits_to_submit() || after.waits_to_submit();
    let latency = |row: &Printed, name| if total { row.total_latency(name) } else { row.latency(name) };
    // fio prints 0 syncs for a job that made some (`issued rwts: total=0,10029,0,0 short=10029,0,0,0`).
    let count = |row: &Printed| row.value("count").filter(|n| *n > 0.0);
    let count = count(before).zip(count(after)).map(|(b, a)| b.min(a));
    for name in NAMES.into_iter().filter(|name| rests_on_enough(name, count)) {
        if let Some((b, a)) = latency(before, name).zip(latency(after, name)) {
            add(name, b, a);
        }
    }
    for (name, b) in before.values.iter() {
        // Parts of a latency, counts and sizes are not results.
        let result =
            matches!(b.unit, Unit::Nanoseconds | Unit::PerSecond | Unit::BytesPerSecond | Unit::Share);
        let part = name.contains('.') || ["runtime", "cpu"].iter().any(|n| name.starts_with(n));
        if let Some(a) = after.get(name).filter(|_| result && (!part || reading.tool != "fio")) {
            add(name, b, a);
        }
    }
    if metrics.is_empty() {
        return None;
    }
    let what = match reading.tool {
        "fio" => format!("{} ({})", before.of, reading.called()),
        tool => format!("{} ({tool})", before.of),
    };
    // fio's rows of disks and processors are only used in calculations.
    let counts = reading.tool != "fio" || before.latency("max").is_some();
    let weight = 1.0 / (1.0 + place as f64);
    Some(Row { op: before.of.clone(), what, weight, counts, metrics, ..Row::default() })
}

/// If fio's job waits for its syncs most of the time, they come first, and operations with less than a tenth of the time do not count as
/// waited for.
fn by_syncs(rows: &mut [Row], before: &Reading, after: &Reading) {
    let time = |reading: &Reading, of: &str| {
        let row = reading.row(of)?;
        Some(row.value("count").filter(|n| *n > 0.0)? * row.latency("mean")?.value)
    };
    let share = |reading: &Reading, of: &str| {
        let all: f64 = ["read", "write", "trim", SYNC].iter().filter_map(|op| time(reading, op)).sum();
        let counted = || Some(time(reading, of)? / all).filter(|share| share.is_finite());
        // Many versions print 0 syncs, and excerpts contain no counts.
        let known = time(reading, SYNC).is_some();
        if known {
            counted()
        } else {
            reading.share_of(of)
        }
    };
    let both = |of: &str| share(before, of).zip(share(after, of));
    let Some(sync) = rows.iter().position(|row| row.op == SYNC) else { return };
    if !both(SYNC).is_some_and(|(b, a)| b.min(a) > MOSTLY) {
        return;
    }
    for row in rows.iter_mut().filter(|row| row.op != SYNC) {
        row.counts &= !both(&row.op).is_some_and(|(b, a)| b.max(a) < LITTLE);
    }
    let weight = rows[sync].weight;
    rows[..=sync].rotate_right(1);
    // The first row has the greatest weight.
    let greatest = rows.iter().fold(weight, |most, row| most.max(row.weight));
    rows[0].weight = greatest;
}

/// The name of fio's row of syncs.
const SYNC: &str = "sync";
/// Syncs with more than this part of a job's time determine its pace.
const MOSTLY: f64 = 0.5;
/// An operation with less than this part of a job's time says nothing about its pace.
const LITTLE: f64 = 0.1;

/// Whether enough operations are slower than a percentile; true for other numbers and for an unknown count.
pub(super) fn rests_on_enough(name: &str, count: Option<f64>) -> bool {
    let percentile = name.strip_prefix('p').and_then(|p| p.parse::<f64>().ok());
    percentile.zip(count).is_none_or(|(p, n)| n * (1.0 - p / 100.0) >= LEAST_BEYOND)
}

/// Compares logs, which have every latency, like recordings.
fn one_by_one(reading: &Reading, row: &Printed, [before, after]: [&Blocks; 2], place: usize) -> Row {
    let (b, a) = (before.all(), after.all());
    Row {
        op: row.of.clone(),
        what: format!("{} (fio {})", row.of, reading.name),
        weight: 1.0 / (1.0 + place as f64),
        counts: true,
        least: Some(b.count().min(a.count())),
        moved: Some(Moved::of(&b, &a)),
        metrics: of_order([before, after]),
    }
}
