//! Reads log lines in which databases report slow I/O: PostgreSQL, MySQL's InnoDB, etcd, Ceph; those of distributed stores in [`stores`].
//!
//! ```text
//! LOG:  duration: 9712.345 ms  statement: COMMIT                                            PostgreSQL: statements
//! # Query_time: 8.712345  Lock_time: 0.000123 Rows_sent: 0  Rows_examined: 0                MySQL: statements
//! LOG:  checkpoints are occurring too frequently (2 seconds apart)                          PostgreSQL: time between checkpoints
//! LOG:  checkpoint complete: wrote 1234 buffers (7.5%); ... write=26.9 s, sync=12.3 s, total=39.9 s; ... longest=8.1 s
//! InnoDB: page_cleaner: 1000ms intended loop took 4321ms.                                   InnoDB: page cleaner
//! wal: sync duration of 1.23s, expected less than 1s                                        etcd before 3.5; `WAL.sync: ...` without a bound
//! {"level":"warn","msg":"slow fdatasync","took":"1.234s","expected-duration":"1s"}          etcd: fdatasync
//! 'agreement among raft nodes before linearized reading'  (duration: 3.6s)                 etcd: agreement with the other members
//! read-only range request "key..." with result "..." took too long (1.2s) to execute       etcd: request
//! --Thread 1399 has waited at buf0flu.cc line 1209 for 241.00 seconds the semaphore:       InnoDB: semaphore
//! 14 slow requests, 2 included below; oldest blocked for > 61.2 secs                       Ceph: oldest blocked
//! 7 ops are blocked > 32.768 sec on osd.4                                                Ceph: osd.4 blocked for longer
//! bluestore(/var/lib/ceph/osd) log_latency slow operation observed for kv_sync, latency = 5.123s    Ceph: kv_sync
//! ```
//!
//! Each kind of line has a row with its count and the percentiles of its times. Fast operations are not in these logs. Times that an
//! operation has waited for so far are bounds: only the longest is kept.
//!
//! **Versions**: PostgreSQL 15 run; by published logs InnoDB of MySQL 5.7 and 8.0 and of MariaDB 10.3, etcd 3.0 to 3.6, Ceph 10 to 16; ZooKeeper, HDFS, HBase and Pebble by their published sources, MongoDB by logs of 2020 to 2026.

mod stores;

use super::biosnoop::Groups;
use super::reader::{texts, Found, Tool};
use crate::output::number::{decimal, time_unit, with_suffix, Unit};
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;
use evidence::Spot;

pub struct DatabaseLog;

/// The name of PostgreSQL's complaint about checkpoints.
const CHECKPOINTS_APART: &str = "checkpoints apart";
/// Kinds of times that have not ended.
const OLDEST: &str = "Ceph oldest blocked";
const BLOCKED: &str = "Ceph blocked";
/// Words of a line that are examined.
const LOOKED_AT: usize = 60;
/// Limit on words between two lines that are read (other lines of the log).
const MOST_BETWEEN: usize = 80;

impl Tool for DatabaseLog {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let mut groups = Groups::default();
        let (mut used, mut unknown) = (0, 0);
        let mut written = Written::default();
        loop {
            let rest = &words[used..];
            let most = if used == 0 { 1 } else { MOST_BETWEEN.min(rest.len()) };
            let next = (0..most).find_map(|skip| Some((skip, line(&rest[skip..])?)));
            let Some((skip, (told, length))) = next else { break };
            written.add(&told, rest[skip].spot);
            for (kind, ns) in told.into_iter().filter(|(kind, _)| *kind != PAGES) {
                let of_one = daemon(kind, &rest[skip..]).map(|daemon| format!("{BLOCKED}: {daemon}"));
                if let Some(group) = groups.of(of_one.as_deref().unwrap_or(kind), rest[skip].spot) {
                    group.took.record(ns.round() as u64);
                }
            }
            used += skip + length;
            unknown += skip;
        }
        let mut rows = groups.rows();
        rows.extend(written.row());
        rows.iter_mut()
            .filter(|row| {
                [OLDEST, BLOCKED].iter().chain(&stores::GOING_ON).any(|kind| row.of.starts_with(kind))
            })
            .for_each(bound);
        let reading = Reading { tool: "database log", rows, at: words.first()?.spot, ..Reading::default() };
        (!reading.rows.is_empty()).then_some(Found { reading: Some(reading), used, unknown })
    }
}

