//! Files of several recordings in one folder.

use super::read;
use std::fs;
use testkit::{Layout, Script};

/// A disk and a second one, on two CPUs, started at 20 s.
const BOTH: &str = "
    20s      wall 1700000000 0
    20.001s  wall 1700000000 1000000 dev=8,16 cpu=1
    20.5s    Q R 0+8
    20.6s    Q R 0+8 cpu=1
    20.5s    Q R 0+8 dev=8,16
    20.6s    Q R 0+8 dev=8,16 cpu=1";

/// The remarks on a folder with the files of a story, some of them replaced by those of another.
fn remarks(script: &str, other: &str, replaced: &[&str]) -> Vec<String> {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    Script::of(script).files(folder.path(), Layout::USUAL);
    Script::of(other).files(elsewhere.path(), Layout::USUAL);
    for name in replaced {
        fs::copy(elsewhere.path().join(name), folder.path().join(name)).unwrap();
    }
    let notes = read(folder.path()).unwrap().quality.notes;
    let base = format!("{}/", folder.path().display());
    notes.iter().map(|n| n.replace(&base, "")).collect()
}

#[test]
fn one_recording_is_one() {
    assert_eq!(remarks(BOTH, BOTH, &[]), Vec::<String>::new());
    // A CPU that had nothing to do for ten minutes.
    let idle = BOTH.replace("20.6s    Q R 0+8 cpu=1", "620s     Q R 0+8 cpu=1");
    assert_eq!(remarks(BOTH, &idle, &["d8-0.blktrace.1"]), Vec::<String>::new());
}

#[test]
fn another_boot_has_another_clock() {
    let other = BOTH.replace("1700000000", "1700086400");
    assert_eq!(
        remarks(BOTH, &other, &["d8-16.blktrace.0", "d8-16.blktrace.1"]),
        ["d8-0.blktrace.0 and d8-16.blktrace.1 do not agree about the time by 86400 s, so their events cannot be put in \
          order: are they of the same recording?"]
    );
}

#[test]
fn devices_that_were_started_a_minute_apart() {
    let other = BOTH.replace("1700000000", "1700000060").replace(" 20.", " 80.").replace(" 20s", " 80s");
    assert_eq!(
        remarks(BOTH, &other, &["d8-16.blktrace.0", "d8-16.blktrace.1"]),
        ["the recordings in d8-0.blktrace.0 and d8-16.blktrace.1 were started 60 s apart: are they of the same recording?"]
    );
}

#[test]
fn a_cpu_that_begins_before_its_recording() {
    let other = BOTH.replace("1700000000", "1699999990").replace(" 20.", " 10.").replace(" 20s", " 10s");
    assert_eq!(
        remarks(BOTH, &other, &["d8-0.blktrace.1"]),
        ["d8-0.blktrace.1 begins 9 s before the recording in d8-0.blktrace.0 was started: are they of the same recording?"]
    );
}

#[test]
fn without_a_note_of_the_clock_an_hour_is_odd() {
    let script = "20s Q R 0+8 \n 20s Q R 0+8 cpu=1";
    let later = |s: u32| format!("20s Q R 0+8 \n {s}s Q R 0+8 cpu=1");
    assert_eq!(remarks(script, &later(3600), &["d8-0.blktrace.1"]), Vec::<String>::new());
    let said = remarks(script, &later(3700), &["d8-0.blktrace.1"]);
    assert_eq!(
        said,
        ["d8-0.blktrace.0 and d8-0.blktrace.1 begin 3680 s apart: are they of the same recording?"]
    );
}
