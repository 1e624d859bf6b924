//! However a recording ends, no tracing stays on.

use crate::machine::{have, instances_of, json, ok, private, record, skip, tracefs, wait_for};
use record::Tracefs;
use std::io::BufRead;
use std::path::Path;
use std::process::{Child, Command, Stdio};

fn shm() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap()
}

/// A recorder at work; a test that fails must not leave it running.
struct Running(Child);

impl Running {
    fn id(&self) -> u32 {
        self.0.id()
    }

    fn wait(&mut self) -> std::process::ExitStatus {
        self.0.wait().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a recorder and waits until it records.
fn started(tracefs: &Tracefs, args: &[&str]) -> Running {
    let mut child = record(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = std::io::BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(said.any(|line| line == "recording"), "it ended before it began");
    std::thread::spawn(move || said.for_each(drop));
    assert!(instances_of(tracefs, child.id()).iter().all(|i| !off(i)));
    Running(child)
}

fn send(child: &Running, signal: &str) {
    ok(Command::new("kill").args([signal, &child.id().to_string()]).output().unwrap());
}

fn signalled(signal: &str) {
    let Some(tracefs) = tracefs() else { return };
    let dir = shm();
    let out = dir.path().join("c");
    let mut child = started(&tracefs, &["--block", "-o", out.to_str().unwrap()]);
    send(&child, signal);
    assert!(child.wait().success());
    assert_eq!(instances_of(&tracefs, child.id()), [""; 0].map(std::path::PathBuf::from));
    let about = json(&out.join("capture.json"));
    assert_eq!(about["ended_by"], "signal");
    assert!(out.join("trace.dat").exists());
}

#[test]
fn ctrl_c() {
    signalled("-INT");
}

#[test]
fn sigterm() {
    signalled("-TERM");
}

#[test]
fn sighup() {
    signalled("-HUP");
}

#[test]
fn a_signal_reaches_the_command() {
    let Some(tracefs) = tracefs() else { return };
    let dir = shm();
    let out = dir.path().join("c");
    let mut child = started(&tracefs, &["--block", "-o", out.to_str().unwrap(), "--", "sleep", "1000"]);
    send(&child, "-TERM");
    assert_eq!(child.wait().code(), Some(128 + 15));
    assert!(instances_of(&tracefs, child.id()).is_empty());
    assert_eq!(json(&out.join("capture.json"))["exit_status"], 143);
}

#[test]
fn the_commands_own_end() {
    let Some(tracefs) = tracefs() else { return };
    for (script, status) in [("exit 5", 5), ("kill -9 $$", 137)] {
        let dir = shm();
        let out = dir.path().join("c");
        let mut child =
            record(&["--block", "-o", out.to_str().unwrap(), "--", "sh", "-c", script]).spawn().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(status));
        assert!(instances_of(&tracefs, child.id()).is_empty());
        assert_eq!(json(&out.join("capture.json"))["exit_status"], status);
    }
}

#[test]
fn a_command_that_is_not_there_leaves_nothing() {
    let Some(tracefs) = tracefs() else { return };
    let dir = shm();
    let out = dir.path().join("c");
    let mut c = record(&["--block", "-o", out.to_str().unwrap(), "--", "/no/such/program"]);
    let child = c.stderr(Stdio::piped()).spawn().unwrap();
    let pid = child.id();
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&done.stderr).contains("/no/such/program cannot be run"));
    assert!(instances_of(&tracefs, pid).is_empty());
    assert!(!out.exists(), "an empty capture was left");
}

#[test]
fn kill_9_stops_the_recording_and_the_next_run_removes_it() {
    let Some(tracefs) = tracefs() else { return };
    let dir = shm();
    let mut child = started(&tracefs, &["-o", dir.path().join("c").to_str().unwrap()]);
    let mut alive = started(&tracefs, &["--block", "-o", dir.path().join("alive").to_str().unwrap()]);
    let foreign = tracefs.instances().join(format!("somebody-elses-{}", std::process::id()));
    std::fs::create_dir(&foreign).unwrap();
    send(&child, "-KILL");
    child.wait();

    let left = instances_of(&tracefs, child.id());
    assert_eq!(left.len(), 1);
    if left[0].join("options/disable_on_free").exists() {
        wait_for("the kernel's own stop", || off(&left[0]));
    } else {
        skip("this kernel has no disable_on_free");
    }
    let cleaned = ok(record(&["--clean"]).output().unwrap());
    // Another test's run may have been quicker to clean up.
    assert!(String::from_utf8_lossy(&cleaned.stdout).contains("removed"));
    assert!(instances_of(&tracefs, child.id()).is_empty());
    // Who is alive, and who is not ours, is left alone.
    let running = instances_of(&tracefs, alive.id());
    assert!(std::fs::read_to_string(running[0].join("tracing_on")).unwrap() == "1\n");
    assert!(foreign.exists());
    std::fs::remove_dir(&foreign).unwrap();
    send(&alive, "-INT");
    assert!(alive.wait().success());
}

fn off(instance: &Path) -> bool {
    // It may already be gone: any other recorder that starts now removes it.
    std::fs::read_to_string(instance.join("tracing_on")).map_or(true, |t| t == "0\n")
}

#[test]
fn a_full_disk() {
    let Some(tracefs) = tracefs() else { return };
    if !have(&["unshare", "dd", "trace-cmd"]) {
        return;
    }
    let kept = shm();
    // The output's disk has 2 MiB; the command makes many times as much.
    let out = private(&format!(
        "mount -t tmpfs -o size=2m none /mnt; \
         bash -c 'echo $$ > {0}/pid; exec \"$RECORD\" -o /mnt/c -- dd if=/dev/zero of=/dev/null bs=1 count=300000' || true; \
         cp -r /mnt/c {0}",
        kept.path().display()
    ));
    let out = ok(out);
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("No space left on device"), "{said}");
    let pid = std::fs::read_to_string(kept.path().join("pid")).unwrap().trim().parse().unwrap();
    wait_for("removal", || instances_of(&tracefs, pid).is_empty());
    let capture = kept.path().join("c");
    // What was recorded is there in its raw form, and it can be put together elsewhere.
    let raws = ["trace.cpu0.raw", "trace.cpu1.raw"].map(|n| capture.join(n));
    assert!(capture.join("trace.head").exists());
    assert!(raws.iter().any(|r| r.metadata().is_ok_and(|m| m.len() > 0)));
}

#[test]
fn a_closed_pipe() {
    let Some(tracefs) = tracefs() else { return };
    let mut c = record(&["-o", "-"]);
    let mut child = c.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let pid = child.id();
    let out = child.wait_with_output().unwrap();
    assert!(!out.status.success());
    assert!(String::from_utf8_lossy(&out.stderr).contains("Broken pipe"));
    assert!(instances_of(&tracefs, pid).is_empty());
}
