//! `iowhy compare --json` on bundled recordings: what must hold whatever the numbers are.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn compare(before: &str, after: &str) -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = Command::new(env!("CARGO_BIN_EXE_iowhy"))
        .current_dir(root)
        .args(["compare", "--json", before, after])
        .output()
        .expect("iowhy runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("JSON")
}

fn metrics(v: &Value) -> impl Iterator<Item = &Value> {
    v["operations"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|o| o["metrics"].as_array().into_iter().flatten())
}

#[test]
fn a_recording_is_no_better_than_itself() {
    for name in ["fixtures/nullblk-randrw", "fixtures/randread-baseline", "fixtures/fsync-heavy-j4"] {
        let v = compare(name, name);
        assert_eq!(v["verdict"], "no-difference", "{name}: {}", v["sentence"]);
        assert_eq!((v["unlike"].as_bool(), v["settings"].as_array().map(Vec::len)), (Some(false), Some(0)));
        assert!(metrics(&v).all(|m| m["ratio"].is_null() || m["ratio"] == 1.0), "{name}");
        let ranges: Vec<&Value> =
            metrics(&v).map(|m| &m["range_95"]["ratio"]).filter(|r| !r.is_null()).collect();
        assert!(!ranges.is_empty(), "{name}");
        for range in ranges {
            let (from, to) = (range[0].as_f64().unwrap(), range[1].as_f64().unwrap());
            assert!(from <= 1.0 && 1.0 <= to, "{name}: {range}");
        }
    }
}

#[test]
fn the_other_way_round_it_is_the_other_way_round() {
    let (small, large) = ("fixtures/seqwrite-max32k", "fixtures/seqwrite-max1024k");
    let (there, back) = (compare(small, large), compare(large, small));
    assert_eq!((there["verdict"].as_str(), back["verdict"].as_str()), (Some("better"), Some("worse")));
    for (a, b) in metrics(&there).zip(metrics(&back)) {
        assert_eq!(a["name"], b["name"]);
        if let (Some(a), Some(b)) = (a["ratio"].as_f64(), b["ratio"].as_f64()) {
            assert!((a * b - 1.0).abs() < 1e-9, "{a} and {b}");
        }
    }
    // The time by reason before is that after, seen from the other side.
    let tail = |v: &Value, side: &str| v["tails"][0]["by_reason"][0]["mean_ns"][side].clone();
    assert_eq!(tail(&there, "before"), tail(&back, "after"));
}

#[test]
fn what_differs_about_load_and_settings_is_told() {
    let v = compare("fixtures/randread-baseline", "fixtures/randread-vs-bufferedwrite");
    assert_eq!(v["unlike"], true);
    let first = v["load"].as_array().and_then(|l| l.iter().find(|d| d["unlike"] == true)).expect("unlike");
    assert!(first["what"].as_str().unwrap().contains("writeback only after"), "{first}");
    let v = compare("fixtures/seqwrite-max32k", "fixtures/seqwrite-max1024k");
    assert_eq!(v["settings"][0]["what"], "vda/queue/max_sectors_kb");
}

#[test]
fn a_text_of_another_machine_is_no_evidence_and_that_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = "Device r/s w/s rkB/s wkB/s await aqu-sz %util\n";
    let explain = |text: String| {
        let path = folder.path().join("iostat.txt");
        std::fs::write(&path, text).expect("written");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let out = Command::new(env!("CARGO_BIN_EXE_iowhy"))
            .current_dir(root)
            .args(["explain", "--json", "fixtures/randread-baseline"])
            .arg(&path)
            .output()
            .expect("iowhy runs");
        let v: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        v["texts_remarks"].to_string()
    };
    let row = |name: &str| format!("{table}{name} 1.00 2.00 3.00 4.00 5.00 6.00 7.00\n");
    assert!(explain(row("nvme7n1")).contains("no evidence is taken from it: it is of nvme7n1"));
    assert_eq!(explain(row("vda")), "[]");
    let kernel = format!("Linux 4.15.0-20-generic (db7) 11/20/26\n\n{}", row("vda"));
    assert!(explain(kernel).contains("it is of Linux 4.15.0-20-generic"));
    let dd = "2147483648 bytes (2.1 GB) copied, 5.06064 s, 424 MB/s\n".to_owned();
    assert!(explain(dd).contains("host not recorded in it: assumed to be the recorded one"));
}

#[test]
fn a_text_and_a_recording_are_compared_both_ways() {
    let (text, recording) = ("fixtures/fio/alone.json", "fixtures/randread-vs-bufferedwrite");
    let (there, back) = (compare(text, recording), compare(recording, text));
    assert_eq!((there["verdict"].as_str(), back["verdict"].as_str()), (Some("worse"), Some("better")));
    let names: Vec<&str> = metrics(&there).filter_map(|m| m["name"].as_str()).collect();
    assert_eq!(names, ["mean", "p50", "p90", "p95", "p99", "max", "iops"]);
    for (a, b) in metrics(&there).zip(metrics(&back)) {
        assert_eq!((&a["before"], &a["after"]), (&b["after"], &b["before"]));
        assert_eq!(a["no_range_why"], "no interval possible from a summary");
    }
    // fio counted no writes, the recording has a flood of them; and bios are no operations.
    assert_eq!(there["unlike"], true);
    assert!(there["notes"].to_string().contains("the levels differ"));
    // A log has every latency: then a range is possible.
    let log = compare("fixtures/fio/alone_clat.1.log", "fixtures/randread-baseline");
    assert!(metrics(&log).any(|m| m["name"] == "p50" && !m["range_95"].is_null()), "{log}");
}

