//! What the tools installed here print today, run in the test: their text and their JSON tell the same facts.
//!
//! Where a tool is missing the test says SKIPPED and passes.

use proptest::prelude::*;
use std::process::Command;
use tooltext::{Reading, ToolOutput, Unit};

/// What a command prints; `None`, and a line on the terminal, if it is not installed.
fn run(program: &str, args: &[&str], folder: &std::path::Path) -> Option<(String, String)> {
    let out = Command::new(program).args(args).current_dir(folder).env("LC_ALL", "C").output();
    let Ok(out) = out else {
        eprintln!("SKIPPED: {program} is not installed");
        return None;
    };
    assert!(out.status.success(), "{program}: {}", String::from_utf8_lossy(&out.stderr));
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Some((text(out.stdout), text(out.stderr)))
}

const FIO: [&str; 10] = [
    "--name=mix",
    "--rw=randrw",
    "--bs=4k",
    "--size=8m",
    "--fsync=16",
    "--filename=data",
    "--percentile_list=50:99:99.9",
    "--write_lat_log=mix",
    "--log_max_value=0",
    "--output-format=normal,json+",
];

fn readings<'a>(output: &'a ToolOutput, tool: &'a str) -> Vec<&'a Reading> {
    output.runs.iter().flat_map(|r| r.of(tool)).filter(|r| !r.rows.is_empty()).collect()
}

