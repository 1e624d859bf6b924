//! Formats numbers for sentences: readable units, at most three digits. All printed numbers come from here, so a time or a size looks
//! the same on every screen, picture and page.

use crate::{Bytes, Nanos};

/// A time. Examples: `7.5 ms`, `164 ms`, `1.08 s`.
pub fn time(t: Nanos) -> String {
    let ns = t.0 as f64;
    let (value, unit) = match t.0 {
        0..=999 => return format!("{} ns", t.0),
        1_000..=999_949 => (ns / 1e3, "us"),
        999_950..=999_499_999 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", three(value))
}

/// A time in nanoseconds, formatted like [`time`].
pub fn ns(t: u64) -> String {
    time(Nanos(t))
}

/// A size. Examples: `512 B`, `4 KiB`, `1.2 MiB`.
pub fn size(b: Bytes) -> String {
    let n = b.0 as f64;
    match b.0 {
        0..=1023 => format!("{} B", b.0),
        1024..=1_048_575 => format!("{} KiB", three(n / 1024.0)),
        1_048_576..=1_073_741_823 => format!("{} MiB", three(n / 1_048_576.0)),
        _ => format!("{} GiB", three(n / 1_073_741_824.0)),
    }
}

/// A size in bytes, formatted like [`size`].
pub fn bytes(n: u64) -> String {
    size(Bytes(n))
}

/// A part of a whole, 0 to 1, in percent. Examples: `99.9 %`, `0.1 %`, `97 %`.
pub fn percent(share: f64) -> String {
    let p = share * 100.0;
    if p == 0.0 || (10.0..99.0).contains(&p) || p >= 99.95 {
        format!("{p:.0} %")
    } else {
        format!("{p:.1} %")
    }
}

/// A number with separators. Example: `20,779`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(d);
    }
    out
}

/// A number with its noun. Examples: `1 event`, `2,000 events`.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// The possessive of a name: `fio's`, `postgres'`.
pub fn whose(name: &str) -> String {
    match name.ends_with('s') {
        true => format!("{name}'"),
        false => format!("{name}'s"),
    }
}

/// A name as one word of a shell command: `/mnt/data`, `'/mnt/my data'`, `'a'\''b'`. Tasks and folders can have any name, and people
/// paste commands. Control characters, which no quoting makes safe to paste, become question marks: in a pattern each matches one
/// character, elsewhere nothing.
pub fn shell(name: &str) -> String {
    let usual = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@=".contains(c);
    if !name.is_empty() && !name.starts_with('-') && name.chars().all(usual) {
        return name.to_string();
    }
    let plain: String = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    format!("'{}'", plain.replace('\'', r"'\''"))
}

/// A number with at most three digits. Examples: `1.08`, `7.5`, `164`.
pub fn three(v: f64) -> String {
    match v {
        v if v >= 99.95 => format!("{v:.0}"),
        v if v >= 9.995 => decimals(v, 1),
        v => decimals(v, 2),
    }
}

/// A number with at most this many decimals, without trailing zeros. Examples: `0.25`, `10`.
pub fn decimals(v: f64, most: usize) -> String {
    let text = format!("{v:.most$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_word_of_a_shell() {
        assert_eq!(shell("/mnt/data"), "/mnt/data");
        assert_eq!(shell("kworker/u8:1"), "kworker/u8:1");
        assert_eq!(shell("/mnt/my data"), "'/mnt/my data'");
        assert_eq!(shell("a'; reboot; b"), r"'a'\''; reboot; b'");
        assert_eq!(shell("$(reboot)"), "'$(reboot)'");
        assert_eq!(shell("a\nreboot"), "'a?reboot'");
        assert_eq!((shell(""), shell("-rf")), ("''".into(), "'-rf'".into()));
    }

    #[test]
    fn three_digits_and_the_right_unit() {
        let times =
            [0, 999, 1_000, 163_653, 999_949, 7_510_000, 163_653_000, 1_075_514_404, 9_500_000_000_000];
        let told: Vec<_> = times.iter().map(|t| ns(*t)).collect();
        assert_eq!(
            told,
            ["0 ns", "999 ns", "1 us", "164 us", "1000 us", "7.51 ms", "164 ms", "1.08 s", "9500 s"]
        );
        assert_eq!(size(Bytes(4096)), "4 KiB");
        assert_eq!(size(Bytes(1_276_000)), "1.22 MiB");
        assert_eq!(count(20_779), "20,779");
        let counts = [0, 1, 2000].map(|n| counted(n, "event", "events"));
        assert_eq!(counts, ["0 events", "1 event", "2,000 events"]);
        assert_eq!(percent(0.999), "99.9 %");
        assert_eq!(percent(0.97), "97 %");
        let tails = [(10.0, 6), (0.25, 6), (99.9, 4), (1200.0, 0)].map(|(v, most)| decimals(v, most));
        assert_eq!(tails, ["10", "0.25", "99.9", "1200"]);
    }
}
