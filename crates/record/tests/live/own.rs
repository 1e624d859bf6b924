//! The recorder leaves its own doings out of the recording, and nothing else.

use crate::machine::{have, record, report, tracefs, wait_for};
use std::process::Stdio;

#[test]
fn its_system_calls_are_not_there_its_turns_on_the_processor_are() {
    if tracefs().is_none() || !have(&["trace-cmd"]) {
        return;
    }
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let capture = dir.path().join("c");
    // Without a command: a child would bear the recorder's name until it runs something else.
    let mut child = record(&["-o", capture.to_str().unwrap(), "--for", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let tasks = format!("/proc/{}/task", child.id());
    let ids = || -> Vec<String> {
        let all = std::fs::read_dir(&tasks).into_iter().flatten().flatten();
        all.map(|e| e.file_name().to_string_lossy().into_owned()).collect()
    };
    wait_for("a second thread", || ids().len() > 1);
    let ids = ids();
    assert!(child.wait().unwrap().success());

    let text = report(&capture.join("trace.dat"));
    for id in ids {
        let lines: Vec<&str> = text.lines().filter(|l| l.contains(&format!("-{id} "))).collect();
        let own = |what: &str| lines.iter().filter(|l| l.contains(what)).count();
        assert_eq!(own(": sys_enter:") + own(": sys_exit:"), 0, "{lines:#?}");
        assert!(own(": sched_switch:") > 0, "thread {id} must be seen to leave the processor");
    }
}
