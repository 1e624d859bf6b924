//! Reads rados bench of Ceph (`ObjBencher`, obj_bencher.cc), which writes and reads objects: a row per second, and the summary.
//!
//! ```text
//! Maintaining 16 concurrent writes of 4194304 bytes to objects of size 4194304 for up to 10 seconds or 0 objects
//!   sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)       before Ceph 10: `last lat   avg lat`
//!     0       0         0         0         0         0           -           0
//!     1      16        63        47    187.92       188     0.14866    0.280023
//! Total time run:         10.32
//! Total writes made:      544                        `Total reads made:` of seq and rand
//! Write size:             4194304
//! Bandwidth (MB/sec):     210.854
//! Max bandwidth (MB/sec): 244
//! Average IOPS:           52
//! Average Latency(s):     0.300001                   before Ceph 10: `Average Latency:`
//! Max latency(s):         0.862328
//! ```
//!
//! MB are 1024 * 1024 bytes. Means since the start are left out of the rows of seconds, since they cover a longer time.
//!
//! **Versions**: Ceph 0.80 to 16 (`obj_bencher.cc`).

use super::phrases::{self, Phrase};
use super::reader::{texts, Found, Tool};
use super::table::{self, Cell, Column};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row, Setting};
use crate::output::words::Word;

pub struct RadosBench;

const MIB: f64 = 1024.0 * 1024.0;
const S: f64 = 1e9;
const SUM: [Phrase; 23] = [
    (&["Total", "time", "run:"], "runtime", S, Unit::Nanoseconds),
    (&["Total", "writes", "made:"], "count", 1.0, Unit::Count),
    (&["Total", "reads", "made:"], "count", 1.0, Unit::Count),
    (&["Write", "size:"], "size", 1.0, Unit::Bytes),
    (&["Read", "size:"], "size", 1.0, Unit::Bytes),
    (&["Object", "size:"], "object", 1.0, Unit::Bytes),
    (&["Bandwidth", "(MB/sec):"], "bw", MIB, Unit::BytesPerSecond),
    (&["Stddev", "Bandwidth:"], "bw.stdev", MIB, Unit::BytesPerSecond),
    (&["Max", "bandwidth", "(MB/sec):"], "bw.max", MIB, Unit::BytesPerSecond),
    (&["Min", "bandwidth", "(MB/sec):"], "bw.min", MIB, Unit::BytesPerSecond),
    (&["Average", "IOPS:"], "iops", 1.0, Unit::PerSecond),
    (&["Stddev", "IOPS:"], "iops.stdev", 1.0, Unit::PerSecond),
    (&["Max", "IOPS:"], "iops.max", 1.0, Unit::PerSecond),
    (&["Min", "IOPS:"], "iops.min", 1.0, Unit::PerSecond),
    (&["Average", "Latency(s):"], "lat.mean", S, Unit::Nanoseconds),
    (&["Stddev", "Latency(s):"], "lat.stdev", S, Unit::Nanoseconds),
    (&["Max", "latency(s):"], "lat.max", S, Unit::Nanoseconds),
    (&["Min", "latency(s):"], "lat.min", S, Unit::Nanoseconds),
    (&["Average", "Latency:"], "lat.mean", S, Unit::Nanoseconds),
    (&["Stddev", "Latency:"], "lat.stdev", S, Unit::Nanoseconds),
    (&["Max", "latency:"], "lat.max", S, Unit::Nanoseconds),
    (&["Min", "latency:"], "lat.min", S, Unit::Nanoseconds),
    (&["Average", "Latency", "(s):"], "lat.mean", S, Unit::Nanoseconds),
];
const COLUMNS: [Column; 8] = [
    ("sec", Cell::Whole),
    ("ops", Cell::Number("in flight", 1.0, Unit::Count)),
    ("started", Cell::Whole),
    ("finished", Cell::Whole),
    ("avg MB/s", Cell::Number(SINCE_START, MIB, Unit::BytesPerSecond)),
    ("cur MB/s", Cell::Number("bw", MIB, Unit::BytesPerSecond)),
    ("last lat", Cell::Number("lat.last", S, Unit::Nanoseconds)),
    ("avg lat", Cell::Number(SINCE_START, S, Unit::Nanoseconds)),
];
const SINCE_START: &str = "";
/// Words of a heading.
const HEADING: usize = 13;
/// Limit on words between the description of the benchmark and the table.
const MOST_BEFORE: usize = 40;
/// Limit on words between two parts of the table, whose heading is repeated every 20 seconds.
const MOST_BETWEEN: usize = 16;

