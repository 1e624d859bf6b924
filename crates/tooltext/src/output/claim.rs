//! Statements of the author in prose: rates, sizes of requests, divisions. They are quoted as the author's, and divisions are
//! recalculated.
//!
//! ```text
//! Buffered writes: ~80-110 reads/s during writeback flush        80 to 110 reads/s
//! 2.84/995.07 = 2.8 ms/sector (host)                             it is 0.00285
//! ```

use super::number::{grouped, size_unit, time_unit, with_suffix, Unit};
use super::words::Word;
use evidence::Spot;
use serde::Serialize;

/// A number that the author states in prose.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Claim {
    /// What the number measures, in the author's words: `reads/s`, `request size`.
    pub of: String,
    /// The lower bound.
    pub from: f64,
    /// The upper bound; equal to the lower bound if the author gives one number.
    pub to: f64,
    /// The unit of both.
    pub unit: Unit,
    /// Its place in the text.
    pub at: Spot,
    /// The words around it, for a quotation.
    pub words: String,
}

/// A division in the author's text: `2.84/995.07 = 2.8 ms/sector`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sum {
    /// The dividend.
    pub dividend: f64,
    /// The divisor.
    pub divisor: f64,
    /// The result as the author states it.
    pub quotient: f64,
    /// The author's unit; may be empty.
    pub unit: String,
    /// Its place in the text.
    pub at: Spot,
}

/// Words quoted on each side of a claim.
const AROUND: usize = 5;
/// Limit on claims and on divisions: a document with more is no mail.
const MOST: usize = 1000;

/// Finds claims in consecutive words that no tool printed.
pub(crate) fn claims(prose: &[Word], into: &mut Vec<Claim>) {
    for i in 0..prose.len() {
        if into.len() >= MOST {
            return;
        }
        let found = rate(&prose[i..]).or_else(|| size(&prose[i..], prose.get(..i).unwrap_or(&[])));
        let Some((of, from, to, unit, length)) = found else { continue };
        let around = &prose[i.saturating_sub(AROUND)..(i + length + AROUND).min(prose.len())];
        let words = around.iter().map(|w| w.text).collect::<Vec<_>>().join(" ");
        into.push(Claim { of, from, to, unit, at: prose[i].spot, words });
    }
}

/// Parses a rate: `~80-110 reads/s`, `**58MB/s**`.
fn rate(words: &[Word]) -> Option<(String, f64, f64, Unit, usize)> {
    let text = trimmed(words.first()?.text);
    let (from, to, suffix) = range(text)?;
    // The unit is the next word, or attached to the number.
    let (unit, length) = match suffix {
        "" => (trimmed(words.get(1)?.text), 2),
        suffix => (suffix, 1),
    };
    let what = unit.strip_suffix("/s").or_else(|| unit.strip_suffix("/sec"))?;
    if ["reads", "writes", "IOs", "ops", "requests", "fsyncs"].contains(&what) {
        return Some((unit.to_owned(), from, to, Unit::PerSecond, length));
    }
    let bytes = size_unit(what)?;
    Some((unit.to_owned(), from * bytes, to * bytes, Unit::BytesPerSecond, length))
}

/// Parses a size: `1MB request size`, `request size of 256KB`.
fn size(words: &[Word], before: &[Word]) -> Option<(String, f64, f64, Unit, usize)> {
    let (value, suffix) = with_suffix(trimmed(words.first()?.text))?;
    // Sizes of requests are powers of two, whatever the spelling.
    let bytes = match suffix {
        "KB" | "kB" | "KiB" | "k" | "K" => 1024.0,
        "MB" | "MiB" | "M" => 1048576.0,
        _ => return None,
    };
    let same = |words: &[Word], wanted: [&str; 2]| {
        words.len() == 2 && wanted.iter().zip(words).all(|(a, w)| trimmed(w.text) == *a)
    };
    let after = same(words.get(1..3).unwrap_or(&[]), ["request", "size"]);
    let last = |n: usize, of: usize| before.len().checked_sub(of).and_then(|from| before.get(from..from + n));
    let ahead = last(2, 3).is_some_and(|w| same(w, ["request", "size"]))
        && before.last().is_some_and(|w| w.text == "of" || w.text == "is");
    if !after && !ahead {
        return None;
    }
    let optimal = before.iter().rev().take(6).any(|w| w.text.eq_ignore_ascii_case("optimal"));
    let of = if optimal { "optimal request size" } else { "request size" };
    Some((of.into(), value * bytes, value * bytes, Unit::Bytes, if after { 3 } else { 1 }))
}

/// Removes emphasis, `~` (about) and punctuation from a number.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| "*_~(),;:\"'".contains(c)).trim_end_matches('.')
}

/// Parses a number or a range, followed by a suffix: `80-110`, `13000`, `58MB/s`.
fn range(text: &str) -> Option<(f64, f64, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || "-.,".contains(c))).unwrap_or(text.len());
    let (digits, suffix) = text.split_at(end);
    let (from, to) = match digits.split_once('-') {
        Some((from, to)) => (grouped(from)?, grouped(to)?),
        None => (grouped(digits)?, grouped(digits)?),
    };
    (from <= to).then_some((from, to, suffix))
}

/// Finds divisions in consecutive words that no tool printed.
pub(crate) fn sums(prose: &[Word], into: &mut Vec<Sum>) {
    for i in 0..prose.len() {
        if into.len() < MOST {
            into.extend(sum(&prose[i..]));
        }
    }
}

fn sum(words: &[Word]) -> Option<Sum> {
    let (dividend, divisor, mut at) = match words.first()?.text.split_once('/') {
        Some((a, b)) => (a, b, 1),
        None if words.get(1)?.text == "/" => (words[0].text, words.get(2)?.text, 3),
        None => return None,
    };
    let (dividend, divisor) = (grouped(dividend)?, grouped(divisor)?);
    (words.get(at)?.text == "=").then_some(())?;
    at += 1;
    let quotient = grouped(trimmed(words.get(at)?.text))?;
    // TeX in slides: `\text{ ms/sector (host)}`.
    let unit = words[at + 1..].iter().map(|w| w.text.trim_start_matches("\\text{")).find(|t| !t.is_empty());
    let unit = unit.filter(|u| time_unit(u.split('/').next().unwrap_or("")).is_some()).unwrap_or("");
    (divisor != 0.0).then(|| Sum { dividend, divisor, quotient, unit: unit.to_owned(), at: words[0].spot })
}

impl Sum {
    /// The correct quotient.
    pub fn exact(&self) -> f64 {
        self.dividend / self.divisor
    }

    /// By how many powers of a thousand the author's unit is wrong: 1 if the quotient is a thousand times the correct one, 0 if it is
    /// correct, `None` if it is wrong otherwise. A quotient within 5 % is correct.
    pub fn thousands_off(&self) -> Option<i32> {
        let ratio = self.quotient / self.exact();
        let off = (ratio.log10() / 3.0).round() as i32;
        ((ratio / 1000f64.powi(off) - 1.0).abs() < 0.05).then_some(off)
    }
}
