//! fio on XFS and on ext4, recorded whole, read by trace-cmd.

use crate::machine::{events, have, json, ok, private, report, tracefs, LoopDisk};

fn recorded(fs: &str, mkfs: &str, journal_event: &str) {
    if tracefs().is_none() || !have(&["unshare", "fio", "trace-cmd", mkfs.split(' ').next().unwrap()]) {
        return;
    }
    let Some(disk) = LoopDisk::new(400) else { return };
    let out = tempfile::tempdir_in("/dev/shm").unwrap();
    let capture = out.path().join("capture");
    let script = format!(
        "{mkfs} {dev} >&2; mount {dev} /mnt; \
         \"$RECORD\" -o {capture} --device {dev} -- fio --name=t --directory=/mnt --size=16M --rw=randwrite --bs=4k \
         --ioengine=psync --fsync=8 --number_ios=800 --output-format=json",
        dev = disk.device,
        capture = capture.display()
    );
    let run = ok(private(&script));
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(said.contains("\"fio version\""), "the command's output must pass through: {said}");

    let about = json(&capture.join("capture.json"));
    assert_eq!(about["exit_status"], 0);
    assert_eq!(about["ended_by"], "command");
    assert_eq!(about["trace"], "trace.dat");
    assert_eq!(about["lost"], 0, "{about}");
    let text = report(&capture.join("trace.dat"));
    assert_eq!(events(&text), about["events"].as_u64().unwrap());
    let number = std::fs::read_to_string(format!("/sys/class/block/{}/dev", &disk.device[5..])).unwrap();
    let number = number.trim().replace(':', ",");
    for wanted in [
        format!("block_rq_issue:       {number} "),
        "sys_enter: ".into(),
        "sched_switch: ".into(),
        "folio_wait".into(),
        "<stack trace >".into(),
        "entry_SYSCALL_64".into(),
        journal_event.into(),
    ] {
        assert!(text.contains(&wanted), "no {wanted} in the trace of {fs}");
    }
    let system = json(&capture.join("system.json"));
    let name = &disk.device[5..];
    for when in ["before", "after"] {
        let s = &system[when];
        assert!(s["mounts"].as_array().unwrap().iter().any(|m| m["fstype"] == fs), "{fs} is mounted");
        let file = &s["disks"][name]["loop"];
        assert!(!file["extents"]["list"].as_array().unwrap().is_empty(), "{file}");
        assert!(file["on"].is_string(), "{file}");
    }
    let samples = std::fs::read_to_string(capture.join("samples.jsonl")).unwrap();
    assert!(samples.lines().count() >= 2);
    for line in samples.lines() {
        let s: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(s["disks"][name].as_array().unwrap().len() >= 11);
    }
}

#[test]
fn xfs() {
    recorded("xfs", "mkfs.xfs -q -f", "xfs_log_force");
}

#[test]
fn ext4() {
    recorded("ext4", "mkfs.ext4 -q -F", "jbd2_start_commit");
}
