//! What the tests need of the machine, and how they look at it.

use record::{Host, Tracefs};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Tells the person who runs the tests what is not tested, past the test runner's capture.
pub fn skip(why: &str) {
    let name = std::thread::current().name().unwrap_or("?").to_string();
    let _ = writeln!(std::io::stderr(), "SKIPPED {name}: {why}");
}

/// tracefs, or a loud skip.
pub fn tracefs() -> Option<Tracefs> {
    testkit::share_machine();
    match Host::here() {
        Ok(h) => Some(h.tracefs),
        Err(e) => {
            skip(&e.to_string());
            None
        }
    }
}

/// Whether all these programs are installed; a loud skip otherwise.
pub fn have(programs: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> =
        std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]).collect();
    let missing: Vec<_> = programs.iter().filter(|p| !places.iter().any(|d| d.join(p).exists())).collect();
    if !missing.is_empty() {
        skip(&format!("not installed: {missing:?}"));
    }
    missing.is_empty()
}

/// The recorder as a program of its own.
pub fn recorder() -> PathBuf {
    let me = std::env::current_exe().unwrap();
    let path = me.parent().unwrap().parent().unwrap().join("examples/record");
    assert!(
        path.exists(),
        "{} is missing: run `cargo test`, or `cargo build --examples` first",
        path.display()
    );
    path
}

/// A command of the recorder with these arguments.
pub fn record(args: &[&str]) -> Command {
    let mut c = Command::new(recorder());
    c.args(args);
    c
}

/// Runs a script with the shell in a mount namespace of its own; `$RECORD` is the recorder.
pub fn private(script: &str) -> Output {
    let mut c = Command::new("unshare");
    c.args(["-m", "--propagation", "private", "sh", "-euc", script]).env("RECORD", recorder());
    c.output().expect("unshare")
}

/// Fails with everything that was printed, if the command failed.
pub fn ok(out: Output) -> Output {
    assert!(out.status.success(), "{}\n{}", out.status, String::from_utf8_lossy(&out.stderr));
    out
}

/// The instances that a process of this number left.
pub fn instances_of(tracefs: &Tracefs, pid: u32) -> Vec<PathBuf> {
    let start = format!("iowhy-{pid}-");
    let all = std::fs::read_dir(tracefs.instances()).unwrap().flatten();
    all.filter(|e| e.file_name().to_string_lossy().starts_with(&start)).map(|e| e.path()).collect()
}

/// Waits up to ten seconds for something.
pub fn wait_for(what: &str, mut is: impl FnMut() -> bool) {
    for _ in 0..500 {
        if is() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("{what} did not happen within ten seconds");
}

/// The text that trace-cmd makes of a file. Any complaint fails the test.
pub fn report(trace: &Path) -> String {
    report_after_losses(trace, 0)
}

/// The same of one in which so many events are said to be lost: only then may some be.
pub fn report_after_losses(trace: &Path, lost: u64) -> String {
    let out = ok(Command::new("trace-cmd").arg("report").arg("-i").arg(trace).output().unwrap());
    let complaints = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(complaints.is_empty(), "trace-cmd complains: {complaints}");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    for bad in ["FAILED TO PARSE", "UNKNOWN", "unknown event"] {
        assert!(!text.contains(bad), "trace-cmd report says {bad}");
    }
    assert!(lost > 0 || !text.contains("[EVENTS DROPPED]"), "trace-cmd report says [EVENTS DROPPED]");
    text
}

/// How many events that text shows: lines with a CPU in brackets; stacks take more lines without one.
pub fn events(report: &str) -> u64 {
    let is_event = |l: &&str| {
        let cpu = l.split_once('[').and_then(|(_, r)| r.split_once(']')).map(|(c, _)| c);
        !l.starts_with("=>") && cpu.is_some_and(|c| c.len() >= 3 && c.bytes().all(|b| b.is_ascii_digit()))
    };
    report.lines().filter(is_event).count() as u64
}

/// A file of a capture as JSON.
pub fn json(file: &Path) -> serde_json::Value {
    let text = std::fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// A loop device over a sparse file; gone with the value.
pub struct LoopDisk {
    /// `/dev/loopN`.
    pub device: String,
    _dir: tempfile::TempDir,
}

impl LoopDisk {
    /// A disk of so many MiB, or a loud skip. The file lies in this crate's target folder: a real disk, with
    /// extents.
    pub fn new(mib: u64) -> Option<LoopDisk> {
        if !have(&["losetup"]) {
            return None;
        }
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let image = dir.path().join("image");
        std::fs::File::create(&image).unwrap().set_len(mib << 20).unwrap();
        let out =
            Command::new("losetup").args(["-f", "--show", "--direct-io=on"]).arg(&image).output().unwrap();
        if !out.status.success() {
            skip(&format!("no loop device: {}", String::from_utf8_lossy(&out.stderr)));
            return None;
        }
        let device = String::from_utf8(out.stdout).unwrap().trim().to_string();
        Some(LoopDisk { device, _dir: dir })
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.device).status();
    }
}
