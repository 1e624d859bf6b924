//! Reads `time` of shells and GNU time: elapsed time of a command, and its time on processors.
//!
//! ```text
//! real    1m26.740s        bash: minutes and seconds        real 86.74        POSIX: seconds
//! user    0m0.123s                                          user 0.12
//! sys     0m4.567s                                          sys 4.56
//! real    0m1.533s                                          alone, as `grep real` leaves it: minutes and seconds only
//! real    1m 26.74s                                         BusyBox, all three lines
//! dd if=a of=b  0.51s user 12.03s system 6% cpu 3:12.34 total                               zsh
//! 0.51user 12.03system 3:12.34elapsed 6%CPU (0avgtext+0avgdata 2048maxresident)k          GNU
//! Elapsed (wall clock) time (h:mm:ss or m:ss): 3:12.34                                      its -v
//! ```
//!
//! **Versions**: bash 5.2, dash 0.5, BusyBox 1.35 and GNU time 1.9 run; zsh 5.9 by its source.

use super::reader::{texts, Found, Tool};
use crate::output::number::{decimal, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Time;

impl Tool for Time {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if words.first()?.text != "real" {
            return gnu(words).or_else(|| zsh(words));
        }
        if let Some(found) = busybox(words) {
            return Some(found);
        }
        let Some(["real", real, "user", user, "sys", sys]) = texts(words) else { return alone(words) };
        let [real, user, system] = [real, user, sys].map(seconds);
        told(words, [(1, "real", real?), (3, "user", user?), (5, "system", system?)], 6)
    }
}

/// Parses `real 0m1.533s` if the other two lines are missing or elsewhere.
fn alone(words: &[Word]) -> Option<Found> {
    let ["real", real] = texts(words)? else { return None };
    let shells = words[0].first && real.ends_with('s') && real.contains('m');
    told(words, [(1, "real", seconds(real).filter(|_| shells)?)], 2)
}

/// Parses BusyBox: `real    1m 26.74s`, with hours `1h 02m 03s`.
fn busybox(words: &[Word]) -> Option<Found> {
    let mut used = 0;
    let mut next = |name: &str| {
        let from = used + 1;
        (words.get(used)?.text == name).then_some(())?;
        let hours = words.get(from)?.text.ends_with('h');
        let parts = words.get(from..from + if hours { 3 } else { 2 })?;
        let units = if hours { &['h', 'm', 's'][..] } else { &['m', 's'] };
        let sum = parts
            .iter()
            .zip(units)
            .try_fold(0.0, |sum, (w, unit)| Some(sum * 60.0 + decimal(w.text.strip_suffix(*unit)?)?))?;
        used = from + parts.len();
        Some((from, sum))
    };
    let [real, user, system] = ["real", "user", "sys"].map(&mut next);
    let times = [(real?, "real"), (user?, "user"), (system?, "system")];
    told(words, times.map(|((at, seconds), name)| (at, name, seconds)), used)
}

fn gnu(words: &[Word]) -> Option<Found> {
    if words.first()?.text == "User" {
        return verbose(words);
    }
    let user = decimal(words.first()?.text.strip_suffix("user")?)?;
    let system = decimal(words.get(1)?.text.strip_suffix("system")?)?;
    let real = clock(words.get(2)?.text.strip_suffix("elapsed")?)?;
    let share = words.get(3).is_some_and(|w| w.text.ends_with("%CPU"));
    told(words, [(2, "real", real), (0, "user", user), (1, "system", system)], 3 + usize::from(share))
}

/// Parses GNU's `-v`.
fn verbose(words: &[Word]) -> Option<Found> {
    let all: [&str; 23] = texts(words)?;
    let said: Vec<&str> =
        all.iter().enumerate().filter(|(i, _)| ![3, 7, 14, 22].contains(i)).map(|(_, w)| *w).collect();
    (said.join(" ") == VERBOSE).then_some(())?;
    let times =
        [(22, "real", clock(all[22])?), (3, "user", decimal(all[3])?), (7, "system", decimal(all[7])?)];
    told(words, times, all.len())
}

/// The words of its first lines, without the values.
const VERBOSE: &str = "User time (seconds): System time (seconds): Percent of CPU this job got: Elapsed (wall clock) time (h:mm:ss or m:ss):";

fn zsh(words: &[Word]) -> Option<Found> {
    let [user, "user", system, "system", _, "cpu", total, "total"] = texts(words)? else { return None };
    let [user, system] = [user, system].map(|text| decimal(text.strip_suffix('s')?));
    told(words, [(6, "real", clock(total)?), (0, "user", user?), (2, "system", system?)], 8)
}

/// A reading of times: for each, the index of its word, its name, and its seconds.
fn told<const N: usize>(
    words: &[Word],
    times: [(usize, &'static str, f64); N],
    used: usize,
) -> Option<Found> {
    let mut row = Row::of("command");
    for (i, name, seconds) in times {
        row.values.put(name, seconds * 1e9, Unit::Nanoseconds, words[i].spot);
    }
    Found::all(Reading { tool: "time", rows: vec![row], at: words[0].spot, ..Reading::default() }, used)
}

/// Parses hours, minutes and seconds; hours may be missing.
fn clock(text: &str) -> Option<f64> {
    let parts: Option<Vec<f64>> = text.split(':').map(decimal).collect();
    Some(parts.filter(|p| p.len() <= 3)?.into_iter().fold(0.0, |sum, part| sum * 60.0 + part))
}

/// Parses `1m26.740s`, `86.74`, `1m26,740s`.
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
    fn the_line_of_the_whole_may_stand_alone() {
        let text = "for i in 0 1 2; do { time ./x; } 2>&1 | grep real; done\nreal\t0m1.5s\nreal\t1m2.25s\n  real    0m15.375s\n\nThat is long.\n\n  user    0m0.000s\n  sys     0m9.727s\n";
        let told: Vec<_> = all(text, "time").iter().map(|r| r.rows[0].value("real")).collect();
        assert_eq!(told, [Some(1.5e9), Some(62.25e9), Some(15.375e9)]);
        for prose in ["real 5 of them", "real 3ms", "in real 0m3s that is nothing", "real ms"] {
            assert!(all(prose, "time").is_empty(), "{prose}");
        }
    }

    #[test]
    fn both_forms_are_the_same_time() {
        for text in [
            "real    1m26.500s\nuser    0m0.120s\nsys     0m4.500s\n",
            "real 86.5\nuser 0.12\nsys 4.5\n",
            "real\t1m 26.50s\nuser\t0m 0.12s\nsys\t0m 4.50s\n",
            "0.12user 4.50system 1:26.50elapsed 6%CPU (0avgtext+0avgdata 2048maxresident)k\n",
            "\tUser time (seconds): 0.12\n\tSystem time (seconds): 4.50\n\tPercent of CPU this job got: 5%\n\
             \tElapsed (wall clock) time (h:mm:ss or m:ss): 1:26.50\n",
            "dd if=a of=b bs=1M  0.12s user 4.50s system 5% cpu 1:26.50 total\n",
        ] {
            let row = &one(text, "time").rows[0];
            assert_eq!((row.value("real"), row.value("system")), (Some(86.5e9), Some(4.5e9)));
        }
        let long = one("real 1h 01m 26s\nuser 0m 0.50s\nsys 0m 4.50s\n", "time");
        assert_eq!(long.rows[0].value("real"), Some(3_686e9));
        assert!(all("the real thing, user 1 sys 2", "time").is_empty());
    }
}