#[test]
fn operations_recorded_are_of_the_level_of_fio() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "{ \"fio version\" : \"fio-3.33\", \"jobs\" : [ { \"jobname\" : \"j\", \"sync\" : { \"total_ios\" : 70, \
        \"lat_ns\" : { \"max\" : 9000000, \"mean\" : 4000000, \"percentile\" : { \"50.000000\" : 4000000 } } } } ] }";
    let path = folder.path().join("fio.json");
    std::fs::write(&path, text).expect("written");
    let v = compare(path.to_str().expect("a name"), "fixtures/fsync-ordered-data");
    assert!(v["operations"][0]["what"].as_str().unwrap().contains("fsync"), "{v}");
    assert!(!v["notes"].to_string().contains("the levels differ"), "{v}");
}

/// fio's text is about fio, whoever else did the same more often; and what took hardly any of its time does not decide.
#[test]
fn what_fio_says_is_compared_with_what_fio_did() {
    let of = |text: &str, recording: &str| compare(text, &format!("fixtures/{recording}"));
    let v = of("fixtures/fsync-writeback-throttle/fio.txt", "fsync-writeback-throttle");
    assert!(v["notes"].to_string().contains("what the tasks called fio did"), "{v}");
    assert!(
        v["sentence"].to_string().contains("fsyncs") && !v["sentence"].to_string().contains("writes"),
        "{v}"
    );
    // Nobody there is called so.
    let v = of("fixtures/fio/alone.json", "randread-vs-bufferedwrite");
    assert!(!v["notes"].to_string().contains("called fio"), "{v}");
}

#[test]
fn settings_that_texts_tell_differ_with_the_recorded_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let dd = "Device r/s w/s rkB/s wkB/s r_await w_await\nvda 900.00 0.00 3600.00 0.00 5.00 0.00\n";
    let path = folder.path().join("mail");
    std::fs::write(&path, format!("/sys/block/vda/queue/nr_requests:7\n\n{dd}")).expect("written");
    let v = compare(path.to_str().expect("a name"), "fixtures/randread-baseline");
    assert_eq!(v["settings"][0]["what"], "vda/queue/nr_requests");
    assert_eq!(
        (v["settings"][0]["before"].as_str(), v["settings"][0]["after"].as_str()),
        (Some("7"), Some("256"))
    );
    let waits: Vec<&Value> = metrics(&v).filter(|m| m["name"] == "r_await").collect();
    assert_eq!(waits[0]["before"], 5e6);
}

/// How a comparison under a condition ends: the exit status and what is said of it.
fn under(condition: &str, more: &[&str]) -> (Option<i32>, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sides = ["fixtures/randread-baseline", "fixtures/randread-vs-bufferedwrite"];
    let out = Command::new(env!("CARGO_BIN_EXE_iowhy"))
        .current_dir(root)
        .args(["compare", "--json", "--fail-if", condition])
        .args(if more.is_empty() { &sides } else { more })
        .output()
        .expect("iowhy runs");
    (out.status.code(), String::from_utf8(out.stderr).expect("text"))
}

#[test]
fn a_condition_names_device_mount_and_task() {
    let (status, said) = under("read.p99 > 400ms", &[]);
    assert_eq!(status, Some(0));
    assert!(
        said.starts_with("iowhy: 'read.p99 > 400ms' does not hold: reads p99 17.7 ms -> 367 ms"),
        "{said}"
    );
    for holds in ["read.p99 > 300ms", "read.p99 > 300 ms on vda", "read.p99 > 10x of fio on /dev/vda"] {
        let (status, said) = under(holds, &[]);
        assert_eq!(status, Some(1), "{holds}: {said}");
        assert!(said.contains("holds: reads p99 17.7 ms -> 367 ms"), "{holds}: {said}");
    }
    let one = ["fixtures/fsync-ordered-data", "fixtures/fsync-ordered-data"];
    let (status, said) = under("fsync.lost > 1s on /mnt/lab of fio", &one);
    assert_eq!(status, Some(1), "{said}");
    assert_eq!(under("fsync.max > 100s of fio", &one).0, Some(0));
}