#[test]
fn json_and_text_of_one_fio_run_are_the_same_facts() {
    let folder = tempfile::tempdir().unwrap();
    let Some((both, _)) = run("fio", &FIO, folder.path()) else { return };
    let (json, text) = match (both.find("\n{"), both.find("\n}\n")) {
        (Some(from), Some(to)) => (&both[from..to + 3], format!("{}{}", &both[..from], &both[to + 3..])),
        _ => panic!("no JSON: {both}"),
    };
    let (json, text) = (ToolOutput::read("json", json.as_bytes()), ToolOutput::read("text", text.as_bytes()));
    let (json, text) = (readings(&json, "fio"), readings(&text, "fio"));
    assert_eq!((json.len(), text.len()), (1, 1));
    assert_eq!(json[0].name, text[0].name);
    let mut compared = 0;
    for row in &text[0].rows {
        let other = json[0].row(&row.of).unwrap_or_else(|| panic!("{} is not in the JSON", row.of));
        for (name, printed) in row.values.iter() {
            // What only the text says: how much of all bandwidth it was, and how many samples that rests on.
            if name.ends_with(".per") || name.ends_with(".samples") {
                continue;
            }
            let exact = other.get(name).unwrap_or_else(|| panic!("{} {name} is not in the JSON", row.of));
            assert_eq!(printed.unit, exact.unit, "{} {name}", row.of);
            // The text has three to five digits, and times in whole microseconds or milliseconds if they are long.
            let slack = match printed.unit {
                Unit::Nanoseconds if exact.value >= 1e6 => exact.value * 0.02 + 1e6,
                Unit::Nanoseconds => exact.value * 0.02 + 1e3,
                _ => exact.value * 0.02 + 1.0,
            };
            assert!((printed.value - exact.value).abs() <= slack, "{} {name}: {printed:?} {exact:?}", row.of);
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared}");
    // json+ has a histogram: it counts every read.
    let read = json[0].row("read").unwrap();
    let (counted, _) = read.slower_than(0.0);
    assert_eq!(Some(counted), read.value("count"));
    assert_eq!(json[0].setting("fsync"), Some("16"));
}

#[test]
fn a_log_has_what_the_summary_of_its_run_has() {
    let folder = tempfile::tempdir().unwrap();
    let Some((both, _)) = run("fio", &FIO, folder.path()) else { return };
    let json = ToolOutput::read("json", &both.as_bytes()[both.find("\n{").unwrap()..]);
    let name = "mix_clat.1.log";
    let log = std::fs::read(folder.path().join(name)).unwrap();
    let (begin, rest) = log.split_at(log.len().min(100));
    let log = ToolOutput::read_stream(name, begin.to_vec(), rest).unwrap();
    let (json, log) = (readings(&json, "fio")[0], readings(&log, "fio")[0]);
    for of in ["read", "write"] {
        let (exact, read) = (json.row(of).unwrap(), log.row(of).unwrap());
        assert_eq!(exact.value("count"), read.value("count"), "{of}");
        for name in ["clat.min", "clat.max"] {
            assert_eq!(exact.get(name).unwrap().value, read.get(name).unwrap().value, "{of} {name}");
        }
        // fio's buckets are 1.6 % wide, ours 0.8 %; a percentile may be one value further.
        let (a, b) = (exact.value("clat.p50").unwrap(), read.value("clat.p50").unwrap());
        assert!((a / b - 1.0).abs() < 0.03, "{of} {a} {b}");
        assert!((exact.value("clat.mean").unwrap() / read.value("clat.mean").unwrap() - 1.0).abs() < 1e-3);
        let in_order = read.in_order.as_ref().expect("latencies in order");
        assert_eq!(Some(in_order.all().count() as f64), read.value("count"));
    }
}

#[test]
fn json_of_iostat_is_its_table() {
    let folder = tempfile::tempdir().unwrap();
    let Some((json, _)) = run("iostat", &["-x", "-o", "JSON"], folder.path()) else { return };
    let Some((text, _)) = run("iostat", &["-x"], folder.path()) else { return };
    let (json, text) = (ToolOutput::read("json", json.as_bytes()), ToolOutput::read("text", text.as_bytes()));
    let (json, text) = (readings(&json, "iostat"), readings(&text, "iostat"));
    assert_eq!(json.len(), text.len());
    let mut compared = 0;
    for (a, b) in json.iter().zip(&text) {
        for row in &a.rows {
            let other = b.row(&row.of).unwrap_or_else(|| panic!("{} is not in the table", row.of));
            let names = |r: &tooltext::Row| {
                let mut all: Vec<_> = r.values.iter().map(|(n, v)| (n.to_owned(), v.unit)).collect();
                all.sort_by(|a, b| a.0.cmp(&b.0));
                all
            };
            assert_eq!(names(row), names(other));
            compared += row.values.iter().count();
        }
    }
    assert!(compared > 10, "{compared}");
}

#[test]
fn dd_says_how_much_it_copied() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["if=/dev/zero", "of=zeros", "bs=64k", "count=32"];
    let Some((_, said)) = run("dd", &args, folder.path()) else { return };
    let output = ToolOutput::read("dd", said.as_bytes());
    let dd = readings(&output, "dd");
    assert_eq!(dd.len(), 1, "{said}");
    assert_eq!(dd[0].rows[0].value("bytes"), Some(2_097_152.0), "{said}");
}

/// As `show_thread_status_json` of fio 2.1 wrote it; the numbers are ours.
const FIO_2: &str = r#"{
  "fio version" : "fio-2.1.11",
  "jobs" : [ {
      "jobname" : "old", "groupid" : 0, "error" : 0,
      "read" : { "io_bytes" : 1024, "bw" : 512, "iops" : 128.00, "runtime" : 2000, "total_ios" : 256,
        "clat" : { "min" : 100, "max" : 9000, "mean" : 300.50, "stddev" : 12.00,
                   "percentile" : { "50.000000" : 290, "99.000000" : 800, "0.00" : 0 } } },
      "write" : { "io_bytes" : 0, "bw" : 0, "iops" : 0.00, "runtime" : 0, "total_ios" : 0 } } ]
}"#;

#[test]
fn fio_2_had_microseconds_and_kib() {
    let output = ToolOutput::read("old.json", FIO_2.as_bytes());
    let fio = readings(&output, "fio");
    let read = fio[0].row("read").unwrap();
    let value = |name: &str| read.get(name).map(|n| n.value);
    assert_eq!((value("bytes"), value("bw")), (Some(1_048_576.0), Some(524_288.0)));
    assert_eq!((value("clat.p99"), value("clat.max")), (Some(800_000.0), Some(9_000_000.0)));
    assert_eq!(read.get("clat.p99").unwrap().at.to_string(), "7");
    assert!(fio[0].row("write").is_none());
}

