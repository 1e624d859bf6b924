//! One question for every view: options that narrow are understood alike, and what matches nothing says what there is.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// fio's fsyncs and reads of other tasks, on loop0 and vda.
const CAPTURE: &str = "fixtures/fsync-ordered-data";

fn iowhy(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_iowhy")).current_dir(root).args(arguments).output().expect("iowhy runs")
}

fn json(arguments: &[&str]) -> Value {
    let out = iowhy(arguments);
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("JSON")
}

fn screen(arguments: &[&str]) -> String {
    String::from_utf8(iowhy(arguments).stdout).expect("text")
}

fn refused(arguments: &[&str]) -> String {
    let out = iowhy(arguments);
    assert!(!out.status.success(), "{arguments:?}");
    String::from_utf8(out.stderr).expect("text")
}

/// Every command that looks at waits, with the files that it wants.
fn commands() -> Vec<Vec<&'static str>> {
    vec![
        vec!["explain", CAPTURE],
        vec!["report", CAPTURE, "blame"],
        vec!["report", "--html", "/dev/null", CAPTURE],
        vec!["slow", "-n", "1", CAPTURE],
        vec!["plot", CAPTURE],
        vec!["view", "--no-browser", CAPTURE],
        vec!["compare", CAPTURE, CAPTURE],
        vec!["export", "--to", "folded", CAPTURE],
    ]
}

#[test]
fn a_name_that_is_not_there_is_an_error_that_lists_what_is() {
    for (option, value, there) in [
        ("--task", "nobody", "fio"),
        ("--device", "sdz", "loop0"),
        ("--pid", "999999999", "recorded: "),
        ("--cgroup", "/no.slice", "control groups"),
        ("--mount", "/nowhere", "/"),
    ] {
        for command in commands() {
            let said = refused(&[&command[..], &[option, value]].concat());
            assert!(said.contains(&format!("called {value}")), "{command:?} {option}: {said}");
            assert!(said.contains(there), "{command:?} {option}: {said}");
        }
    }
}

/// Kinds of operations are known words: that there are none of one is an answer.
#[test]
fn no_operation_of_a_kind_is_an_answer() {
    let none = json(&["slow", "--json", "--op", "unlink", CAPTURE]);
    assert_eq!(none["slowest"].as_array().map(Vec::len), Some(0));
    assert_eq!(json(&["explain", "--json", "--op", "unlink", CAPTURE])["answer"]["kind"], "unknown");
    let fsyncs =
        |op: &str| json(&["slow", "--json", "--op", op, CAPTURE])["slowest"].as_array().map(Vec::len);
    assert!(fsyncs("FSYNC") == fsyncs("fsync") && fsyncs("FSYNC") > Some(0));
}

/// Who asks for the wrong call (databases use fdatasync) reads which calls there are, each with its number.
#[test]
fn instead_of_a_kind_that_did_not_occur_those_are_named_that_did() {
    let line = |arguments: &[&str]| {
        let answer = json(&[&["explain", "--json"], arguments].concat())["answer"].clone();
        answer["line"].as_str().expect("a line").to_string()
    };
    let all = line(&["--op", "fdatasync", CAPTURE]);
    assert!(all.starts_with("Nothing to explain: no fdatasyncs here: there are "), "{all}");
    let count = |of: &str| {
        all.split(&format!("{of} (")).nth(1).and_then(|rest| rest.split(')').next()).map(str::to_string)
    };
    let fsyncs = json(&["explain", "--json", CAPTURE])["operations"].clone();
    let fsyncs = fsyncs.as_array().expect("operations").iter().find(|o| o["op"] == "fsync").expect("fsyncs")
        ["count"]
        .clone();
    assert_eq!(count("fsyncs"), Some(fsyncs.to_string()), "{all}");
    let of_fio = line(&["--op", "fdatasync", "--task", "fio", CAPTURE]);
    assert!(of_fio.contains("fsyncs (") && !of_fio.contains("journal"), "{of_fio}");
    let of_blocks = line(&["--op", "fsync", "fixtures/seqwrite-max32k"]);
    assert!(of_blocks.contains("no fsyncs here: only requests were recorded: write ("), "{of_blocks}");
    let compared = screen(&["compare", "--op", "fdatasync", CAPTURE, CAPTURE]);
    assert!(compared.contains("no fdatasyncs here: there are"), "{compared}");
    let never = iowhy(&["compare", CAPTURE, CAPTURE, "--fail-if", "fdatasync.p99 > 1ms"]);
    assert_eq!(never.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&never.stderr).contains("they have: background-write, close, fsync, "));
    let never =
        iowhy(&["compare", "--op", "fdatasync", CAPTURE, CAPTURE, "--fail-if", "fdatasync.p99 > 1ms"]);
    assert_eq!(never.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&never.stderr).contains("neither side has fdatasync, nor any other"));
}

