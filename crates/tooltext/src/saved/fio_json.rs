//! Reads fio's `--output-format=json` and `json+` (`show_thread_status_json`, fio's stat.c), versions 2 and 3.
//!
//! ```text
//! { "fio version": "fio-3.33", "jobs": [ { "jobname": "a", "job options": { "rw": "randread" },
//!   "read": { "io_bytes": 2031616, "bw_bytes": 6910258, "iops": 1687.07, "runtime": 294, "total_ios": 496,
//!             "clat_ns": { "min": 27791, "max": 2826380, "mean": 77047.1, "percentile": { "99.000000": 987136 } } } } ],
//!   "disk_util": [ { "name": "vda", "read_ios": 207, "write_ticks": 27, "util": 5.2 } ] }
//! ```
//!
//! fio 3 has nanoseconds (`clat_ns`) and bytes; fio 2 has microseconds (`clat`) and, in `io_bytes` and `bw`, KiB.
//! `bins` of `json+` are counts by the middle of a bucket in fio's histogram, which is up to 1.6 % wide.
//!
//! **Versions**: fio 2.0 to 3.42; the tests run 3.33.

use super::json::{field, fields, items, number, text, Document, Value};
use crate::output::number::{Number, Unit};
use crate::output::reading::{Bucket, Reading, Row, Setting};
use crate::output::run::Run;
use crate::tool::percentile_name;

/// The run in a document, with all its jobs. `None` if it is not fio's.
pub(super) fn runs(d: &Document, value: Value) -> Option<Vec<Run>> {
    let top = fields(value);
    let version = text(field(&top, "fio version")?);
    let old = version.starts_with("fio-2") || version.starts_with("fio-1");
    let global = field(&top, "global options").map_or(vec![], |options| settings(d, options));
    // Client and server: `client_stats` takes the place of `jobs`.
    let jobs = field(&top, "jobs").or_else(|| field(&top, "client_stats"));
    let mut readings: Vec<Reading> =
        jobs.map_or(vec![], items).into_iter().map(|job| reading(d, job, &global, old)).collect();
    single_jobs(&mut readings);
    let disks = field(&top, "disk_util").map_or(vec![], items);
    if let Some(last) = readings.last_mut() {
        last.rows.extend(disks.into_iter().map(|disk| disk_row(d, disk)));
    }
    let time = field(&top, "time").map(text).unwrap_or_default();
    Some(
        Run::of_readings(format!("{version} {}", time.trim()).trim().to_owned(), readings)
            .into_iter()
            .collect(),
    )
}

/// Without `group_reporting` (which the document does not tell), each of `numjobs` has its own result, with the same name and options.
fn single_jobs(readings: &mut [Reading]) {
    let names: Vec<String> = readings.iter().map(|r| r.name.clone()).collect();
    for reading in readings {
        let Some(jobs) = reading.settings.iter().find(|s| s.name == "numjobs").cloned() else { continue };
        let same = names.iter().filter(|name| **name == reading.name).count();
        if jobs.value.parse().is_ok_and(|n: usize| n > 1 && same >= n) {
            reading.settings.push(Setting { name: "jobs".into(), value: "1".into(), at: jobs.at });
        }
    }
}

fn settings(d: &Document, options: Value) -> Vec<Setting> {
    let one = |(name, value): (std::borrow::Cow<str>, Value)| Setting {
        name: name.into_owned(),
        value: text(value),
        at: d.at(value),
    };
    fields(options).into_iter().map(one).collect()
}

fn reading(d: &Document, job: Value, global: &[Setting], old: bool) -> Reading {
    let job_fields = fields(job);
    let get = |name: &str| field(&job_fields, name);
    let mut reading = Reading { tool: "fio", at: d.at(job), ..Reading::default() };
    reading.name = get("jobname").map(text).unwrap_or_default();
    reading.settings = get("job options").map_or(vec![], |options| settings(d, options));
    for setting in global {
        // The job's own option has precedence.
        if reading.setting(&setting.name).is_none() {
            reading.settings.push(setting.clone());
        }
    }
    for of in ["read", "write", "trim", "sync"] {
        reading.rows.extend(get(of).and_then(|v| operation(d, of, v, old)));
    }
    let mut all = Row::of("all");
    for (name, factor, unit) in [
        ("usr_cpu", 0.01, Unit::Share),
        ("sys_cpu", 0.01, Unit::Share),
        ("ctx", 1.0, Unit::Count),
        ("majf", 1.0, Unit::Count),
        ("minf", 1.0, Unit::Count),
    ] {
        let short = name.trim_end_matches("_cpu");
        put(d, &mut all, &format!("cpu.{short}"), get(name), factor, unit);
    }
    let mut from = 0.0;
    for (name, ns) in [("latency_ns", 1.0), ("latency_us", 1e3), ("latency_ms", 1e6)] {
        for (limit, share) in get(name).map_or(vec![], fields) {
            let Some(value) = number(share) else { continue };
            let below =
                if limit.starts_with(">=") { f64::INFINITY } else { limit.parse().unwrap_or(0.0) * ns };
            if value > 0.0 && below > from {
                all.histogram.push(Bucket {
                    from,
                    below,
                    count: Number::new(value / 100.0, Unit::Share, d.at(share)),
                });
            }
            from = below.min(f64::MAX);
        }
    }
    if !all.values.is_empty() {
        reading.rows.push(all);
    }
    reading
}

