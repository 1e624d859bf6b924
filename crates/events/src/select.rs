//! Filters events by kind (`-a`, `-A`) and by time (`-w`).

use trace::{Flags, Nanos};

/// Why a filter was refused, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelectError(String);

/// Kinds of events (blktrace's categories). An event matches if it belongs to any of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mask {
    /// `None` matches everything, including events without a category.
    categories: Option<Flags>,
}

/// The names of the categories in blkparse and blktrace.
const CATEGORIES: [(&str, Flags); 16] = [
    ("read", Flags::READ),
    ("write", Flags::WRITE),
    ("flush", Flags::FLUSH),
    ("sync", Flags::SYNC),
    ("queue", Flags::QUEUE),
    ("requeue", Flags::REQUEUE),
    ("issue", Flags::ISSUE),
    ("complete", Flags::COMPLETE),
    ("fs", Flags::FS),
    ("pc", Flags::PASSTHROUGH),
    ("notify", Flags::NOTE),
    ("ahead", Flags::AHEAD),
    ("meta", Flags::META),
    ("discard", Flags::DISCARD),
    ("drv_data", Flags::DRIVER_DATA),
    ("fua", Flags::FUA),
];

impl Mask {
    /// Parses names of categories, in upper or lower case, separated by commas.
    ///
    /// `read,sync` matches every event that is a read or that a task waits for.
    pub fn of_names(names: &str) -> Result<Mask, SelectError> {
        let mut mask = Mask::default();
        for name in names.split(',') {
            let found = CATEGORIES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name.trim()));
            let Some((_, flags)) = found else {
                let known: Vec<&str> = CATEGORIES.iter().map(|c| c.0).collect();
                return Err(SelectError(format!(
                    "`{name}` is not a kind of event; known are {}",
                    known.join(", ")
                )));
            };
            mask = mask.or(Mask { categories: Some(*flags) });
        }
        Ok(mask)
    }

    /// Parses a hexadecimal number, with or without `0x`: bit 0 is read, bit 1 write, ... in the order
    /// of `BLK_TC_*`.
    pub fn of_hex(text: &str) -> Result<Mask, SelectError> {
        let digits = text.trim_start_matches("0x").trim_start_matches("0X");
        match u32::from_str_radix(digits, 16) {
            Ok(bits) if bits != 0 && !digits.starts_with('+') => Ok(Mask { categories: Some(Flags(bits)) }),
            _ => Err(SelectError(format!(
                "`{text}` is not a mask: give a hexadecimal number other than 0, such as 3 for reads and writes"
            ))),
        }
    }

    /// Matches what either mask matches; but a mask that matches everything adds nothing.
    pub fn or(self, other: Mask) -> Mask {
        match (self.categories, other.categories) {
            (Some(a), Some(b)) => Mask { categories: Some(a.with(b)) },
            (a, b) => Mask { categories: a.or(b) },
        }
    }

    /// Whether an event with these flags matches.
    #[inline]
    pub fn takes(self, flags: Flags) -> bool {
        self.categories.is_none_or(|c| c.0 & flags.0 != 0)
    }
}

/// A span of time since the first event; both ends are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The start of the span.
    pub start: Nanos,
    /// The end of the span.
    pub end: Nanos,
}

impl Default for Window {
    fn default() -> Window {
        Window { start: Nanos(0), end: Nanos(u64::MAX) }
    }
}

impl Window {
    /// Parses `END`, `START:END` or `START:` (to the end), in seconds (up to nine decimals) or with a unit: `ns`, `us`, `ms`, `s`.
    pub fn parse(text: &str) -> Result<Window, SelectError> {
        let all = Window::default();
        let window = match text.split_once(':') {
            None => Window { end: moment(text)?, ..all },
            Some((start, "")) => Window { start: moment(start)?, ..all },
            Some((start, end)) => Window { start: moment(start)?, end: moment(end)? },
        };
        if window.start >= window.end {
            return Err(SelectError(format!("`{text}` ends before it begins")));
        }
        Ok(window)
    }

    /// Whether a time since the first event is in the span.
    #[inline]
    pub fn holds(self, time: Nanos) -> bool {
        self.start <= time && time <= self.end
    }
}

/// Parses a number with a unit (default: seconds), such as `1.5` or `1500ms`. It uses integers, so that `0.000000001` is exact.
fn moment(text: &str) -> Result<Nanos, SelectError> {
    let bad =
        || SelectError(format!("`{text}` is not a time: give seconds (1.5) or a unit (1500ms, us, ns)"));
    let units = [("ns", 0), ("us", 3), ("ms", 6), ("s", 9), ("", 9)];
    let (number, power) =
        units.iter().find_map(|(unit, power)| Some((text.strip_suffix(unit)?, *power))).ok_or_else(bad)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let only_digits = |s: &str| s.bytes().all(|c| c.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !only_digits(whole) || !only_digits(fraction) {
        return Err(bad());
    }
    if fraction.len() > power {
        return Err(SelectError(format!("`{text}` is finer than a nanosecond")));
    }
    let digits = format!("{whole}{fraction:0<power$}");
    digits.parse().map(Nanos).map_err(|_| bad())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows() {
        let w = |s, e| Ok(Window { start: Nanos(s), end: Nanos(e) });
        assert_eq!(Window::parse("1"), w(0, 1_000_000_000));
        assert_eq!(Window::parse("0.5:1.5"), w(500_000_000, 1_500_000_000));
        assert_eq!(Window::parse("0.000000001:0.000000002"), w(1, 2));
        assert_eq!(Window::parse("10ms:20.5ms"), w(10_000_000, 20_500_000));
        assert_eq!(Window::parse("3ns:4us"), w(3, 4000));
        assert_eq!(Window::parse("3ns:"), w(3, u64::MAX));
        for bad in ["", ":", "x", "1:x", "2:1", "3:3", "-1", "1.5ns", ".", "+1", "1e3", "99999999999999"] {
            assert!(Window::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(Window::parse("1s").unwrap(), Window::parse("1").unwrap());
    }

    #[test]
    fn masks_take_events_of_any_of_their_kinds() {
        assert!(Mask::default().takes(Flags(0)));
        let m = Mask::of_names("READ,sync").unwrap();
        assert!(m.takes(Flags::READ) && m.takes(Flags::WRITE.with(Flags::SYNC)));
        assert!(!m.takes(Flags::WRITE.with(Flags::QUEUE)) && !m.takes(Flags(0)));
        assert_eq!(Mask::of_hex("0x9").unwrap(), m);
        assert_eq!(Mask::default().or(Mask::of_hex("1").unwrap()).or(Mask::of_hex("8").unwrap()), m);
        for bad in ["", "0", "zz", "-1", "+1", "100000000"] {
            assert!(Mask::of_hex(bad).is_err(), "{bad}");
        }
        let said = Mask::of_names("reads").unwrap_err().to_string();
        assert!(said.starts_with("`reads` is not a kind of event; known are read, write"), "{said}");
    }
}
