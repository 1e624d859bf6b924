//! What `iowhy slow --json` says of long recordings of which the truth is known, with env `CAPTURES=DIR`: which
//! operation was slow, by what, and that every level of its ledger sums to the nanosecond.

use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

fn capture(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("CAPTURES").map(|dir| PathBuf::from(dir).join(name));
    let found = folder.filter(|f| f.is_dir());
    if found.is_none() {
        // Past the test runner's capture: a test that is silently skipped looks like one that passed.
        let _ = writeln!(std::io::stderr(), "SKIPPED: CAPTURES has no {name}");
    }
    found
}

/// The slowest operations of a recording, all sums checked.
fn slow(name: &str, arguments: &[&str]) -> Option<Vec<Value>> {
    let folder = capture(name)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_iowhy"));
    let out = command.args(["slow", "--json"]).args(arguments).arg(&folder).output().expect("running iowhy");
    assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
    let all: Value = serde_json::from_slice(&out.stdout).expect("one JSON object");
    assert_eq!(all["schema"], "iowhy.slow/1");
    let all = all["slowest"].as_array().expect("a list").clone();
    assert!(!all.is_empty(), "{name}: nothing was slow");
    for one in &all {
        assert_eq!(one["level"], "operation", "{name}");
        assert_sums(one);
    }
    Some(all)
}

fn ns(v: &Value) -> u64 {
    v.as_u64().unwrap_or_else(|| panic!("a whole number, not {v}"))
}

fn list<'a>(v: &'a Value, key: &str) -> &'a [Value] {
    v[key].as_array().map_or(&[], Vec::as_slice)
}

fn assert_sums(one: &Value) {
    let total = ns(&one["total_ns"]);
    assert_eq!(total, ns(&one["to_ns"]) - ns(&one["from_ns"]));
    assert_eq!(list(one, "by_reason").iter().map(|r| ns(&r["ns"])).sum::<u64>(), total);
    assert_lines(list(one, "lines"), total, "ns");
    assert_lines(list(one, "lines"), (total + 500) / 1000, "shown_us");
    // Parts: each that has any below it is covered by those one deeper.
    let parts = list(one, "parts");
    let depth = |p: &Value| ns(&p["depth"]);
    let top: u64 = parts.iter().filter(|p| depth(p) == 0).map(|p| ns(&p["ns"])).sum();
    assert_eq!(top, total);
    for (at, part) in parts.iter().enumerate().filter(|(_, p)| p.get("reason").is_none()) {
        let within = parts[at + 1..].iter().take_while(|p| depth(p) > depth(part));
        let below: u64 = within.filter(|p| depth(p) == depth(part) + 1).map(|p| ns(&p["ns"])).sum();
        assert_eq!(below, ns(&part["ns"]), "{part}");
    }
}

fn assert_lines(lines: &[Value], sum: u64, key: &str) {
    assert_eq!(lines.iter().map(|l| ns(&l[key])).sum::<u64>(), sum);
    for line in lines.iter().filter(|l| l.get("lines").is_some()) {
        assert_lines(list(line, "lines"), ns(&line[key]), key);
    }
}

/// The time of a reason, in milliseconds.
fn reason(one: &Value, name: &str) -> f64 {
    let found = list(one, "by_reason").iter().find(|r| r["reason"] == name);
    found.map_or(0.0, |r| ns(&r["ns"]) as f64 / 1e6)
}

/// The parts that wait for something, with their time in milliseconds.
fn waits(one: &Value, wait: &str) -> Vec<f64> {
    list(one, "parts").iter().filter(|p| p["wait"] == wait).map(|p| ns(&p["ns"]) as f64 / 1e6).collect()
}

fn total(one: &Value) -> f64 {
    ns(&one["total_ns"]) as f64 / 1e6
}

#[track_caller]
fn near(measured: f64, known: f64) {
    assert!((measured - known).abs() < 0.01, "{measured} ms, known are {known} ms");
}

#[test]
fn a_read_behind_52_writeback_writes() {
    let Some(all) = slow("c_dd_buffered", &["--op", "read"]) else { return };
    let read = &all[0];
    near(total(read), 922.785);
    near(reason(read, "device"), 922.485);
    let met = list(read, "parts").iter().flat_map(|p| list(p, "meanwhile"));
    let writeback: Vec<_> = met.filter(|m| m["class"] == "background").collect();
    assert_eq!(writeback.len(), 1);
    assert_eq!((ns(&writeback[0]["requests"]), ns(&writeback[0]["bytes"])), (52, 64 << 20));
}

#[test]
fn an_fsync_that_waits_for_other_files_data() {
    let Some(all) = slow("i_ordered_dioread_lock", &["--op", "fsync"]) else { return };
    let fsync = &all[0];
    near(total(fsync), 2400.510);
    near(waits(fsync, "own-data")[0], 588.169);
    near(waits(fsync, "journal-commit")[0], 1810.841);
    near(waits(fsync, "journal-superblock")[0], 892.654);
    let ordered = waits(fsync, "ordered-data");
    assert_eq!(ordered.len(), 12);
    near(ordered.iter().sum(), 899.296);
    assert_eq!(fsync["unexplained_ns"], 0);
}

#[test]
fn a_write_that_waits_for_its_own_page() {
    let Some(all) = slow("e2_append_ext4_stable1", &["--op", "write"]) else { return };
    let write = &all[0];
    near(total(write), 10.712);
    near(waits(write, "stable-page")[0], 6.942);
    near(waits(write, "journal-buffer")[0], 3.568);
    assert_eq!(write["unexplained_ns"], 0);
}

#[test]
fn a_log_force_split_into_its_flushes() {
    let Some(all) = slow("f_fsync_xfs_j4", &["--op", "fsync"]) else { return };
    let fsync = &all[0];
    near(total(fsync), 127.578);
    near(waits(fsync, "log-force")[0], 16.619);
    // Before its own preflush it waits for the flush that others have begun.
    near(reason(fsync, "preflush") + reason(fsync, "flush-queue") + reason(fsync, "postflush"), 11.837);
    let log = list(fsync, "parts").iter().find(|p| p["request"] == "write" && p["bytes"] == 1536);
    assert!(log.is_some(), "the log's write of 1.5 KiB");
    assert_eq!(fsync["unexplained_ns"], 0);
}

#[test]
fn a_cgroup_held_to_200_operations() {
    let Some(all) = slow("k_throttle_200", &["--op", "read"]) else { return };
    near(total(&all[0]), 97.914);
    near(reason(&all[0], "cgroup-limit"), 94.114);
    near(reason(&all[0], "device"), 3.777);
}

#[test]
fn every_ledger_sums() {
    for name in ["a_randread_alone", "e2_append_ext4_stable0", "g_deadline_default", "j_nrreq_4"] {
        slow(name, &["-n", "200"]);
    }
    slow("i_ordered_dioread_lock", &["--op", "journal-commit", "-n", "200"]);
    slow("c_dd_buffered", &["--op", "writeback", "-n", "200"]);
}
