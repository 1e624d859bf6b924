//! Numbers as people say them.

/// `340 us`, `12.1 ms`, `1.40 s`.
pub fn time(ns: u64) -> String {
    let (value, unit) = match ns {
        0..=999 => return format!("{ns} ns"),
        1_000..=999_999 => (ns as f64 / 1e3, "us"),
        1_000_000..=999_999_999 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    format!("{} {unit}", three(value))
}

/// `64 MiB`, `1.50 GiB`.
pub fn bytes(n: u64) -> String {
    let (value, unit) = match n {
        0..=1023 => return format!("{n} bytes"),
        1024..=1_048_575 => (n as f64 / 1024.0, "KiB"),
        1_048_576..=1_073_741_823 => (n as f64 / 1_048_576.0, "MiB"),
        _ => (n as f64 / 1_073_741_824.0, "GiB"),
    };
    format!("{} {unit}", three(value))
}

/// Three digits.
pub fn three(value: f64) -> String {
    match value {
        v if v >= 99.95 => format!("{v:.0}"),
        v if v >= 9.995 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn as_people_say() {
        assert_eq!(super::time(999), "999 ns");
        assert_eq!(super::time(340_000), "340 us");
        assert_eq!(super::time(12_100_000), "12.1 ms");
        assert_eq!(super::time(1_400_000_000), "1.40 s");
        assert_eq!(super::bytes(64 << 20), "64.0 MiB");
    }
}
