//! Syncs that take longer than an application can bear, as it says itself: suspected `flush-cost`.
//!
//! Redis logs that a sync of its append-only file goes on for longer than 2 s; etcd, Ceph, PostgreSQL, ZooKeeper and HDFS log how long one
//! took, CockroachDB how long one has gone on; bcc's ext4slower lists slow ones. What HDFS only writes, and what HBase sends through HDFS, is no sync of a disk. etcd has histograms of its syncs; its FAQ asks for a 99th percentile of less than 10 ms for the syncs of its log. How long a sync takes does not say what it waits for:
//! never more than a suspicion.
//!
//! Example: of 57,035 syncs all but 132 took longer than 16 ms.

use super::place::{readings, rows, In};
use super::thresholds::evidence::REQUESTS;
use super::thresholds::slow_syncs::{LOGGED, MOST_SLOW, WAL_FSYNC};
use crate::proof::proof;
use crate::verdict::Verdict;
use tooltext::{Number, Row, ToolOutput};
use trace::Nanos;

const NAME: &str = "flush-cost";
const MISSING: &str = "what they wait for, and whose requests: sudo iowhy record -o slow while it is so";

/// Times in databases' logs that are those of syncs, and whose.
const SYNCS: [(&str, &str); 8] = [
    ("etcd fdatasync", "etcd"),
    ("PostgreSQL longest sync", "PostgreSQL"),
    ("Ceph kv_sync", "Ceph"),
    ("Ceph kv_commit", "Ceph"),
    ("ZooKeeper sync", "ZooKeeper"),
    ("HDFS sync", "HDFS"),
    ("HDFS journal sync", "HDFS's journal"),
    ("CockroachDB sync going on", "CockroachDB"),
];

/// Syncs of one member's log.
struct Syncs<'a> {
    place: In<'a>,
    at: Number,
    /// Number of syncs.
    count: f64,
    /// The part of them that took longer than the first bound above the limit, 0 to 1.
    slow: f64,
    /// That bound.
    bound: Nanos,
}

/// Suspected by Redis' log, etcd's histograms, a database's log, a tracer or a test.
pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    by_redis(outputs)
        .or_else(|| by_etcd(outputs))
        .or_else(|| by_quantile(outputs))
        .or_else(|| by_log(outputs))
        .or_else(|| by_tracer(outputs))
        .or_else(|| by_test(outputs))
}

/// Tools that sync again and again, and their syncs.
const TESTS: [(&str, &[&str]); 2] = [("pg_test_fsync", &["fdatasync", "fsync"]), ("pveperf", &["fsync"])];

/// Suspected if a tool that measures syncs alone finds them slower than etcd bears.
fn by_test(outputs: &[ToolOutput]) -> Option<Verdict> {
    let all = TESTS.iter().flat_map(|(tool, syncs)| rows(outputs, tool).map(move |at| (tool, syncs, at)));
    let its = all.filter(|(_, syncs, (_, row))| syncs.contains(&row.of.as_str()));
    let mut slow = its.filter_map(|(tool, _, (place, row))| {
        let mean = row.get("lat.mean").filter(|mean| mean.value > WAL_FSYNC.0 as f64)?;
        Some((tool, place, row, mean))
    });
    let (tool, place, row, mean) = slow.next()?;
    let said = proof!(
        "a sync alone ({sync}, by {tool}) took {mean} on average ({at})",
        sync = row.of.as_str(),
        tool = *tool,
        mean = Nanos(mean.value as u64),
        at = Source(place.at(mean))
    );
    Some(Verdict::cannot_tell(NAME, MISSING).because(said))
}

