//! Live, as root: while it records, iowhy has given up the rights that it no longer needs, and can neither start programs nor get
//! rights back; the command that it records has all the rights of who started iowhy; and the recording is whole all the same.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const IOWHY: &str = env!("CARGO_BIN_EXE_iowhy");
/// CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_KILL, CAP_SYS_PTRACE, CAP_SYSLOG (include/uapi/linux/capability.h).
const KEPT: u64 = 1 << 1 | 1 << 2 | 1 << 5 | 1 << 19 | 1 << 34;
/// A filter of system calls is on (proc(5), `Seccomp`).
const FILTERED: u64 = 2;

fn skip(why: &str) {
    let thread = std::thread::current();
    let _ = writeln!(std::io::stderr(), "SKIPPED in {}: {why}", thread.name().unwrap_or("a test"));
}

/// The numbers of a `status` file by name; capabilities are in hexadecimal.
fn status(file: &Path) -> BTreeMap<String, u64> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let number = |name: &str, value: &str| match name.starts_with("Cap") {
        true => u64::from_str_radix(value, 16).ok(),
        false => value.parse().ok(),
    };
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.filter_map(|(name, value)| Some((name.to_string(), number(name, value.trim())?))).collect()
}

/// The status of each thread.
fn threads(pid: u32) -> Vec<BTreeMap<String, u64>> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.map(|t| status(&t.path().join("status"))).collect()
}

/// Waits until the recorded command has begun.
fn until_there(file: &Path, child: &mut Child) {
    let begun = Instant::now();
    while !file.exists() {
        assert!(begun.elapsed() < Duration::from_secs(30), "the command never began");
        if let Ok(Some(status)) = child.try_wait() {
            panic!("iowhy ended before its command began: {status}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_recorder_gives_up_what_it_no_longer_needs() {
    testkit::share_machine();
    let out = Command::new(IOWHY).args(["record", "--clean"]).output().unwrap();
    if !out.status.success() {
        return skip(String::from_utf8_lossy(&out.stderr).trim());
    }
    let dir = tempfile::tempdir().unwrap();
    // Whose program it is: all capabilities of this process, or root's in a container.
    let own = status(Path::new("/proc/self/status"))["CapEff"];
    let script =
        "cat /proc/self/status > child.part; mv child.part child; while [ ! -e stop ]; do sleep 0.05; done";
    let mut recorder = Command::new(IOWHY)
        .args(["record", "-o", "capture", "--", "sh", "-c", script])
        .current_dir(dir.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until_there(&dir.path().join("child"), &mut recorder);
    // The command may begin some milliseconds before rights are given up.
    let begun = Instant::now();
    let given_up = |t: &BTreeMap<String, u64>| t.get("Seccomp") == Some(&FILTERED);
    while !threads(recorder.id()).iter().all(given_up) && begun.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let threads = threads(recorder.id());
    let child = status(&dir.path().join("child"));
    fs::write(dir.path().join("stop"), "").unwrap();
    let done = recorder.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && !said.contains("could not be dropped"), "{said}");

    assert!(threads.len() >= 2, "one thread samples, others empty buffers: {threads:?}");
    for thread in &threads {
        assert_eq!(thread["CapPrm"] & !KEPT, 0, "{thread:?}");
        assert_eq!(thread["CapEff"], thread["CapPrm"]);
        assert_eq!((thread["NoNewPrivs"], thread["Seccomp"]), (1, FILTERED), "{thread:?}");
    }
    assert!(threads.iter().any(|t| t["CapPrm"] == 0), "who moves pages needs no capability: {threads:?}");
    assert_eq!(child["CapEff"], own, "the command has other rights than who started the recorder");
    assert_eq!((child["NoNewPrivs"], child["Seccomp"]), (0, 0), "{child:?}");

    // All that needs rights at the end was done: names of functions, settings and open files after, no instance is left.
    let (head, _) = {
        let path = dir.path().join("capture/trace.dat");
        capture::Head::read(&mut fs::File::open(&path).unwrap(), &path).unwrap()
    };
    assert!(!head.symbols.is_empty(), "{said}");
    let system = fs::read_to_string(dir.path().join("capture/system.json")).unwrap();
    let system: serde_json::Value = serde_json::from_str(&system).unwrap();
    assert!(system["after"]["disks"].is_object() && system["before"]["disks"].is_object());
    let left = Command::new(IOWHY).args(["record", "--clean"]).output().unwrap();
    // Somebody else may record meanwhile: that is kept.
    let left = String::from_utf8_lossy(&left.stdout);
    assert!(!left.contains("removed"), "{left}");
}
