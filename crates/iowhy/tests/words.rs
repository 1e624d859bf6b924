//! What a person reads at first: screens agree with one another, fit, and say what to do.

use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Recordings of several causes, with operations and of block events alone.
const RECORDINGS: [&str; 8] = [
    "fsync-log-force",
    "fsync-ordered-data",
    "fsync-journal-cpu",
    "randread-vs-bufferedwrite",
    "seqwrite-max1024k",
    "raid5-randwrite8k",
    "misc-events",
    "postgres-beside-copy/capture.tar.zst",
];

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_iowhy"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")).args(arguments);
    command
}

fn run(arguments: &[&str], columns: usize) -> Output {
    command(arguments).env("COLUMNS", columns.to_string()).output().expect("iowhy runs")
}

fn text(arguments: &[&str], columns: usize) -> String {
    let out = run(arguments, columns);
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&text(arguments, 80)).expect("JSON")
}

fn refused(arguments: &[&str], status: i32) -> String {
    let out = run(arguments, 80);
    assert_eq!(out.status.code(), Some(status), "{arguments:?}");
    String::from_utf8(out.stderr).expect("text")
}

/// A text in one line.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_long_screen_leads_with_the_answer_and_its_share() {
    for recording in RECORDINGS {
        let answer = json(&["explain", "--json", recording])["answer"].clone();
        let (Some(cause), line) = (answer["cause"].as_str(), answer["line"].as_str().expect("a sentence"))
        else {
            continue;
        };
        let screen = text(&["explain", "-v", recording], 200);
        let why = screen.lines().find_map(|l| l.strip_prefix("WHY    ")).expect("a reason");
        assert!(why.starts_with(&format!("{cause} explains ")), "{recording}: {why}");
        // The part that the sentence ends with: `45 % of 982 ms lost`, `98 % of the slowest 1 %`.
        let part = line.rsplit(", ").next().and_then(|last| last.split(" of ").next()).expect("a part");
        assert!(why.contains(part), "{recording}: {part:?} in {why}");
        let bound = line.contains("at most ");
        let table = screen.lines().skip_while(|l| !l.starts_with("WHO WAITED")).nth(1).unwrap_or_default();
        assert_eq!(bound, table.contains("<="), "{recording}: {line}\n{table}");
    }
}

#[test]
fn how_far_to_trust_it_stands_on_every_screen() {
    for recording in RECORDINGS {
        let whole = flat(text(&["explain", recording], 200).split_once("TRUST  ").expect("trust").1);
        let warnings = whole.split(" -v: ").next().unwrap_or_default();
        for columns in [40, 50, 60, 72] {
            let screen = flat(&text(&["explain", recording], columns));
            assert!(screen.contains(warnings), "{recording} in {columns}: {warnings:?} in\n{screen}");
        }
    }
}

#[test]
fn a_setting_that_contradicts_is_told_however_narrow_the_screen() {
    let folder = tempfile::tempdir().expect("a folder");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/seqwrite-max32k");
    for entry in std::fs::read_dir(from).expect("files").map(|e| e.expect("a file").path()) {
        let name = entry.file_name().expect("a name");
        let mut content = std::fs::read(&entry).expect("content");
        if name == "queue-vda.txt" {
            let old = String::from_utf8(content).expect("text");
            content = old.replace("max_sectors_kb: 32", "max_sectors_kb: 1024").into_bytes();
        }
        std::fs::write(folder.path().join(name), content).expect("a copy");
    }
    let place = folder.path().to_str().expect("a path");
    for columns in [40, 60, 80] {
        let screen = flat(&text(&["explain", place], columns));
        assert!(
            screen.contains("max_sectors_kb of vda is 1024") && screen.contains(": ignored"),
            "{columns}:\n{screen}"
        );
    }
}

#[test]
fn a_comparison_begins_with_its_verdict_and_fits() {
    let pairs = [
        ["seqwrite-max32k", "seqwrite-max1024k"],
        ["randread-baseline", "randread-vs-bufferedwrite"],
        ["fsync-ordered-data", "fsync-log-force"],
        ["fio/alone.json", "randread-vs-bufferedwrite"],
        ["fio/alone_clat.1.log", "fio/flooded_clat.1.log"],
    ];
    for [before, after] in pairs {
        let sentence =
            json(&["compare", "--json", before, after])["sentence"].as_str().expect("one").to_owned();
        for columns in [60, 80, 120] {
            let screen = text(&["compare", before, after], columns);
            let first = screen.split("\n\n").next().unwrap_or_default();
            assert_eq!(flat(first), format!("{sentence}."), "{before} {after}");
            let long = |line: &&str| line.chars().count() > columns && line.trim().contains(' ');
            assert_eq!(screen.lines().find(long), None, "{before} {after} in {columns}");
        }
    }
}

