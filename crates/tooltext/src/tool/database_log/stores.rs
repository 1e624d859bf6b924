//! Lines in which distributed stores report slow I/O: ZooKeeper, HDFS, HBase, CockroachDB, MongoDB.
//!
//! ```text
//! fsync-ing the write ahead log in SyncThread:1 took 1234ms which will adversely effect operation latency.    ZooKeeper: syncs (`force`)
//! Sync of transaction range 1201-1209 took 1766ms                                         HDFS's journal: syncs
//! Slow flushOrSync took 4016ms (threshold=300ms), isSync:true, flushTotalNanos=1001ns     HDFS: syncs if `isSync`, else writes
//! Slow BlockReceiver write data to disk cost:3102ms (threshold=300ms)                     HDFS: writes
//! Slow manageWriterOsCache took 812ms (threshold=300ms)                                   HDFS: `sync_file_range`, `posix_fadvise`
//! Slow BlockReceiver write packet to mirror took 2401ms (threshold=300ms)                 HDFS: the next node of the pipeline
//! Slow ReadProcessor read fields took 70070ms (threshold=30000ms); ack: ...               HDFS's client: the whole pipeline
//! Slow sync cost: 1234 ms, current pipeline: [...]                                        HBase: `hflush` through HDFS's pipeline
//! disk slowness detected: syncdata on file 000003.log has been ongoing for 5.2s           CockroachDB: syncs or writes, so far
//! {... "msg":"Slow query","attr":{... "storage":{"data":{"timeReadingMicros":912}}, ... "durationMillis":1234}}       MongoDB
//! command db.c command: find { ... } protocol:op_msg 1234ms                               MongoDB before 4.4
//! ```
//!
//! Forms as in the sources: FileTxnLog.java; BlockReceiver.java, Journal.java, DataStreamer.java; AbstractFSWAL.java; Pebble's event.go; MongoDB's
//! documentation of its log messages.

use super::{ns, TimedLine, LOOKED_AT};
use crate::output::number::decimal;
use crate::output::words::Word;

/// Kinds of times that have not ended.
pub(super) const GOING_ON: [&str; 2] = [STALLED_SYNC, STALLED_WRITE];
const STALLED_SYNC: &str = "CockroachDB sync going on";
const STALLED_WRITE: &str = "CockroachDB write going on";
/// Limit on words of a thread's name, or of the range of transactions.
const MOST_OF_NAME: usize = 8;

/// The kinds in a line of these stores, with times in nanoseconds, and the number of words; `None` if it is none.
pub(super) fn line(words: &[Word]) -> Option<TimedLine> {
    let text = |i: usize| words.get(i).map_or("", |w| w.text);
    let first = text(0).trim_start_matches('"');
    match [first, text(1), text(2)] {
        ["fsync-ing", "the", "write"] if [text(3), text(4), text(5)] == ["ahead", "log", "in"] => {
            took(words, 6, "ZooKeeper sync")
        }
        ["Sync", "of", "transaction"] if text(3) == "range" => took(words, 4, "HDFS journal sync"),
        ["Slow", "sync", "cost:"] => Some((vec![("HBase sync through HDFS", milliseconds(words, 3)?)], 5)),
        ["Slow", ..] => hdfs(words).or_else(|| mongo(words)),
        ["disk", "slowness", "detected:"] => cockroach(words),
        _ => mongo(words),
    }
}

/// The time after `took`, which follows within a few words of the same line.
fn took(words: &[Word], from: usize, kind: &'static str) -> Option<TimedLine> {
    let at = (from..from + MOST_OF_NAME).find(|i| words.get(*i).is_some_and(|w| w.text == "took"))?;
    Some((vec![(kind, milliseconds(words, at + 1)?)], at + 2))
}

/// A time in milliseconds: `1234ms`, `1234 ms,`.
fn milliseconds(words: &[Word], at: usize) -> Option<f64> {
    let text = words.get(at)?.text.trim_end_matches([',', ';', '.']);
    match text.strip_suffix("ms") {
        Some(digits) => Some(whole(digits)? * 1e6),
        None => {
            let unit = words.get(at + 1)?.text.trim_end_matches([',', ';', '.']);
            Some(whole(text).filter(|_| unit == "ms")? * 1e6)
        }
    }
}

fn whole(digits: &str) -> Option<f64> {
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| decimal(digits)).flatten()
}

