//! Reads sysbench's reports of each `--report-interval`, versions 0.5 and 1.0.
//!
//! ```text
//! [ 10s ] reads: 3.24 MiB/s writes: 2.16 MiB/s fsyncs: 34.08/s latency (ms,95%): 80.025
//! [ 10s ] thds: 8 tps: 862.78 qps: 17267.02 (r/w/o: 12087.34/3453.52/1726.16) lat (ms,95%): 7.84 err/s: 0.00 reconn/s: 0.00
//! [  10s] reads: 3.24 MB/s writes: 2.16 MB/s fsyncs: 34.08/s response time: 80.025ms (95%)
//! [  10s] threads: 8, tps: 66.60, reads: 943.67, writes: 269.62, response time: 431.72ms (95%), errors: 0.00, reconnects:  0.00
//! [  10s] threads: 8, tps: 66.60, reads/s: 943.67, writes/s: 269.62 response time: 431.72ms (95%)
//! ```
//!
//! Each line is a row with the numbers of its interval. The line names the percentile.
//!
//! **Versions**: sysbench 1.0.20 run, 0.5 by published texts.

use super::reader::Found;
use super::table;
use crate::output::number::{decimal, size_unit, with_suffix, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;
use crate::tool::percentile_name;

const MS: f64 = 1e6;

/// Reads the lines at the start of `words`.
pub(super) fn read(words: &[Word]) -> Option<Found> {
    let reading =
        Reading { tool: "sysbench", name: "intervals".into(), at: words[0].spot, ..Reading::default() };
    table::gather(reading, words, 0, table::MOST_ROWS, |_| false, line)
}

fn line(words: &[Word]) -> Option<(Row, usize)> {
    let mut at = time(words)?;
    let mut row = Row::of("interval");
    let text = |i: usize| words.get(i).map_or("", |w| w.text.trim_end_matches(','));
    let mut put = |name: &str, value: Option<f64>, unit: Unit, at: usize| {
        row.values.put(name, value?, unit, words.get(at)?.spot);
        Some(())
    };
    loop {
        at += match [text(at), text(at + 1)] {
            ["thds:" | "threads:", n] => put("threads", decimal(n), Unit::Count, at + 1).map(|()| 2)?,
            ["tps:", rate] => put("tps", decimal(rate), Unit::PerSecond, at + 1).map(|()| 2)?,
            ["qps:", rate] => put("queries/s", decimal(rate), Unit::PerSecond, at + 1).map(|()| 2)?,
            ["(r/w/o:", parts] => {
                let parts: Vec<f64> =
                    parts.strip_suffix(')')?.split('/').map(decimal).collect::<Option<_>>()?;
                put("reads/s", parts.first().copied(), Unit::PerSecond, at + 1)?;
                put("writes/s", parts.get(1).copied(), Unit::PerSecond, at + 1)?;
                2
            }
            [key @ ("reads/s:" | "writes/s:"), rate] => {
                put(key.trim_end_matches(':'), decimal(rate), Unit::PerSecond, at + 1).map(|()| 2)?
            }
            [key @ ("reads:" | "writes:"), value] => {
                let (of, bytes) =
                    if key == "reads:" { ("reads/s", "rbytes/s") } else { ("writes/s", "wbytes/s") };
                match rate(text(at + 2)) {
                    Some(scale) => {
                        let bytes_each = decimal(value).map(|v| v * scale);
                        put(bytes, bytes_each, Unit::BytesPerSecond, at + 1).map(|()| 3)?
                    }
                    // In fileio tests a unit follows, unless a comma shows that there is none.
                    None if words.get(at + 1)?.text.ends_with(',') => {
                        put(of, decimal(value), Unit::PerSecond, at + 1).map(|()| 2)?
                    }
                    None => return None,
                }
            }
            ["fsyncs:", value] => {
                put("fsyncs/s", decimal(value.strip_suffix("/s")?), Unit::PerSecond, at + 1).map(|()| 2)?
            }
            ["latency" | "lat", unit] => {
                let percentile = unit.strip_prefix("(ms,")?.strip_suffix("%):")?;
                let ms = decimal(text(at + 2)).map(|ms| ms * MS);
                put(
                    &format!("lat.{}", percentile_name(decimal(percentile)?)),
                    ms,
                    Unit::Nanoseconds,
                    at + 2,
                )?;
                3
            }
            ["response", "time:"] => {
                let (value, _) = with_suffix(text(at + 2)).filter(|(_, unit)| *unit == "ms")?;
                let percentile = text(at + 3).strip_prefix('(')?.strip_suffix("%)")?;
                let name = format!("lat.{}", percentile_name(decimal(percentile)?));
                put(&name, Some(value * MS), Unit::Nanoseconds, at + 2)?;
                4
            }
            ["err/s:" | "errors:" | "errors/s:", n] => {
                put("errors/s", decimal(n), Unit::PerSecond, at + 1).map(|()| 2)?
            }
            ["err/s" | "errors/s", n] => put("errors/s", decimal(n), Unit::PerSecond, at + 1).map(|()| 2)?,
            ["reconn/s:" | "reconnects:" | "reconnects/s:", n] if decimal(n).is_some() => 2,
            _ => break,
        };
    }
    // If nothing was done there is no latency: sysbench prints 0.
    let latency = row.values.iter().map(|(name, _)| name.to_owned()).find(|name| name.starts_with("lat."))?;
    let done = ["tps", "reads/s", "writes/s", "rbytes/s", "wbytes/s", "fsyncs/s"];
    if !done.iter().any(|name| row.value(name).is_some_and(|v| v > 0.0)) {
        row.values.take(&latency);
    }
    (row.values.iter().count() > 1).then_some((row, at))
}

/// Number of words of the time: `[ 10s ]`, `[  10s]`.
fn time(words: &[Word]) -> Option<usize> {
    (words.first()?.text == "[").then_some(())?;
    let seconds = words.get(1)?.text;
    let (digits, used) = match seconds.strip_suffix("s]") {
        Some(digits) => (digits, 2),
        None => (seconds.strip_suffix('s').filter(|_| words.get(2).is_some_and(|w| w.text == "]"))?, 3),
    };
    digits.bytes().all(|b| b.is_ascii_digit()).then_some(used)
}

/// Bytes per unit: `MiB/s`; before 1.0 `MB/s` is the same.
fn rate(unit: &str) -> Option<f64> {
    match unit {
        "MB/s" => size_unit("MiB"),
        unit => unit.strip_suffix("/s").and_then(size_unit),
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn all_versions_say_what_each_interval_did() {
        let mib = 1048576.0;
        for text in [
            "[ 10s ] reads: 3.25 MiB/s writes: 2.25 MiB/s fsyncs: 34.5/s latency (ms,95%): 80.025\n[ 20s ] reads: 3.25 MiB/s writes: 2.25 MiB/s fsyncs: 34.5/s latency (ms,95%): 80.025\n",
            "[  10s] reads: 3.25 MB/s writes: 2.25 MB/s fsyncs: 34.5/s response time: 80.025ms (95%)\n[  20s] reads: 3.25 MB/s writes: 2.25 MB/s fsyncs: 34.5/s response time: 80.025ms (95%)\n",
        ] {
            let reading = one(text, "sysbench");
            assert_eq!(reading.rows.len(), 2, "{text}");
            let values = ["rbytes/s", "wbytes/s", "fsyncs/s", "lat.p95"].map(|n| reading.rows[1].value(n));
            assert_eq!(values, [3.25 * mib, 2.25 * mib, 34.5, 80_025e3].map(Some), "{text}");
        }
        for text in [
            "[ 10s ] thds: 8 tps: 66.5 qps: 1330.25 (r/w/o: 943.5/269.5/117.25) lat (ms,99%): 431.5 err/s: 0.50 reconn/s: 0.00\n",
            "[  10s] threads: 8, tps: 66.5, reads: 943.5, writes: 269.5, response time: 431.5ms (99%), errors: 0.50, reconnects:  0.00\n",
            "[  10s] threads: 8, tps: 66.5, reads/s: 943.5, writes/s: 269.5 response time: 431.5ms (99%), errors: 0.50\n",
        ] {
            let row = &one(text, "sysbench").rows[0];
            let values = ["threads", "tps", "reads/s", "writes/s", "lat.p99", "errors/s"].map(|n| row.value(n));
            assert_eq!(values, [8.0, 66.5, 943.5, 269.5, 431.5e6, 0.5].map(Some), "{text}");
        }
    }

    #[test]
    fn where_nothing_was_done_there_is_no_latency() {
        let text = "[ 15s ] reads: 0.00 MiB/s writes: 0.00 MiB/s fsyncs: 0.00/s latency (ms,95%): 0.001\n";
        let row = &one(text, "sysbench").rows[0];
        assert_eq!((row.value("rbytes/s"), row.get("lat.p95")), (Some(0.0), None));
        for other in
            ["[ 10s ] it was slow", "[ 10s ] reads: 3.25 MiB/s writes:", "[1] reads: 5 latency (ms,95%): 5"]
        {
            assert!(all(other, "sysbench").is_empty(), "{other}");
        }
    }
}