#[test]
fn nothing_destroys_data_or_takes_downtime_without_saying_so() {
    for recording in RECORDINGS.iter().chain(&["fsync-slow-mirror", "raid5-bitmap64k", "append-stable-page"])
    {
        let explained = json(&["explain", "--json", recording]);
        for cause in explained["causes"].as_array().expect("causes") {
            let remedies = cause["remedies"].as_array().expect("remedies");
            let risk = |r: &Value| {
                let command = r["command"].as_str().unwrap_or_default();
                let (what, has) = (r["what"].as_str().unwrap_or_default(), |w: &str| command.contains(w));
                match () {
                    () if has("mkfs") || has("mdadm --create") => {
                        assert!(what.contains("destroys all data on"), "{recording}: {command}: {what}");
                        2
                    }
                    () if has("umount ") || has("has_journal") => {
                        assert!(what.contains("downtime"), "{recording}: {command}: {what}");
                        1
                    }
                    () => 0,
                }
            };
            let risks: Vec<u8> = remedies.iter().map(risk).collect();
            assert!(risks.is_sorted(), "{recording}: {risks:?}");
        }
    }
}

/// Nobody can pause what is over: its next run gets a limit. Others of its name may be strangers.
#[test]
fn who_was_in_the_way_and_has_ended_is_looked_for_and_who_started_it_is_told() {
    let told = json(&["explain", "--json", "postgres-beside-copy/capture.tar.zst"]);
    let tried = told["answer"]["try"].as_array().expect("remedies");
    let next = tried[0]["command"].as_str().unwrap_or_default();
    assert!(next.starts_with("systemd-run --scope -p ") && next.ends_with(" COMMAND  # dd"), "{next}");
    let all = text(&["explain", "-v", "postgres-beside-copy/capture.tar.zst"], 80);
    assert!(all.contains("kill -STOP PID # one of: pgrep -ax dd"), "{all}");
    assert!(all.contains("dd had exited: if it runs again, pause the right one"), "{all}");
    assert!(all.contains("- run2.sh (PID 5662) started dd"), "{all}");
}

#[test]
fn slow_shows_the_victim_unless_all_are_asked_for() {
    // The slowest requests are the kernel's writeback, the victim's are reads.
    let victims = text(&["slow", "-n", "3", "randread-vs-bufferedwrite"], 80);
    assert!(victims.lines().filter(|l| l.contains("total, all accounted for")).count() == 3, "{victims}");
    assert!(!victims.contains("by kworker") && victims.contains("by fio"), "{victims}");
    assert!(victims.ends_with("Only fio, the first in iowhy explain; all tasks: iowhy slow --all\n"));
    let all = text(&["slow", "-n", "3", "--all", "randread-vs-bufferedwrite"], 80);
    assert!(all.contains("by kworker") && !all.contains("Only fio"), "{all}");
    assert!(!text(&["slow", "-n", "3", "--task", "fio", "fsync-ordered-data"], 80).contains("Only fio"));
}

#[test]
fn errors_say_what_where_and_what_to_do() {
    let one = refused(&["compare", "randread-baseline"], 2);
    assert!(
        one.contains("randread-baseline: a second recording or text to compare it with is missing")
            && one.contains("BEFORE AFTER")
    );
    let none = refused(&["compare", "nonexistent"], 2);
    assert!(none.contains("nonexistent: no such file or folder") && none.contains("BEFORE AFTER"), "{none}");
    let nowhere = refused(&["report", "--html", "/nonexistent/x.html", "randread-baseline"], 1);
    assert!(
        nowhere.contains("/nonexistent/x.html: ") && nowhere.contains("mkdir -p /nonexistent"),
        "{nowhere}"
    );
    let empty = command(&["explain", "-"]).stdin(Stdio::null()).output().expect("iowhy runs");
    let said = String::from_utf8(empty.stderr).expect("text");
    assert!(said.starts_with("iowhy: standard input: nothing came") && said.lines().count() > 1, "{said}");
    assert!(!said.contains("at byte"), "{said}");
}