/// What decides a condition may be chance, or have no range: then the line that says how it ends says so.
#[test]
fn a_condition_that_may_be_chance_says_so() {
    let itself = ["fixtures/randread-baseline", "fixtures/randread-baseline"];
    let slower = ["fixtures/seqwrite-max1024k", "fixtures/seqwrite-max32k"];
    for (condition, sides, status, ends) in [
        ("read.p99 > 0.9x", &itself[..], 1, "; the difference may be chance\n"),
        ("read.max > 2x", &[], 1, "(no range: one operation); its range is unknown, so it may be chance\n"),
        (
            "read.max > 9999x",
            &[],
            0,
            "(no range: one operation); its range is unknown, so it may be chance\n",
        ),
        ("write.p90 > 2x", &slower, 1, "(95 %: 7.93 to 8.01)\n"),
        ("write.p90 > 99x", &slower, 0, "(95 %: 7.93 to 8.01)\n"),
        ("write.p90 > 8x", &slower, 0, "; its range includes the limit, so it may be chance\n"),
    ] {
        let (ended, said) = under(condition, sides);
        assert!(ended == Some(status) && said.ends_with(ends), "{condition}: {ended:?} {said}");
    }
    let texts = ["fixtures/fio/alone.json", "fixtures/fio/alone.json"];
    let (status, said) = under("read.p99 > 1.1x", &texts);
    assert!(status == Some(0) && said.contains("its range is unknown"), "{status:?} {said}");
}

#[test]
fn a_condition_that_can_never_hold_is_told_from_one_that_does_not() {
    for (condition, there) in [
        ("read.p99 > 1x on sdz", "no device is called sdz\n       recorded: vda"),
        ("read.p99 > 1x on /nowhere", "no mount is called /nowhere"),
        ("read.p99 > 1x of nobody", "no task is called nobody\n       recorded: fio"),
        ("read.nonsense > 1x", "read has no nonsense; it has: p50, p90, p99"),
        ("fsync.p99 > 1x", "neither side has fsync; they have: background-write, read, write"),
        ("read.p99 > 5/s", "unit of the limit"),
    ] {
        let (status, said) = under(condition, &[]);
        assert_eq!(status, Some(3), "{condition}: {said}");
        assert!(said.contains("can never hold") && said.contains(there), "{condition}: {said}");
    }
    // What one side alone has is not what can never be.
    assert_eq!(under("background-write.p99 > 1x", &[]).0, Some(1));
    let texts = ["fixtures/fio/alone_clat.1.log", "fixtures/fio/flooded_clat.1.log"];
    let (status, said) = under("read.p99 > 1x of fio", &texts);
    assert!(status == Some(3) && said.contains("only recordings tell"), "{said}");
    let elsewhere = ["--device", "vda", "fixtures/randread-baseline", "fixtures/randread-baseline"];
    assert_eq!(under("read.p99 > 1x on vdb", &elsewhere).0, Some(3));
}

#[test]
fn of_a_task_the_numbers_are_its_own() {
    let (a, b) = ("fixtures/randread-baseline", "fixtures/randread-vs-bufferedwrite");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let numbers = |more: &[&str]| -> Value {
        let out = Command::new(env!("CARGO_BIN_EXE_iowhy"))
            .current_dir(&root)
            .args(["compare", "--json", a, b])
            .args(more)
            .output()
            .expect("iowhy runs");
        serde_json::from_slice(&out.stdout).expect("JSON")
    };
    let (all, of_fio) = (numbers(&[]), numbers(&["--task", "fio"]));
    let of = |v: &Value, op: &str, name: &str| -> Value {
        let row = v["operations"].as_array().expect("rows").iter().find(|r| r["op"] == op).cloned();
        let metrics = row.map_or(vec![], |r| r["metrics"].as_array().expect("metrics").clone());
        metrics.into_iter().find(|m| m["name"] == name).map_or(Value::Null, |m| m["after"].clone())
    };
    // Nearly all reads are fio's, and the longest is.
    assert_eq!(of(&all, "read", "max"), of(&of_fio, "read", "max"));
    let [with, own] = [&all, &of_fio].map(|v| of(v, "read", "mean").as_f64().expect("a mean"));
    assert!(own < with && own > 0.99 * with, "{own} of {with}");
    let explain = Command::new(env!("CARGO_BIN_EXE_iowhy"))
        .current_dir(&root)
        .args(["explain", "--json", "--task", "fio", "--op", "read", b])
        .output()
        .expect("iowhy runs");
    let explain: Value = serde_json::from_slice(&explain.stdout).expect("JSON");
    let lost = of(&of_fio, "read", "lost").as_f64();
    assert_eq!(lost, explain["victims"][0]["lost_ns"].as_u64().map(|ns| ns as f64));
    let reads = numbers(&["--task", "fio", "--op", "read"]);
    assert!(reads["operations"].as_array().expect("rows").iter().all(|r| r["op"] == "read"));
}

/// Recordings of two devices are compared, and that they are two is said.
#[test]
fn another_device_is_named() {
    let says = |before: &str, after: &str| {
        compare(before, after)["load"].to_string().contains("device: nullb0 before, vda after")
    };
    let names = ["fixtures/nullblk-randrw", "fixtures/randread-vs-bufferedwrite"];
    assert!(says(names[0], names[1]) && !says(names[1], names[1]));
}
