//! Times of lines in the kernel's log, to decide whether two lines are from about the same time.
//!
//! ```text
//! [86465.733001] blk_update_request: ...                since the machine was started
//! 6,1725650,86465733001,-;blk_update_request: ...       the same in microseconds, of /dev/kmsg
//! [Tue Mar  3 04:05:06 2026] sd 1:0:0:0: ...            dmesg -T
//! Mar  3 04:05:06 db1 kernel: ata2: ...                 syslog; where both stand there, the kernel's own is taken
//! 2026-03-03T04:05:06.123+01:00 db1 kernel: ...         journalctl -o short-iso
//! ```
//!
//! A date without a year matches any year, and all months count as 31 days: the times only serve to tell whether two lines are a few
//! minutes apart. At the end of a month, that may be missed, but a wrong match is impossible.

use super::stamp::MONTHS;
use super::words::{kmsg, unquoted};
use crate::output::run::Run;
use std::collections::{BTreeMap, BTreeSet};

/// Time of a line in seconds, on one of two clocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LogTime {
    /// Since boot.
    SinceBoot(f64),
    /// On the calendar (an arbitrary origin).
    OnDay(f64),
}

/// Format of a line's time: lines with different formats are from different logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogForm {
    /// `[86465.733001]`
    Uptime,
    /// `[Tue Mar  3 04:05:06 2026]`
    Dmesg,
    /// `2026-03-03T04:05:06`
    Iso,
    /// `Mar  3 04:05:06`
    Syslog,
}

/// Times of the lines of the kernel's log in a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LogTimes {
    /// By line number, for lines from which something was read.
    pub(super) lines: BTreeMap<u32, (LogTime, LogForm)>,
    /// Lines at which the clock goes back: another boot or excerpt starts there.
    pub(super) back: Vec<u32>,
    /// Time of the last line that has one.
    pub(super) end: Option<LogTime>,
}

/// Tools whose readings are from the kernel's log.
const TOOLS: [&str; 2] = ["kernel log", "blocked task"];
/// Lines at the end of a text that are searched for a time: other text may follow the log.
const AT_THE_END: usize = 100;
/// Seconds that lines of one boot may be out of order, since people paste an error behind the task that hung on it: retries of a command
/// (`SD_TIMEOUT` and `SD_MAX_RETRIES`, drivers/scsi/sd.h: 180 s) plus 120 s until a hung task is reported.
const OUT_OF_ORDER: f64 = 300.0;
/// Words of a line that are searched for a time.
const LOOKED_AT: usize = 10;

impl LogTime {
    /// Seconds from `other` to this time; `None` if the two are on different clocks.
    pub fn after(self, other: LogTime) -> Option<f64> {
        match (self, other) {
            (LogTime::SinceBoot(a), LogTime::SinceBoot(b)) | (LogTime::OnDay(a), LogTime::OnDay(b)) => {
                Some(a - b)
            }
            _ => None,
        }
    }
}

pub(super) fn of(text: &str, runs: &[Run]) -> LogTimes {
    let readings = runs.iter().flat_map(|run| &run.readings).filter(|r| TOOLS.contains(&r.tool));
    let values = |r: &super::Reading| {
        r.rows.iter().flat_map(|row| row.values.iter().map(|(_, n)| n.at.line)).collect::<Vec<_>>()
    };
    let lines: BTreeSet<u32> = readings.flat_map(|r| values(r).into_iter().chain([r.at.line])).collect();
    if lines.is_empty() {
        return LogTimes::default();
    }
    let mut times = LogTimes::default();
    let mut last: Option<LogTime> = None;
    for (number, line) in (1u32..).zip(text.lines()) {
        let Some(time) = of_line(line) else { continue };
        if last.and_then(|last| time.after(last)).is_some_and(|seconds| seconds < -OUT_OF_ORDER) {
            times.back.push(number);
        }
        last = Some(time);
        if lines.contains(&number) {
            times.lines.insert(number, (time, form(line)));
        }
    }
    times.end = text.lines().rev().take(AT_THE_END).find_map(of_line);
    times
}

fn form(line: &str) -> LogForm {
    let words = || line.split_whitespace().take(LOOKED_AT);
    match () {
        () if matches!(of_line(line), Some(LogTime::SinceBoot(_))) => LogForm::Uptime,
        () if words().any(|w| w.get(..10).and_then(iso).is_some()) => LogForm::Iso,
        () if words().any(|w| w.starts_with('[')) => LogForm::Dmesg,
        () => LogForm::Syslog,
    }
}

pub(super) fn of_line(line: &str) -> Option<LogTime> {
    let kmsg = || Some(LogTime::SinceBoot(kmsg(unquoted(line).0)?.0 as f64 / 1e6));
    since_boot(line).or_else(kmsg).or_else(|| on_day(line))
}

/// Parses `[ 2268.057017]`.
fn since_boot(line: &str) -> Option<LogTime> {
    line.split('[').skip(1).take(2).find_map(|rest| {
        let inner = rest.split_once(']')?.0.trim();
        let (whole, part) = inner.split_once('.')?;
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let seconds = inner.parse().ok().filter(|_| digits(whole) && digits(part))?;
        Some(LogTime::SinceBoot(seconds))
    })
}

