//! `iowhy slow` of stacked devices: a bio of md or dm is shown with what it sent to its members.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Block events of md0 and its disks vda, vdb, vdc.
const RAID5: &str = "fixtures/raid5-randwrite8k";

fn slow(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_iowhy"));
    command.current_dir(root).arg("slow").args(arguments).output().expect("iowhy runs")
}

fn slowest(arguments: &[&str]) -> Vec<Value> {
    let out = slow(&[&["--json"], arguments].concat());
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    let v: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    v["slowest"].as_array().expect("a list").clone()
}

fn ns(v: &Value, name: &str) -> u64 {
    v[name].as_u64().unwrap_or_else(|| panic!("{name} of {v}"))
}

#[test]
fn a_write_on_raid5_is_shown_with_what_its_members_did() {
    let all = slowest(&["-n", "20", RAID5]);
    assert_eq!(all.len(), 20);
    for bio in &all {
        assert_eq!((&bio["level"], &bio["device"]), (&"bio".into(), &"md0".into()));
        let (from, to) = (ns(bio, "from_ns"), ns(bio, "to_ns"));
        let segments = bio["ledger"]["segments"].as_array().expect("segments");
        let sum: u64 = segments.iter().map(|s| ns(s, "to") - ns(s, "from")).sum();
        assert_eq!((sum, ns(bio, "total_ns")), (to - from, to - from));
        let below = bio["below"].as_array().expect("what it sent");
        // Old data and parity are read, new ones written, on different disks.
        for op in ["read", "write"] {
            assert!(below.iter().any(|b| b["op"] == op), "{op} in {bio}");
        }
        let disks: std::collections::BTreeSet<&str> =
            below.iter().filter_map(|b| b["device"].as_str()).collect();
        assert!(disks.len() >= 2 && !disks.contains("md0"), "{disks:?}");
        assert!(below.iter().all(|b| from <= ns(b, "from_ns") && ns(b, "to_ns") <= to), "{bio}");
    }
    assert!(all.windows(2).all(|pair| ns(&pair[0], "total_ns") >= ns(&pair[1], "total_ns")));
}

#[test]
fn members_are_shown_where_they_are_asked_about() {
    let all = slowest(&["-n", "5", "--device", "vdb", RAID5]);
    assert!(all.len() == 5 && all.iter().all(|r| r["level"] == "request" && r["device"] == "vdb"));
    // The array's own, with the members' though these are other devices.
    let all = slowest(&["-n", "5", "--device", "md0", RAID5]);
    assert!(all.iter().all(|r| r["device"] == "md0" && r["below"].as_array().is_some_and(|b| !b.is_empty())));
    // And whoever asks for the thread of md means what that sends.
    let all = slowest(&["-n", "5", "--task", "md0_raid5", RAID5]);
    assert!(all.len() == 5 && all.iter().all(|r| r["level"] == "request"));
}

#[test]
fn the_text_has_the_members_below_the_array() {
    let out = String::from_utf8(slow(&["-n", "1", RAID5]).stdout).expect("text");
    let (above, below) = out.split_once("it sent to the devices below").expect("members");
    assert!(above.starts_with("write of 8 KiB at sector 1873616 of md0 by fio"), "{out}");
    assert!(above.contains("total, all accounted for"), "{out}");
    let below = below.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(below.contains("read of 4 KiB at sector 470480 of vdc by md0_raid5: device 77.1 ms"), "{out}");
    // A plain disk has requests.
    let all = slowest(&["-n", "3", "fixtures/nullblk-randrw"]);
    assert!(all.iter().all(|r| r["level"] == "request" && r["below"].is_null()));
    let none = slow(&["-n", "0", RAID5]);
    assert_eq!(none.status.code(), Some(2));
}

/// A recording in which other operations ended is not said to have none.
#[test]
fn what_was_asked_for_and_did_not_end_is_named() {
    let said = |arguments: &[&str]| {
        let none = String::from_utf8(slow(arguments).stdout).expect("text");
        none.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let none = said(&["--op", "mkdir", "--op", "stat", "fixtures/append-stable-page"]);
    assert!(none.starts_with("no mkdirs or stats here: there are writes ("), "{none}");
    assert!(none.ends_with("; without --op, these are shown"), "{none}");
    let none = said(&["--op", "discard", "fixtures/seqwrite-max32k"]);
    assert!(none.starts_with("no discard requests here: there are requests: write ("), "{none}");
}
