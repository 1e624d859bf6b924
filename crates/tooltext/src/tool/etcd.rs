//! Reads what etcd reports about its disk on request: `etcdctl check perf`, and the histograms of its `/metrics`.
//!
//! ```text
//! PASS: Throughput is 150 writes/s                     FAIL: Throughput too low: 130 writes/s
//! PASS: Slowest request took 0.087509s                 Slowest request took too long: 0.871827s
//! PASS: Stddev is 0.009654s                            Stddev too high: 0.184639s
//! etcd_disk_wal_fsync_duration_seconds_bucket{le="0.001"} 202
//! etcd_disk_wal_fsync_duration_seconds_bucket{le="0.002"} 1601
//! etcd_disk_wal_fsync_duration_seconds_bucket{le="+Inf"} 1610
//! etcd_disk_wal_fsync_duration_seconds_sum 3.705
//! etcd_disk_wal_fsync_duration_seconds_count 1610
//! ```
//!
//! Buckets are cumulative, so missing ones do not affect the others. Two lists from
//! one member, an hour apart, are two readings. Only histograms of the disk are read (`etcd_disk_`), not those of requests.
//!
//! **Versions**: etcd 3.4.23 run (`etcdctl check perf`, the metrics of its server).

use super::reader::{Found, Tool};
use super::table;
use crate::output::number::{decimal, with_suffix, Number, Unit};
use crate::output::reading::{Bucket, Reading, Row};
use crate::output::words::Word;

pub struct Etcd;

const S: f64 = 1e9;
const MOST_ROWS: usize = 256;
/// Limit on buckets; etcd's histograms have 15.
const MOST_BUCKETS: usize = 64;

impl Tool for Etcd {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let first = words.first()?.text;
        if first.starts_with(DISK) {
            return metrics(words);
        }
        ["PASS:", "FAIL:", "Slowest", "Stddev"].contains(&first).then_some(())?;
        check(words)
    }
}

/// Reads the lines of `check perf`, each of which may pass or fail.
fn check(words: &[Word]) -> Option<Found> {
    let (mut row, mut used) = (Row::of("write"), 0);
    while let Some((name, value, unit, length)) = checked(&words[used..]) {
        if row.get(name).is_some() {
            break;
        }
        row.values.put(name, value, unit, words[used].spot);
        used += length;
    }
    (used > 0).then_some(())?;
    // The overall verdict.
    used += usize::from(words.get(used).is_some_and(|w| ["PASS", "FAIL"].contains(&w.text)));
    Found::all(Reading { tool: "etcdctl", rows: vec![row], at: words[0].spot, ..Reading::default() }, used)
}

/// Parses one line: name, value, unit, number of words.
fn checked(words: &[Word]) -> Option<(&'static str, f64, Unit, usize)> {
    const FORMS: [(&[&str], &str, Unit); 6] = [
        (&["Throughput", "is"], "w/s", Unit::PerSecond),
        (&["Throughput", "too", "low:"], "w/s", Unit::PerSecond),
        (&["Slowest", "request", "took", "too", "long:"], "lat.max", Unit::Nanoseconds),
        (&["Slowest", "request", "took"], "lat.max", Unit::Nanoseconds),
        (&["Stddev", "is"], "lat.stdev", Unit::Nanoseconds),
        (&["Stddev", "too", "high:"], "lat.stdev", Unit::Nanoseconds),
    ];
    let passed = usize::from(["PASS:", "FAIL:"].contains(&words.first()?.text));
    let rest = &words[passed..];
    let same = |form: &[&str]| form.iter().zip(rest).filter(|(a, w)| **a == w.text).count() == form.len();
    let (form, name, unit) = FORMS.iter().find(|(form, ..)| same(form))?;
    let (value, suffix) = with_suffix(rest.get(form.len())?.text)?;
    let end = passed + form.len() + 1;
    match unit {
        Unit::PerSecond => {
            (suffix.is_empty() && words.get(end)?.text == "writes/s").then_some((name, value, *unit, end + 1))
        }
        // etcd prints seconds with six decimal places, so other words are not its output.
        _ => (suffix == "s" && rest[form.len()].text.contains('.')).then_some((name, value * S, *unit, end)),
    }
}

