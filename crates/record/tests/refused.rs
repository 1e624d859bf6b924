//! Live: what a recorder refuses itself once it records is refused indeed, in all threads, and files are read and written as before.
//!
//! The filter is for the whole process and does not go again, so this is a program with one test.

use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::net::UnixDatagram;
use std::process::Command;
use std::sync::mpsc;

#[test]
fn programs_and_sockets_are_refused_and_files_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let (go, wait) = mpsc::channel::<()>();
    // A thread that was there before.
    let other = std::thread::spawn(move || {
        wait.recv().unwrap();
        Command::new("/bin/true").status().map_err(|e| e.kind())
    });
    assert!(Command::new("/bin/true").status().unwrap().success());
    assert!(UnixDatagram::unbound().is_ok());
    if let Err(why) = record::keep_few() {
        let _ = writeln!(std::io::stderr(), "SKIPPED in programs_and_sockets_are_refused: {why}");
        return;
    }
    go.send(()).unwrap();
    let refused = ErrorKind::PermissionDenied;
    assert_eq!(Command::new("/bin/true").status().map_err(|e| e.kind()).unwrap_err(), refused);
    assert_eq!(other.join().unwrap().unwrap_err(), refused);
    assert_eq!(UnixDatagram::unbound().unwrap_err().kind(), refused);
    // A recorder goes on writing and sampling.
    let file = dir.path().join("trace");
    fs::write(&file, b"pages").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"pages");
    assert!(fs::read_to_string("/proc/self/status").unwrap().contains("Seccomp:\t2"));
    assert!(std::thread::spawn(|| 1).join().is_ok());
}
