//! Reads pidstat -d (sysstat): rates of reads and writes per task, and the delay that these cause.
//!
//! ```text
//! 12:53:20      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command
//! 12:53:21     1000      8741     28.50     31.74      4.81    1146  firefox
//! Average:     1000      8741     28.50     31.74      4.81    1146  firefox
//! # Time        UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command                 -h, and with -H seconds since 1970
//! 1795569383      0     26773      0.00    629.70      0.00       0  rustc
//! # Time  UID   PID  %usr %system %guest %CPU CPU minflt/s majflt/s VSZ RSS %MEM kB_rd/s kB_wr/s kB_ccwr/s cswch/s nvcswch/s Command     -durwh
//! ```
//!
//! `iodelay` is in clock ticks of 1/100 second. With `-t` there are TGID and TID in place of PID. With `-h` the columns of
//! all other options are on the same line; only reads, writes and the delay are kept.
//!
//! **Versions**: sysstat 10.0 to 12.7 (`pidstat.c`), `iodelay` from 11 on; 12.6.1 run.

use super::reader::{Found, Tool};
use super::table::{self, Cell, Column};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Pidstat;

const KIB: f64 = 1024.0;
/// Nanoseconds per clock tick, from `USER_HZ` (include/asm-generic/param.h).
const TICK: f64 = 1e7;
/// A column that is not kept.
const OTHER: Cell = Cell::Number("", 1.0, Unit::Unstated);
const COLUMNS: [Column; 33] = [
    ("Time", Cell::Time),
    ("UID", Cell::Whole),
    ("USER", Cell::Word),
    ("PID", Cell::Whole),
    ("TGID", Cell::Whole),
    ("TID", Cell::Whole),
    ("kB_rd/s", Cell::Number("rbytes/s", KIB, Unit::BytesPerSecond)),
    ("kB_wr/s", Cell::Number("wbytes/s", KIB, Unit::BytesPerSecond)),
    ("kB_ccwr/s", Cell::Number("cancelled/s", KIB, Unit::BytesPerSecond)),
    ("iodelay", Cell::Number("delayed", TICK, Unit::Nanoseconds)),
    // Columns of -u, -r, -s, -v, -R, -w.
    ("%usr", OTHER),
    ("%user", OTHER),
    ("%system", OTHER),
    ("%guest", OTHER),
    ("%wait", OTHER),
    ("%CPU", OTHER),
    ("CPU", OTHER),
    ("minflt/s", OTHER),
    ("majflt/s", OTHER),
    ("VSZ", OTHER),
    ("RSS", OTHER),
    ("%MEM", OTHER),
    ("StkSize", OTHER),
    ("StkRef", OTHER),
    ("threads", OTHER),
    ("fd-nr", OTHER),
    ("prio", OTHER),
    ("policy", Cell::Word),
    ("usr-ms", OTHER),
    ("system-ms", OTHER),
    ("cswch/s", OTHER),
    ("nvcswch/s", OTHER),
    ("Command", Cell::Command),
];

impl Tool for Pidstat {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let mark = usize::from(words.first()?.text == "#" && words.get(1)?.text == "Time");
        if mark == 0 && !["UID", "USER", "PID"].contains(&words[0].text) {
            return None;
        }
        let (columns, heading) = table::heading(&words[mark..], &COLUMNS);
        table::has(&columns, &["kB_rd/s", "kB_wr/s", "Command"]).then_some(())?;
        let all = table::rows(&words[mark + heading..], &columns);
        let row = |line: &table::Line| {
            let id = line
                .text("PID")
                .or_else(|| line.text("TID").filter(|t| t != "-"))
                .or_else(|| line.text("TGID"));
            let command = line.text("Command").unwrap_or_default();
            let mut row =
                Row::of(format!("{} ({})", command.trim_start_matches('|'), id.unwrap_or_default()));
            // A negative rate means that it could not be read.
            let known = line.numbers().filter(|(name, n)| !name.is_empty() && n.value >= 0.0);
            known.for_each(|(name, n)| row.values.put(name, n.value, n.unit, n.at));
            row
        };
        // A time in the column of the user id means that a number after it was lost.
        let timed = |line: &&table::Line| line.text("UID").is_some_and(|uid| table::is_time(&uid));
        let rows: Vec<Row> = all.lines.iter().filter(|line| !timed(line)).map(row).collect();
        let used = mark + heading + all.used;
        let reading = Reading { tool: "pidstat", rows, at: words[0].spot, ..Reading::default() };
        let unknown = all.unknown + (all.lines.len() - reading.rows.len()) * columns.len();
        (!reading.rows.is_empty()).then_some(Found { reading: Some(reading), used, unknown })
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::one;