/// Keeps the longest of times that have not ended.
fn bound(row: &mut Row) {
    if let Some(longest) = row.values.take("lat.max") {
        *row = Row::of(std::mem::take(&mut row.of));
        row.values.put("longest so far", longest.value, longest.unit, longest.at);
    }
}

/// The part of Ceph whose operations are blocked: `are blocked > 32.768 sec on osd.4`; the `>` is removed like a quote mark. Of the oldest one
/// `oldest one blocked for 65 sec, daemons [osd.12,osd.22] have slow ops`, or `... sec, osd.13 has slow ops`: the first of them, and how many more.
fn daemon(kind: &str, words: &[Word]) -> Option<String> {
    let named = |text: &str| ["osd.", "mon.", "mds."].iter().any(|part| text.starts_with(part));
    if kind == BLOCKED {
        let [_, _, _, _, on, of] = texts(words)?;
        return (on == "on" && named(of)).then(|| of.to_owned());
    }
    let after = words.get(6..).filter(|_| kind == OLDEST)?;
    let list = match texts(after)? {
        ["daemons", list] => list,
        [of, "has"] => of,
        _ => return None,
    };
    let mut all = list.trim_matches(['[', ']']).split(',');
    let first = all.next().filter(|first| named(first))?;
    Some(match all.count() {
        0 => first.to_owned(),
        more => format!("{first} +{more}"),
    })
}

/// Words of a line of InnoDB's page cleaner up to its number of pages: `... took 8348ms. The settings might not be optimal. (flushed=1864`.
const LOOP_LINE: usize = 13;

/// The time that InnoDB's page cleaner took, and how many pages it wrote, whose number ends at a word.
fn page_cleaner(took: f64, pages: Option<(usize, &str)>, used: usize) -> TimedLine {
    match pages.and_then(|(end, n)| Some((end, n.parse::<u32>().ok()?))) {
        Some((end, n)) if n >= LEAST_PAGES => (vec![(CLEANER, took), (PAGES, f64::from(n))], end),
        Some((end, _)) => (vec![(HARDLY_ANY, took)], end),
        None => (vec![(CLEANER, took)], used),
    }
}

/// Pages of which there is a mean: of fewer, one or two were late, or the machine slept.
const LEAST_PAGES: u32 = 10;
const CLEANER: &str = "InnoDB page cleaner";
/// Loops that were late although they wrote less than [`LEAST_PAGES`].
const HARDLY_ANY: &str = "InnoDB cleaner, no pages";
/// The number of pages that a loop of [`CLEANER`] wrote, not a time.
const PAGES: &str = "pages";

/// Pages that InnoDB's page cleaner wrote, and the time that it took.
#[derive(Default)]
struct Written {
    pages: f64,
    ns: f64,
    at: Option<Spot>,
}

