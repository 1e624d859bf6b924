//! Compares a run in a text with a recording: the numbers that both have.
//!
//! Their levels often differ. fio's latency is that of a whole operation, from system call to return. A recording with system calls has
//! these too; a recording of block events has only the bios below, which take less. iostat's waits are those of requests, which every
//! recording has. The output names the two levels; if they differ, a note says that this causes a part of the difference.

use super::comparison::{Comparison, Difference, Metric, Row};
use super::kinds::{kinds, Kind};
use super::metrics::of_order;
use super::moved::Moved;
use super::recordings::{differ, per_second, MATTERS, VISIBLE};
use super::texts::{rests_on_enough, RunOf, INTERVALS, NAMES, SUMMARIES};
use crate::explanation::Explanation;
use crate::trust::Trust;
use evidence::{Conflict, Fact};
use stats::Distribution;
use tooltext::{Reading, Row as Printed, Unit};
use trace::Bytes;
use units::words::size;

/// Which of the two comes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// The run in the text.
    Run,
    /// The recording.
    Recording,
}

impl First {
    /// Puts a value of the text and one of the recording in order of time.
    fn order<T>(self, run: T, recording: T) -> [T; 2] {
        match self {
            First::Run => [run, recording],
            First::Recording => [recording, run],
        }
    }

    /// The words `before` and `after` for the text and the recording.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            First::Run => ("before", "after"),
            First::Recording => ("after", "before"),
        }
    }
}

/// fio's operations with their names in recordings: system calls, operations of libaio and io_uring, bios.
const NAMED: [(&str, &[&str]); 4] = [
    ("read", &["read", "libaio read", "io_uring read"]),
    ("write", &["write", "libaio write", "io_uring write", "background-write"]),
    ("sync", &["fsync", "fdatasync", "io_uring fsync"]),
    ("trim", &["discard"]),
];

impl Comparison {
    /// Compares a run with a recording, whose facts should have latencies in order. `of_program`: the explanation limited to the program of the
    /// run, if this is known.
    pub fn of_run_and_recording(
        run: RunOf,
        e: &Explanation,
        of_program: Option<&Explanation>,
        name: String,
        first: First,
    ) -> Comparison {
        let mut c = Comparison { names: first.order(run.name(), name.clone()), ..Comparison::default() };
        let single = e.top_devices().len() == 1;
        let all = kinds(e, single, &[]);
        let own = of_program.map(|own| kinds(own, single, &[]));
        let mut used: Vec<&str> = vec![];
        let mut waited: Vec<(usize, f64)> = vec![];
        let of_run = run.run().of_intervals();
        for reading in &of_run.readings {
            for printed in &reading.rows {
                if reading.tool == "iostat" {
                    c.rows.extend(requests(printed, e, first, c.rows.len()));
                    continue;
                }
                let Some(kind) = partner(printed, own.as_ref().unwrap_or(&all)) else { continue };
                c.levels_differ |= !kind.is_operation;
                used.push(&printed.of);
                load(&mut c, printed, kind, e, first);
                if let Some(row) = operations(reading, printed, kind, e, first, c.rows.len()) {
                    waited.push((c.rows.len(), kind.waited()));
                    c.rows.push(row);
                }
            }
        }
        let sum: f64 = waited.iter().map(|(_, time)| time).sum();
        waited.iter().for_each(|(row, time)| c.rows[*row].counts = *time >= VISIBLE * sum);
        besides(&mut c, &run, &all, &used, first);
        settings(&mut c, &run, e, first);
        if c.levels_differ {
            c.notes.push(
                "the levels differ: the text has whole operations, the recording the bios below them, which begin later and end \
                 earlier; record operations (iowhy record) to compare like with like"
                    .into(),
            );
        }
        if e.trust != Trust::Good {
            c.notes.push(format!("{name} is {}: see iowhy explain {name}", e.trust.name()));
        }
        if run.run().has_intervals() {
            c.notes.push(INTERVALS.into());
        }
        if c.rows.iter().any(|r| r.least.is_none()) {
            c.notes.push(SUMMARIES.into());
        }
        c.notes.push("only the recording shows where the slowest spent their time: iowhy explain".into());
        c
    }
}

