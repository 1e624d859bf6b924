//! Texts without a recording: what `iowhy explain` takes and says of them.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const SETTINGS: &str = "The queue is as it came:\n\n> /sys/block/sda/queue/nr_requests:64\n\
    > vm.dirty_ratio = 20\n> /dev/sda1 on /mnt type xfs (rw,noatime)\n";

fn explain(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_iowhy"))
        .arg("explain")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
fn settings_alone_are_listed_with_their_places() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mail"), SETTINGS).unwrap();
    let screen = String::from_utf8(explain(&["mail"], folder.path()).stdout).unwrap();
    assert!(screen.starts_with("mail: 0 runs and 3 settings in "), "{screen}");
    assert!(screen.contains("SET    sda/queue/nr_requests = 64  (mail:3)\n"), "{screen}");
    let json: Value = serde_json::from_slice(&explain(&["--json", "mail"], folder.path()).stdout).unwrap();
    let settings = &json["texts"][0]["settings"];
    assert_eq!(settings[2]["name"], "mount /mnt");
    assert_eq!(settings[2]["value"], "/dev/sda1 xfs rw,noatime");
}

#[test]
fn settings_in_a_folder_do_not_hide_that_its_recording_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("settings.txt"), SETTINGS).unwrap();
    assert!(!explain(&["."], folder.path()).status.success());
}

#[test]
fn a_text_is_read_from_standard_input_and_nothing_is_said_of_prose() {
    let folder = tempfile::tempdir().unwrap();
    let piped = |text: &str| {
        std::fs::write(folder.path().join("in"), text).unwrap();
        Command::new(env!("CARGO_BIN_EXE_iowhy"))
            .args(["explain", "-"])
            .stdin(std::fs::File::open(folder.path().join("in")).unwrap())
            .output()
            .unwrap()
    };
    let screen = String::from_utf8(piped(SETTINGS).stdout).unwrap();
    assert!(screen.contains("vm.dirty_ratio = 20  (standard input:4)"), "{screen}");
    let nothing = piped("Hello, my disk is slow.\n");
    assert!(!nothing.status.success());
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("standard input is no recording"));
}