/// Suspected if bcc's ext4slower or its kin list several syncs that take longer than etcd bears, or one of a second. They list only what is
/// slower than a limit of theirs.
fn by_tracer(outputs: &[ToolOutput]) -> Option<Verdict> {
    let all = readings(outputs, "slower").filter_map(|(place, reading)| {
        let row = reading.row("fsync")?;
        let (count, longest) = (row.get("count")?, row.get("lat.max")?);
        let many = count.value >= REQUESTS && longest.value > WAL_FSYNC.0 as f64;
        (many || longest.value >= LOGGED.0 as f64).then_some((place, reading, count, longest))
    });
    let (place, reading, count, longest) = all.max_by(|a, b| a.3.value.total_cmp(&b.3.value))?;
    let told = proof!(
        "{n} took up to {longest}, the longest by {who} ({at})",
        n = Counted(count.value as u64, "sync", "syncs"),
        longest = Nanos(longest.value as u64),
        who = reading.setting("slowest fsync").unwrap_or("a program").to_owned(),
        at = Source(place.at(longest))
    );
    Some(Verdict::cannot_tell(NAME, MISSING).because(told))
}

/// Suspected if a database logged a sync that took longer than the limit. Told of the longest.
fn by_log(outputs: &[ToolOutput]) -> Option<Verdict> {
    let syncs = rows(outputs, "database log").filter_map(|(place, row)| {
        let (_, whose) = SYNCS.iter().find(|(kind, _)| row.of == *kind)?;
        let ended = row.get("lat.max");
        let longest = ended.or(row.get("longest so far")).filter(|n| n.value >= LOGGED.0 as f64)?;
        Some((place, *whose, row.get("count").filter(|_| ended.is_some()), longest))
    });
    let (place, whose, count, longest) = syncs.max_by(|a, b| a.3.value.total_cmp(&b.3.value))?;
    let (time, at) = (Nanos(longest.value as u64), place.at(longest));
    let said = match count {
        Some(count) => proof!(
            "{n} took {whose} up to {longest} ({at})",
            n = Counted(count.value as u64, "sync", "syncs"),
            whose,
            longest = time,
            at = Source(at)
        ),
        None => proof!(
            "a sync of {whose} had gone on for {longest} ({at})",
            whose,
            longest = time,
            at = Source(at)
        ),
    };
    Some(Verdict::cannot_tell(NAME, MISSING).because(said))
}

/// Suspected if Redis says so, once or often.
fn by_redis(outputs: &[ToolOutput]) -> Option<Verdict> {
    let (place, reading) = readings(outputs, "redis log").next()?;
    let count = reading.rows.first()?.get("count")?;
    Some(Verdict::cannot_tell(NAME, MISSING).because(proof!(
        "{n} of its append-only file took Redis longer than 2 s ({at})",
        n = Counted(count.value as u64, "sync", "syncs"),
        at = Source(place.at(count))
    )))
}

/// Suspected if more than one in a hundred syncs took longer than the limit. Told of the member with the most.
fn by_etcd(outputs: &[ToolOutput]) -> Option<Verdict> {
    let all = rows(outputs, "etcd").filter_map(|(place, row)| syncs(place, row));
    let slow = all.filter(|s| s.count >= REQUESTS && s.slow > MOST_SLOW);
    let most = slow.max_by(|a, b| a.slow.total_cmp(&b.slow))?;
    let told = proof!(
        "{slow} of {n} took longer than {bound} ({at})",
        slow = Share(most.slow),
        n = Counted(most.count as u64, "sync of etcd's log", "syncs of etcd's log"),
        bound = most.bound,
        at = Source(most.place.at(most.at))
    );
    let asked = proof!("etcd asks for a p99 below {limit}", limit = WAL_FSYNC);
    Some(Verdict::cannot_tell(NAME, MISSING).because(told).because(asked))
}

/// Suspected if the 99th percentile of a member's syncs is above the limit, as Prometheus tells it. Told of the slowest member.
fn by_quantile(outputs: &[ToolOutput]) -> Option<Verdict> {
    let of_log = rows(outputs, "etcd").filter(|(_, row)| row.of.starts_with("wal fsync"));
    let all = of_log.filter_map(|(place, row)| Some((place, row.get("lat.p99")?)));
    let (members, slow): (Vec<_>, Vec<_>) = {
        let all: Vec<_> = all.collect();
        let slow = all.iter().filter(|(_, n)| n.value > WAL_FSYNC.0 as f64).copied().collect();
        (all, slow)
    };
    let (place, most) = slow.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    let told = proof!(
        "the 99th percentile of the syncs of etcd's log is {longest} ({at})",
        longest = Nanos(most.value as u64),
        at = Source(place.at(*most))
    );
    let asked = proof!(
        "etcd asks for a p99 below {limit}; above that are {n} of {all}",
        limit = WAL_FSYNC,
        n = Count(slow.len() as u64),
        all = Counted(members.len() as u64, "member", "members")
    );
    Some(Verdict::cannot_tell(NAME, MISSING).because(told).because(asked))
}

