//! Parses questions about a recording from the command line.

use std::ops::Range;
use std::str::FromStr;

/// Settings as pairs of sysfs name and value.
pub type Set = Vec<(String, String)>;

/// One argument of `--set`.
#[derive(Clone, Debug)]
pub enum Word {
    /// A setting: its name in sysfs and its value.
    Set(String, String),
    /// Separates alternatives.
    Or,
}

impl FromStr for Word {
    type Err = String;

    fn from_str(text: &str) -> Result<Word, String> {
        match text {
            "or" => Ok(Word::Or),
            text => assignment(text).map(|(key, value)| Word::Set(key, value)),
        }
    }
}

/// Parses `NAME=VALUE`.
pub fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() && !value.is_empty() => {
            Ok((key.trim().into(), value.trim().into()))
        }
        _ => Err("NAME=VALUE, as read_expire=200".into()),
    }
}

/// The alternatives, each as a set. One empty set if there are no words; none if one side of an `or` is empty.
pub fn alternatives(words: &[Word]) -> Vec<Set> {
    let mut all = vec![Set::new()];
    for word in words {
        match word {
            Word::Set(key, value) => {
                all.last_mut().into_iter().for_each(|set| set.push((key.clone(), value.clone())))
            }
            Word::Or => all.push(Set::new()),
        }
    }
    match all.len() > 1 && all.iter().any(Vec::is_empty) {
        true => vec![],
        false => all,
    }
}

/// `NAME=FROM..TO`: a range of values for one setting.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The setting's name in sysfs.
    pub key: String,
    from: u64,
    to: u64,
}

/// Number of values that a sweep tries.
const SWEPT: usize = 8;

impl FromStr for Sweep {
    type Err = String;

    fn from_str(text: &str) -> Result<Sweep, String> {
        let wrong = || "NAME=FROM..TO, as read_expire=50..1000".to_string();
        let (key, range) = text.split_once('=').ok_or_else(wrong)?;
        let (from, to) = range.split_once("..").ok_or_else(wrong)?;
        let (from, to) = (from.parse().map_err(|_| wrong())?, to.parse().map_err(|_| wrong())?);
        match from < to {
            true => Ok(Sweep { key: key.into(), from, to }),
            false => Err(format!("{from} is not less than {to}")),
        }
    }
}

impl Sweep {
    /// Rising values over the range including both ends, at about equal ratios.
    pub fn values(&self) -> Vec<u64> {
        let low = self.from.max(1) as f64;
        let step = (self.to as f64 / low).powf(1.0 / (SWEPT - 1) as f64);
        let within = |i: usize| ((low * step.powi(i as i32)).round() as u64).clamp(self.from, self.to);
        let mut all: Vec<u64> = (0..SWEPT).map(within).collect();
        (all[0], all[SWEPT - 1]) = (self.from, self.to);
        all.dedup();
        all
    }
}

/// Parses `FROM-TO` in seconds since the first event; returns nanoseconds.
pub fn stretch(text: &str) -> Result<Range<u64>, String> {
    let wrong = || "FROM-TO in seconds, as 12.3-12.9".to_string();
    let (from, to) = text.split_once('-').ok_or_else(wrong)?;
    let nanos = |s: &str| s.trim().parse::<f64>().ok().filter(|s| s.is_finite()).map(|s| (s * 1e9) as u64);
    let (from, to) = (nanos(from).ok_or_else(wrong)?, nanos(to).ok_or_else(wrong)?);
    (from < to).then_some(from..to).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_are_what_stands_between_or() {
        let of = |text: &str| {
            let words: Vec<Word> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
            alternatives(&words).iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(of(""), [0]);
        assert_eq!(of("a=1 b=2 or a=3"), [2, 1]);
        assert!(["or", "a=1 or", "or a=1", "a=1 or or b=2"].iter().all(|text| of(text).is_empty()));
        assert!("a".parse::<Word>().is_err() && "=1".parse::<Word>().is_err());
    }

    #[test]
    fn a_sweep_has_both_ends_and_rises() {
        let of = |text: &str| text.parse::<Sweep>().map(|sweep| sweep.values());
        assert_eq!(of("read_expire=50..1000").unwrap(), [50, 77, 118, 181, 277, 425, 652, 1000]);
        assert_eq!(of("writes_starved=0..3").unwrap(), [0, 1, 2, 3]);
        assert_eq!(of("nr_requests=18446744073709551614..18446744073709551615").unwrap().len(), 2);
        assert!(of("fifo_batch=4..4").is_err() && of("fifo_batch=4").is_err() && of("4..5").is_err());
    }

    #[test]
    fn a_stretch_has_a_length() {
        assert_eq!(stretch("1-1.5"), Ok(1_000_000_000..1_500_000_000));
        assert!(["", "1", "2-1", "1-1", "nan-inf", "a-b"].iter().all(|text| stretch(text).is_err()));
    }
}
