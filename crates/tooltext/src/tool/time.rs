//! The shell's `time` and GNU's: how long a command took, and how much of it on processors.
//!
//! ```text
//! real    1m26.740s        bash: minutes and seconds        real 86.74        POSIX: seconds
//! user    0m0.123s                                          user 0.12
//! sys     0m4.567s                                          sys 4.56
//! 0.51user 12.03system 3:12.34elapsed 6%CPU (0avgtext+0avgdata 2048maxresident)k          GNU
//! ```

use super::{texts, Found, Tool};
use crate::mail::number::{decimal, Unit};
use crate::mail::reading::{Reading, Row};
use crate::mail::words::Word;

pub struct Time;

impl Tool for Time {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if words.first()?.text != "real" {
            return gnu(words);
        }
        let ["real", real, "user", user, "sys", sys] = texts(words)? else { return None };
        let mut row = Row::of("command");
        for (i, (name, text)) in [("real", real), ("user", user), ("system", sys)].into_iter().enumerate() {
            row.values.put(name, seconds(text)? * 1e9, Unit::Nanoseconds, words[2 * i + 1].spot);
        }
        Found::all(Reading { tool: "time", rows: vec![row], at: words[0].spot, ..Reading::default() }, 6)
    }
}

fn gnu(words: &[Word]) -> Option<Found> {
    let user = decimal(words.first()?.text.strip_suffix("user")?)?;
    let system = decimal(words.get(1)?.text.strip_suffix("system")?)?;
    let elapsed = words.get(2)?.text.strip_suffix("elapsed")?;
    // Hours, minutes, seconds; without hours where there are none.
    let parts: Option<Vec<f64>> = elapsed.split(':').map(decimal).collect();
    let real = parts.filter(|p| p.len() <= 3)?.into_iter().fold(0.0, |sum, part| sum * 60.0 + part);
    let mut row = Row::of("command");
    for (i, name, seconds) in [(2, "real", real), (0, "user", user), (1, "system", system)] {
        row.values.put(name, seconds * 1e9, Unit::Nanoseconds, words[i].spot);
    }
    let reading = Reading { tool: "time", rows: vec![row], at: words[0].spot, ..Reading::default() };
    let share = words.get(3).is_some_and(|w| w.text.ends_with("%CPU"));
    Found::all(reading, 3 + usize::from(share))
}

/// `1m26.740s`, `86.74`, `1m26,740s`.
fn seconds(text: &str) -> Option<f64> {
    match text.strip_suffix('s').and_then(|t| t.split_once('m')) {
        Some((minutes, seconds)) => Some(minutes.parse::<u32>().ok()? as f64 * 60.0 + decimal(seconds)?),
        None => decimal(text.strip_suffix('s').unwrap_or(text)),
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn both_forms_are_the_same_time() {
        for text in [
            "real    1m26.500s\nuser    0m0.120s\nsys     0m4.500s\n",
            "real 86.5\nuser 0.12\nsys 4.5\n",
            "0.12user 4.50system 1:26.50elapsed 6%CPU (0avgtext+0avgdata 2048maxresident)k\n",
        ] {
            let row = &one(text, "time").rows[0];
            assert_eq!((row.value("real"), row.value("system")), (Some(86.5e9), Some(4.5e9)));
        }
        assert!(all("the real thing, user 1 sys 2", "time").is_empty());
    }
}
