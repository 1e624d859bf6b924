//! Numbers of a text as sentences show them, with their places.

use crate::verdict::{Confidence, Verdict};
use tooltext::{Number, Reading, Row, Unit};
use trace::{Bytes, Nanos};
use units::words::{ns, size};

/// A number with its unit: `129 ms`, `256 MiB/s`, `63,874 a second`.
pub fn number(n: Number) -> String {
    quantity(n.value, n.unit)
}

/// How many reads and writes a fio job did; `None` if the text has neither their count nor the run time.
pub fn operations(job: &Reading) -> Option<f64> {
    let of = |row: &Row| {
        row.value("count")
            .filter(|n| *n > 0.0)
            .or_else(|| Some(row.value("iops")? * row.value("runtime")? / 1e9))
    };
    let all: Vec<f64> = ["read", "write"].iter().filter_map(|name| of(job.row(name)?)).collect();
    (!all.is_empty()).then(|| all.iter().sum())
}

/// The verdict *found* if there is enough to judge by; else *cannot tell*, with what to record.
pub fn judged(cause: &'static str, enough: bool, sure: Confidence, missing: &'static str) -> Verdict {
    match enough {
        true => Verdict::found(cause, Nanos(0), sure),
        false => Verdict::cannot_tell(cause, missing),
    }
}

/// A value with its unit.
pub fn quantity(value: f64, unit: Unit) -> String {
    let whole = value.round().max(0.0) as u64;
    match unit {
        Unit::Nanoseconds => ns(whole),
        Unit::Bytes => size(Bytes(whole)),
        Unit::BytesPerSecond => format!("{}/s", size(Bytes(whole))),
        Unit::PerSecond => format!("{} a second", plain(value)),
        Unit::Share => format!("{} %", plain(value * 100.0)),
        Unit::Count | Unit::Unstated => plain(value),
    }
}

/// A number with three digits, or with all digits if it is whole: `9.17`, `79,453`.
pub fn plain(value: f64) -> String {
    let digits = if value.fract() == 0.0 || value.abs() >= 99.95 {
        0
    } else if value.abs() >= 9.995 {
        1
    } else {
        2
    };
    let text = format!("{value:.digits$}");
    let (whole, rest) = text.split_once('.').map_or((text.as_str(), ""), |(w, r)| (w, r));
    let grouped = whole.parse::<u64>().map_or_else(|_| whole.to_owned(), units::words::count);
    match rest.trim_end_matches('0') {
        "" => grouped,
        rest => format!("{grouped}.{rest}"),
    }
}

/// A ratio: `14 times`, `1.2 times`.
pub fn times(ratio: f64) -> String {
    format!("{} times", plain(if ratio >= 9.995 { ratio.floor() } else { ratio }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_or_all_of_a_whole_one() {
        let said = [9.174, 9.999, 12.34, 99.96, 128.7, 79_453.0, 79_453.2, 0.5, 0.0].map(plain);
        assert_eq!(said, ["9.17", "10", "12.3", "100", "129", "79,453", "79,453", "0.5", "0"]);
        assert_eq!([1.2, 14.9].map(times), ["1.2 times", "14 times"]);
    }
}