fn on_day(line: &str) -> Option<LogTime> {
    let (mut day, mut clock, mut month) = (None, None, None);
    for word in line.split_whitespace().take(LOOKED_AT) {
        let word = word.trim_matches(['[', ']']);
        let (date, time) = word.split_once('T').filter(|(d, _)| d.len() == 10).unwrap_or((word, word));
        day = day.or_else(|| iso(date)).or_else(|| Some(31.0 * month? + number(word, 31.0)?));
        clock = clock.or_else(|| of_day(time));
        month = MONTHS.iter().position(|m| *m == word).map(|m| m as f64);
    }
    Some(LogTime::OnDay(day? * 86_400.0 + clock?))
}

/// Parses `2026-03-05`.
fn iso(date: &str) -> Option<f64> {
    let parts: Vec<&str> = date.split('-').collect();
    let [year, month, day] = parts[..] else { return None };
    (year.len() == 4 && year.parse::<u32>().is_ok()).then_some(())?;
    Some(31.0 * (number(month, 12.0)? - 1.0) + number(day, 31.0)?)
}

/// Parses `04:05:06`, ignoring the rest.
fn of_day(time: &str) -> Option<f64> {
    let parts: Vec<&str> = time.get(..8)?.split(':').collect();
    let [hours, minutes, seconds] = parts[..] else { return None };
    Some(3600.0 * number(hours, 24.0)? + 60.0 * number(minutes, 60.0)? + number(seconds, 61.0)?)
}

/// Parses a number of one or two digits, at most `most`.
fn number(text: &str, most: f64) -> Option<f64> {
    let digits = (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|n| digits && *n <= most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::ToolOutput;
    use evidence::Spot;

    #[test]
    fn two_lines_of_one_clock_are_so_far_apart() {
        let far = |a: &str, b: &str| of_line(b).unwrap().after(of_line(a).unwrap());
        assert_eq!(far("[86465.5] sd", "<3>[86540.75][ T3721] INFO: task"), Some(75.25));
        assert_eq!(far("[Tue Mar  3 04:05:06 2026] sd", "[Tue Mar  3 04:06:06 2026] INFO:"), Some(60.0));
        assert_eq!(far("Mar  3 23:59:50 db1 kernel: sd", "Mar  4 00:00:10 db1 kernel: sd"), Some(20.0));
        assert_eq!(far("> 6,17,86465500000,-;sd", "4,19,86540750000,-,caller=T1;INFO:"), Some(75.25));
        let iso = ["2026-03-03T04:05:06.1+01:00 h kernel: sd", "2026-03-03 04:05:16 h kernel: sd"];
        assert_eq!(far(iso[0], iso[1]), Some(10.0));
        // The kernel's own time is used; it is unrelated to the calendar's.
        let both = "Mar  3 04:05:06 db1 kernel: [86465.5] sd";
        assert_eq!(of_line(both), Some(LogTime::SinceBoot(86465.5)));
        assert_eq!(far(both, "Mar  3 04:05:06 db1 kernel: sd"), None);
    }

    #[test]
    fn a_line_without_a_time_has_none() {
        for line in [
            "sd 1:0:0:0: [sdb] tag#3",
            "INFO: task a:1",
            "[ T12] x",
            "Mar is 04:05",
            "12:34:56 sda",
            "[1.x] y",
            "",
        ] {
            assert_eq!(of_line(line), None, "{line}");
        }
    }

    #[test]
    fn lines_that_were_read_have_their_times() {
        let text = "Hello [1.5]\n\n> [ 14.0] I/O error, dev sdb, sector 8\n> [ 140.0] INFO: task a:7 blocked for more than 120 seconds.\n";
        let output = ToolOutput::read("dmesg", text.as_bytes());
        let of = |line| output.log_time(Spot { line, column: 0 });
        assert_eq!(
            [of(1), of(3), of(4)],
            [None, Some(LogTime::SinceBoot(14.0)), Some(LogTime::SinceBoot(140.0))]
        );
        let goes_on = |line| output.log_goes_on(Spot { line, column: 0 });
        assert_eq!([goes_on(1), goes_on(3), goes_on(4)], [None, Some(126.0), Some(0.0)]);
    }

    #[test]
    fn where_the_clock_goes_back_another_boot_begins() {
        let error = |(at, disk): (&str, &str)| format!("{at} I/O error, dev {disk}, sector 8\n");
        let all = [("[ 9000.5]", "sda"), ("[ 9400.5]", "sdb"), ("[ 14.5]", "sdc"), ("[ 94.5]", "sdd")];
        let text = all.map(error).concat();
        let output = ToolOutput::read("dmesg", text.as_bytes());
        let at = |line| Spot { line, column: 0 };
        assert_eq!([1, 2, 3].map(|line| output.log_goes_on(at(line))), [None, None, Some(80.0)]);
        assert_eq!(output.log_between(at(1), at(2)), Some(400.0));
        assert_eq!(output.log_between(at(2), at(3)), None);
        assert_eq!(output.log_between(at(4), at(1)), None);
    }

    #[test]
    fn times_have_their_forms() {
        for (line, expected) in [
            ("> [86465.5] sd", LogForm::Uptime),
            ("Mar  3 04:05:06 db1 kernel: [86465.5] sd", LogForm::Uptime),
            ("[Tue Mar  3 04:05:06 2026] sd", LogForm::Dmesg),
            ("Mar  3 04:05:06 db1 kernel: sd", LogForm::Syslog),
            ("2026-03-03T04:05:06.1+01:00 h kernel: sd", LogForm::Iso),
        ] {
            assert_eq!(form(line), expected, "{line}");
        }
    }
}