impl Tool for RadosBench {
    fn read(&self, words: &[Word]) -> Option<Found> {
        match words.first()?.text {
            "Maintaining" if words.get(2)?.text == "concurrent" => {
                let before = (0..MOST_BEFORE.min(words.len())).find(|i| is_heading(&words[*i..]))?;
                let mut found = seconds(&words[before..])?;
                found.used += before;
                if let Some(reading) = &mut found.reading {
                    reading.at = words[0].spot;
                    reading.settings = settings(&words[..before]);
                }
                Some(found)
            }
            "sec" => seconds(words),
            _ => sum(words),
        }
    }
}

/// Parses `Maintaining 16 concurrent writes of 4194304 bytes to objects of size 4194304`.
fn settings(words: &[Word]) -> Vec<Setting> {
    let one = |name: &str, at: usize| {
        let word = words.get(at).filter(|w| w.text.bytes().all(|b| b.is_ascii_digit()))?;
        Some(Setting { name: name.into(), value: word.text.into(), at: word.spot })
    };
    [one("concurrent", 1), one("size", 5), one("object size", 11)].into_iter().flatten().collect()
}

fn is_heading(words: &[Word]) -> bool {
    let Some([sec, cur, ops, started, finished, avg, mb, now, per, last, a, mean, b]) =
        texts::<HEADING>(words)
    else {
        return false;
    };
    [sec, cur, ops, started, finished] == ["sec", "Cur", "ops", "started", "finished"]
        && [avg, mb, now, per] == ["avg", "MB/s", "cur", "MB/s"]
        && [last, mean] == ["last", "avg"]
        && a == b
        && ["lat", "lat(s)"].contains(&a)
}

/// Reads the rows of seconds, including those after a repeated heading.
fn seconds(words: &[Word]) -> Option<Found> {
    is_heading(words).then_some(())?;
    let mut reading = Reading { tool: "rados bench", at: words[0].spot, ..Reading::default() };
    let (mut used, mut unknown) = (HEADING, 0);
    while reading.rows.len() < table::MOST_ROWS {
        let all = table::rows(&words[used..], &COLUMNS);
        for line in &all.lines {
            match second(line) {
                Some(row) => reading.rows.extend(row),
                None => unknown += COLUMNS.len(),
            }
        }
        used += all.used;
        unknown += all.unknown;
        let rest = &words[used..];
        let again = (0..MOST_BETWEEN.min(rest.len())).find(|i| is_heading(&rest[*i..]));
        let Some(between) = again.filter(|_| !all.lines.is_empty()) else { break };
        used += between + HEADING;
    }
    let reading = (!reading.rows.is_empty()).then_some(reading);
    (used > HEADING).then_some(Found { reading, used, unknown })
}

/// The row of one second; `Some(None)` for second 0; `None` if the numbers are not below their headings.
fn second(line: &table::Line) -> Option<Option<Row>> {
    let whole = |name: &str| line.text(name)?.parse::<u64>().ok();
    let in_flight = whole("started")?.checked_sub(whole("finished")?)?;
    (whole("ops")? == in_flight).then_some(())?;
    let mut row = Row::of("second");
    let of_it = line.numbers().filter(|(name, _)| *name != SINCE_START);
    of_it.for_each(|(name, n)| row.values.put(name, n.value, n.unit, n.at));
    Some((whole("sec")? > 0).then_some(row))
}

fn sum(words: &[Word]) -> Option<Found> {
    let (mut row, used, unknown) = phrases::row(words, &SUM, "objects")?;
    // A bandwidth, a latency or a time alone may be from any program.
    (row.get("bw").is_some() && (row.get("lat.mean").is_some() || row.get("count").is_some()))
        .then_some(())?;
    let said = |what: &str| words[..used].windows(2).any(|w| w[0].text == what && w[1].text == "made:");
    if let Some((_, of)) = [("writes", "write"), ("reads", "read")].iter().find(|(what, _)| said(what)) {
        row.of = (*of).to_owned();
    }
    let reading = Reading { tool: "rados bench", rows: vec![row], at: words[0].spot, ..Reading::default() };
    Some(Found { reading: Some(reading), used, unknown })
}

