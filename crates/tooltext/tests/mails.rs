//! Numbers are read from mails, each with its unit and place, whatever mailers did to them.

use proptest::prelude::*;
use std::path::Path;
use tooltext::{Reading, Row, ToolOutput, Unit};

fn fixture(name: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/mails");
    std::fs::read_to_string(fixtures.join(name)).unwrap()
}

const FIXTURES: [&str; 5] =
    ["writeback.txt", "stable-page.txt", "request-size.txt", "log-completion.txt", "raid-bitmap.txt"];

fn read(text: &str) -> ToolOutput {
    ToolOutput::read("mail", text.as_bytes())
}

/// All numbers of all readings without their places.
fn numbers(output: &ToolOutput) -> Vec<String> {
    let row = |reading: &Reading, row: &Row| {
        let values: Vec<String> =
            row.values.iter().map(|(n, v)| format!("{n}={} {:?}", v.value, v.unit)).collect();
        let buckets: Vec<String> =
            row.histogram.iter().map(|b| format!("{}..{}:{}", b.from, b.below, b.count.value)).collect();
        format!("{} {} {} {} {}", reading.tool, reading.name, row.of, values.join(" "), buckets.join(" "))
    };
    let readings = output.runs.iter().flat_map(|run| &run.readings);
    readings.flat_map(|reading| reading.rows.iter().map(move |r| row(reading, r))).collect()
}

/// As a mailer does it: lines no longer than `width`, broken at blanks.
fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut length = 0;
        for word in line.split_whitespace() {
            if length > 0 && length + 1 + word.len() > width {
                out.push('\n');
                length = 0;
            } else if length > 0 {
                out.push(' ');
                length += 1;
            }
            out.push_str(word);
            length += word.len();
        }
        out.push('\n');
    }
    out
}