/// The kind in the recording that matches a row of fio: operations, else bios; the most frequent of several.
fn partner<'k, 'e>(printed: &Printed, all: &'k [Kind<'e>]) -> Option<&'k Kind<'e>> {
    printed.latency("max").or(printed.get("iops"))?;
    let (_, names) = NAMED.iter().find(|(of, _)| *of == printed.of)?;
    let of = |wanted: bool| {
        let fits = move |k: &&Kind| k.is_operation == wanted && names.contains(&k.op.as_str());
        all.iter().filter(fits).max_by_key(|k| k.phases.first().map_or(0, |p| p.1.count()))
    };
    of(true).or_else(|| of(false))
}

fn summary(name: &str, unit: Unit, values: [f64; 2]) -> Metric {
    Metric { name: name.into(), threshold: None, unit, values, ranges: None, no_range: "" }
}

fn seconds(e: &Explanation) -> f64 {
    (e.duration().0 as f64 / 1e9).max(1e-9)
}

/// Compares fio's row with a kind in the recording: percentiles and operations per second.
fn operations(
    reading: &Reading,
    printed: &Printed,
    kind: &Kind,
    e: &Explanation,
    first: First,
    place: usize,
) -> Option<Row> {
    let (_, distribution, order) = kind.phases.first()?;
    let what = format!("{} (fio {} and {})", printed.of, reading.name, kind.told());
    let mut row = Row {
        op: printed.of.clone(),
        what,
        weight: 1.0 / (1.0 + place as f64),
        counts: true,
        ..Row::default()
    };
    if let Some((log, order)) = printed.in_order.as_deref().zip(*order) {
        // A log has every latency, like the recording.
        let [b, a] = first.order(log, order);
        let (b_all, a_all) = (b.all(), a.all());
        row.least = Some(b_all.count().min(a_all.count()));
        row.moved = Some(Moved::of(&b_all, &a_all));
        row.metrics = of_order([b, a]);
        return Some(row);
    }
    let count = printed.value("count").map(|n| n.min(distribution.count() as f64));
    for name in NAMES.into_iter().filter(|name| rests_on_enough(name, count)) {
        let there = printed.latency(name).filter(|n| n.unit == Unit::Nanoseconds);
        if let Some((theirs, ours)) = there.zip(of(distribution, name)) {
            row.metrics.push(summary(name, Unit::Nanoseconds, first.order(theirs.value, ours)));
        }
    }
    if let Some(rate) = printed.get("iops") {
        let ours = distribution.count() as f64 / seconds(e);
        row.metrics.push(summary("iops", Unit::PerSecond, first.order(rate.value, ours)));
    }
    (!row.metrics.is_empty()).then_some(row)
}

/// A number of a distribution by its name in texts.
fn of(d: &Distribution, name: &str) -> Option<f64> {
    match name {
        "mean" => Some(d.mean()),
        "max" => Some(d.max() as f64),
        _ => {
            let percentile = name.strip_prefix('p')?.parse::<f64>().ok()?;
            Some(d.quantile(percentile / 100.0) as f64)
        }
    }
}

/// Compares iostat's row of a device with the recorded requests of the device with that name.
fn requests(printed: &Printed, e: &Explanation, first: First, place: usize) -> Option<Row> {
    let device = e.facts.devices.iter().find(|d| e.name(d.id) == printed.of)?;
    let is_read = |class: life::Class| class == life::Class::Read;
    let is_write = |class: life::Class| matches!(class, life::Class::SyncWrite | life::Class::Background);
    let mut metrics = vec![];
    for (rate, wait, wanted) in
        [("r/s", "r_await", &is_read as &dyn Fn(life::Class) -> bool), ("w/s", "w_await", &is_write)]
    {
        let mut q2c = Distribution::default();
        for class in life::Class::ALL.into_iter().filter(|c| wanted(*c)) {
            q2c.merge(&device.requests[class.index()].q2c);
        }
        if q2c.is_empty() {
            continue;
        }
        if let Some(theirs) = printed.value(rate) {
            let ours = q2c.count() as f64 / seconds(e);
            metrics.push(summary(rate, Unit::PerSecond, first.order(theirs, ours)));
        }
        if let Some(theirs) = printed.value(wait) {
            metrics.push(summary(wait, Unit::Nanoseconds, first.order(theirs, q2c.mean())));
        }
    }
    let what = format!("requests of {} (iostat and the recording)", printed.of);
    let weight = 1.0 / (1.0 + place as f64);
    (!metrics.is_empty()).then(|| Row {
        op: printed.of.clone(),
        what,
        weight,
        counts: true,
        metrics,
        ..Row::default()
    })
}

