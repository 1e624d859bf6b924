//! What cannot be recorded is refused with what to do, and leaves nothing.

use crate::machine::{have, record, tracefs};
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
        Err(e) => crate::machine::skip(&format!("nobody cannot run the recorder: {e}")),
    }
}
