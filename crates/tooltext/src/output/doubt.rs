//! Finds impossible numbers, such as a mean longer than the whole run, or a disk busy for 147 % of the time. They are reported, but
//! not used.
//!
//! Example: fio 2 on some hosts printed `avg=756538000000.10` microseconds of a run that took 30 s. That is nine days.

use super::number::{Number, Unit};
use super::reading::{Reading, Row};
use evidence::Spot;
use serde::Serialize;

/// An impossible number.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Doubt {
    /// The row that it is from: `fio read`.
    pub of: String,
    /// The name of the number: `clat.mean`.
    pub name: String,
    /// The number as read.
    pub number: Number,
    /// The reason, in words.
    pub why: String,
}

/// Limit on parts of a whole, with room for rounding and clocks: iostat divides two counters that are read one after the other
/// (`compute_ext_disk_stats`, sysstat's rd_stats.c), which yields 102 % and, on short intervals, a little more.
const MOST_OF_WHOLE: f64 = 1.1;
/// Limit on one operation, in lengths of the run: fio waits for operations in flight when the time is over.
const LONGEST_OPERATION: f64 = 10.0;
/// Names of mean waits in iostat and sar, and a limit (nanoseconds) above any real one: if one of two 64-bit counters wrapped,
/// the difference is 2^64 ns or ms.
const WAITS: [&str; 6] = ["await", "r_await", "w_await", "d_await", "f_await", "svctm"];
const LONGEST_WAIT: f64 = 86_400e9;
/// Limit on a queue: more requests than any device's queues have tags for (`BLK_MQ_MAX_DEPTH`, 10240, times 64 queues).
const DEEPEST: f64 = 655_360.0;
/// Limit on reported doubts.
pub(super) const MOST: usize = 1000;

/// Values of a distribution in rising order.
const RISING: [&str; 4] = ["min", "p50", "p99", "max"];

/// Removes the impossible numbers from a reading, and returns them.
pub(super) fn taken_out(reading: &mut Reading) -> Vec<Doubt> {
    let tool = reading.tool;
    let mut all = vec![];
    for row in &mut reading.rows {
        let mut found = doubts(row);
        if tool == "fio" {
            let line = of_their_lines(row, &found);
            found.extend(line);
            let percentiles = percentiles(row, &found);
            found.extend(percentiles);
            let ends = at_the_end(row, &found);
            found.extend(ends);
        }
        for (name, why) in found {
            if let Some(number) = row.values.take(&name) {
                all.push(Doubt { of: format!("{tool} {}", row.of), name, number, why });
            }
        }
    }
    all
}

/// The other numbers of fio's lines with an impossible number: the values in `clat (msec): min=, max=, avg=, stdev=` are from one count.
fn of_their_lines(row: &Row, known: &[(String, String)]) -> Vec<(String, String)> {
    let lines: Vec<(&str, Spot)> =
        known.iter().filter_map(|(name, _)| Some((name.rsplit_once('.')?.0, row.get(name)?.at))).collect();
    let others = row.values.iter().filter(|(name, n)| {
        let new = !known.iter().any(|(other, _)| other == name);
        new && lines.iter().any(|(kind, at)| *at == n.at && name.starts_with(kind))
    });
    let why = || "another number of its line cannot be".to_owned();
    others.map(|(name, _)| (name.to_owned(), why())).collect()
}

/// The percentiles of distributions whose mean, minimum or maximum cannot be: they are from the same times, on lines of their own.
fn percentiles(row: &Row, known: &[(String, String)]) -> Vec<(String, String)> {
    let known = |name: &str| known.iter().any(|(other, _)| other == name);
    let all = row.values.iter().filter(|(name, _)| {
        let of_doubtful = name.rsplit_once(".p").is_some_and(|(kind, rank)| {
            let is_rank = rank.starts_with(|c: char| c.is_ascii_digit());
            is_rank && ["mean", "min", "max"].iter().any(|what| known(&format!("{kind}.{what}")))
        });
        of_doubtful && !known(name)
    });
    let why = || "the mean or an extreme of the same times cannot be".to_owned();
    all.map(|(name, _)| (name.to_owned(), why())).collect()
}

/// Where fio's histogram ends, in nanoseconds: 2^34, as the middle of its last bucket (stat.h, `FIO_IO_U_PLAT_GROUP_NR`). All that takes longer
/// is counted there.
const END: std::ops::RangeInclusive<f64> = 17.0e9..=17.2e9;