impl Written {
    fn add(&mut self, told: &[(&'static str, f64)], at: Spot) {
        if let [(CLEANER, ns), (PAGES, pages)] = told {
            self.pages += pages;
            self.ns += ns;
            self.at.get_or_insert(at);
        }
    }

    /// The mean time of a page.
    fn row(self) -> Option<Row> {
        let at = self.at?;
        let mut row = Row::of("InnoDB page written");
        row.values.put("count", self.pages, Unit::Count, at);
        row.values.put("lat.mean", self.ns / self.pages, Unit::Nanoseconds, at);
        Some(row)
    }
}

/// The kinds in one line, each with its time in nanoseconds (of [`PAGES`] their number), and the number of words.
type TimedLine = (Vec<(&'static str, f64)>, usize);

fn line(words: &[Word]) -> Option<TimedLine> {
    let text = |i: usize| words.get(i).map_or("", |w| w.text);
    match [text(0), text(1)] {
        // A prefix of the server's (`log_line_prefix`) may have no space at its end.
        [log, "duration:"] if log.ends_with("LOG:") && text(3) == "ms" => {
            Some((vec![("PostgreSQL statement", decimal(text(2))? * 1e6)], 4))
        }
        ["checkpoint" | "restartpoint", "complete:"] => checkpoint(words),
        ["checkpoints", "are"] if [text(2), text(3), text(4)] == ["occurring", "too", "frequently"] => {
            let seconds = decimal(text(5).strip_prefix('(')?)?;
            text(7).starts_with("apart)").then(|| (vec![(CHECKPOINTS_APART, seconds * 1e9)], 8))
        }
        ["page_cleaner:", intended]
            if intended.ends_with("ms") && [text(2), text(3), text(4)] == ["intended", "loop", "took"] =>
        {
            let flushed = |i: usize| text(i).strip_prefix("(flushed=");
            Some(page_cleaner(ns(text(5))?, (6..LOOP_LINE).find_map(|i| Some((i + 1, flushed(i)?))), 6))
        }
        // MySQL's slow query log: `# Query_time: 8.712345  Lock_time: 0.000123`.
        ["#", "Query_time:"] if text(3) == "Lock_time:" => {
            Some((vec![("MySQL statement", decimal(text(2))? * 1e9)], 3))
        }
        // MySQL 8: `Page cleaner took 8712ms to flush 2000 and evict 0 pages`.
        ["Page", "cleaner"] if [text(2), text(4), text(5)] == ["took", "to", "flush"] => {
            Some(page_cleaner(ns(text(3))?, Some((7, text(6))), 6))
        }
        // `slow request 30.123456 seconds old`; `slow request osd_op(...) initiated ...` has no time.
        ["slow", "request"] if text(3) == "seconds" => {
            Some((vec![("Ceph slow request", decimal(text(2))? * 1e9)], 4))
        }
        ["slow", "operation"] if text(2) == "observed" => ceph(words),
        // `blocked for > 61.2 secs`: the `>` is removed like a quote mark.
        ["oldest", "blocked"] if text(2) == "for" && text(4).starts_with("sec") => {
            Some((vec![(OLDEST, decimal(text(3))? * 1e9)], 5))
        }
        ["oldest", "one"] if [text(2), text(3)] == ["blocked", "for"] && text(5).starts_with("sec") => {
            Some((vec![(OLDEST, decimal(text(4))? * 1e9)], 6))
        }
        ["are", "blocked"] if text(3).starts_with("sec") => {
            Some((vec![(BLOCKED, decimal(text(2))? * 1e9)], 4))
        }
        ["has", "waited"] if [text(2), text(4), text(6), text(8)] == ["at", "line", "for", "seconds"] => {
            Some((vec![("InnoDB semaphore", decimal(text(7))? * 1e9)], 9))
        }
        ["took", "too"] if text(2) == "long" && text(4) == "to" => {
            Some((vec![("etcd request", ns(text(3).trim_matches(['(', ')']))?)], 4))
        }
        ["'agreement", "among"] if text(2) == "raft" => {
            let at = words.iter().take(LOOKED_AT).position(|w| w.text == "(duration:")?;
            Some((vec![("etcd agreement of members", ns(text(at + 1).split(')').next()?)?)], at + 2))
        }
        // `apply entries took too long [527.7ms for 1 entries]`
        ["took", "too"] if text(2) == "long" && text(3).starts_with('[') => {
            Some((vec![("etcd apply", ns(text(3).trim_start_matches('['))?)], 4))
        }
        // `failed to send out heartbeat on time (exceeded the 100ms timeout for 218.2ms)`: the delay beyond the timeout.
        ["heartbeat", "on"] if [text(2), text(3), text(6)] == ["time", "(exceeded", "timeout"] => {
            Some((vec![("etcd heartbeat late", ns(text(8).trim_end_matches([')', ',']))?)], 9))
        }
        _ => etcd(words).or_else(|| stores::line(words)),
    }
}

/// Parses `write=26.9 s, sync=12.3 s, total=39.9 s; ... longest=8.1 s, average=0.1 s`.
fn checkpoint(words: &[Word]) -> Option<TimedLine> {
    let looked_at = &words[..words.len().min(LOOKED_AT)];
    let value = |key: &str| {
        let at = looked_at.iter().position(|w| w.text.starts_with(key))?;
        let seconds = looked_at[at].text.strip_prefix(key)?.strip_prefix('=')?;
        (looked_at.get(at + 1)?.text.starts_with('s')).then_some((decimal(seconds)? * 1e9, at + 2))
    };
    let kinds = [
        ("PostgreSQL checkpoint writing", "write"),
        ("PostgreSQL checkpoint syncing", "sync"),
        ("PostgreSQL checkpoint", "total"),
        ("PostgreSQL longest sync", "longest"),
    ];
    let found: Vec<(&'static str, (f64, usize))> =
        kinds.iter().filter_map(|(kind, key)| Some((*kind, value(key)?))).collect();
    let end = found.iter().map(|(_, (_, end))| *end).max()?;
    Some((found.into_iter().map(|(kind, (ns, _))| (kind, ns)).collect(), end))
}

/// Parses `slow operation observed for kv_sync, latency = 5.123s`.
fn ceph(words: &[Word]) -> Option<TimedLine> {
    let at = words.iter().take(12).position(|w| w.text == "latency")?;
    let value = words.get(at + 2).filter(|_| words[at + 1].text == "=")?;
    let kind = match words.get(4)?.text.trim_end_matches(',') {
        "kv_sync" | "_kv_sync_thread" => "Ceph kv_sync",
        "kv_commit" | "_txc_committed_kv" => "Ceph kv_commit",
        "kv_flush" => "Ceph kv_flush",
        _ => "Ceph slow operation",
    };
    Some((vec![(kind, ns(value.text.trim_end_matches(','))?)], at + 3))
}

/// Parses `"msg":"slow fdatasync","took":"1.234s"`; before version 3.5 `sync duration of 1.23s, expected less than 1s`.
fn etcd(words: &[Word]) -> Option<TimedLine> {
    let first = words.first()?.text;
    if let Some(["sync", "duration", "of", took]) = texts(words) {
        // In prose the unit stands apart.
        let took = took.trim_end_matches(',');
        return Some((vec![("etcd fdatasync", ns(took).filter(|_| took.ends_with('s'))?)], 4));
    }
    if !first.contains("\"msg\":\"slow") && !first.contains("\"msg\":\"apply") {
        return None;
    }
    // `apply request took too long` is said of all requests, `apply entries took too long` only of writes (server/etcdserver/apply.go).
    let kind = match words.get(1).map(|w| w.text) {
        _ if first.ends_with("slow") => "etcd fdatasync",
        Some("request") => "etcd request",
        _ => "etcd apply",
    };
    let looked_at = words.iter().take(LOOKED_AT).enumerate().take_while(|(i, w)| *i == 0 || !w.first);
    looked_at.skip(1).find_map(|(i, w)| {
        let (_, rest) = w.text.split_once("\"took\":\"")?;
        Some((vec![(kind, ns(rest.split('"').next()?)?)], i + 1))
    })
}

/// Parses a duration to nanoseconds: `1.234s`, `4321ms.`; Go's `1m2.5s`.
fn ns(text: &str) -> Option<f64> {
    let (mut rest, mut sum) = (text.trim_end_matches('.'), 0.0);
    while !rest.is_empty() {
        let (value, suffix) = with_suffix(rest)?;
        let end = suffix.find(|c: char| c.is_ascii_digit()).unwrap_or(suffix.len());
        let unit = match &suffix[..end] {
            "h" => 3600e9,
            "m" => 60e9,
            unit => time_unit(unit)?,
        };
        (sum, rest) = (sum + value * unit, &suffix[end..]);
    }
    (!text.is_empty()).then_some(sum)
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn each_database_tells_what_was_slow() {
        let text = "2026-01-02 10:00:00 UTC [77] LOG:  duration: 9712.345 ms  statement: COMMIT\n\
            2026-01-02 10:00:01 UTC [77] LOG:  checkpoint complete: wrote 1234 buffers (7.5%); 0 WAL file(s) added, 0 removed, 3 recycled; write=26.9 s, sync=12.3 s, total=39.9 s; sync files=8, longest=8.1 s, average=1.6 s\n\
            2026-01-02 10:00:09 UTC [78] LOG:  duration: 1712.5 ms  statement: COMMIT\n";
        let reading = one(text, "database log");
        let value = |of: &str, name: &str| reading.row(of).and_then(|r| r.value(name));
        assert_eq!(
            (value("PostgreSQL statement", "count"), value("PostgreSQL statement", "lat.max")),
            (Some(2.0), Some(9_712_345_000.0))
        );
        assert_eq!(
            (value("PostgreSQL checkpoint syncing", "lat.max"), value("PostgreSQL longest sync", "lat.max")),
            (Some(12.3e9), Some(8.1e9))
        );
        for (line, of, ns) in [
            ("[Note] [MY-011953] [InnoDB] Page cleaner took 8712ms to flush 2000 and evict 0 pages", "InnoDB page cleaner", 8_712e6),
            ("# Query_time: 8.5  Lock_time: 0.000123 Rows_sent: 0", "MySQL statement", 8.5e9),
            ("cluster log [WRN] : slow request 30.5 seconds old, received at 2026", "Ceph slow request", 30.5e9),
            ("2026 InnoDB: page_cleaner: 1000ms intended loop took 4321ms. The settings might not be optimal.", "InnoDB page cleaner", 4_321e6),
            ("InnoDB: page_cleaner: 1000ms intended loop took 4000ms. The settings might not be optimal. (flushed=9 and evicted=0", "InnoDB cleaner, no pages", 4e9),
            ("{\"level\":\"warn\",\"ts\":\"2026\",\"caller\":\"wal/wal.go:7\",\"msg\":\"slow fdatasync\",\"took\":\"1.234s\",\"expected-duration\":\"1s\"}", "etcd fdatasync", 1.234e9),
            ("Nov 25 01:02:03 host etcd[77]: apply entries took too long [512.7ms for 3 entries]", "etcd apply", 512.7e6),
            ("Nov 25 01:02:03 host etcd[77]: failed to send out heartbeat on time (exceeded the 100ms timeout for 318.5ms)", "etcd heartbeat late", 318.5e6),
            ("{\"level\":\"warn\",\"msg\":\"slow fdatasync\",\"took\":\"1m2.5s\",\"expected-duration\":\"1s\"}", "etcd fdatasync", 62.5e9),
            ("etcd: wal: sync duration of 1.5s, expected less than 1s", "etcd fdatasync", 1.5e9),
            ("10:00:00 etcd1 | 2026-01-02 10:00:00.5 W | wal: wal/wal.go: WAL.sync: sync duration of 8.5ms", "etcd fdatasync", 8.5e6),
            ("etcdserver: read-only range request \"key\" with result \"size:5\" took too long (1.5s) to execute", "etcd request", 1.5e9),
            ("--Thread 139911 has waited at buf0flu.cc line 1209 for 241.00 seconds the semaphore:", "InnoDB semaphore", 241e9),
            ("2015 UTC:10.0.1.77(33798):u@d:[10269]:LOG: duration: 515.5 ms execute <unnamed>: SELECT 1", "PostgreSQL statement", 515.5e6),
            ("LOG:  checkpoints are occurring too frequently (2 seconds apart)", "checkpoints apart", 2e9),
            ("{\"level\":\"warn\",\"msg\":\"apply request took too long\",\"took\":\"3.5s\",\"expected-duration\":\"100ms\"}", "etcd request", 3.5e9),
            ("\"steps\":[\"trace[162] 'agreement among raft nodes before linearized reading'  (duration: 3.5s)\"]", "etcd agreement of members", 3.5e9),
            ("cluster [WRN] : 6 slow requests, 2 included below; oldest blocked for > 61.5 secs", "Ceph oldest blocked", 61.5e9),
            ("health: HEALTH_WARN 3 slow ops, oldest one blocked for 122 sec, osd.12 has slow ops", "Ceph blocked: osd.12", 122e9),
            ("update: 3 slow ops, oldest one blocked for 65 sec, daemons [osd.12,osd.22,osd.6] have slow ops. (SLOW_OPS)", "Ceph blocked: osd.12 +2", 65e9),
            ("3 slow ops, oldest one blocked for 35 sec.", "Ceph oldest blocked", 35e9),
            ("HEALTH_WARN 140 requests are blocked > 32 sec; 9 osds have slow requests", "Ceph blocked", 32e9),
            ("7 ops are blocked > 262.5 sec on osd.4", "Ceph blocked: osd.4", 262.5e9),
            ("log_latency_fn slow operation observed for _txc_committed_kv, latency = 7.5s, txc = 0x55", "Ceph kv_commit", 7.5e9),
        ] {
            let reading = one(line, "database log");
            let value = |name: &str| reading.row(of).and_then(|r| r.value(name));
            assert_eq!(value("lat.max").or(value("longest so far")), Some(ns), "{line}");
            assert!(value("longest so far").is_none() || value("lat.mean").is_none(), "a bound has no mean: {line}");
        }
        let text = "[InnoDB] Page cleaner took 8000ms to flush 2000 and evict 0 pages\n\
            InnoDB: page_cleaner: 1000ms intended loop took 2000ms. The settings might not be optimal. (flushed=500 and evicted=0\n";
        let reading = one(text, "database log");
        let pages = reading.row("InnoDB page written").unwrap();
        assert_eq!((pages.value("count"), pages.value("lat.mean")), (Some(2500.0), Some(4e6)));
        assert!(all("the checkpoint complete: total=long and duration: 5 ms", "database log").is_empty());
    }
}
