//! Reads rbd bench of Ceph: rates of the last five seconds, one row per second, and the summary.
//!
//! ```text
//! bench  type write io_size 4096 io_threads 16 bytes 1073741824 pattern sequential
//!   SEC       OPS   OPS/SEC   BYTES/SEC
//!     1      1234   1245.67   4.9 MiB/s              before Ceph 14 bytes without a unit: 5102264.32
//! elapsed: 12   ops: 262144   ops/sec: 21845.3   bytes/sec: 85 MiB/s
//! ```
//!
//! `OPS` is the count since the start.
//!
//! **Versions**: Ceph 9 to 18 (`src/tools/rbd/action/Bench.cc`); bytes have a unit from 14 on.

use super::phrases::{self, Phrase};
use super::reader::{Found, Tool};
use super::table::{self, Cell, Column};
use crate::output::number::{size_unit, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct RbdBench;

const COLUMNS: [Column; 4] = [
    ("SEC", Cell::Whole),
    ("OPS", Cell::Whole),
    ("OPS/SEC", Cell::Number("iops", 1.0, Unit::PerSecond)),
    ("BYTES/SEC", Cell::Number("bw", 1.0, Unit::BytesPerSecond)),
];
const SUM: [Phrase; 4] = [
    (&["elapsed:"], "runtime", 1e9, Unit::Nanoseconds),
    (&["ops:"], "count", 1.0, Unit::Count),
    (&["ops/sec:"], "iops", 1.0, Unit::PerSecond),
    (&["bytes/sec:"], "bw", 1.0, Unit::BytesPerSecond),
];

impl Tool for RbdBench {
    fn read(&self, words: &[Word]) -> Option<Found> {
        match words.first()?.text {
            "SEC" => seconds(words),
            "elapsed:" => sum(words),
            _ => None,
        }
    }
}

fn seconds(words: &[Word]) -> Option<Found> {
    let (columns, heading) = table::heading(words, &COLUMNS);
    (columns.len() == COLUMNS.len()).then_some(())?;
    let reading = Reading { tool: "rbd bench", at: words[0].spot, ..Reading::default() };
    let ends = |w: &Word| w.text == "elapsed:" || w.text == "SEC";
    table::gather(reading, words, heading, table::MOST_ROWS, ends, second)
}

fn second(words: &[Word]) -> Option<(Row, usize)> {
    let (line, length) = table::row(words, &COLUMNS)?;
    let mut row = line.row("second");
    // The unit is a separate word.
    let unit = words.get(length).filter(|w| !w.first).and_then(|w| size_unit(w.text.strip_suffix("/s")?));
    if let (Some(unit), Some(bytes)) = (unit, row.values.take("bw")) {
        row.values.put("bw", bytes.value * unit, bytes.unit, bytes.at);
    }
    Some((row, length + usize::from(unit.is_some())))
}

fn sum(words: &[Word]) -> Option<Found> {
    let (row, used, unknown) = phrases::row(words, &SUM, "operations")?;
    SUM.iter().all(|(_, name, ..)| row.get(name).is_some()).then_some(())?;
    let reading = Reading { tool: "rbd bench", rows: vec![row], at: words[0].spot, ..Reading::default() };
    Some(Found { reading: Some(reading), used, unknown })
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn seconds_have_their_rates_and_the_sum_is_apart() {
        let text = "bench  type write io_size 8192 io_threads 16 bytes 8589934592 pattern sequential\n\
            \x20 SEC       OPS   OPS/SEC   BYTES/SEC\n    1    103152    103581   809 MiB/s\n    2    199008   1.1e+05   1.5 GiB/s\n\
            elapsed: 10   ops: 1048576   ops/sec: 100360   bytes/sec: 784 MiB/s\n";
        let all = all(text, "rbd bench");
        let told = |r: usize, row: usize| {
            ["iops", "bw"].map(|name| all[r].rows[row].value(name).unwrap_or_default())
        };
        let mib = 1048576.0;
        assert_eq!((told(0, 0), told(0, 1)), ([103_581.0, 809.0 * mib], [110_000.0, 1536.0 * mib]));
        assert_eq!((told(1, 0), all[1].rows[0].value("runtime")), ([100_360.0, 784.0 * mib], Some(10e9)));
        assert_eq!((all.len(), all[0].rows.len()), (2, 2));
    }

    #[test]
    fn bytes_have_a_unit_or_none() {
        for (bytes, value) in [("85 MiB/s", 85.0 * 1048576.0), ("89128960.5", 89_128_960.5)] {
            let text = format!("elapsed:    12  ops:   262144  ops/sec: 21845.33  bytes/sec: {bytes}\n");
            let row = &one(&text, "rbd bench").rows[0];
            assert_eq!((row.value("iops"), row.value("bw")), (Some(21_845.33), Some(value)));
        }
    }
}
