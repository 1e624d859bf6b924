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
    assert!(screen.starts_with("mail: 3 settings and no measurement; "), "{screen}");
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
    assert!(String::from_utf8_lossy(&nothing.stderr)
        .contains("standard input: text without recognisable output of a tool"));
}

/// A device's error and a task that hangs on it: the error is named, and the task is told.
#[test]
fn of_an_error_and_a_hung_task_both_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let log = "[86433.411019] I/O error, dev sdb, sector 308034072 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2\n\
        [86540.216011] INFO: task jbd2/sdb1-8:412 blocked for more than 120 seconds.\n\
        [86540.216028] Call Trace:\n[86540.216034]  __schedule+0x24e/0x590\n[86540.216047]  io_schedule+0x46/0x80\n\
        [86540.216076]  jbd2_journal_commit_transaction+0x10a2/0x1920 [jbd2]\n";
    std::fs::write(folder.path().join("dmesg"), log).unwrap();
    let screen = String::from_utf8(explain(&["dmesg"], folder.path()).stdout).unwrap();
    let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.starts_with("dmesg: device-errors (medium): the device reports errors"), "{screen}");
    assert!(words.contains("- 1 task hung at that time (the first at dmesg:2)"), "{screen}");
    let told = "also found: hung: 1 task is blocked, waiting for the journal's blocks \
        (jbd2_journal_commit_transaction): jbd2/sdb1-8 (dmesg:2), for more than 120 s";
    assert!(words.contains(told), "{screen}");
    assert!(screen.lines().count() <= 23, "{screen}");
}

fn piped(arguments: &[&str], file: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_iowhy"))
        .args(arguments)
        .stdin(std::fs::File::open(file).unwrap())
        .output()
        .unwrap()
}

/// Words above blkparse's events, more than a pipe holds: the same as a file and on standard input.
#[test]
fn events_below_many_words_are_a_recording_however_they_come() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let events = Command::new(env!("CARGO_BIN_EXE_iowhy"))
        .args(["events", "fixtures/misc-events"])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(events.status.success());
    // More than a pipe holds at once.
    let words = "here is what I saw on that machine\n".repeat(2000);
    let path = folder.path().join("mail");
    std::fs::write(&path, words + &String::from_utf8(events.stdout).unwrap()).unwrap();
    let of = |out: Output| -> Value {
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice(&out.stdout).unwrap()
    };
    let file = of(explain(&["--json", "mail"], folder.path()));
    let stdin = of(piped(&["explain", "--json", "-"], &path));
    assert_eq!(file["capture"]["sources"][0], "blkparse");
    assert!(file["quality"]["events"].as_u64().unwrap() > 100);
    for field in ["capture", "operations", "tail"] {
        assert_eq!(file[field], stdin[field], "{field}");
    }
    assert_eq!(file["quality"]["tally"], stdin["quality"]["tally"]);
    // With a result of fio's among the words it is a text, both ways.
    let both = std::fs::read_to_string(&path).unwrap()
        + "\n1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5 s, 2.1 MB/s\n";
    let text = "1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5 s, 2.1 MB/s\n\n".to_owned() + &both;
    std::fs::write(&path, text).unwrap();
    let file = of(explain(&["--json", "mail"], folder.path()));
    assert!(file["texts"][0]["runs"][0]["readings"][0]["tool"] == "dd");
    assert_eq!(file["texts"][0]["runs"], of(piped(&["explain", "--json", "-"], &path))["texts"][0]["runs"]);
}

#[test]
fn text_of_another_encoding_and_json_that_breaks_off_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let utf16: Vec<u8> =
        [0xfeff].into_iter().chain(SETTINGS.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    std::fs::write(folder.path().join("mail"), utf16).unwrap();
    for out in [explain(&["mail"], folder.path()), piped(&["explain", "-"], &folder.path().join("mail"))] {
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(!out.status.success() && said.contains("UTF-16") && said.contains("iconv"), "{said}");
    }
    std::fs::write(folder.path().join("cut.json"), "\n{ \"fio version\" : \"fio-3.33\", \"jobs\" : [")
        .unwrap();
    let out = explain(&["cut.json"], folder.path());
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!out.status.success() && said.contains("cut.json:2: the JSON document"), "{said}");
}

#[test]
fn the_answer_of_a_text_is_one_sentence_and_of_the_same_schema() {
    let outputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/mails");
    let said = |file: &str| {
        let line = String::from_utf8(explain(&["--brief", file], &outputs).stdout).unwrap();
        let v: Value = serde_json::from_slice(&explain(&["--json", file], &outputs).stdout).unwrap();
        assert_eq!((line.lines().count(), v["schema"].as_str()), (1, Some("iowhy.explain/2")));
        assert_eq!(v["answer"]["line"], line.trim_end());
        assert_eq!((&v["victims"], &v["unexplained"]), (&Value::Array(vec![]), &Value::Null));
        (v["answer"]["kind"].clone(), v["answer"]["cause"].clone(), line)
    };
    let (kind, cause, line) = said("writeback.txt");
    assert_eq!((kind.as_str(), cause.as_str()), (Some("cause"), Some("writeback-flood")));
    assert!(line.starts_with("writeback.txt: writeback-flood (high): "), "{line}");
    let (kind, cause, line) = said("stable-page.txt");
    assert_eq!((kind.as_str(), cause), (Some("unknown"), Value::Null));
    assert!(line.contains("counters alone show no cause"), "{line}");
}

#[test]
fn texts_beside_a_recording_are_in_json_only_if_asked_for() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let json = |more: &[&str]| -> Value {
        let all = [&["--json", "randread-baseline", "fio/alone.json"], more].concat();
        serde_json::from_slice(&explain(&all, &fixtures).stdout).unwrap()
    };
    assert!(json(&[]).get("texts").is_none());
    assert_eq!(json(&["--with-texts"])["texts"][0]["file"], "alone.json");
}
