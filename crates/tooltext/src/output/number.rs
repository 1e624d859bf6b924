//! A number with its unit and place, and the ways in which tools print numbers.

use evidence::Spot;
use serde::Serialize;

/// Unit of a number. Values are converted to these units, whatever the tool printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Time in nanoseconds.
    Nanoseconds,
    /// A size in bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Operations per second.
    PerSecond,
    /// A part of a whole, 0 to 1; iostat's `%util` may be a little more.
    Share,
    /// A number whose unit the document does not say.
    Unstated,
    /// A count of items or events.
    Count,
}

/// A number in a document.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Number {
    /// The value, in `unit`.
    pub value: f64,
    /// Unit of the value.
    pub unit: Unit,
    /// Its place in the text.
    pub at: Spot,
}

impl Number {
    /// Rounds the value to twelve digits, more than any tool prints: 7.32 us are 7320 ns and not 7320.000000000001.
    pub(crate) fn new(value: f64, unit: Unit, at: Spot) -> Number {
        let whole = value.round();
        let near = (value - whole).abs() <= value.abs() * 1e-12;
        let rounded = if near { whole } else { format!("{value:.11e}").parse().unwrap_or(value) };
        Number { value: rounded, unit, at }
    }
}

/// Parses a number as C's printf writes it, with decimal point `.` or, in many locales, `,`: `0.52`, `0,52`, `1e3`.
/// Signs and thousands separators are rejected, since no supported tool prints them.
pub(crate) fn decimal(text: &str) -> Option<f64> {
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | 'e' | 'E' | '+' | '-');
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '.') || !text.chars().all(plain) {
        return None;
    }
    let value: f64 = match text.matches([',', '.']).count() {
        0 => text.parse().ok()?,
        1 => text.replace(',', ".").parse().ok()?,
        _ => return None,
    };
    value.is_finite().then_some(value)
}

/// Parses a number as people write it, with thousands separators and an optional minus: `109,845`, `1,234.5`, `99.8`.
pub(crate) fn grouped(text: &str) -> Option<f64> {
    let (minus, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let value = match digits.split_once('.') {
        Some((whole, _)) if whole.contains(',') => thousands(whole).and(decimal(&digits.replace(',', "")))?,
        None if digits.contains(',') => thousands(digits)?,
        _ => decimal(digits)?,
    };
    Some(if minus { -value } else { value })
}

/// Parses `1,234,567`: groups of three after the first, which may be longer if its own comma was forgotten: `1088,719`.
fn thousands(text: &str) -> Option<f64> {
    let mut groups = text.split(',');
    let first = groups.next()?;
    let digits = |g: &str| g.bytes().all(|b| b.is_ascii_digit());
    let well = (1..=9).contains(&first.len()) && digits(first) && groups.all(|g| g.len() == 3 && digits(g));
    if !well {
        return None;
    }
    text.replace(',', "").parse().ok()
}

/// A number and its attached suffix: `424`, `312.1MB`, `100.00%`.
pub(crate) fn with_suffix(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).unwrap_or(text.len());
    let exponent = exponent(&text[end..]);
    if exponent > 0 {
        let end = end + exponent;
        return Some((decimal(&text[..end])?, &text[end..]));
    }
    // A final comma or point is punctuation.
    let digits = text[..end].trim_end_matches([',', '.']);
    Some((decimal(digits)?, &text[end..]))
}

/// Length of an exponent at the start of a text, as C++ and Go print it: `e-05`, `e+06`; 0 if there is none.
fn exponent(text: &str) -> usize {
    let digits = text.strip_prefix("e-").or_else(|| text.strip_prefix("e+")).unwrap_or("");
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    if (2..=3).contains(&length) {
        2 + length
    } else {
        0
    }
}

/// Nanoseconds per unit of time, by its abbreviation.
pub(crate) fn time_unit(unit: &str) -> Option<f64> {
    Some(match unit {
        "nsec" | "ns" | "nsecs" => 1.0,
        "usec" | "us" | "usecs" | "µs" | "μs" => 1e3,
        "msec" | "ms" | "msecs" => 1e6,
        "sec" | "s" | "secs" | "seconds" | "second" => 1e9,
        _ => return None,
    })
}

/// Bytes per unit of size: `KiB` 1024, `kB` 1000, as in dd and fio 3.
pub(crate) fn size_unit(unit: &str) -> Option<f64> {
    Some(match unit {
        "B" | "bytes" | "byte" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        "KiB" | "kiB" => 1024.0,
        "MiB" => 1048576.0,
        "GiB" => 1073741824.0,
        "TiB" => 1099511627776.0,
        _ => return None,
    })
}

