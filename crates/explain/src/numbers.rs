//! Formats the numbers of texts for people.

use tooltext::{Number, Unit};
use trace::Bytes;
use units::words::{count, ns, size};

/// Formats a number for a table; `-` if there is none. Example: `12.5 ms`.
pub fn cell(n: Option<Number>) -> String {
    let Some(n) = n else { return "-".into() };
    let whole = n.value.max(0.0) as u64;
    match n.unit {
        Unit::Nanoseconds => ns(whole),
        Unit::Bytes => size(Bytes(whole)),
        Unit::BytesPerSecond => format!("{}/s", size(Bytes(whole))),
        Unit::PerSecond if n.value < 99.95 => trimmed(n.value),
        Unit::PerSecond => count(n.value.round() as u64),
        Unit::Share => format!("{} %", trimmed(n.value * 100.0)),
        Unit::Count | Unit::Unstated if n.value.fract() == 0.0 => count(whole),
        Unit::Count | Unit::Unstated => trimmed(n.value),
    }
}

fn trimmed(value: f64) -> String {
    let text = if value.abs() >= 99.95 { format!("{value:.0}") } else { format!("{value:.1}") };
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// Like [`cell`], for a number without a place in a text.
pub fn shown(value: f64, unit: Unit) -> String {
    cell(Some(Number { value, unit, at: Default::default() }))
}