fn syncs<'a>(place: In<'a>, row: &'a Row) -> Option<Syncs<'a>> {
    row.of.starts_with("wal fsync").then_some(())?;
    let is_above = |from: f64| from >= WAL_FSYNC.0 as f64;
    let bound = row.histogram.iter().map(|b| b.from).filter(|from| is_above(*from)).reduce(f64::min)?;
    let count = |is: &dyn Fn(f64) -> bool| -> f64 {
        row.histogram.iter().filter(|b| is(b.from)).map(|b| b.count.value).sum()
    };
    let (slow, all) = (count(&is_above), count(&|_| true));
    let at = row.histogram.first()?.count;
    Some(Syncs { place, at, count: all, slow: slow / all.max(1.0), bound: Nanos(bound as u64) })
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use tooltext::ToolOutput;

    /// What is said of 1,000 syncs, of which so many took longer than 16 ms.
    fn said(slow: u64) -> Option<String> {
        let bucket =
            |le: &str, n: u64| format!("etcd_disk_wal_fsync_duration_seconds_bucket{{le=\"{le}\"}} {n}\n");
        let text = [("0.004", 100), ("0.008", 200), ("0.016", 1000 - slow), ("0.032", 1000), ("+Inf", 1000)]
            .map(|(le, n)| bucket(le, n))
            .concat();
        let output = ToolOutput::read("metrics.txt", text.as_bytes());
        let v = judge_counters(&[output]).into_iter().find(|v| v.cause == "flush-cost")?;
        Some(v.evidence[0].sentence())
    }

    #[test]
    fn what_redis_logs_is_suspicious() {
        let line = "1:M 29 Feb 2024 13:34:45.007 * Asynchronous AOF fsync is taking too long (disk is busy?). Writing on.\n";
        let output = ToolOutput::read("redis.log", line.repeat(2).as_bytes());
        let v = judge_counters(&[output]).into_iter().find(|v| v.cause == "flush-cost").expect("a suspicion");
        assert_eq!(
            v.evidence[0].sentence(),
            "2 syncs of its append-only file took Redis longer than 2 s (redis.log:1)"
        );
    }

    #[test]
    fn a_sync_that_takes_long_alone_is_suspicious() {
        let said = |text: &str| {
            let all = judge_counters(&[ToolOutput::read("paste", text.as_bytes())]);
            all.into_iter().find(|v| v.cause == "flush-cost").map(|v| v.evidence[0].sentence())
        };
        let slow = said("BUFFERED READS:    115.72 MB/sec\nFSYNCS/SECOND:     80.00\n");
        assert_eq!(
            slow.as_deref(),
            Some("a sync alone (fsync, by pveperf) took 12.5 ms on average (paste:2)")
        );
        let test = |us: u32| {
            format!("        open_sync  133.0 ops/sec    99519 usecs/op\n        fdatasync  80.0 ops/sec    {us} usecs/op\n")
        };
        assert_eq!((said(&test(10_000)), said("FSYNCS/SECOND:     100.00\n")), (None, None));
        assert_eq!(
            said(&test(10_001)).as_deref(),
            Some("a sync alone (fdatasync, by pg_test_fsync) took 10 ms on average (paste:2)")
        );
    }

    #[test]
    fn a_sync_of_a_second_is_suspicious_in_any_databases_log() {
        let first = |text: &str| {
            let all = judge_counters(&[ToolOutput::read("log", text.as_bytes())]);
            all.into_iter().find(|v| v.cause == "flush-cost").map(|v| v.evidence[0].sentence())
        };
        let etcd = "{\"level\":\"warn\",\"msg\":\"slow fdatasync\",\"took\":\"1.5s\",\"expected-duration\":\"1s\"}\n";
        assert_eq!(first(&etcd.repeat(3)).as_deref(), Some("3 syncs took etcd up to 1.5 s (log:1)"));
        let checkpoint = |longest: &str| {
            format!(
                "LOG:  checkpoint complete: wrote 1234 buffers (7.5%); write=26.9 s, sync=12.3 s, total=39.9 s; sync files=8, longest={longest} s, average=1.6 s\n"
            )
        };
        assert_eq!(first(&checkpoint("8.1")).as_deref(), Some("1 sync took PostgreSQL up to 8.1 s (log:1)"));
        assert_eq!(first(&checkpoint("0.9")), None);
        let zookeeper = |ms: u32| {
            format!("WARN - fsync-ing the write ahead log in SyncThread:1 took {ms}ms which will adversely effect operation latency.\n")
        };
        assert_eq!(
            first(&zookeeper(1234).repeat(2)).as_deref(),
            Some("2 syncs took ZooKeeper up to 1.23 s (log:1)")
        );
        assert_eq!(first(&zookeeper(999)), None);
        let hdfs = |sync: bool| {
            format!("WARN datanode.DataNode: Slow flushOrSync took 4016ms (threshold=300ms), isSync:{sync}, flushTotalNanos=9ns\n")
        };
        assert_eq!(first(&hdfs(true)).as_deref(), Some("1 sync took HDFS up to 4.02 s (log:1)"));
        assert_eq!(first(&hdfs(false)), None, "a write into the page cache is no sync");
        let cockroach = "disk slowness detected: syncdata on file 000003.log has been ongoing for 5.2s\n";
        assert_eq!(
            first(&cockroach.repeat(3)).as_deref(),
            Some("a sync of CockroachDB had gone on for 5.2 s (log:1)")
        );
    }

    #[test]
    fn several_slow_syncs_that_a_tracer_lists_are_suspicious() {
        let said = |lines: &[(usize, &str)]| {
            let heading = "TIME     COMM           PID    T BYTES   OFF_KB   LAT(ms) FILENAME\n".to_owned();
            let line = |(n, ms): &(usize, &str)| {
                format!("06:35:01 postgres       1646   S 0       0       {ms} 00000001\n").repeat(*n)
            };
            let text = heading + &lines.iter().map(line).collect::<String>();
            let all = judge_counters(&[ToolOutput::read("log", text.as_bytes())]);
            all.into_iter().find(|v| v.cause == "flush-cost").map(|v| v.evidence[0].sentence())
        };
        let told = "10 syncs took up to 32.9 ms, the longest by postgres (1646): 00000001 (log:2)";
        assert_eq!(said(&[(9, "10.94"), (1, "32.94")]).as_deref(), Some(told));
        assert_eq!(said(&[(9, "32.94")]), None, "too few");
        assert_eq!(said(&[(30, "2.10")]), None, "no slower than a sync may be");
        assert!(said(&[(1, "1200.10")]).is_some());
    }

    #[test]
    fn a_slow_percentile_of_prometheus_is_suspicious() {
        let said = |seconds: f64| {
            let text = format!("histogram_quantile(0.99, rate(etcd_disk_wal_fsync_duration_seconds_bucket[5m]))\n{{instance=\"a\"}} {seconds}\n{{instance=\"b\"}} 0.004\n");
            let all = judge_counters(&[ToolOutput::read("text", text.as_bytes())]);
            all.into_iter().find(|v| v.cause == "flush-cost").map(|v| v.evidence[0].sentence())
        };
        assert_eq!(
            said(0.05).as_deref(),
            Some("the 99th percentile of the syncs of etcd's log is 50 ms (text:2)")
        );
        assert_eq!(said(0.009), None);
    }

    #[test]
    fn more_than_one_in_a_hundred_is_suspicious() {
        let text = said(11).expect("a suspicion");
        assert_eq!(text, "1.1 % of 1,000 syncs of etcd's log took longer than 16 ms (metrics.txt:1)");
        assert_eq!(said(10), None, "a p99 of at most 16 ms may be 9");
    }
}
