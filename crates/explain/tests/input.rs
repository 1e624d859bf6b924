//! One way in for whatever is named: a recording, texts, both; and what is asked for besides reaches the
//! explanation.

use explain::{Error, Input, Trust};
use stats::Pictures;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}

fn output() -> PathBuf {
    let all = std::fs::read_dir(fixture("mails")).unwrap().flatten().map(|entry| entry.path());
    all.filter(|path| path.extension().is_some_and(|e| e == "txt")).min().expect("a text")
}

#[test]
fn a_recording_and_a_text_are_one_explanation() {
    let both = Input::open(&[fixture("nullblk-randrw"), output()]).unwrap().explain().unwrap();
    let alone = Input::recording(&fixture("nullblk-randrw")).unwrap().explain().unwrap();
    assert_eq!((both.texts.named, alone.texts.outputs.len()), (1, 0));
    assert_eq!(both.subject.quality.events, alone.subject.quality.events);
    assert!(both.verdicts.len() >= alone.verdicts.len() && !both.is_of_texts());
}

#[test]
fn texts_alone_have_no_recording_and_are_judged_by_their_counters() {
    let e = Input::open(&[output()]).unwrap().explain().unwrap();
    assert!(e.is_of_texts() && e.facts.devices.is_empty());
    assert_eq!(e.trust, Trust::Good);
    assert_eq!(e.verdicts.len(), e.texts.verdicts.len());
}

#[test]
fn a_window_pictures_and_another_listener_go_along() {
    let path = fixture("nullblk-randrw");
    let (mut pictures, mut whole) = (Pictures::default(), 0);
    let e = Input::recording(&path).unwrap().also(|batch| whole += batch.events.len()).explain().unwrap();
    assert_eq!(whole as u64, e.subject.quality.events);
    let window = events::Window::parse("100ms").ok();
    let mut part = 0;
    let input = Input::recording(&path).unwrap().window(window).pictures(&mut pictures);
    let e = input.also(|batch| part += batch.events.len()).explain().unwrap();
    assert!(0 < part && part < whole, "{part} of {whole}");
    assert_eq!(e.subject.window, window);
    assert!(!pictures.devices.is_empty());
}

#[test]
fn reading_stops_where_nobody_wants_more() {
    let mut batches = 0;
    let stopped = Input::recording(&fixture("nullblk-randrw")).unwrap().read_while(|_| {
        batches += 1;
        Err(Error::Other { what: "enough".into(), help: None })
    });
    assert_eq!((stopped.unwrap_err().to_string().as_str(), batches), ("enough", 1));
}

#[test]
fn two_recordings_are_no_input() {
    let both = [fixture("nullblk-randrw"), fixture("misc-events")];
    let error = Input::open(&both).err().expect("an error");
    assert!(error.to_string().ends_with("are both recordings"), "{error}");
    assert!(error.help().is_some());
}

/// Recordings in several files go by the name that these have in common, which is no file itself.
#[test]
fn of_two_recordings_the_one_that_is_missing_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["sda.blktrace.0", "sdb.blktrace.0"] {
        std::fs::write(folder.path().join(name), b"").unwrap();
    }
    let error = |names: [&str; 2]| {
        let both = names.map(|name| folder.path().join(name));
        Input::open(&both).err().expect("an error").to_string()
    };
    assert!(error(["sda", "sdb"]).ends_with("are both recordings"), "{}", error(["sda", "sdb"]));
    for both in [["sda", "sdc"], ["sdc", "sda"]] {
        assert!(error(both).ends_with("/sdc: no such file or folder"), "{}", error(both));
    }
}

#[test]
fn a_table_that_is_no_text_of_a_tool_is_no_second_recording() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("disks.txt");
    std::fs::write(&table, "NAME  MAJ:MIN RM  SIZE RO TYPE MOUNTPOINTS\nvda   254:0    0  256G  0 disk /\n")
        .unwrap();
    for both in [[fixture("misc-events"), table.clone()], [table, fixture("misc-events")]] {
        let error = Input::open(&both).err().expect("an error");
        assert!(error.to_string().contains("looks like lsblk"), "{error}");
    }
}