/// What is asked about is there, and no task waits in it itself: the answer says where to look instead.
#[test]
fn what_nobody_waits_in_says_where_the_waits_are() {
    let line = |arguments: &[&str]| {
        let answer = json(&[&["explain", "--json"], arguments].concat())["answer"].clone();
        assert_eq!(answer["kind"], "unknown", "{arguments:?}");
        answer["line"].as_str().expect("a line").to_string()
    };
    let commits = line(&["--op", "journal-commit", "fixtures/volume-249-iops"]);
    assert!(commits.contains("iowhy slow --op journal-commit;"), "{commits}");
    let member = line(&["--device", "vdb", "fixtures/raid5-bitmap64k"]);
    assert!(member.contains("tasks wait for md0, which lies on vdb: iowhy explain --device md0"), "{member}");
}

/// What the kernel counted is shown of the span that is asked about, as the events are.
#[test]
fn counters_are_those_of_the_window() {
    let counted = |window: &[&str]| {
        let report = json(&[&["report", "--json", "fixtures/volume-249-iops", "pressure"], window].concat());
        report["tables"]["pressure"].as_array().map_or(0, Vec::len)
    };
    let (whole, part) = (counted(&[]), counted(&["--window", "1:1.5"]));
    assert!(0 < part && part <= 2 && part < whole, "{part} of {whole}");
}

/// A window in which the recording has nothing is an answer only within the recording.
#[test]
fn a_window_behind_the_recording_is_an_error_that_says_what_it_covers() {
    let more: [&[&str]; 7] = [
        &["dist", CAPTURE],
        &["events", CAPTURE],
        &["events", "-O", CAPTURE],
        &["whatif", CAPTURE, "--without", "dd"],
        &["whatif", CAPTURE, "--explain-load"],
        &["explain", "--predict", CAPTURE],
        &["report", CAPTURE],
    ];
    for command in commands().into_iter().chain(more.map(<[&str]>::to_vec)) {
        let out = iowhy(&[&command[..], &["--window", "1000:1001"]].concat());
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{command:?}: {said}");
        assert!(said.contains(&format!("{CAPTURE}: the window lies outside")), "{command:?}: {said}");
        assert!(said.contains("which covers 0 to 2.5"), "{command:?}: {said}");
        assert!(out.stdout.is_empty(), "{command:?}");
    }
    for command in commands().into_iter().filter(|command| command[0] != "view") {
        let out = iowhy(&[&command[..], &["--window", "1:1.5"]].concat());
        assert!(out.status.success(), "{command:?}: {}", String::from_utf8_lossy(&out.stderr));
    }
}