/// Parses a table cell: a plain number is in the column's unit; others have their own unit of time or size, or are a
/// percentage. `12.3k` and `1.5G` are abbreviations: with powers of 1024 for sizes, of 1000 otherwise.
pub(crate) fn quantity(text: &str, factor: f64, unit: Unit) -> Option<(f64, Unit)> {
    let text = text.trim_matches('*');
    if let Some(positive) = text.strip_prefix('-').filter(|t| !t.is_empty()) {
        return quantity(positive, factor, unit).map(|(v, unit)| (-v, unit));
    }
    // In whole numbers a comma separates thousands: `1,045`.
    let whole = matches!(unit, Unit::Count | Unit::Bytes);
    if let Some(value) = grouped(text).filter(|_| whole && text.contains(',')) {
        return Some((value * factor, unit));
    }
    let (value, suffix) = with_suffix(text)?;
    if suffix.is_empty() {
        return Some((value * factor, unit));
    }
    let size = matches!(unit, Unit::Bytes | Unit::BytesPerSecond);
    if suffix == "%" {
        return Some((value / 100.0, Unit::Share));
    }
    let shortened = match suffix {
        "k" | "K" => Some(1),
        "m" | "M" => Some(2),
        "g" | "G" => Some(3),
        "t" | "T" => Some(4),
        _ => None,
    };
    if let Some(power) = shortened {
        let base: f64 = if size { 1024.0 } else { 1000.0 };
        return Some((value * base.powi(power), unit));
    }
    if let Some(ns) = time_unit(suffix).filter(|_| !size) {
        return Some((value * ns, Unit::Nanoseconds));
    }
    let bytes = size_unit(suffix.trim_end_matches("/s"))?;
    Some((
        value * bytes,
        if suffix.ends_with("/s") {
            Unit::BytesPerSecond
        } else if size {
            unit
        } else {
            Unit::Bytes
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_and_people_write_numbers_so() {
        assert_eq!(decimal("0,52"), Some(0.52));
        assert_eq!(decimal("5.06064"), Some(5.06064));
        assert_eq!(decimal("1,234.5"), None);
        assert_eq!(decimal("inf"), None);
        assert_eq!(decimal("1e999"), None);
        assert_eq!(grouped("109,845"), Some(109_845.0));
        assert_eq!(grouped("1,234,567.8"), Some(1_234_567.8));
        assert_eq!(grouped("1,23"), None);
        assert_eq!(grouped("-54.1"), Some(-54.1));
        assert_eq!(with_suffix("312.1MB/s"), Some((312.1, "MB/s")));
        assert_eq!(with_suffix("MB"), None);
        assert_eq!(with_suffix("8.8e-05"), Some((8.8e-5, "")));
        assert_eq!(with_suffix("1.2e+06us,"), Some((1.2e6, "us,")));
        assert_eq!(with_suffix("12e5"), Some((12.0, "e5")));
    }

    #[test]
    fn a_cell_is_in_its_columns_unit_or_says_its_own() {
        assert_eq!(quantity("1.50", 1e6, Unit::Nanoseconds), Some((1.5e6, Unit::Nanoseconds)));
        assert_eq!(quantity("95us", 1e6, Unit::Nanoseconds), Some((95e3, Unit::Nanoseconds)));
        assert_eq!(
            quantity("222.1k", 1024.0, Unit::BytesPerSecond),
            Some((222.1 * 1024.0, Unit::BytesPerSecond))
        );
        assert_eq!(quantity("1.5k", 1.0, Unit::Count), Some((1500.0, Unit::Count)));
        assert_eq!(quantity("12%", 1.0, Unit::Count), Some((0.12, Unit::Share)));
        assert_eq!(quantity("4.0M/s", 1.0, Unit::Bytes), None);
        assert_eq!(quantity("4.0MB/s", 1.0, Unit::Bytes), Some((4e6, Unit::BytesPerSecond)));
        assert_eq!(quantity("1,045", 1.0, Unit::Count), Some((1045.0, Unit::Count)));
        assert_eq!(quantity("1,045", 1.0, Unit::Nanoseconds), Some((1.045, Unit::Nanoseconds)));
        assert_eq!(quantity("-3", 1.0, Unit::Count), Some((-3.0, Unit::Count)));
        assert_eq!(quantity("sda", 1.0, Unit::Count), None);
    }
}