/// Adds a number under a name, if it exists.
fn put(d: &Document, row: &mut Row, name: &str, value: Option<Value>, factor: f64, unit: Unit) {
    if let Some((value, v)) = value.and_then(|v| Some((v, number(v)?))) {
        row.values.put(name, v * factor, unit, d.at(value));
    }
}

/// The row of one operation; `None` if there was none, which fio prints as zeros.
fn operation(d: &Document, of: &str, value: Value, old: bool) -> Option<Row> {
    let all = fields(value);
    let get = |name: &str| field(&all, name);
    let some = |name: &str| get(name).and_then(number).is_some_and(|v| v > 0.0);
    // Many versions print a count of 0 syncs, but the times of syncs.
    let taken = get("lat_ns").map_or(vec![], fields);
    let syncs = field(&taken, "N").filter(|n| of == "sync" && number(n).is_some_and(|n| n > 0.0));
    if !some("total_ios") && !some("io_bytes") && syncs.is_none() {
        return None;
    }
    let mut row = Row::of(of);
    let kib = 1024.0;
    put(d, &mut row, "iops", get("iops"), 1.0, Unit::PerSecond);
    match get("bw_bytes") {
        Some(bytes) => put(d, &mut row, "bw", Some(bytes), 1.0, Unit::BytesPerSecond),
        None => put(d, &mut row, "bw", get("bw"), kib, Unit::BytesPerSecond),
    }
    put(d, &mut row, "bytes", get("io_bytes"), if old { kib } else { 1.0 }, Unit::Bytes);
    put(d, &mut row, "runtime", get("runtime"), 1e6, Unit::Nanoseconds);
    put(d, &mut row, "count", if some("total_ios") { get("total_ios") } else { syncs }, 1.0, Unit::Count);
    for (spread, measured, factor, unit) in
        [("bw", "bw", kib, Unit::BytesPerSecond), ("iops", "iops", 1.0, Unit::PerSecond)]
    {
        for (field, name) in
            [("min", "min"), ("max", "max"), ("mean", "mean"), ("dev", "stdev"), ("stddev", "stdev")]
        {
            let value = get(&format!("{spread}_{field}"));
            put(d, &mut row, &format!("{measured}.{name}"), value, factor, unit);
        }
    }
    for kind in ["slat", "clat", "lat"] {
        let name = if of == "sync" { "sync" } else { kind };
        if let Some(spread) = get(&format!("{kind}_ns")) {
            latencies(d, &mut row, name, spread, 1.0);
        } else if let Some(spread) = get(kind) {
            latencies(d, &mut row, name, spread, 1e3);
        }
    }
    Some(row)
}

/// Adds latencies: `{ "min": 27791, ..., "N": 496, "percentile": { "99.000000": 987136 }, "bins": { "27776": 1 } }`.
fn latencies(d: &Document, row: &mut Row, name: &str, value: Value, ns: f64) {
    let all = fields(value);
    let get = |field_name: &str| field(&all, field_name);
    if get("max").and_then(number).is_none_or(|max| max == 0.0) {
        return;
    }
    for (field, to) in [("min", "min"), ("max", "max"), ("mean", "mean"), ("stddev", "stdev")] {
        put(d, row, &format!("{name}.{to}"), get(field), ns, Unit::Nanoseconds);
    }
    for (percentile, value) in get("percentile").map_or(vec![], fields) {
        if let Ok(p) = percentile.parse::<f64>() {
            put(d, row, &format!("{name}.{}", percentile_name(p)), Some(value), ns, Unit::Nanoseconds);
        }
    }
    if name == "slat" || !row.histogram.is_empty() {
        return;
    }
    for (middle, count) in get("bins").map_or(vec![], fields) {
        if let (Ok(middle), Some(n)) = (middle.parse::<f64>(), number(count)) {
            let count = Number::new(n, Unit::Count, d.at(count));
            row.histogram.push(Bucket { from: middle * ns, below: middle * ns, count });
        }
    }
}

fn disk_row(d: &Document, disk: Value) -> Row {
    let all = fields(disk);
    let mut row = Row::of(field(&all, "name").map(text).unwrap_or_default());
    for (from, to, factor, unit) in [
        ("ios", "ios", 1.0, Unit::Count),
        ("sectors", "bytes", 512.0, Unit::Bytes),
        ("merges", "merges", 1.0, Unit::Count),
        ("ticks", "time", 1e6, Unit::Nanoseconds),
    ] {
        for of in ["read", "write"] {
            put(d, &mut row, &format!("{of}.{to}"), field(&all, &format!("{of}_{from}")), factor, unit);
        }
    }
    put(d, &mut row, "in_queue", field(&all, "in_queue"), 1e6, Unit::Nanoseconds);
    put(d, &mut row, "util", field(&all, "util"), 0.01, Unit::Share);
    row
}