/// Parses what a data node or a client of HDFS calls slow: each has its threshold in brackets.
fn hdfs(words: &[Word]) -> Option<TimedLine> {
    const FORMS: [(&[&str], &str); 6] = [
        (&["flushOrSync", "took"], "HDFS write to disk"),
        (&["manageWriterOsCache", "took"], "HDFS write-back of a block"),
        (&["BlockReceiver", "write", "data", "to", "disk"], "HDFS write to disk"),
        (&["BlockReceiver", "write", "packet", "to", "mirror", "took"], "HDFS next node"),
        (&["PacketResponder", "send", "ack", "to", "upstream", "took"], "HDFS previous node"),
        (&["ReadProcessor", "read", "fields", "took"], "HDFS pipeline"),
    ];
    let same =
        |form: &[&str]| form.iter().enumerate().all(|(i, t)| words.get(1 + i).is_some_and(|w| w.text == *t));
    let (form, kind) = FORMS.iter().find(|(form, _)| same(form))?;
    let at = 1 + form.len();
    let value = words.get(at)?;
    let ms = value.text.strip_prefix("cost:").unwrap_or(value.text).strip_suffix("ms")?;
    let after = words.get(at + 1)?.text;
    after.starts_with("(threshold=").then_some(())?;
    let is_sync =
        form[0] == "flushOrSync" && words.get(at + 2).is_some_and(|w| w.text.starts_with("isSync:true"));
    Some((vec![(if is_sync { "HDFS sync" } else { kind }, whole(ms)? * 1e6)], at + 2))
}

/// Parses `disk slowness detected: syncdata on file 000003.log (0 bytes) has been ongoing for 5.2s`, and
/// `disk slowness detected: unable to sync log files within 10s`.
fn cockroach(words: &[Word]) -> Option<TimedLine> {
    let text = |i: usize| words.get(i).map_or("", |w| w.text);
    if [text(3), text(4), text(5)] == ["unable", "to", "sync"] {
        let at = (6..6 + MOST_OF_NAME).find(|i| text(*i) == "within")?;
        return Some((vec![(STALLED_SYNC, ns(text(at + 1).trim_end_matches('"'))?)], at + 2));
    }
    let kind = match [text(3), text(4), text(5)] {
        ["sync" | "syncdata" | "syncto", "on", "file"] => STALLED_SYNC,
        ["write", "on" | "to", "file"] => STALLED_WRITE,
        _ => return None,
    };
    let at = (6..6 + MOST_OF_NAME).find(|i| text(*i) == "ongoing")?;
    (text(at + 1) == "for").then_some(())?;
    Some((vec![(kind, ns(text(at + 2).trim_end_matches(['"', ',']))?)], at + 3))
}

/// Parses slow operations of MongoDB: its JSON, and before version 4.4 the end of its line; also the status that took it more than a second.
fn mongo(words: &[Word]) -> Option<TimedLine> {
    const OPERATION: &str = "MongoDB operation";
    let text = |i: usize| words.get(i).map_or("", |w| w.text);
    let first = text(0);
    if first.starts_with("protocol:op_") {
        let ms = text(1).strip_suffix("ms")?;
        return Some((vec![(OPERATION, whole(ms)? * 1e6)], 2));
    }
    let said = first.rsplit('"').next().unwrap_or(first);
    match said {
        "Slow" if first.contains('"') && text(1).starts_with("query\"") => {
            let operation = json_number(words, "\"durationMillis\":")?;
            let reading =
                json_number(words, "\"timeReadingMicros\":").map(|(us, _)| ("MongoDB reading", us * 1e3));
            let all = std::iter::once((OPERATION, operation.0 * 1e6)).chain(reading).collect();
            Some((all, operation.1))
        }
        "serverStatus" if [text(1), text(2)] == ["was", "very"] && text(3).starts_with("slow") => {
            // `at end: 1240 }`, as JSON `"at end":1240}}`, is the sum, if the line is whole.
            let line = &words[..words.len().min(2 * LOOKED_AT)];
            let at = line.iter().position(|w| w.text.starts_with("end:") || w.text.starts_with("end\":"))?;
            let (_, rest) = text(at).split_once(':')?;
            let (digits, used) = if rest.is_empty() { (text(at + 1), at + 2) } else { (rest, at + 1) };
            Some((vec![("MongoDB serverStatus", whole(digits.trim_end_matches('}'))? * 1e6)], used))
        }
        _ => None,
    }
}