    #[test]
    fn rows_have_their_command_and_times_are_aside() {
        let text = "12:53:20 AM   UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n\
            12:53:21 AM     0      8407     -1.00     28.80      0.01      58  gnome-terminal-\n\
            12:53:21 AM  1000      8741     28.50     31.74      4.81    1146  Web Content\n\
            Average:     1000      8741     28.50     31.74      4.81    1146  Web Content\n";
        let reading = one(text, "pidstat");
        let names: Vec<&str> = reading.rows.iter().map(|r| r.of.as_str()).collect();
        assert_eq!(names, ["gnome-terminal- (8407)", "Web Content (8741)", "Web Content (8741)"]);
        assert_eq!(
            (reading.rows[0].get("rbytes/s"), reading.rows[1].value("delayed")),
            (None, Some(11.46e9))
        );
    }

    /// `-h` has one heading and a time in each row, `-H` seconds since 1970.
    #[test]
    fn times_of_all_kinds_stand_before_the_rows() {
        let rows = |time: &str| {
            format!("{time}        0      2803      1.50     28.25      0.00       7  bash\n{time}        0     26773      0.00    660.00      0.00       0  rustc\n")
        };
        let columns = "UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n";
        for (head, time) in [
            ("# Time        ", "01:16:24"),
            ("# Time        ", "01:16:24 PM"),
            ("# Time        ", "1795569383"),
            ("1795569382        ", "1795569383"),
        ] {
            let reading = one(&format!("{head}{columns}{}", rows(time)), "pidstat");
            let told: Vec<_> = reading.rows.iter().map(|r| (r.of.as_str(), r.value("wbytes/s"))).collect();
            assert_eq!(
                told,
                [("bash (2803)", Some(28.25 * 1024.0)), ("rustc (26773)", Some(660.0 * 1024.0))],
                "{time}"
            );
        }
    }

    /// With `-h` the columns of other options are on the same line, before and after those of `-d`.
    #[test]
    fn columns_of_other_options_are_passed_over() {
        let text = "#      Time   UID       PID    %usr %system  %guest   %wait    %CPU   CPU  minflt/s  majflt/s     VSZ     RSS   %MEM StkSize  StkRef   kB_rd/s   kB_wr/s kB_ccwr/s iodelay threads   fd-nr   cswch/s nvcswch/s  Command\n \
             1795569383     0         1    0.00    0.25    0.00    0.00    0.25     6      0.28      0.00   54292    2696   0.01     132      16     -1.00     -1.00     -1.00      -1       1      12      0.25      0.00  /lib/systemd/systemd --system 24\n \
             1795569383  1000      8741   10.00    2.50    0.00    0.50   12.50     3      4.00      0.00  854292  102696   1.01     132      16     28.50     31.75      4.25      58      61      99    100.25      7.00  firefox\n";
        let reading = one(text, "pidstat");
        let [first, second] = &reading.rows[..] else { panic!("{:?}", reading.rows) };
        assert_eq!(
            (first.of.as_str(), first.values.is_empty()),
            ("/lib/systemd/systemd --system 24 (1)", true)
        );
        let of = |name| second.value(name);
        assert_eq!(second.of, "firefox (8741)");
        assert_eq!(
            [of("rbytes/s"), of("wbytes/s"), of("cancelled/s"), of("delayed")],
            [Some(28.5 * 1024.0), Some(31.75 * 1024.0), Some(4.25 * 1024.0), Some(580e6)]
        );
        assert_eq!(second.values.iter().count(), 4);
    }

    /// A row that lost a number is left out, and its numbers are counted as left out.
    #[test]
    fn rows_that_are_left_out_are_counted() {
        let head = "12:53:20 UID PID kB_rd/s kB_wr/s kB_ccwr/s iodelay Command\n";
        let row = "12:53:21 1000 8741 28.50 31.75 4.81 1146 firefox\n";
        for lost in ["28.50 ", "4.81 ", "1146 "] {
            let text = format!("{head}{row}{}{row}", row.replace(lost, ""));
            let output = crate::output::ToolOutput::read("text", text.as_bytes());
            let rows = &output.runs[0].readings[0].rows;
            assert_eq!((rows.len(), rows[1].value("wbytes/s")), (2, Some(31.75 * 1024.0)), "{lost}");
            assert_eq!(output.left_out, 5, "{lost}: user, process and three numbers");
            assert_eq!(output.first_left_out.map(|at| at.line), Some(3), "{lost}");
        }
        let epoch = format!("{head}{row}{}", row.replace("12:53:21", "1795569383").replace("31.75 ", ""));
        assert_eq!(one(&epoch, "pidstat").rows.len(), 1);
    }

    #[test]
    fn commands_that_a_mailer_broke_are_whole() {
        let text = "12:53:20 AM   UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n\
            12:53:21 AM     0      8407      1.00     28.80      0.01      58  a_long_name_that_is\nanother one\n\
            12:53:21 AM  1000      8741     28.50     31.74      4.81    1146  Web Content\nAverage:     1000      8741     28.50     31.74      4.81    1146  Web Content\n";
        let reading = one(text, "pidstat");
        let names: Vec<&str> = reading.rows.iter().map(|r| r.of.as_str()).collect();
        assert_eq!(
            names,
            ["a_long_name_that_is another one (8407)", "Web Content (8741)", "Web Content (8741)"]
        );
    }
}