const DISK: &str = "etcd_disk_";
const DURATION: &str = "_duration_seconds_";

/// A line of `/metrics`.
struct Metric {
    of: String,
    kind: Kind,
    value: Number,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    UpTo(f64),
    Sum,
    Count,
}

/// Parses `etcd_disk_wal_fsync_duration_seconds_bucket{instance="10.0.0.1:2381",le="0.001"} 202`.
fn metric(words: &[Word]) -> Option<(Metric, usize)> {
    let (name, number) = (words.first()?.text, words.get(1)?);
    let rest = name.strip_prefix(DISK)?;
    let (rest, labels) = rest.split_once('{').map_or((rest, ""), |(rest, labels)| (rest, labels));
    let (of, kind) = rest.split_once(DURATION)?;
    let (mut others, mut bound) = (vec![], None);
    for label in labels.trim_end_matches('}').split(',').filter(|l| !l.is_empty()) {
        match label.split_once('=')? {
            ("le", value) => bound = Some(value.trim_matches('"')),
            _ => others.push(label),
        }
    }
    let kind = match (kind, bound) {
        ("bucket", Some("+Inf")) => Kind::UpTo(f64::INFINITY),
        ("bucket", Some(bound)) => Kind::UpTo(decimal(bound)? * S),
        ("sum", None) => Kind::Sum,
        ("count", None) => Kind::Count,
        _ => return None,
    };
    let value = decimal(number.text)?;
    let unit = if kind == Kind::Sum { Unit::Nanoseconds } else { Unit::Count };
    let value = Number::new(if kind == Kind::Sum { value * S } else { value }, unit, number.spot);
    let of = of.replace('_', " ");
    let of = if others.is_empty() { of } else { format!("{of} {{{}}}", others.join(",")) };
    Some((Metric { of, kind, value }, 2))
}

fn metrics(words: &[Word]) -> Option<Found> {
    let mut reading = Reading { tool: "etcd", at: words[0].spot, ..Reading::default() };
    let (mut used, mut unknown) = (0, 0);
    while reading.rows.len() < MOST_ROWS {
        let Some((row, length, skipped)) = one(&words[used..]) else { break };
        // The same histogram again is from another time.
        if row.as_ref().is_some_and(|row| reading.row(&row.of).is_some()) {
            break;
        }
        used += length;
        unknown += skipped;
        match row {
            Some(row) => reading.rows.push(row),
            None => unknown += length,
        }
    }
    let reading = (!reading.rows.is_empty()).then_some(reading);
    (used > 0).then_some(Found { reading, used, unknown })
}

