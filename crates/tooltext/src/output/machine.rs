//! Finds the machine that a text is from: iostat's first line, `uname -a`.
//!
//! ```text
//! Linux 4.15.0-20-generic (db7)  11/20/26  _x86_64_  (48 CPU)
//! Linux db7 4.15.0-20-generic #21-Ubuntu SMP
//! ```

use super::words::Word;
use evidence::Spot;
use serde::Serialize;

/// A machine named in a text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machine {
    /// Release of its kernel: `4.15.0-20-generic`.
    pub kernel: String,
    /// Its host name, if given.
    pub host: Option<String>,
    /// Its place in the text.
    pub at: Spot,
}

/// Limit on machines of a text.
const MOST: usize = 16;

/// The machines named in a text, without duplicates.
pub(crate) fn machines(words: &[Word]) -> Vec<Machine> {
    let mut all: Vec<Machine> = vec![];
    for (i, word) in words.iter().enumerate().filter(|(_, w)| w.text == "Linux") {
        let next = |n: usize| words.get(i + n).map(|w| w.text);
        let found = match (next(1), next(2)) {
            (Some(kernel), host) if is_version(kernel) => {
                let host = host.and_then(|h| h.strip_prefix('(')?.strip_suffix(')'));
                Some((kernel, host))
            }
            (Some(host), Some(kernel))
                if is_version(kernel) && next(3).is_some_and(|w| w.starts_with('#')) =>
            {
                Some((kernel, Some(host)))
            }
            _ => None,
        };
        let Some((kernel, host)) = found else { continue };
        if all.len() < MOST && !all.iter().any(|m| m.kernel == kernel && m.host.as_deref() == host) {
            all.push(Machine { kernel: kernel.into(), host: host.map(str::to_owned), at: word.spot });
        }
    }
    all
}

/// Whether a word is a kernel release: `6.1.0-50-amd64`, `4.15.0`; `5.1` alone may be a number.
fn is_version(text: &str) -> bool {
    let mut parts = text.split('.');
    let number = |p: Option<&str>| p.is_some_and(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()));
    number(parts.next())
        && number(parts.next())
        && parts.next().is_some_and(|p| p.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::super::words::words;
    use super::*;

    #[test]
    fn iostat_and_uname_name_a_machine_and_prose_does_not() {
        let of = |text: &str| machines(&words(text));
        let iostat = of("Linux 4.15.0-20-generic (db7)  11/20/26 _x86_64_ (48 CPU)");
        assert_eq!(
            (iostat[0].kernel.as_str(), iostat[0].host.as_deref()),
            ("4.15.0-20-generic", Some("db7"))
        );
        let uname = of("> Linux db7 4.15.0-20-generic #21-Ubuntu SMP");
        assert_eq!((uname[0].kernel.as_str(), uname[0].host.as_deref()), ("4.15.0-20-generic", Some("db7")));
        assert!(of("since Linux 5.1 it is faster than Linux was").is_empty());
    }
}
