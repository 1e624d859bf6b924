//! Distributions as text: bcc's histograms, percentiles below each, and the table of layers.

use super::histogram;
use crate::wrap::wrap;
use explain::dist::{Dist, Family, Groups, Layer, Ranked, Times, Where};
use explain::Places;
use stats::Distribution;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;
use trace::DevId;
use units::words::{count, ns, percent};

/// The width at which sentences are wrapped, in columns.
const WIDTH: usize = 100;

/// Draws the histograms, of each interval if intervals were asked for, then the tables of layers.
pub fn render(dist: &Dist, places: &Places) -> String {
    let whole = dist.whole();
    if whole.is_empty() {
        return "no operation on a file system ended\n".into();
    }
    let mut out = String::new();
    match dist.question.interval {
        None => groups(&mut out, &whole, places),
        Some(length) => {
            for (from, part) in dist.intervals() {
                let (a, b) = (from.seconds(), (from + length).seconds());
                let _ = writeln!(out, "from {a:.1} to {b:.1} s\n");
                groups(&mut out, part, places);
            }
        }
    }
    for ((fs, dev), kinds) in in_order(&whole) {
        let name = places.of(*fs, *dev).unwrap_or_else(|| "an unknown file system".into());
        layers(&mut out, &name, &dist.layers((*fs, *dev), kinds));
    }
    if dist.left_out > 0 {
        let _ = writeln!(out, "{} operations of further file systems are left out", count(dist.left_out));
    }
    out
}

/// File systems by number of operations, most first; operations of unknown file systems come last.
fn in_order(groups: &Groups) -> Vec<(&Where, &BTreeMap<Ranked, Times>)> {
    let mut all: Vec<_> = groups.iter().collect();
    let count = |kinds: &BTreeMap<Ranked, Times>| kinds.values().map(|t| t.latency.count()).sum::<u64>();
    all.sort_by_key(|((_, dev), kinds)| (*dev == DevId(0), Reverse(count(kinds))));
    all
}

fn groups(out: &mut String, groups: &Groups, places: &Places) {
    for ((fs, dev), kinds) in in_order(groups) {
        let name = places.of(*fs, *dev).unwrap_or_else(|| "an unknown file system".into());
        let _ = writeln!(out, "{name}");
        for (kind, times) in kinds {
            let failed =
                if times.errors == 0 { String::new() } else { format!("   {} failed", count(times.errors)) };
            let _ = writeln!(
                out,
                "\noperation = '{}'\n{}     {} in all   {}{failed}",
                kind.1.name(),
                histogram::render(&times.histogram),
                count(times.latency.count()),
                percentiles(&times.latency)
            );
        }
        out.push('\n');
    }
}

fn percentiles(d: &Distribution) -> String {
    let s = d.summary();
    format!("p50 {}   p99 {}   p99.9 {}   max {}", ns(s.p50), ns(s.p99), ns(s.p999), ns(s.max))
}

fn layers(out: &mut String, name: &str, rows: &[Layer]) {
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "{name}, layer by layer");
    let head = ["count", "p50", "p99", "p99.9", "max"];
    let [n, a, b, c, d] = head;
    let _ = writeln!(out, "  {:<42} {n:>9} {a:>9} {b:>9} {c:>9} {d:>9}", "");
    for row in rows {
        let indent = if row.layer == "operation" { "" } else { "  " };
        let s = row.times.summary();
        let words = format!("{indent}{}", row.words);
        let _ = writeln!(
            out,
            "  {words:<42} {:>9} {:>9} {:>9} {:>9} {:>9}",
            count(row.times.count()),
            ns(s.p50),
            ns(s.p99),
            ns(s.p999),
            ns(s.max)
        );
    }
    let told: Vec<String> = rows.iter().filter(|r| r.layer == "operation").map(without_io).collect();
    for line in wrap(&told.join("; "), WIDTH, "  ", "  ") {
        let _ = writeln!(out, "{line}");
    }
    out.push('\n');
}

/// Why there are fewer bios than operations: how many operations waited for no I/O.
fn without_io(row: &Layer) -> String {
    let all = row.times.count();
    let words = row.family.words();
    if row.without_io == 0 {
        return format!("{} {words}: each waited for I/O", count(all));
    }
    let why = match row.family {
        Family::Reads => "their data was in memory",
        Family::Writes => "written back later, in the background",
        Family::Syncs => "there was nothing to write",
    };
    let share = percent(row.without_io as f64 / all as f64);
    format!("{} of {} {words} ({share}) waited for no I/O: {why}", count(row.without_io), count(all))
}
