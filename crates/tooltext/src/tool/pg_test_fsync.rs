//! Reads pg_test_fsync of PostgreSQL 9.1 and later: the time of each method to make 8 KiB durable.
//!
//! ```text
//! Compare file sync methods using one 8kB write:
//!         open_datasync                       411.123 ops/sec    2432 usecs/op
//!         fsync_writethrough                              n/a
//! ```
//!
//! **Versions**: PostgreSQL 15 run; 9.1 has the same form.

use super::reader::{texts, Found, Tool};
use crate::output::number::{decimal, Unit};
use crate::output::reading::Row;
use crate::output::words::Word;

pub struct PgTestFsync;

/// Limit on words between two lines: headings, methods that the system lacks.
const MOST_BETWEEN: usize = 40;

impl Tool for PgTestFsync {
    fn read(&self, words: &[Word]) -> Option<Found> {
        Found::rows("pg_test_fsync", words, MOST_BETWEEN, row)
    }
}

/// The same method again is from a test with other writes, which only the heading (not read) names.
fn row(words: &[Word]) -> Option<(Row, usize)> {
    let [name, rate, "ops/sec", time, "usecs/op"] = texts(words)? else { return None };
    let mut row = Row::of(name);
    row.values.put("ops/s", decimal(rate)?, Unit::PerSecond, words[1].spot);
    row.values.put("lat.mean", decimal(time)? * 1e3, Unit::Nanoseconds, words[3].spot);
    Some((row, 5))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::all;

    #[test]
    fn ways_that_are_not_there_are_left_out() {
        let text = "Compare file sync methods using one 8kB write:\n        open_datasync                       411.125 ops/sec    2432 usecs/op\n\
            \x20       fdatasync                           402.5 ops/sec    2485 usecs/op\n        fsync_writethrough                              n/a\n\
            \x20       open_sync                           133.0 ops/sec    7519 usecs/op\n\nCompare file sync methods using two 8kB writes:\n\
            \x20       open_datasync                       200.5 ops/sec    4988 usecs/op\n";
        let all = all(text, "pg_test_fsync");
        assert_eq!(all.iter().map(|r| r.rows.len()).collect::<Vec<_>>(), [3, 1]);
        let row = &all[0].rows[0];
        assert_eq!((row.value("ops/s"), row.value("lat.mean")), (Some(411.125), Some(2_432_000.0)));
    }
}
