//! Recognises the time that a loop or `ts` prints before each line of a tool: `iostat -x 1 | while read l; do echo "$(date) $l"; done`.
//!
//! ```text
//! Wed Nov 25 01:02:03 UTC 2026 sda 1.00       Nov 25 01:02:03 sda 1.00       [2026-11-25 01:02:03] sda 1.00
//! Wed 25 Nov 2026 01:02:03 AM UTC sda 1.00    1764032523.125 sda 1.00
//! ```
//!
//! A date and time as one or two words (`2026-11-25 01:02:03`) are left to the tables' readers, and logs of servers begin with them.

/// Abbreviations of months in `date` and the kernel.
pub(super) const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Kinds of words in the output of `date`.
#[derive(Clone, Copy)]
enum Part {
    Weekday,
    Month,
    Day,
    Clock,
    /// `AM` or `PM`, which not every locale has.
    Half,
    /// `UTC`, `+01`.
    Zone,
    Year,
}

use Part::*;
/// Sequences of parts; a longer one comes before its prefixes.
const FORMS: [&[Part]; 3] = [
    &[Weekday, Month, Day, Clock, Half, Zone, Year],
    &[Weekday, Day, Month, Year, Clock, Half, Zone],
    &[Month, Day, Clock],
];
/// Limit on letters of a time zone.
const LONGEST_ZONE: usize = 5;

/// Length in bytes of a time at the start of a line, including the blank after it.
pub(super) fn length(body: &str) -> Option<usize> {
    let length = bracketed(body).or_else(|| since_1970(body)).or_else(|| dated(body))?;
    let rest = &body[length..];
    let blank = usize::from(rest.starts_with([' ', '\t']));
    ((blank > 0 || rest.is_empty()) && !is_log(rest)).then_some(length + blank)
}

/// Parses `[2026-11-25 01:02:03]` or `[01:02:03]`.
fn bracketed(body: &str) -> Option<usize> {
    let inner = body.strip_prefix('[')?;
    let end = inner.bytes().take(32).position(|b| b == b']')?;
    let last = inner[..end].split([' ', 'T']).next_back()?;
    let first = inner[..end].split([' ', 'T']).next()?;
    let date = first.len() == 10 && first.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b'/');
    (is_clock(last) && (date || first == last)).then_some(end + 2)
}

/// Parses `1764032523` or `1764032523.125`: `date +%s.%N`, `ts %.s`.
fn since_1970(body: &str) -> Option<usize> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    (digits(body) == 10 && body.starts_with(|c| ('1'..='4').contains(&c))).then_some(())?;
    let places = body[10..].strip_prefix('.').map_or(0, |rest| 1 + digits(rest));
    (places != 1 && places <= 10).then_some(())?;
    // strace and tracers print the same times; there, a call or a number follows.
    let word = body[10 + places..].trim_start();
    let plain = word.starts_with(|c: char| c.is_alphabetic()) && !body.contains('(');
    (plain || word.is_empty()).then_some(10 + places)
}

fn dated(body: &str) -> Option<usize> {
    FORMS.iter().find_map(|form| {
        let mut at = 0;
        for part in *form {
            let rest = &body[at..];
            let from = at + rest.len() - rest.trim_start_matches(' ').len();
            let word = body[from..].split([' ', '\t']).next()?;
            match part {
                // Optional parts.
                Half | Zone if !is_part(*part, word) => {}
                _ => {
                    is_part(*part, word).then_some(())?;
                    at = from + word.len();
                }
            }
        }
        Some(at)
    })
}

fn is_part(part: Part, word: &str) -> bool {
    let number = |range: std::ops::RangeInclusive<u32>| word.parse().is_ok_and(|n| range.contains(&n));
    match part {
        Weekday => DAYS.contains(&word),
        Month => MONTHS.contains(&word),
        Day => word.len() <= 2 && number(1..=31),
        Clock => is_clock(word),
        Half => ["AM", "PM"].contains(&word),
        Zone => {
            let letters =
                (3..=LONGEST_ZONE).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_uppercase());
            letters || word.starts_with(['+', '-']) && (3..=6).contains(&word.len())
        }
        Year => word.len() == 4 && number(1990..=2200),
    }
}

/// Whether a word is a time, `01:02:03`, optionally with a fraction.
fn is_clock(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 8
        && bytes[..8]
            .iter()
            .enumerate()
            .all(|(i, b)| if i % 3 == 2 { *b == b':' } else { b.is_ascii_digit() })
        && bytes[8..].iter().all(|b| b.is_ascii_digit() || [b'.', b',', b'Z', b'+', b':'].contains(b))
}

/// Whether a line is from the system's log (`host kernel:`, `host postgres[77]:`), whose readers need the whole line.
fn is_log(rest: &str) -> bool {
    rest.split_whitespace().nth(1).is_some_and(|word| word.ends_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(line: &str) -> Option<&str> {
        length(line).map(|at| &line[at..])
    }

    #[test]
    fn times_of_loops_are_told_with_the_blank_behind_them() {
        for time in [
            "Wed Nov 25 01:02:03 UTC 2026",
            "Wed Nov  5 01:02:03 2026",
            "Wed Nov 25 01:02:03 AM UTC 2026",
            "Wed 25 Nov 2026 01:02:03 AM UTC",
            "Wed 25 Nov 2026 01:02:03",
            "Nov 25 01:02:03",
            "[2026-11-25 01:02:03]",
            "[2026-11-25T01:02:03.123Z]",
            "[01:02:03]",
            "1764032523.125",
            "1764032523",
        ] {
            assert_eq!(rest(&format!("{time} sda  1.00")), Some("sda  1.00"), "{time}");
            assert_eq!(rest(time), Some(""), "{time}");
        }
    }

    #[test]
    fn what_readers_know_with_its_time_keeps_it() {
        for line in [
            "Nov 25 01:02:03 host kernel: sda: broken",
            "[Wed Nov 25 01:02:03 2026] sd 2:0:0:0: [sdb] offline",
            "1764032523.125 fsync(3) = 0 <0.1>",
            "1764032523.125 4162 8,0 Q",
            "17640325231 sda 1.00",
            "1764032523. sda 1.00",
            "2026-11-25 01:02:03 UTC [12] LOG: slow",
            "[ 1s ] thds: 4",
            "01:02:03 sda 1.00",
            "Mon or Tue 25 times",
        ] {
            assert_eq!(rest(line), None, "{line}");
        }
    }
}
