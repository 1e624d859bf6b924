//! Finds numbers in the text of an event: `prev_pid=12`, `dev 7,0 ino 12`, `(3, 55d3, 1000)`.

use units::DevId;

/// The value after `name=`, up to the next blank or comma.
pub fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = text;
    loop {
        let at = rest.find(name)?;
        let behind = &rest[at + name.len()..];
        let begins = at == 0 || rest[..at].ends_with([' ', ',', '(']);
        if let Some(value) = behind.strip_prefix('=').filter(|_| begins) {
            return Some(value.split([' ', ',']).next().unwrap_or(""));
        }
        rest = behind;
    }
}

/// The word after the word `name`: `12` in `ino 12`.
pub fn after<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut words = text.split_whitespace();
    words.find(|w| *w == name)?;
    words.next().map(|w| w.trim_end_matches([',', ':']))
}

/// Parses a number, decimal or hexadecimal with `0x`.
pub fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Parses a device, `7,0` or `7:0`.
pub fn device(text: &str) -> Option<DevId> {
    let (major, minor) = text.split_once(',').or_else(|| text.split_once(':'))?;
    let (major, minor): (u32, u32) = (major.parse().ok()?, minor.trim_end_matches(':').parse().ok()?);
    (major < 1 << 12 && minor < 1 << 20).then(|| DevId::new(major, minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole_words() {
        assert_eq!(value("prev_pid=1 pid=2", "pid"), Some("2"));
        assert_eq!(after("dev 7,0 ino 12 size", "ino"), Some("12"));
        assert_eq!((number("0x10"), number("10"), number("x")), (Some(16), Some(10), None));
        assert_eq!(device("8,1"), Some(DevId::new(8, 1)));
    }
}