#[test]
fn a_log_of_four_columns_does_not_say_its_unit() {
    let read =
        |name: &str, log: &str| ToolOutput::read_stream(name, log.as_bytes().to_vec(), &b""[..]).unwrap();
    let output = read("a_lat.log", "1, 500, 0, 4096\n2, 700, 1, 4096\nx\n");
    let fio = readings(&output, "fio")[0];
    assert_eq!(fio.row("read").unwrap().get("lat.max").unwrap().unit, Unit::Unstated);
    assert_eq!((output.left_out, output.first_left_out.unwrap().to_string()), (1, "3".to_owned()));
    let output = read("a_bw.1.log", "500, 2048, 1, 0, 0\n");
    let write = readings(&output, "fio")[0].row("write").unwrap().clone();
    assert_eq!(write.get("bw.mean").unwrap().value, 2048.0 * 1024.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_bytes_make_it_panic(at in 0usize..FIO_2.len(), byte in any::<u8>(), cut in 0usize..FIO_2.len()) {
        let mut bytes = FIO_2.as_bytes().to_vec();
        bytes[at] = byte;
        ToolOutput::read("j", &bytes);
        ToolOutput::read("j", &bytes[..cut]);
        let log = format!("1, 2, 0, 4096, 0\n{}", String::from_utf8_lossy(&bytes[cut..]));
        let _ = ToolOutput::read_stream("a_lat.1.log", log.into_bytes(), &b""[..]);
    }
}

/// As bcc's biosnoop.py prints it; the numbers are ours.
const BIOSNOOP: &str = "\
TIME(s)     COMM           PID    DISK      T SECTOR     BYTES   QUE(ms) LAT(ms)
0.000004    supervise      1950   xvda1     W 13092560   4096       0.01    0.74
0.000178    Web Content    1951   xvda1     W 13092432   8192       0.02    0.61
0.001469    kworker/0:1H   1952   xvda1     R -1         4096       0.00    1.24
";

#[test]
fn biosnoop_has_a_row_for_each_disk_and_direction() {
    for text in [
        BIOSNOOP.to_owned(),
        BIOSNOOP.replace('\n', " "),
        BIOSNOOP.lines().map(|l| format!("> {l}\n")).collect(),
    ] {
        let output = ToolOutput::read("mail", text.as_bytes());
        let found = readings(&output, "biosnoop");
        let value = |of: &str, name: &str| found[0].row(of).unwrap().value(name);
        assert_eq!(
            (value("xvda1 W", "count"), value("xvda1 W", "bytes")),
            (Some(2.0), Some(12_288.0)),
            "{text}"
        );
        assert_eq!(
            (value("xvda1 W", "lat.max"), value("xvda1 R", "lat.max")),
            (Some(740_000.0), Some(1_240_000.0))
        );
        assert_eq!((value("xvda1 W", "queued.max"), output.left_out), (Some(20_000.0), 0));
    }
}

#[test]
fn diskstats_of_this_machine_and_of_old_ones() {
    let old = "   8       0 sda 1287 5 79000 702 151907 147 1200000 147202 0 3000 147904\n   8  1 sda1 1 0 2 0 3 0 4 5 0 6 7\n";
    for text in [old.to_owned(), old.split_whitespace().collect::<Vec<_>>().join(" ")] {
        let output = ToolOutput::read("mail", text.as_bytes());
        let found = readings(&output, "diskstats");
        assert_eq!(found[0].rows.len(), 2, "{text}");
        let sda = found[0].row("sda").unwrap();
        assert_eq!(
            (sda.value("read.bytes"), sda.value("write.time")),
            (Some(79000.0 * 512.0), Some(147_202e6))
        );
        assert_eq!(found[0].row("sda1").unwrap().value("in_queue"), Some(7e6));
    }
    let Ok(today) = std::fs::read_to_string("/proc/diskstats") else { return };
    let output = ToolOutput::read("diskstats", today.as_bytes());
    let rows: usize = readings(&output, "diskstats").iter().map(|r| r.rows.len()).sum();
    assert_eq!((rows, output.left_out), (today.lines().count(), 0), "{today}");
}

/// As bcc's biolatency -D and -F print it; the numbers are ours.
#[test]
fn biolatency_per_disk_and_per_flag() {
    let text = "\
Tracing block device I/O... Hit Ctrl-C to end.
^C

disk = b'nvme0n1'
     usecs               : count     distribution
         0 -> 1          : 0        |                                        |
        64 -> 127        : 12       |****************************************|

disk = 'sda'
     usecs               : count     distribution
       128 -> 255        : 3        |****************************************|

flags = Sync-Read
     usecs               : count     distribution
       256 -> 511        : 7        |****************************************|
";
    let output = ToolOutput::read("mail", text.as_bytes());
    let found = readings(&output, "biolatency");
    let names: Vec<&str> = found[0].rows.iter().map(|r| r.of.as_str()).collect();
    assert_eq!(names, ["nvme0n1", "sda", "Sync-Read"]);
    assert_eq!(found[0].rows[0].slower_than(64e3), (12.0, 12.0));
    assert_eq!(output.left_out, 0);
}

/// As filebench 1.4 and 1.5 and iozone 3 print it; the numbers are ours.
#[test]
fn filebench_and_iozone() {
    let text = "\
statfile1            84183ops     1402ops/s   0.0mb/s      0.6ms/op      148us/op-cpu [0ms - 12ms]
closefile3           84181ops     1402ops/s   0.0mb/s      0.1ms/op       20us/op-cpu [0ms - 3ms]
 60.1: IO Summary: 447216 ops 7453.437 ops/s 1146/1147 rd/wr  28.2mb/s   0.6ms/op
 61.3: IO Summary: 5568143 ops, 92797.3 ops/s, (14280/14278 r/w), 452.3mb/s, 0us cpu/op, 2.7ms latency
";
    for text in [text.to_owned(), text.split_whitespace().collect::<Vec<_>>().join(" ")] {
        let output = ToolOutput::read("mail", text.as_bytes());
        let rows: Vec<_> = readings(&output, "filebench").into_iter().flat_map(|r| r.rows.clone()).collect();
        let names: Vec<&str> = rows.iter().map(|r| r.of.as_str()).collect();
        assert_eq!(names, ["statfile1", "closefile3", "all", "all"], "{text}");
        let numbers = |i: usize| ["count", "iops", "bw", "mean"].map(|n| rows[i].value(n).unwrap_or(-1.0));
        assert_eq!(numbers(0), [84183.0, 1402.0, 0.0, 600_000.0]);
        assert_eq!(["min", "max"].map(|n| rows[0].value(n)), [Some(0.0), Some(12e6)]);
        assert_eq!(numbers(2)[..2], [447_216.0, 7453.437]);
        assert_eq!(numbers(3)[3], 2_700_000.0);
        assert!((numbers(3)[2] - 452.3 * 1048576.0).abs() < 1.0);
    }
    let text = "\
              kB  reclen    write  rewrite    read    reread
         1048576       4   109845   188503  793211    811034
         1048576       8   145968   227948  893211    911034

\tChildren see throughput for  4 initial writers \t=  336585.12 kB/sec
\tChildren see throughput for  4 rewriters \t=  333111.00 kB/sec
";
    let output = ToolOutput::read("mail", text.as_bytes());
    let rows: Vec<_> = readings(&output, "iozone").into_iter().flat_map(|r| r.rows.clone()).collect();
    assert_eq!(rows[0].value("write.bw"), Some(109_845.0 * 1024.0));
    assert_eq!(rows[1].value("reread.bw"), Some(911_034.0 * 1024.0));
    assert_eq!((rows[2].of.as_str(), rows[2].value("threads")), ("initial writers", Some(4.0)));
    assert_eq!(rows[3].value("bw"), Some(333_111.0 * 1024.0));
}