/// The number after a key of JSON in the same entry, and the number of words up to it.
fn json_number(words: &[Word], key: &str) -> Option<(f64, usize)> {
    let entry =
        words.iter().take(LOOKED_AT).enumerate().take_while(|(i, w)| *i == 0 || !w.text.contains("\"msg\":"));
    entry.into_iter().find_map(|(i, w)| {
        let (_, rest) = w.text.split_once(key)?;
        let (rest, used) = if rest.is_empty() { (words.get(i + 1)?.text, i + 2) } else { (rest, i + 1) };
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        Some((whole(&rest[..end]).filter(|_| end > 0)?, used))
    })
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn each_store_tells_what_was_slow() {
        for (line, of, name, ns) in [
            ("2026-01-02 10:00:00,123 [myid:1] - WARN [SyncThread:1:FileTxnLog@338] - fsync-ing the write ahead log in SyncThread:1 took 1234ms which will adversely effect operation latency. See the ZooKeeper troubleshooting guide", "ZooKeeper sync", "lat.max", 1234e6),
            ("fsync-ing the write ahead log in Snapshot Thread took 2500ms which will adversely effect operation latency.File size is 67108880 bytes.", "ZooKeeper sync", "lat.max", 2500e6),
            ("26/01/02 10:00:01 WARN server.Journal: Sync of transaction range 1201-1209 took 1766ms", "HDFS journal sync", "lat.max", 1766e6),
            ("26/01/02 10:00:01 WARN datanode.DataNode: Slow flushOrSync took 4016ms (threshold=300ms), isSync:true, flushTotalNanos=1001ns", "HDFS sync", "lat.max", 4016e6),
            ("26/01/02 10:00:01 WARN datanode.DataNode: Slow flushOrSync took 4016ms (threshold=300ms), isSync:false, flushTotalNanos=1001ns", "HDFS write to disk", "lat.max", 4016e6),
            ("26/01/02 10:00:01 WARN datanode.DataNode: Slow BlockReceiver write data to disk cost:3102ms (threshold=300ms)", "HDFS write to disk", "lat.max", 3102e6),
            ("26/01/02 10:00:01 WARN datanode.DataNode: Slow manageWriterOsCache took 812ms (threshold=300ms)", "HDFS write-back of a block", "lat.max", 812e6),
            ("26/01/02 10:00:01 WARN datanode.DataNode: Slow BlockReceiver write packet to mirror took 2401ms (threshold=300ms)", "HDFS next node", "lat.max", 2401e6),
            ("26/01/02 10:00:01 WARN hdfs.DFSClient: Slow ReadProcessor read fields took 31070ms (threshold=30000ms); ack: seqno: 7", "HDFS pipeline", "lat.max", 31070e6),
            ("INFO [sync.2] wal.AbstractFSWAL: Slow sync cost: 1234 ms, current pipeline: [DatanodeInfoWithStorage[10.0.0.1:9866]]", "HBase sync through HDFS", "lat.max", 1234e6),
            ("I260102 10:00:02 77 [n7,s7,pebble] 12 disk slowness detected: syncdata on file 000003.log has been ongoing for 5.2s", "CockroachDB sync going on", "longest so far", 5.2e9),
            ("disk slowness detected: write on file 000004.sst (4096 bytes) has been ongoing for 6.0s", "CockroachDB write going on", "longest so far", 6e9),
            ("WARNING: disk slowness detected: unable to sync log files within 10s", "CockroachDB sync going on", "longest so far", 10e9),
            ("{\"t\":{\"$date\":\"2026-01-02T10:00:03.000+00:00\"},\"s\":\"I\",  \"c\":\"COMMAND\",  \"id\":51803,   \"ctx\":\"conn23\",\"msg\":\"Slow query\",\"attr\":{\"type\":\"command\",\"ns\":\"db.c\",\"storage\":{\"data\":{\"bytesRead\":4096,\"timeReadingMicros\":912000}},\"durationMillis\":1500}}", "MongoDB operation", "lat.max", 1500e6),
            ("2019-01-02T10:00:03.000+0000 I COMMAND  [conn2] command db.c command: find { find: \"c\" } protocol:op_msg 1250ms", "MongoDB operation", "lat.max", 1250e6),
            ("{\"s\":\"I\", \"ctx\":\"ftdc\",\"msg\":\"serverStatus was very slow\",\"attr\":{\"timeStats\":{\"after basic\":0,\"at end\":1240}}}", "MongoDB serverStatus", "lat.max", 1240e6),
            ("2019-01-02T10:00:03.000+0000 I COMMAND  [ftdc] serverStatus was very slow: { after basic: 46, after wiredTiger: 1100, at end: 1240 }", "MongoDB serverStatus", "lat.max", 1240e6),
        ] {
            let reading = one(&format!("{line}\n"), "database log");
            assert_eq!(reading.row(of).and_then(|r| r.value(name)), Some(ns), "{line}");
        }
    }

    #[test]
    fn the_reading_of_a_slow_operation_is_told_apart() {
        let pretty = "{ \"msg\": \"Slow query\", \"attr\": { \"storage\": { \"data\": { \"timeReadingMicros\": 912000 } },\n \"durationMillis\": 1500 } }\n";
        let reading = one(pretty, "database log");
        let longest = |of: &str| reading.row(of).and_then(|r| r.value("lat.max"));
        assert_eq!((longest("MongoDB operation"), longest("MongoDB reading")), (Some(1500e6), Some(912e6)));
    }

    #[test]
    fn words_about_slow_disks_are_no_log() {
        for text in [
            "It logs fsync-ing the write ahead log in some thread, which took 7 minutes\n",
            "Slow flushOrSync took 300ms of my day\n",
            "Slow disks cost: 100 ms\n",
            "disk slowness detected: sync on file x, see the manual\n",
            "Slow query log is off; protocol:op_msg is what we use\n",
            "Sync of transaction range took long\n",
        ] {
            assert!(all(text, "database log").is_empty(), "{text}");
        }
    }
}
