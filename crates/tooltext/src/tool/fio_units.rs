//! Numbers in fio's text: with units after or before them, abbreviated, in pairs.

use super::lexeme::{Cursor, Lexeme};
use crate::output::number::{size_unit, time_unit, with_suffix, Unit};
use crate::output::reading::Row;

/// A number with its unit attached: `20001msec`.
pub(super) fn suffixed(text: &str, unit: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let (value, suffix) = with_suffix(text)?;
    Some(value * unit(suffix)?)
}

/// Bytes per unit of size in fio 2 and fio 3.
pub(super) fn fio_size(unit: &str) -> Option<f64> {
    // fio 3 prints powers of ten with a small k (`kB`), or as the second of two values, which is not read here.
    Some(match unit {
        "B" => 1.0,
        "KB" | "KiB" => 1024.0,
        "MB" | "MiB" => 1048576.0,
        "GB" | "GiB" => 1073741824.0,
        "TB" | "TiB" => 1099511627776.0,
        "kB" => 1000.0,
        _ => return None,
    })
}

/// Factor of a suffix: fio abbreviates large counts as `79.5k`, `1.2M`.
pub(super) fn thousands(suffix: &str) -> Option<f64> {
    Some(match suffix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "m" | "M" => 1e6,
        "G" => 1e9,
        _ => return None,
    })
}

/// The name of a percentile: `p50`, `p99`, `p99.9`.
pub(crate) fn percentile_name(percentile: f64) -> String {
    format!("p{}", units::words::decimals(percentile, 6))
}

/// The unit in parentheses, after the opening one: `usec)`, `KB/s)`, `KB /s)`.
pub(super) fn parenthesis(c: &mut Cursor) -> Option<(f64, Unit)> {
    let unit = c.next()?.text;
    let found = match time_unit(unit) {
        Some(ns) => (ns, Unit::Nanoseconds),
        None => {
            let size = fio_size(unit)?;
            c.eat_all(&["/", "s"]).then_some(())?;
            (size, Unit::BytesPerSecond)
        }
    };
    c.eat(")").then_some(found)
}

/// A number with thousands separators in one word, as people write it: `IOPS=9,877,`. fio itself prints none.
fn with_groups(value: Lexeme, c: &mut Cursor) -> String {
    let mut text = value.text.to_owned();
    while text.bytes().all(|b| b.is_ascii_digit()) {
        let group = c.ahead(1).filter(|l| l.word == value.word && c.ahead(0).is_some_and(|l| l.text == ","));
        let digits = |l: &Lexeme| l.text.bytes().take_while(u8::is_ascii_digit).count() == 3;
        let Some(group) = group.filter(digits) else { break };
        text.push_str(group.text);
        c.at += 2;
    }
    text
}

/// Adds a value of an operation's line, or of its line in the summary of a group; returns whether the key is known.
pub(super) fn measure(row: &mut Row, key: Lexeme, value: Lexeme, c: &mut Cursor) -> bool {
    let text = &with_groups(value, c);
    let put = match key.text {
        "io" => suffixed(text, fio_size).map(|v| ("bytes", v, Unit::Bytes)),
        "bw" | "BW" | "aggrb" => {
            c.eat_all(&["/", "s"]);
            // `BW` is from fio 3, whose MB are 1000 kB; `bw` is from fio 2, whose MB are 1024 KB.
            let unit = if key.text == "BW" { size_unit } else { fio_size };
            suffixed(text, unit).map(|v| ("bw", v, Unit::BytesPerSecond))
        }
        "iops" | "IOPS" => suffixed(text, thousands).map(|v| ("iops", v, Unit::PerSecond)),
        "runt" | "maxt" => suffixed(text, time_unit).map(|v| ("runtime", v, Unit::Nanoseconds)),
        // `60001-60002msec`: the shortest and the longest job.
        "run" => suffixed(text.rsplit('-').next().unwrap_or(""), time_unit)
            .map(|v| ("runtime", v, Unit::Nanoseconds)),
        _ => None,
    };
    if let Some((name, v, unit)) = put {
        row.values.put(name, v, unit, value.spot);
    }
    put.is_some()
}

/// Adds `ticks=1323879/1`, for reads and writes. `in_queue` and `util` have one value.
pub(super) fn disk_value(row: &mut Row, key: &str, first: Lexeme, second: Option<Lexeme>) {
    let (name, factor, unit) = match key {
        "ios" => ("ios", 1.0, Unit::Count),
        "merge" => ("merges", 1.0, Unit::Count),
        "sectors" => ("bytes", 512.0, Unit::Bytes),
        "ticks" => ("time", 1e6, Unit::Nanoseconds),
        "in_queue" => ("in_queue", 1e6, Unit::Nanoseconds),
        "util" => ("util", 1.0, Unit::Share),
        // Sums over the disks below, which have their own lines.
        _ => return,
    };
    let values = [("read", Some(first)), ("write", second)];
    for (of, value) in values.into_iter().filter_map(|(of, value)| Some((of, value?))) {
        let name = if second.is_some() { format!("{of}.{name}") } else { name.to_owned() };
        let scale = |s: &str| match s {
            "" => Some(factor),
            "%" => Some(0.01),
            _ => None,
        };
        if let Some(v) = suffixed(value.text, scale) {
            row.values.put(name, v, unit, value.spot);
        }
    }
}

/// Skips lines that are not used: depths, submissions, completions, errors, the latency target.
pub(super) fn plain_line(c: &mut Cursor) -> Option<()> {
    let named = match c.next()?.text {
        "IO" => c.eat("depths"),
        "submit" | "complete" | "latency" | "errors" => true,
        _ => false,
    };
    (named && c.eat(":")).then_some(())?;
    let mut any = false;
    while c.key().is_some() {
        c.next()?;
        if c.eat("/") {
            c.next()?;
        }
        c.eat(",");
        any = true;
    }
    any.then_some(())
}