/// One histogram, its number of words, and of words not understood; no row if its counts decrease, which is impossible in a
/// cumulative histogram.
fn one(words: &[Word]) -> Option<(Option<Row>, usize, usize)> {
    let ends = |_: &Word| false;
    let (mut used, mut unknown) = (0, 0);
    let mut row: Option<Row> = None;
    let mut buckets: Vec<(f64, Number)> = vec![];
    let (mut sum, mut count) = (None, None);
    while let Some((skip, metric, length)) = table::next(&words[used..], ends, metric) {
        let row = row.get_or_insert_with(|| Row::of(metric.of.clone()));
        let again = match metric.kind {
            Kind::UpTo(bound) => buckets.last().is_some_and(|(last, _)| bound <= *last) || sum.is_some(),
            Kind::Sum => sum.is_some(),
            Kind::Count => count.is_some(),
        };
        if metric.of != row.of || again || buckets.len() >= MOST_BUCKETS {
            break;
        }
        match metric.kind {
            Kind::UpTo(bound) => buckets.push((bound, metric.value)),
            Kind::Sum => sum = Some(metric.value),
            Kind::Count => count = Some(metric.value),
        }
        used += skip + length;
        unknown += skip;
    }
    let mut row = row?;
    let (mut below, mut seen) = (0.0, 0.0);
    let mut rises = true;
    for (bound, value) in buckets {
        rises &= value.value >= seen;
        let count = Number::new((value.value - seen).max(0.0), Unit::Count, value.at);
        row.histogram.push(Bucket { from: below, below: bound, count });
        (below, seen) = (bound, value.value);
    }
    rises &= count.is_none_or(|n| n.value >= seen);
    if let Some(n) = count {
        row.values.put("count", n.value, n.unit, n.at);
    }
    if let Some((sum, n)) = sum.zip(count).filter(|(_, n)| n.value > 0.0) {
        row.values.put("lat.mean", sum.value / n.value, Unit::Nanoseconds, sum.at);
    }
    let any = rises && (!row.histogram.is_empty() || !row.values.is_empty());
    Some((any.then_some(row), used, unknown))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn a_check_has_its_numbers_whether_it_passes_or_not() {
        let passed = " 60 / 60 Booooo! 100.00% 1m0s\nPASS: Throughput is 150 writes/s\nPASS: Slowest request took 0.087500s\nPASS: Stddev is 0.009500s\nPASS\n";
        let failed = "FAIL: Throughput too low: 130 writes/s\nSlowest request took too long: 0.875000s\nStddev too high: 0.184500s\nFAIL\n";
        for (text, values) in [(passed, [150.0, 87.5e6, 9.5e6]), (failed, [130.0, 875e6, 184.5e6])] {
            let row = &one(text, "etcdctl").rows[0];
            assert_eq!(["w/s", "lat.max", "lat.stdev"].map(|n| row.value(n)), values.map(Some), "{text}");
        }
        for text in
            ["Slowest request took 3s to answer", "PASS: all of 150 writes/s", "FAIL: Stddev is large"]
        {
            assert!(all(text, "etcdctl").is_empty(), "{text}");
        }
    }

    const FSYNC: &str = "# HELP etcd_disk_wal_fsync_duration_seconds The latency distributions of fsync called by WAL.\n\
        # TYPE etcd_disk_wal_fsync_duration_seconds histogram\n\
        etcd_disk_wal_fsync_duration_seconds_bucket{le=\"0.001\"} 2\netcd_disk_wal_fsync_duration_seconds_bucket{le=\"0.002\"} 100\n\
        etcd_disk_wal_fsync_duration_seconds_bucket{le=\"0.512\"} 113 <-- half a second\netcd_disk_wal_fsync_duration_seconds_bucket{le=\"+Inf\"} 114\n\
        etcd_disk_wal_fsync_duration_seconds_sum 0.684\netcd_disk_wal_fsync_duration_seconds_count 114\n";

    #[test]
    fn a_histogram_counts_what_took_so_long() {
        let other = FSYNC.replace("wal_fsync", "backend_commit");
        let reading = one(&format!("{FSYNC}{other}"), "etcd");
        let names: Vec<&str> = reading.rows.iter().map(|r| r.of.as_str()).collect();
        assert_eq!(names, ["wal fsync", "backend commit"]);
        let row = &reading.rows[0];
        let buckets: Vec<_> = row.histogram.iter().map(|b| (b.from, b.below, b.count.value)).collect();
        assert_eq!(
            buckets,
            [(0.0, 1e6, 2.0), (1e6, 2e6, 98.0), (2e6, 512e6, 13.0), (512e6, f64::INFINITY, 1.0)]
        );
        assert_eq!((row.value("count"), row.value("lat.mean")), (Some(114.0), Some(6e6)));
    }

    #[test]
    fn members_are_told_apart_and_counts_that_fall_are_none() {
        let of = |member: u32| {
            let label = format!("instance=\"10.0.0.{member}:2381\"");
            let sums = ["_sum", "_count"].iter().fold(FSYNC.to_owned(), |text, name| {
                text.replace(&format!("{name} "), &format!("{name}{{{label}}} "))
            });
            sums.replace("{le", &format!("{{{label},le"))
        };
        let reading = one(&format!("{}{}", of(1), of(2)), "etcd");
        let names: Vec<&str> = reading.rows.iter().map(|r| r.of.as_str()).collect();
        assert!(names.contains(&"wal fsync {instance=\"10.0.0.2:2381\"}"), "{names:?}");
        assert!(all(&FSYNC.replace("} 113", "} 13"), "etcd").is_empty());
        // The same member twice, an hour apart.
        assert_eq!(all(&format!("{FSYNC}{}", FSYNC.replace("} 100", "} 101")), "etcd").len(), 2);
    }
}
