//! Exports that other programs read: fio replays its logs, HdrHistogram's reader reads the log, tables have every row.

use crate::support::{by_number, fixture, read, All};
use export::{Fio, Folder, Form, HdrLog, Rows};
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::Histogram;
use life::{Class, Op};
use std::collections::BTreeMap;
use std::fs::File;
use std::process::Command;

#[test]
fn the_log_of_latencies_is_read_by_its_own_library() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = HdrLog::create(&Folder::create(dir.path()).unwrap(), by_number(), None).unwrap();
    let recording = fixture("randread-vs-bufferedwrite");
    read(&recording, |batch| log.feed(batch));
    let ((name, lines), left_out) = log.finish().unwrap();
    assert_eq!(left_out, 0);
    let text = std::fs::read(dir.path().join(name)).unwrap();
    let mut sums: BTreeMap<String, Histogram<u64>> = BTreeMap::new();
    let (mut read_lines, mut before) = (0, 0);
    for entry in IntervalLogIterator::new(&text) {
        let LogEntry::Interval(interval) = entry.unwrap() else { continue };
        assert!(interval.start_timestamp().as_secs() >= before, "in order of time");
        before = interval.start_timestamp().as_secs();
        let bytes = base64(interval.encoded_histogram());
        let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
        assert!((interval.max() - histogram.max() as f64 / 1e6).abs() <= histogram.max() as f64 / 1e8);
        let tag = interval.tag().unwrap().as_str().to_string();
        sums.entry(tag).or_insert_with(|| Histogram::new(3).unwrap()).add(&histogram).unwrap();
        read_lines += 1;
    }
    assert_eq!(read_lines, lines);
    let all = All::of(&recording);
    for class in [Class::Read, Class::Background] {
        let mut exact: Vec<u64> =
            all.requests.iter().filter(|(r, _)| r.class() == class).map(|(r, _)| r.time.total().0).collect();
        exact.sort_unstable();
        let dev = all.requests[0].0.dev;
        let word = if class == Class::Read { "read" } else { "background" };
        let sum = &sums[&format!("{dev}:{word}").replace(',', "_")];
        assert_eq!(sum.len(), exact.len() as u64);
        for q in [0.5, 0.99, 1.0] {
            let rank = ((q * exact.len() as f64).ceil() as usize).clamp(1, exact.len());
            let (told, is) = (sum.value_at_quantile(q), exact[rank - 1]);
            assert!(told.abs_diff(is) <= is / 500 + 1, "{word} {q}: {told} for {is}");
        }
    }
}

/// As RFC 4648 has it.
fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut n, mut out) = (0u32, 0, vec![]);
    for c in text.bytes().filter(|c| *c != b'=') {
        bits = bits << 6 | DIGITS.iter().position(|d| *d == c).unwrap() as u32;
        n += 6;
        if n >= 8 {
            n -= 8;
            out.push((bits >> n) as u8);
        }
    }
    out
}

#[test]
fn fio_replays_what_was_asked() {
    let dir = tempfile::tempdir().unwrap();
    let mut export = Fio::create(&Folder::create(dir.path()).unwrap(), by_number());
    // Little is written: the replay writes it into a file.
    let recording = fixture("nullblk-randrw");
    read(&recording, |batch| export.feed(batch));
    let (written, left_out) = export.finish().unwrap();
    assert_eq!((written.len(), left_out), (1, 0));
    let log = std::fs::read_to_string(dir.path().join(&written[0].log)).unwrap();
    let lines: Vec<Vec<&str>> = log.lines().skip(1).map(|l| l.split(' ').collect()).collect();
    let asked = |what: &str| -> (u64, u64) {
        let of = lines.iter().filter(|l| l[2] == what);
        of.fold((0, 0), |(n, bytes), l| (n + 1, bytes + l[4].parse::<u64>().unwrap()))
    };
    let bios = |op: Op| -> (u64, u64) {
        let of = All::of(&recording);
        let of = of.bios.iter().filter(|(b, _)| b.op == op);
        of.fold((0, 0), |(n, bytes), (b, _)| (n + 1, bytes + b.bytes.0))
    };
    // A few were queued and not completed when the recording ended.
    for (what, op) in [("read", Op::Read), ("write", Op::Write)] {
        let ((n, bytes), (completed, completed_bytes)) = (asked(what), bios(op));
        assert!(n >= completed && n - completed < 300, "{what}: {n} asked, {completed} completed");
        assert!(bytes >= completed_bytes);
    }
    if Command::new("fio").arg("--version").output().is_err() {
        eprintln!("SKIPPED: fio is not installed, nothing was replayed");
        return;
    }
    let job = std::fs::read_to_string(dir.path().join(&written[0].job)).unwrap();
    let size = job.lines().find_map(|l| l.strip_prefix(";     truncate -s ")).unwrap();
    let (size, file) = size.split_once(' ').unwrap();
    File::create(dir.path().join(file)).unwrap().set_len(size.parse().unwrap()).unwrap();
    // As fast as it goes, and where O_DIRECT may not be to be had. fio does not count the bytes of what is in flight when
    // the log ends, so they are compared of a replay that has nothing in flight then.
    let synchronous = job.replace("ioengine=libaio", "ioengine=psync");
    std::fs::write(dir.path().join("synchronous.fio"), synchronous).unwrap();
    for (name, counts_bytes) in [(written[0].job.as_str(), false), ("synchronous.fio", true)] {
        let ran = Command::new("fio")
            .args(["--output-format=json", "--replay_no_stall=1", "--direct=0", name])
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let told = String::from_utf8_lossy(&ran.stdout);
        let told: serde_json::Value = serde_json::from_str(&told[told.find('{').unwrap()..]).unwrap();
        let job = &told["jobs"][0];
        assert_eq!(job["error"], 0);
        for what in ["read", "write"] {
            let (n, bytes) = asked(what);
            assert_eq!(job[what]["total_ios"], n, "{name} {what}");
            if counts_bytes {
                assert_eq!(job[what]["io_bytes"], bytes, "{what}");
            }
        }
    }
}

#[test]
fn every_request_and_operation_is_a_row() {
    let recording = fixture("fsync-ordered-data");
    let all = All::of(&recording);
    let dir = tempfile::tempdir().unwrap();
    for form in [Form::Csv, Form::Jsonl] {
        let mut rows = Rows::create(&Folder::create(dir.path()).unwrap(), form, by_number()).unwrap();
        read(&recording, |batch| rows.feed(batch));
        let files = rows.finish().unwrap();
        let operations = all.operations.iter().filter(|(o, _)| o.is_storage).count();
        assert_eq!(files[0].1, all.requests.len() as u64);
        assert_eq!(files[1].1, operations as u64);
    }
    let mut csv = csv::Reader::from_path(dir.path().join("operations.csv")).unwrap();
    let head = csv.headers().unwrap().clone();
    let at = |name: &str| head.iter().position(|h| h == name).unwrap();
    let (total, first_reason) = (at("total_ns"), at("total_ns") + 1);
    for row in csv.records() {
        let row = row.unwrap();
        let value = |i: usize| row[i].parse::<u64>().unwrap();
        assert_eq!((first_reason..head.len()).map(value).sum::<u64>(), value(total), "the ledger balances");
    }
}