/// A screen that is pasted elsewhere says that it is about a part.
#[test]
fn the_screen_says_which_part_was_read() {
    let shown = |more: &[&str]| {
        let screen = screen(&[&["explain", CAPTURE], more].concat());
        screen.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(
        shown(&["--window", "1:1.5"]).contains("; only from 1 s to 1.5 s"),
        "{}",
        shown(&["--window", "1:1.5"])
    );
    assert!(shown(&["-w", "500ms:", "--task", "fio"]).contains("; only from 500 ms on; only task fio"));
    assert!(!shown(&[]).contains("; only"));
}

/// Those who are shown to be slow by the screen's word are so when asked about, and counted as what they are.
#[test]
fn the_slowest_that_lost_much_each_are_explained() {
    let heavy = "fixtures/fsync-heavy-j4";
    let answer = json(&["explain", "--json", "--tail", heavy])["answer"].clone();
    assert_eq!((&answer["kind"], &answer["cause"]), (&"cause".into(), &"flush-cost".into()), "{answer}");
    let shown = screen(&["explain", "--tail", heavy]);
    assert!(shown.contains("SLOWEST") && shown.contains(" of 3,006"), "{shown}");
}

/// Who lost more than the one told first is on the screen, in a row or by name.
#[test]
fn who_lost_more_and_has_less_to_gain_is_named() {
    let starved = "fixtures/deadline-starved";
    let victims = json(&["explain", "--json", starved])["victims"].clone();
    let lost = |v: &Value| v["lost_ns"].as_u64().expect("a time");
    let all = victims.as_array().expect("victims");
    let most = all.iter().max_by_key(|v| lost(v)).expect("one");
    assert!(lost(most) > lost(&all[0]), "the fixture has one");
    let shown = screen(&["explain", starved]);
    let task = most["task"].as_str().expect("a name");
    let has_row = || shown.lines().any(|line| line.starts_with(&format!("{task} ")));
    assert!(shown.contains(&format!("of these {task} ")) || has_row(), "{shown}");
}

/// An operation that is out where a window ends is one of the slowest there, and not left out: the journal's thread, whose commit it waits
/// for, is at work on it.
#[test]
fn what_had_not_ended_where_the_window_ends_is_told() {
    let window = ["--window", "0:1.9", "fixtures/fsync-ordered-data"];
    let answer = json(&[&["explain", "--json"], &window[..]].concat())["answer"].clone();
    let line = answer["line"].as_str().expect("a line");
    assert!(
        line.starts_with("fio's fsync on loop0 took 1.83 s (unfinished) behind dd's writeback: "),
        "{line}"
    );
    let slow = json(&[&["slow", "--json", "-n", "1"], &window[..]].concat())["slowest"][0].clone();
    assert_eq!((slow["op"].as_str(), slow["over"].as_bool()), (Some("fsync"), Some(false)), "{slow}");
    let whole = json(&["slow", "--json", "-n", "1", "fixtures/fsync-ordered-data"])["slowest"][0].clone();
    assert_eq!(whole["over"], true);
}

#[test]
fn the_answer_is_about_what_is_asked() {
    let all = json(&["explain", "--json", CAPTURE]);
    let victims = |v: &Value| -> Vec<(String, String)> {
        let text = |v: &Value| v.as_str().unwrap_or_default().to_string();
        let list = v["victims"].as_array().expect("victims");
        list.iter().map(|v| (text(&v["task"]), text(&v["op"]))).collect()
    };
    assert!(victims(&all).len() > 1);
    let fsyncs = json(&["explain", "--json", "--op", "fsync", "--task", "fio", CAPTURE]);
    assert_eq!(victims(&fsyncs), [("fio".into(), "fsync".into())]);
    assert_eq!(fsyncs["capture"]["asked"], "only task fio, operation fsync");
    // The same operations lost the same time, whoever else is asked about.
    let same = all["victims"].as_array().expect("victims").iter();
    let same = same.into_iter().find(|v| v["task"] == "fio" && v["op"] == "fsync").expect("fio's fsyncs");
    for field in ["count", "time_ns", "lost_ns"] {
        assert_eq!(same[field], fsyncs["victims"][0][field], "{field}");
    }
    // And the device has done what it did.
    let requests = |v: &Value| -> u64 {
        let all = v["operations"].as_array().expect("operations").iter().filter(|o| o["level"] == "request");
        all.map(|o| o["count"].as_u64().expect("a count")).sum()
    };
    assert_eq!(requests(&all), requests(&fsyncs));
}

#[test]
fn the_slowest_are_a_part_of_all() {
    let lost = |more: &[&str]| -> (u64, String) {
        let v = json(&[&["explain", "--json", "--task", "fio", CAPTURE], more].concat());
        let because: u64 = v["victims"][0]["because"]
            .as_array()
            .expect("because")
            .iter()
            .map(|b| b["ns"].as_u64().expect("ns"))
            .sum();
        assert_eq!(v["victims"][0]["lost_ns"], because);
        (because, v["answer"]["of"].as_str().expect("of").into())
    };
    let ((all, of_all), (tail, of_tail)) = (lost(&["--for-all"]), lost(&["--tail"]));
    assert_eq!((of_all.as_str(), of_tail.as_str()), ("all", "tail"));
    assert!(0 < tail && tail <= all, "{tail} of {all}");
}

#[test]
fn what_cannot_be_asked_is_said() {
    let texts = "fixtures/mails/writeback.txt";
    assert!(refused(&["explain", "--task", "fio", texts]).contains("texts hold totals"));
    assert!(refused(&["explain", "--stopwatch", "1:2", texts]).contains("texts hold totals"));
    let replay = ["export", "--to", "fio", "--task", "fio", "/dev/null/x", CAPTURE];
    assert!(refused(&replay).contains("--task does not apply here: a replay needs all I/O"));
    assert!(refused(&["compare", "--tail", CAPTURE, CAPTURE]).contains("every percentile is shown"));
}