/// Percentiles that are only the end of the histogram: the maximum is beyond.
fn at_the_end(row: &Row, known: &[(String, String)]) -> Vec<(String, String)> {
    let all = row.values.iter().filter(|(name, n)| {
        let kind = name.rsplit_once(".p").filter(|(_, rank)| rank.starts_with(|c: char| c.is_ascii_digit()));
        let most = kind.and_then(|(kind, _)| row.value(&format!("{kind}.max")));
        let new = !known.iter().any(|(other, _)| other == name);
        new && END.contains(&n.value) && most.is_some_and(|most| most > *END.end())
    });
    let why = || "fio's histogram ends there: it is that or more".to_owned();
    all.map(|(name, _)| (name.to_owned(), why())).collect()
}

/// The names of the impossible numbers in a row, each with the reason.
fn doubts(row: &Row) -> Vec<(String, String)> {
    let runtime = row.value("runtime").filter(|ns| *ns > 0.0);
    let mut all: Vec<(String, String)> = vec![];
    for (name, number) in row.values.iter() {
        let why = match number.unit {
            Unit::Share if (name == "util" || is_share_of_time(name)) && number.value > MOST_OF_WHOLE => {
                Some("a device is not busy for longer than the time that passes".to_owned())
            }
            Unit::Share if MERGED.contains(&name) && number.value > MOST_OF_WHOLE => {
                Some("no more requests are merged than there are".to_owned())
            }
            // Differences are shares, and may be negative.
            _ if !matches!(number.unit, Unit::Unstated | Unit::Share) && number.value < 0.0 => {
                Some("it is less than nothing".to_owned())
            }
            Unit::Nanoseconds if WAITS.contains(&name) && number.value > LONGEST_WAIT => {
                Some("no request takes days: its counter ran over".to_owned())
            }
            _ if name == "queue" && number.value > DEEPEST => {
                Some("no device holds so many: its counter ran over".to_owned())
            }
            Unit::Nanoseconds if name != "runtime" => too_long(name, number.value, runtime),
            _ => None,
        };
        all.extend(why.map(|why| (name.to_owned(), why)));
    }
    let more = falling(row, &all);
    all.extend(more);
    all
}

/// Merged requests, as parts of all requests.
const MERGED: [&str; 4] = ["%rqm", "%rrqm", "%wrqm", "%drqm"];

fn is_share_of_time(name: &str) -> bool {
    ["user", "system", "iowait", "idle", "steal", "nice"].contains(&name)
}

/// A reason if a latency is too long for the run.
fn too_long(name: &str, ns: f64, runtime: Option<f64>) -> Option<String> {
    let runtime = runtime?;
    let (_, what) = name.rsplit_once('.')?;
    let most = match what {
        "mean" | "p50" => runtime,
        "max" | "stdev" => LONGEST_OPERATION * runtime,
        _ => return None,
    };
    (ns > most).then(|| format!("the run took {:.0} s", runtime / 1e9))
}

/// Numbers of a distribution that are not in order; all are in doubt, unless one of them is already known to be impossible.
fn falling(row: &Row, known: &[(String, String)]) -> Vec<(String, String)> {
    let mut all = vec![];
    let known_of = |kind: &str, what: &str| {
        let name = format!("{kind}.{what}");
        row.value(&name).filter(|_| !known.iter().any(|(out, _)| *out == name))
    };
    // A part of a latency takes no longer than the whole.
    if let Some(most) = known_of("lat", "max") {
        let longer = ["clat", "slat"]
            .into_iter()
            .filter(|part| known_of(part, "mean").is_some_and(|mean| mean > most * (1.0 + ROUNDED)));
        let why = || "the whole latency is never so long".to_owned();
        all.extend(longer.flat_map(|part| ["mean", "stdev"].map(|what| (format!("{part}.{what}"), why()))));
    }
    for kind in ["clat", "lat", "slat", "sync"] {
        let get = |what: &str| known_of(kind, what);
        let (least, most) = (get("min"), get("max"));
        let mean = get("mean");
        let out = mean.zip(least).is_some_and(|(mean, least)| mean < least * (1.0 - ROUNDED))
            || mean.zip(most).is_some_and(|(mean, most)| mean > most * (1.0 + ROUNDED));
        if out || least.zip(most).is_some_and(|(least, most)| least > most) {
            let why = || "least, mean and most are not in this order".to_owned();
            all.extend(RISING.iter().chain(&["mean"]).map(|what| (format!("{kind}.{what}"), why())));
        }
    }
    all
}

/// Tolerance, since tools round each number separately: fio prints three digits of a maximum (`max=1.2K`).
const ROUNDED: f64 = 0.1;

impl Doubt {
    /// Its place in the text.
    pub fn at(&self) -> Spot {
        self.number.at
    }
}

#[cfg(test)]
mod tests {
    use crate::output::ToolOutput;

    fn read(text: &str) -> ToolOutput {
        ToolOutput::read("text", text.as_bytes())
    }