/// What explains a text that comes through a pipe.
fn explained(input: &str) -> String {
    let mut child =
        command(&["explain", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("iowhy runs");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("written");
    String::from_utf8(child.wait_with_output().expect("an end").stdout).expect("text")
}

#[test]
fn texts_have_a_verdict_where_their_numbers_show_one() {
    let swapping = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n \
        r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n \
        1  0 900000  80000   1000  20000    1    2   120   900  600  300  1  2 90  7  0\n \
        1  7 910000   8000    100   2000 9000 4000  9000  4100  600  300  1  2 10 87  0\n \
        1  6 920000   8000    100   2000 7000 6000  7000  6100  600  300  1  2 10 87  0\n";
    assert!(explained(swapping).starts_with("standard input: swap (medium): "), "{}", explained(swapping));
    let pressure = "==> /proc/pressure/io <==\n\
        some avg10=62.50 avg60=50.00 avg300=10.00 total=123456789\n\
        full avg10=41.00 avg60=30.00 avg300=5.00 total=100000000\n";
    let said = flat(&explained(pressure));
    // The place names the text; a line of 160 letters has no room for it twice.
    let told =
        "tasks waited for I/O for 62.5 % of the last 10 s (standard input:2), all of them at once for 41 %";
    assert!(said.starts_with(&format!("{told}; suspected: device-saturated; ")), "{said}");
}

/// fio's syncs take 98 % of the run, and nothing else has a latency.
#[test]
fn syncs_that_take_all_the_time_are_the_cause() {
    let text = "wal: (groupid=0, jobs=1): err= 0: pid=4411: Mon Nov 23 10:00:00 2026\n  \
        write: IOPS=97, BW=390KiB/s (399kB/s)(22.9MiB/60012msec)\n    \
        sync (usec): min=4012, max=48211, avg=10083.10, stdev=2211.40\n";
    let said = flat(&explained(text));
    assert!(
        said.starts_with("standard input: flush-cost (medium)") && said.contains("are 98 % of its time"),
        "{said}"
    );
}

#[test]
fn how_long_requests_waited_is_seen_in_80_columns() {
    let iostat = "Device            r/s     w/s     rkB/s     wkB/s   rrqm/s   wrqm/s  %rrqm  %wrqm r_await w_await aqu-sz \
        rareq-sz wareq-sz  svctm  %util\n\
        sda              1.20  214.00     19.20   4812.00     0.00    38.00   0.00  15.08   12.40   31.80   6.83    16.00    22.49   4.41  94.90\n";
    let screen = explained(iostat);
    let head = screen.lines().find(|l| l.starts_with("SEEN")).unwrap_or_default();
    assert!(head.contains("r_await") && head.contains("w_await") && head.contains("util"), "{screen}");
}

#[test]
fn one_kind_of_io_has_one_name() {
    let recordings = ["randread-vs-bufferedwrite", "fsync-ordered-data", "deadline-starved"];
    for recording in recordings {
        for arguments in [
            vec!["explain", "-v", recording],
            vec!["report", recording],
            vec!["slow", "--all", recording],
            vec!["compare", "randread-baseline", recording],
            vec!["export", "--to", "folded", recording],
        ] {
            let said = text(&arguments, 80).to_lowercase();
            for other in ["background write", "background-write", "write-back"] {
                let at = said.find(other).map(|at| &said[at.saturating_sub(40)..(at + 40).min(said.len())]);
                assert_eq!(at, None, "{arguments:?}");
            }
        }
    }
}

/// A shell makes these of `vda.blktrace.*`.
#[test]
fn the_files_of_each_processor_are_one_recording() {
    let part = |cpu: u32| format!("randread-vs-bufferedwrite/vda.blktrace.{cpu}.zst");
    let (first, second) = (part(0), part(1));
    let whole = text(&["explain", "randread-vs-bufferedwrite/vda"], 80);
    assert!(whole.contains("writeback-flood") && whole.contains("TRUST  good"), "{whole}");
    assert_eq!(text(&["explain", &first, &second], 80), whole);
    assert_eq!(text(&["explain", &second, &first, &first], 80), whole);
    let other = refused(&["explain", &first, &second, "randread-baseline"], 1);
    assert!(other.contains("both recordings"), "{other}");
}

#[test]
fn a_recording_is_never_replaced_by_what_is_made_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let packed = folder.path().join("x.tar.zst");
    let original =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/postgres-beside-copy/capture.tar.zst");
    std::fs::copy(&original, &packed).expect("a copy");
    let (before, path) = (std::fs::read(&packed).expect("bytes"), packed.to_str().expect("a path"));
    for arguments in [
        &["report", "--html", path, "randread-baseline"][..],
        &["report", "--html", path, path],
        &["events", "-q", "-o", path, path],
    ] {
        let said = refused(arguments, 2);
        assert!(said.contains("it is not replaced"), "{said}");
        assert!(std::fs::read(&packed).expect("bytes") == before, "{arguments:?} changed it");
    }
    // A page or a text of an earlier run is.
    let page = folder.path().join("page.html");
    std::fs::write(&page, "<!doctype html>\n").expect("written");
    text(&["report", "--html", page.to_str().expect("a path"), "randread-baseline"], 80);
    assert!(std::fs::metadata(&page).expect("a page").len() > 10_000);
}
