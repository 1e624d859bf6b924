//! Reads what Redis and Valkey log about slow syncs of the append-only file (src/aof.c, `flushAppendOnlyFile`): a write had to go on
//! although the sync before it had not ended for 2 s.
//!
//! ```text
//! 2314:M 01 Mar 05:50:27 * Asynchronous AOF fsync is taking too long (disk is busy?). Writing the AOF buffer without waiting for ...
//! ```
//!
//! A row has their number; how long each took is not logged.
//!
//! **Versions**: Redis 2.6 to 7.2 by published logs.

use super::reader::{texts, Found, Tool};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct RedisLog;

/// The beginning of the message.
const SAYS: [&str; 6] = ["Asynchronous", "AOF", "fsync", "is", "taking", "too"];
/// Limit on words between two of them: other lines of the log.
const MOST_BETWEEN: usize = 400;

impl Tool for RedisLog {
    fn read(&self, words: &[Word]) -> Option<Found> {
        // Quoted alone in a mail.
        let says = |at: usize| {
            let first: Option<[&str; SAYS.len()]> = words.get(at..).and_then(texts);
            first.is_some_and(|first| first[0].trim_start_matches('"') == SAYS[0] && first[1..] == SAYS[1..])
        };
        if !says(0) {
            return None;
        }
        let (mut count, mut used, mut unknown) = (1.0, SAYS.len(), 0);
        while let Some(skip) = (0..MOST_BETWEEN.min(words.len() - used)).find(|skip| says(used + skip)) {
            count += 1.0;
            unknown += skip;
            used += skip + SAYS.len();
        }
        let mut row = Row::of("AOF fsync longer than 2 s");
        row.values.put("count", count, Unit::Count, words[0].spot);
        let reading = Reading { tool: "redis log", rows: vec![row], at: words[0].spot, ..Reading::default() };
        Some(Found { reading: Some(reading), used, unknown })
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn slow_syncs_are_counted() {
        let slow = "2314:M 01 Mar 05:50:27 * Asynchronous AOF fsync is taking too long (disk is busy?). Writing the AOF \
                    buffer without waiting for fsync to complete, this may slow down Redis.\n";
        let other = "2314:M 01 Mar 05:51:45 * Background AOF rewrite terminated with success\n";
        let text = format!("{slow}{other}{slow}{slow}");
        assert_eq!(one(&text, "redis log").rows[0].value("count"), Some(3.0));
        let quoted =
            "\"Asynchronous AOF fsync is taking too long (disk is busy?). Writing the AOF buffer\"\n";
        assert_eq!(one(quoted, "redis log").rows[0].value("count"), Some(1.0));
        assert!(all(other, "redis log").is_empty());
    }
}