    #[test]
    fn a_mean_longer_than_its_run_is_named_and_not_used() {
        let output = read(
            "r: (groupid=0, jobs=1): err= 0: pid=1: Mon Jan  1 00:00:00 2015\n\
             read : io=1024.0MB, bw=34952KB/s, iops=8738, runt= 30000msec\n\
             clat (usec): min=40, max=18446744073709, avg=756538000000.10, stdev=119.00\n",
        );
        let row = output.runs[0].readings[0].row("read").unwrap();
        assert_eq!((row.get("clat.mean"), row.get("clat.max")), (None, None));
        assert_eq!(row.value("iops"), Some(8738.0));
        let names: Vec<&str> = output.doubts.iter().map(|d| d.name.as_str()).collect();
        assert!(names.contains(&"clat.mean") && names.contains(&"clat.max"), "{names:?}");
        assert!(output.doubts[0].why.contains("the run took 30 s"));
        // The others in its line are from the same count.
        assert_eq!((row.get("clat.min"), row.get("clat.stdev")), (None, None));
    }

    #[test]
    fn counters_that_ran_over_and_parts_longer_than_the_whole_are_named() {
        let output =
            read("Device r/s w/s await aqu-sz %util\nsda 1.00 2.00 18446744073709.55 4294967.30 50.00\n");
        let names: Vec<&str> = output.doubts.iter().map(|d| d.name.as_str()).collect();
        assert_eq!(names, ["await", "queue"]);
        let output = read("read: IOPS=9, BW=9KiB/s\nclat (usec): min=0, max=4294967295, avg=4294967.10, stdev=1.00\nlat (usec): min=40, max=120, avg=99.00, stdev=9.00\n");
        let row = output.runs[0].readings[0].row("read").unwrap();
        assert_eq!((row.get("clat.mean"), row.value("lat.mean")), (None, Some(99e3)));
    }

    #[test]
    fn percentiles_of_impossible_times_are_not_used() {
        let text = |most: u32| {
            format!(
                "  write: IOPS=50, BW=200KiB/s (205kB/s)(11.7MiB/60001msec)\n    clat (usec): min=2, max={most}, avg=44.10, stdev=5.00\n\
                 \x20    lat (usec): min=3, max=950, avg=46.20, stdev=5.10\n    clat percentiles (msec):\n\
                 \x20    | 50.00th=[ 4111], 99.00th=[ 8221], 99.90th=[ 9999]\n"
            )
        };
        // The mean is above the maximum.
        let output = read(&text(9));
        let row = output.runs[0].readings[0].row("write").expect("a row");
        assert_eq!(["clat.mean", "clat.p50", "clat.p99", "clat.p99.9"].map(|name| row.get(name)), [None; 4]);
        assert_eq!(row.value("lat.mean"), Some(46_200.0));
        assert_eq!(output.doubts.iter().filter(|d| d.name.starts_with("clat.p")).count(), 3);
    }

    #[test]
    fn the_end_of_fios_histogram_is_no_percentile() {
        let text = |most: &str| {
            format!(
                "  write: IOPS=2, BW=986KiB/s (1010kB/s)(76.1MiB/79037msec)\n    clat (msec): min=6, max={most}, avg=4116.00, stdev=210.00\n    \
                 clat percentiles (msec):\n     | 50.00th=[  877], 99.00th=[17113], 99.90th=[17113]\n"
            )
        };
        let of = |most| {
            let output = read(&text(most));
            let row = output.runs[0].readings[0].row("write").expect("a row").clone();
            ["clat.p50", "clat.p99", "clat.p99.9"].map(|name| row.value(name))
        };
        assert_eq!(of("94396"), [Some(877e6), None, None]);
        assert_eq!(
            of("17110"),
            [Some(877e6), Some(17_113e6), Some(17_113e6)],
            "the longest is not beyond it"
        );
    }

    #[test]
    fn no_device_is_busy_for_147_percent() {
        let text = |util: &str| format!("Device r/s w/s await %util\nmd0 1.00 2.00 3.00 {util}\n");
        let (much, rounding) = (read(&text("147.00")), read(&text("102.68")));
        assert_eq!((much.doubts.len(), rounding.doubts.len()), (1, 0));
        assert_eq!(much.runs[0].readings[0].rows[0].get("util"), None);
        assert!(rounding.runs[0].readings[0].rows[0].get("util").is_some());
    }

    #[test]
    fn of_a_line_of_fio_with_one_impossible_number_none_is_used() {
        let text = "  clat (msec): min=1027, max=9544, avg=5347.10, stdev=1458.20\n   lat (nsec): min=1440, max=15719k, avg=109714.72, stdev=143571.49\n";
        let output = ToolOutput::read("text", text.as_bytes());
        let row = &output.runs[0].readings[0].rows[0];
        for what in ["min", "max", "mean", "stdev"] {
            assert_eq!(row.get(&format!("clat.{what}")), None, "{what}");
        }
        assert!(row.value("lat.max").is_some() && !output.doubts.is_empty());
    }
}