/// Differences in size and rate, which are another load.
fn load(c: &mut Comparison, printed: &Printed, kind: &Kind, e: &Explanation, first: First) {
    let (in_text, in_recording) = first.words();
    let mean =
        printed.value("bytes").zip(printed.value("count")).filter(|(_, n)| *n > 0.0).map(|(b, n)| b / n);
    if let Some((theirs, ours)) = mean.zip(kind.mean_size()) {
        if differ([theirs, ours]) {
            let [theirs, ours] = [theirs, ours].map(|b| size(Bytes(b as u64)));
            let text = format!(
                "{}: {theirs} each {in_text} (fio), {ours} {in_recording} ({})",
                printed.of,
                kind.told()
            );
            c.load.push(Difference { text, unlike: true });
        }
    }
    let count = kind.phases.first().map_or(0, |p| p.1.count());
    if let Some(theirs) = printed.value("iops") {
        let ours = count as f64 / seconds(e);
        if differ([theirs, ours]) {
            let text = format!(
                "{}: {} a second {in_text} (fio), {} {in_recording} (offered load, or the most that it could \
                 do)",
                printed.of,
                per_second(theirs),
                per_second(ours)
            );
            c.load.push(Difference { text, unlike: false });
        }
    }
}

/// Reads, writes and the like that only the recording has, if the text has results of fio. fio counts the I/O of all tasks on its disks:
/// if it counted none of this kind, the loads are not comparable.
fn besides(c: &mut Comparison, run: &RunOf, all: &[Kind], used: &[&str], first: First) {
    if used.is_empty() {
        return;
    }
    let (_, in_recording) = first.words();
    let bytes =
        |k: &Kind| k.mean_size().unwrap_or(0.0) * k.phases.first().map_or(0.0, |p| p.1.count() as f64);
    let sum: f64 = all.iter().filter(|k| !k.is_operation).map(bytes).sum();
    for kind in all.iter().filter(|k| !k.is_operation && bytes(k) >= MATTERS * sum) {
        let Some((of, _)) = NAMED.iter().find(|(_, names)| names.contains(&kind.op.as_str())) else {
            continue;
        };
        if used.contains(of) {
            continue;
        }
        let counted = |row: &Printed| {
            let part = row.value(&format!("{of}.ios"))?;
            let whole = row.value("read.ios")? + row.value("write.ios")?;
            Some(part < MATTERS * whole)
        };
        let rows = run.run().of("fio").flat_map(|reading| &reading.rows);
        let none_there = rows.filter_map(counted).reduce(|a, b| a && b);
        let count = kind.phases.first().map_or(0, |p| p.1.count());
        let each = kind.mean_size().map_or(String::new(), |b| format!(" of {}", size(Bytes(b as u64))));
        let said = if none_there.is_some() { "" } else { ", which the text does not say" };
        let text = format!("{} only {in_recording}: {}{each}{said}", kind.told(), units::words::count(count));
        c.load.push(Difference { text, unlike: none_there == Some(true) });
    }
}

/// Compares settings that are in the text and in documents beside the recording.
fn settings(c: &mut Comparison, run: &RunOf, e: &Explanation, first: First) {
    let system = &e.subject.system;
    for setting in &run.output.settings {
        let theirs = Fact { value: setting.value.clone(), at: run.output.at(setting.at) };
        let ours = match setting.name.strip_prefix("vm.") {
            Some(name) => system.vm.get(name),
            None => setting
                .name
                .split_once('/')
                .and_then(|(device, path)| system.devices.get(device)?.attributes.get(path)),
        };
        if let Some(ours) = ours.filter(|ours| ours.value != theirs.value) {
            let [kept, other] = first.order(theirs, ours.clone());
            c.settings.push(Conflict { what: setting.name.clone(), kept, other });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NAMED;
    use operation::Kind;
    use trace::Call;

    /// The same for every I/O engine of fio.
    #[test]
    fn each_way_to_read_write_and_sync_has_its_row_of_fios() {
        for (of, kinds) in [
            ("read", [Kind::Call(Call::Read), Kind::AioRead, Kind::RingRead]),
            ("write", [Kind::Call(Call::Write), Kind::AioWrite, Kind::RingWrite]),
            ("sync", [Kind::Call(Call::Fsync), Kind::Call(Call::Fdatasync), Kind::RingSync]),
        ] {
            let (_, names) = NAMED.iter().find(|(row, _)| *row == of).expect(of);
            assert!(kinds.iter().all(|kind| names.contains(&kind.name())), "{of}");
        }
    }
}
