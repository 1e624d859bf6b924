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
    assert!(first["what"].as_str().unwrap().contains("background writes only after"), "{first}");
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