fn quoted(text: &str, marks: &str) -> String {
    text.lines().map(|line| format!("{marks}{line}\n")).collect()
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_number_has_its_unit_and_its_line() {
    let text = fixture("writeback.txt");
    let output = read(&text);
    let buffered = output.runs.iter().find(|r| r.label == "Reads and buffered writes").expect("the label");
    let job = buffered.of("fio").next().unwrap();
    let reads = job.row("read").unwrap();
    let max = reads.latency("max").unwrap();
    assert_eq!((max.value, max.unit), (129_414_000.0, Unit::Nanoseconds));
    let line = text.lines().nth(max.at.line as usize - 1).unwrap();
    assert!(line.contains("max=129414"), "{line}");
    assert_eq!(reads.value("clat.p99.95"), Some(64_256_000.0));
    assert_eq!(reads.value("bw"), Some(255_500.0 * 1024.0));
    assert_eq!(reads.value("iops"), Some(63_874.0));
    assert_eq!(reads.value("count"), Some(1_368_200.0));
    assert_eq!(reads.value("runtime"), Some(21.42e9));
    let disk = job.row("sdb").unwrap();
    assert_eq!((disk.value("write.time"), disk.value("write.ios")), (Some(573.945e9), Some(2048.0)));
    let dist = buffered.of("xfsdist").next().unwrap();
    assert_eq!(dist.row("read").unwrap().slower_than(16e6), (894_185.0, 1310.0));
    let dd = buffered.of("dd").next().unwrap().row("copy").unwrap();
    assert_eq!((dd.value("bytes"), dd.value("bw")), (Some(2_147_483_648.0), Some(445e6)));
    let commands: Vec<&str> = buffered.commands.iter().map(|c| c.program()).collect();
    assert_eq!(commands, ["fio", "dd", "xfsdist"]);
}

#[test]
fn runs_are_labelled_by_the_words_before_them() {
    let labels = |name: &str| -> Vec<String> {
        let output = read(&fixture(name));
        let full = output.runs.iter().filter(|r| r.readings.iter().any(|r| !r.rows.is_empty()));
        full.map(|r| r.label.clone()).collect()
    };
    assert_eq!(
        labels("stable-page.txt"),
        [
            "ext4 w/ stable page write",
            "ext4 w/o stable page write",
            "xfs w/ stable page write",
            "xfs w/o stable page write"
        ]
    );
    assert_eq!(labels("request-size.txt")[..2], ["Host direct write", "Write via Xen"]);
    assert_eq!(
        labels("log-completion.txt"),
        ["Varmail (nr_cpus = 48 vs nr_cpus=16)", "Iozone (nr_cpus = 48 vs nr_cpus=16)"]
    );
    let stack =
        "that with such random workload, raid5d thread is busy updating the bitmap in stack like this";
    assert_eq!(
        labels("raid-bitmap.txt"),
        ["Typical iostat output is", stack, "Things are better now, but still"]
    );
}

#[test]
fn a_flattened_table_has_all_its_rows() {
    let output = read(&fixture("raid-bitmap.txt"));
    let tables: Vec<&Reading> = output.runs.iter().flat_map(|r| r.of("iostat")).collect();
    assert_eq!(tables.iter().map(|t| t.rows.len()).collect::<Vec<_>>(), [7, 7]);
    let array = tables[0].row("dm-37").unwrap();
    assert_eq!(array.value("w_await"), Some(505.81e6));
    assert_eq!(array.value("wbytes/s"), Some(12_338.14 * 1024.0));
    assert_eq!(array.value("size"), Some(93.5 * 512.0));
    assert_eq!(array.get("w/s").map(|n| (n.value, n.unit)), Some((263.92, Unit::PerSecond)));
}

#[test]
fn quotes_that_repeat_a_reading_count_once() {
    let text = fixture("raid-bitmap.txt");
    let once = read(&text);
    let twice = read(&format!("{text}\n\nI agree.\n{}", quoted(&text, "> ")));
    assert_eq!(numbers(&once), numbers(&twice));
    assert_eq!(twice.repeated, 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Quoting, wrapping and flattening change no number.
    #[test]
    fn mailers_change_no_number(which in 0usize..5, width in 40usize..100, depth in 0usize..4, unspaced: bool) {
        let text = fixture(FIXTURES[which]);
        let expected = numbers(&read(&text));
        prop_assert!(!expected.is_empty());
        let marks = if unspaced { ">".repeat(depth) } else { "> ".repeat(depth) };
        let marks = if unspaced && depth > 0 { marks + " " } else { marks };
        prop_assert_eq!(&numbers(&read(&quoted(&text, &marks))), &expected);
        prop_assert_eq!(&numbers(&read(&quoted(&wrapped(&text, width), &marks))), &expected);
        prop_assert_eq!(&numbers(&read(&text.replace('\n', "\r\n"))), &expected);
    }

    /// Any bytes give something, and never more numbers than there are words.
    #[test]
    fn mutated_mails_are_read(
        which in 0usize..5, cut in 0.0f64..1.0, edits in prop::collection::vec((0.0f64..1.0, any::<u8>()), 0..40),
    ) {
        let mut bytes = fixture(FIXTURES[which]).into_bytes();
        for (at, byte) in edits {
            let at = (at * bytes.len() as f64) as usize;
            bytes[at] = byte;
        }
        bytes.truncate((cut * bytes.len() as f64) as usize);
        let output = ToolOutput::read("mutated", &bytes);
        prop_assert!(output.understood <= output.words);
        prop_assert!(numbers(&output).len() <= output.words);
    }

    /// Words that tools use, in any order.
    #[test]
    fn any_words_are_read(words in prop::collection::vec(prop::sample::select(WORDS), 0..200)) {
        let output = read(&words.join(" "));
        prop_assert!(output.understood <= output.words);
    }
}

#[test]
fn flattened_to_one_line_is_the_same() {
    for name in ["writeback.txt", "stable-page.txt", "log-completion.txt", "raid-bitmap.txt"] {
        let text = fixture(name);
        assert_eq!(numbers(&read(&flat(&text))), numbers(&read(&text)), "{name}");
    }
}

/// What readers look for.
const WORDS: &[&str] = &[
    "rd:",
    "(groupid=0,",
    "jobs=2):",
    "err=",
    "read",
    "write:",
    ":",
    "io=1MB,",
    "bw=",
    "iops=7,",
    "clat",
    "(usec):",
    "min=3",
    ",",
    "max=",
    "percentiles",
    "|",
    "99.00th=[",
    "16],",
    "lat",
    "(msec)",
    "100=0.5%,",
    "Disk",
    "stats",
    "(read/write):",
    "sda:",
    "ios=1/2,",
    "Device:",
    "r/s",
    "w/s",
    "await",
    "%util",
    "1.00",
    "2,00",
    "sda",
    "operation",
    "=",
    "'read'",
    "msecs",
    "count",
    "distribution",
    "0",
    "->",
    "1",
    "4",
    "|****|",
    "2048+0",
    "records",
    "in",
    "out",
    "bytes",
    "s,",
    "MB/s",
    "8,0",
    "0.000040600",
    "D",
    "W",
    "+",
    "8",
    "[fio]",
    "ALL",
    "MIN",
    "AVG",
    "MAX",
    "N",
    "Q2C",
    "Threads",
    "Base",
    "/",
    "109,845",
    "[<0>]",
    "f+0x1/0x2",
    "[global]",
    "rw=read",
    "$",
    "dd",
    ">",
    ">=64=0.0%",
    "-----",
    "* ",
    "Jobs:",
    "[eta",
    "Tracing",
    "end.",
    "request",
    "size",
    "256KB",
    "80-110",
    "reads/s",
    "2.84/995.07",
    "99999999999999999999",
    "1e308",
];