#[cfg(test)]
mod tests {
    use crate::output::ToolOutput;
    use crate::tool::testing::{all, one};

    const SUM: &str = "Total time run:         33.25\nTotal writes made:      412\nWrite size:             4194304\nObject size:            4194304\n\
        Bandwidth (MB/sec):     49.5\nStddev Bandwidth:       18.25\nMax bandwidth (MB/sec): 76\nMin bandwidth (MB/sec): 0\n\
        Average IOPS:           12\nStddev IOPS:            4.61\nMax IOPS:               19\nMin IOPS:               0\n\
        Average Latency(s):     1.25\nStddev Latency(s):      0.5\nMax latency(s):         4.75\nMin latency(s):         8.8e-05\n";
    const HEAD: &str = "  sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)\n";

    #[test]
    fn the_sum_has_its_rates_and_latencies() {
        let row = one(SUM, "rados bench").rows.remove(0);
        assert_eq!(row.of, "write");
        let mib = 1048576.0;
        for (name, value) in [
            ("runtime", 33.25e9),
            ("count", 412.0),
            ("size", 4_194_304.0),
            ("bw", 49.5 * mib),
            ("bw.stdev", 18.25 * mib),
            ("bw.max", 76.0 * mib),
            ("bw.min", 0.0),
            ("iops", 12.0),
            ("iops.stdev", 4.61),
            ("iops.max", 19.0),
            ("lat.mean", 1.25e9),
            ("lat.stdev", 0.5e9),
            ("lat.max", 4.75e9),
            ("lat.min", 88e3),
        ] {
            assert_eq!(row.value(name), Some(value), "{name}");
        }
    }

    #[test]
    fn old_versions_and_reads_have_fewer() {
        let text = "Total time run:       3.5\nTotal reads made:     544\nRead size:            4194304\nBandwidth (MB/sec):    618.5 \n\n\
            Average Latency:       0.103\nMax latency:           0.9\nMin latency:           0.02\n";
        let row = one(text, "rados bench").rows.remove(0);
        assert_eq!(row.of, "read");
        assert_eq!((row.value("lat.mean"), row.value("lat.max")), (Some(103e6), Some(0.9e9)));
        assert_eq!((row.get("iops"), row.get("lat.stdev")), (None, None));
        assert!(all("Average Latency: 0.5\nTotal time run: 3\n", "rados bench").is_empty());
    }

    #[test]
    fn seconds_have_their_own_numbers_only() {
        let text = format!(
            "hints = 1\nMaintaining 16 concurrent writes of 4194304 bytes to objects of size 4194304 for up to 10 seconds or 0 objects\n\
             Object prefix: benchmark_data_host_1387\n{HEAD}    0       0         0         0         0         0           -           0\n\
             \x20   1      16        63        47    187.92       188     0.125    0.280023\n\
             2023-03-04T23:19:34.671+0800 min lat: 0.063 max lat: 0.86 avg lat: 0.29\n{HEAD}\
             \x20   2      16        63        47    93.96         0           -    0.280023\n{SUM}"
        );
        let readings = all(&text, "rados bench");
        assert_eq!(readings.len(), 2);
        let rows = &readings[0].rows;
        assert_eq!((readings[0].setting("concurrent"), rows.len()), (Some("16"), 2));
        let values = |i: usize| ["in flight", "bw", "lat.last"].map(|name| rows[i].value(name));
        assert_eq!(values(0), [Some(16.0), Some(188.0 * 1048576.0), Some(125e6)]);
        assert_eq!(values(1), [Some(16.0), Some(0.0), None]);
        assert_eq!(rows[0].values.iter().count(), 3);
    }

    /// Operations in flight are those started but not finished.
    #[test]
    fn a_row_that_lost_a_number_is_left_out() {
        let text = format!(
            "{HEAD}    1      16        63        47    187.92       188     0.125    0.28\n\
             \x20   2      16       116       199.923       212    0.205767    0.277006   3\n\
             \x20   3      16       169       153   203.924       212    0.25    0.294263\n"
        );
        let output = ToolOutput::read("text", text.as_bytes());
        let rows = &output.runs[0].readings[0].rows;
        assert_eq!((rows.len(), rows[1].value("lat.last")), (2, Some(250e6)));
        assert!(output.left_out > 0);
    }
}
