//! Reads `sar -u` and mpstat (sysstat): time of the processors, in total and each, a row per interval.
//!
//! ```text
//! 12:00:01 AM     CPU     %user     %nice   %system   %iowait    %steal     %idle
//! 12:10:01 AM     all      5.23      0.00      1.20     10.30      0.00     83.27
//! 01:02:03 PM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle      mpstat; sar -u ALL: %steal behind %iowait
//! Average:     all      5.23      0.00      1.20     10.30      0.00     83.27
//! ```
//!
//! A processor that waits for I/O is idle, so `%iowait` shows neither that I/O is slow nor which task waits for it.
//!
//! **Versions**: sysstat 12.6.1 run, 12.7 by its tests.

use super::reader::{Found, Tool};
use super::table::{self, Cell, Column};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Processors;

const fn percent(name: &'static str) -> Cell {
    Cell::Number(name, 0.01, Unit::Share)
}
const COLUMNS: [Column; 13] = [
    ("CPU", Cell::Word),
    ("%user", percent("user")),
    ("%usr", percent("user")),
    ("%nice", percent("nice")),
    ("%system", percent("system")),
    ("%sys", percent("system")),
    ("%iowait", percent("iowait")),
    ("%steal", percent("steal")),
    ("%irq", percent("irq")),
    ("%soft", percent("softirq")),
    ("%guest", percent("guest")),
    ("%gnice", percent("guest nice")),
    ("%idle", percent("idle")),
];
/// Tolerance for the sum of up to ten percentages, each rounded to two decimal places, or to whole ones with `--dec=0`.
const ROUNDED: f64 = 0.055;
/// Limit on words of a time before a row.
const MOST_TIMES: usize = 3;
/// Marks the average that sysstat prints at the end; it is used only if there are no other rows.
const AVERAGE: &str = "average";

impl Tool for Processors {
    fn read(&self, words: &[Word]) -> Option<Found> {
        (words.first()?.text == "CPU" && words.get(1)?.text.starts_with("%us")).then_some(())?;
        let (columns, heading) = table::heading(words, &COLUMNS);
        table::has(&columns, &["%iowait", "%idle"]).then_some(())?;
        let follows =
            |column: &str| columns.windows(2).any(|two| two[0].0 == "%iowait" && two[1].0 == column);
        let tool = if follows("%irq") { "mpstat" } else { "sar -u" };
        let reading = Reading { tool, at: words[0].spot, ..Reading::default() };
        let ends = |w: &Word| w.text == "CPU" || w.text.starts_with('%');
        let mut found =
            table::gather(reading, words, heading, table::MOST_ROWS, ends, |rest| row(rest, &columns))?;
        let reading = found.reading.as_mut()?;
        let averages = reading.rows.iter().filter(|row| row.of.starts_with(AVERAGE)).count();
        if averages < reading.rows.len() {
            reading.rows.retain(|row| !row.of.starts_with(AVERAGE));
        }
        Some(found)
    }
}

/// Parses a row with its time. The percentages must add up to 100; otherwise a heading or a number was lost.
fn row(words: &[Word], columns: &[Column]) -> Option<(Row, usize)> {
    // Tools that ask several hosts (pdsh, clush) put the host before each line: `node8: 12:10:01 all`.
    let host = words.first().is_some_and(|w| w.first && w.text.ends_with(':') && !table::is_time(w.text));
    let host = usize::from(host && words.get(1).is_some_and(|w| table::is_time(w.text)));
    let times = words[host..].iter().take(MOST_TIMES).take_while(|w| table::is_time(w.text)).count();
    let average = words[host..host + times].iter().any(|w| table::is_average(w.text));
    let times = host + times;
    let (line, length) = table::row(&words[times..], columns)?;
    let of = match line.first().text {
        "all" => "cpu".to_owned(),
        number => format!("cpu {}", number.parse::<u16>().ok()?),
    };
    let row = line.row(if average { format!("{AVERAGE} {of}") } else { of });
    let sum: f64 = row.values.iter().map(|(_, n)| n.value).sum();
    ((sum - 1.0).abs() <= ROUNDED).then_some((row, times + length))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    const SAR: &str = "12:00:01 AM     CPU     %user     %nice   %system   %iowait    %steal     %idle\n\
        12:10:01 AM     all      5.25      0.00      1.25     10.50      0.00     83.00\n\
        12:20:01 AM     all      2.00      0.00      1.00     97.00      0.00      0.00\n\
        Average:        all      3.50      0.00      1.25     53.25      0.00     42.00\n";

    #[test]
    fn each_interval_has_a_row_and_the_average_is_none() {
        let reading = one(SAR, "sar -u");
        let told: Vec<_> = reading.rows.iter().map(|r| (r.of.as_str(), r.value("iowait"))).collect();
        assert_eq!(told, [("cpu", Some(0.105)), ("cpu", Some(0.97))]);
        let alone: String = SAR
            .lines()
            .filter(|line| !line.starts_with("12:10") && !line.starts_with("12:20"))
            .map(|l| format!("{l}\n"))
            .collect();
        assert_eq!(one(&alone, "sar -u").rows[0].of, "average cpu");
    }

    #[test]
    fn mpstat_and_sar_of_all_have_their_own_order() {
        let mpstat = "13:02:03     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n\
            13:02:04     all    1.00    0.00    2.00   30.00    0.50    0.25    4.00    0.00    0.00   62.25\n\
            13:02:04       0    0.00    0.00    0.00  100.00    0.00    0.00    0.00    0.00    0.00    0.00\n";
        let reading = one(mpstat, "mpstat");
        assert_eq!((reading.rows[0].value("steal"), reading.rows[0].value("irq")), (Some(0.04), Some(0.005)));
        assert_eq!((reading.rows[1].of.as_str(), reading.rows[1].value("iowait")), ("cpu 0", Some(1.0)));
        let sar = mpstat.replace("   %irq   %soft  %steal", "%steal    %irq   %soft");
        assert_eq!(one(&sar, "sar -u").rows[0].value("softirq"), Some(0.04));
    }

    #[test]
    fn the_host_may_stand_before_each_line() {
        let mpstat = "node8: 13:02:03     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n\
            node8: 13:02:04     all    1.00    0.00    2.00   30.00    0.50    0.25    4.00    0.00    0.00   62.25\n\
            node8: 13:02:05     all    1.00    0.00    2.00   40.00    0.50    0.25    4.00    0.00    0.00   52.25\n";
        let reading = one(mpstat, "mpstat");
        assert_eq!((reading.rows.len(), reading.rows[1].value("iowait")), (2, Some(0.4)));
        let other = mpstat.replace("node8: 13:02:05", "then: after");
        assert_eq!(one(&other, "mpstat").rows.len(), 1);
    }

    /// A row without one of its numbers is left out.
    #[test]
    fn parts_that_make_no_whole_are_left_out() {
        let text = SAR.replace("10.50      0.00", "10.50").replace("97.00", "7.00");
        assert_eq!(one(&text, "sar -u").rows[0].of, "average cpu");
        assert!(all("CPU %user %nice are high, %iowait %idle too\n", "sar -u").is_empty());
    }
}
