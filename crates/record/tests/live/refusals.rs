//! What cannot be recorded is refused with what to do, and leaves nothing.

use crate::machine::{have, json, ok, private, record, report, report_after_losses, skip, tracefs, LoopDisk};
use std::process::Output;

fn refused(args: &[&str], what: &str, help: &str) -> Option<Output> {
    tracefs()?;
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let out = dir.path().join("c");
    let mut all = vec!["-o", out.to_str().unwrap()];
    all.extend(args);
    let done = record(&all).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains(what), "{said}");
    assert!(said.contains(help), "{said}");
    assert!(!out.exists(), "something was left");
    Some(done)
}

#[test]
fn a_device_that_is_not_there() {
    refused(&["--device", "sdzz", "--for", "0.1"], "there is no block device sdzz", "there are: ");
}

#[test]
fn buffers_too_large() {
    refused(
        &["--buffer", "999999999999", "--for", "0.1"],
        "more than half of the memory",
        "give at most --buffer",
    );
}

#[test]
fn a_folder_with_a_capture() {
    if tracefs().is_none() {
        return;
    }
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    std::fs::write(dir.path().join("trace.dat"), "precious").unwrap();
    let done = record(&["--for", "0.1", "-o", dir.path().to_str().unwrap()]).output().unwrap();
    assert_eq!(done.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&done.stderr).contains("already holds a capture"));
    assert_eq!(std::fs::read(dir.path().join("trace.dat")).unwrap(), b"precious");
}

#[test]
fn not_root() {
    use std::os::unix::process::CommandExt;
    if tracefs().is_none() || !have(&["true"]) {
        return;
    }
    let mut c = record(&["--for", "0.1", "-o", "/dev/shm/never"]);
    match c.uid(65534).gid(65534).output() {
        Ok(done) => {
            assert_eq!(done.status.code(), Some(1));
            let said = String::from_utf8_lossy(&done.stderr);
            assert!(said.contains("needs root") && said.contains("sudo"), "{said}");
        }
        Err(e) => skip(&format!("nobody cannot run the recorder: {e}")),
    }
}

/// Nobody can lock this kernel down for a test: a file says that it is, and whoever may not read tracefs is refused as
/// root is then.
#[test]
fn locked_down_for_confidentiality() {
    if tracefs().is_none() || !have(&["unshare", "setpriv"]) {
        return;
    }
    let script = "mount -t tmpfs none /sys/kernel/security; \
                  echo 'none integrity [confidentiality]' > /sys/kernel/security/lockdown; \
                  setpriv --reuid 65534 --regid 65534 --clear-groups -- \"$RECORD\" --for 0.1 -o /dev/shm/never";
    let out = private(script);
    let said = String::from_utf8_lossy(&out.stderr);
    if said.contains("setpriv:") || said.contains("mount:") {
        return skip(&said);
    }
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(
        said.contains("locked down for confidentiality") && said.contains("lockdown=integrity"),
        "{said}"
    );
}

/// A kernel that lacks some events: the rest is recorded, and what is missing is said.
#[test]
fn events_that_are_not_there() {
    if tracefs().is_none() || !have(&["unshare", "trace-cmd", "dd"]) {
        return;
    }
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let script = format!(
        "cd {}; t=/sys/kernel/tracing/available_events; grep -v -e block_getrq -e workqueue: -e jbd2: $t > less; \
         mount --bind less $t; \"$RECORD\" -o c -- dd if=/dev/zero of=/dev/null count=10",
        dir.path().display()
    );
    let out = ok(private(&script));
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("this kernel lacks block:block_getrq, workqueue:workqueue_queue_work"), "{said}");
    let about = json(&dir.path().join("c/capture.json"));
    assert_eq!(about["missing"].as_array().unwrap().len(), 4, "{about}");
    assert!(about["absent"].as_array().unwrap().iter().any(|e| e == "jbd2:*"));
    assert!(report(&dir.path().join("c/trace.dat")).contains("sys_enter"));

    let script = "cd /dev/shm; : > /mnt/none 2>/dev/null || mount -t tmpfs none /mnt; : > /mnt/none; \
                  mount --bind /mnt/none /sys/kernel/tracing/available_events; \"$RECORD\" --for 0.1 -o never";
    let out = private(script);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("none of the events that iowhy records"), "{said}");
}

/// Kept in memory because the recording lies on the recorded disk: when that is full, recording ends and the capture is whole.
#[test]
fn memory_that_is_full() {
    if tracefs().is_none() || !have(&["unshare", "mkfs.ext4", "trace-cmd", "dd", "sed"]) {
        return;
    }
    let Some(disk) = LoopDisk::new(128) else { return };
    let kept = tempfile::tempdir_in("/dev/shm").unwrap();
    // 64 MiB are said to be available: a quarter is kept, less what two buffers hold.
    let script = format!(
        "mkfs.ext4 -q -F {dev}; mount {dev} /mnt; cd {to}; \
         sed 's/^MemAvailable:.*/MemAvailable: 65536 kB/' /proc/meminfo > less; mount --bind less /proc/meminfo; \
         timeout 30 dd if=/dev/zero of=/dev/null bs=1 2>/dev/null & load=$!; \
         \"$RECORD\" -o /mnt/c --device {dev} --for 20; kill $load; cp -r /mnt/c .",
        dev = disk.device,
        to = kept.path().display()
    );
    let out = ok(private(&script));
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("at most 16 MiB"), "{said}");
    assert!(said.contains("recording ended early: the memory for the trace is full"), "{said}");
    let about = json(&kept.path().join("c/capture.json"));
    assert_eq!(about["ended_by"], "memory-full");
    assert!(about["bytes"].as_u64().unwrap() <= 16 << 20, "{about}");
    // A million calls a second: on a busy machine some are lost, which is said.
    let lost = about["lost"].as_u64().unwrap();
    assert!(report_after_losses(&kept.path().join("c/trace.dat"), lost).contains("sys_enter"));
}
