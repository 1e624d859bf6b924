//! Reads fio's `--minimal`, `--output-format=terse`: a line of fields separated by `;` ("Terse output", fio(1)), versions 2 to 5.
//!
//! ```text
//! 3;fio-3.33;rand;0;0;1048576;34952;8738;30000;3;90;5.1;1.1;40;9000;110.2;11.0;1.000000%=50;...
//! ```
//!
//! Reads start at field 6: KiB, KiB/s, IOPS, milliseconds, then minimum, maximum, mean and deviation of slat and clat, 20 percentiles,
//! the same four of lat, all in microseconds, and five numbers of bandwidth (since version 5 also its samples, and the same for
//! IOPS). Writes have the same number of fields; in version 4 trims follow.
//!
//! **Versions**: fio 2.0 to 3.42, terse versions 2 to 5.

use super::fio_units::percentile_name;
use super::reader::{Found, Tool};
use crate::output::number::{decimal, Unit};
use crate::output::reading::{Reading, Row, Setting};
use crate::output::words::Word;
use evidence::Spot;

pub struct FioTerse;

/// Limit on words of a line: a job's name and description may contain blanks.
const MOST_WORDS: usize = 40;
/// Number of percentiles that fio prints; unused ones are `0%=0`.
const PERCENTILES: usize = 20;
/// Fields before the reads: version, fio, job, group, error.
const HEAD: usize = 5;

/// Number of fields per operation: rates, two spreads, percentiles, a spread, bandwidth; since version 5 more for bandwidth, and IOPS.
fn width(version: u32) -> usize {
    let bandwidth = if version >= 5 { 11 } else { 5 };
    4 + 4 + 4 + PERCENTILES + 4 + bandwidth
}

impl Tool for FioTerse {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let first = words.first()?;
        let version: u32 = first.text.split(';').next()?.parse().ok().filter(|v| (2..=5).contains(v))?;
        first.text.split(';').nth(1)?.starts_with("fio-").then_some(())?;
        // Up to the next line; in flattened text, up to the limit.
        let many = words.iter().take(MOST_WORDS).enumerate().take_while(|(i, w)| *i == 0 || !w.first).count();
        let line = words[..many].iter().map(|w| w.text).collect::<Vec<_>>().join(" ");
        let fields: Vec<&str> = line.split(';').collect();
        let mut reading =
            Reading { tool: "fio", name: (*fields.get(2)?).into(), at: first.spot, ..Reading::default() };
        reading.settings.push(Setting {
            name: "output-format".into(),
            value: "terse".into(),
            at: first.spot,
        });
        let width = width(version);
        for (i, of) in ["read", "write"].into_iter().enumerate() {
            let from = HEAD + i * width;
            let all = fields.get(from..from + width)?;
            reading.rows.extend(operation(of, all, first.spot));
        }
        (!reading.rows.is_empty()).then_some(())?;
        Found::all(reading, many)
    }
}

/// A row from the fields of one operation; `None` if there were no such operations.
fn operation(of: &str, fields: &[&str], at: Spot) -> Option<Row> {
    let number = |i: usize| decimal(fields.get(i)?);
    let mut row = Row::of(of);
    let (kib, runtime) = (number(0)?, number(3)?);
    if kib <= 0.0 || runtime <= 0.0 {
        return None;
    }
    row.values.put("bytes", kib * 1024.0, Unit::Bytes, at);
    row.values.put("bw", number(1)? * 1024.0, Unit::BytesPerSecond, at);
    row.values.put("iops", number(2)?, Unit::PerSecond, at);
    row.values.put("runtime", runtime * 1e6, Unit::Nanoseconds, at);
    for (name, from) in [("slat", 4), ("clat", 8), ("lat", 12 + PERCENTILES)] {
        for (i, what) in ["min", "max", "mean", "stdev"].into_iter().enumerate() {
            row.values.put(format!("{name}.{what}"), number(from + i)? * 1e3, Unit::Nanoseconds, at);
        }
    }
    for field in &fields[12..12 + PERCENTILES] {
        let (percentile, us) = field.split_once("%=")?;
        let (percentile, us) = (decimal(percentile)?, decimal(us)?);
        if percentile > 0.0 {
            row.values.put(format!("clat.{}", percentile_name(percentile)), us * 1e3, Unit::Nanoseconds, at);
        }
    }
    Some(row)
}

#[cfg(test)]
mod tests {
    use crate::output::ToolOutput;

    /// A line of some version: one operation that ran, and one that did not.
    fn line(version: u32) -> String {
        let percentiles: Vec<String> = (0..20)
            .map(|i| {
                if i < 3 {
                    format!("{}.000000%={}", [1, 50, 99][i], [41, 100, 300][i])
                } else {
                    "0%=0".into()
                }
            })
            .collect();
        let more = if version >= 5 { ";10;8000;9000;8738.1;20.5;60" } else { "" };
        let ran = format!("1048576;34952;8738;30000;3;90;5.1;1.1;40;9000;110.2;11.0;{};43;9090;115.3;12.0;1;2;100%;3;4{more}", percentiles.join(";"));
        let none = ran
            .split(';')
            .map(|f| if f.contains('=') { "0%=0".to_owned() } else { "0".to_owned() })
            .collect::<Vec<_>>()
            .join(";");
        format!("{version};fio-3.33;two words;0;0;{ran};{none};1.0%;2.0%;100;0;5;0.1%;0.0%;vda;1;2;3;4;5;6;7;99.9%\n")
    }

    #[test]
    fn all_versions_have_the_same_numbers() {
        for version in 3..=5 {
            let output = ToolOutput::read("terse", line(version).as_bytes());
            let reading = &output.runs[0].readings[0];
            assert_eq!((reading.name.as_str(), reading.rows.len()), ("two words", 1), "{version}");
            let row = &reading.rows[0];
            assert_eq!((row.value("iops"), row.value("bw")), (Some(8738.0), Some(34952.0 * 1024.0)));
            assert_eq!(
                (row.value("clat.p99"), row.value("lat.mean"), row.value("clat.max")),
                (Some(3e5), Some(115.3e3), Some(9e6))
            );
        }
    }
}
