//! Paths on the command line: mistyped ones, folders of recordings, a path in place of a command.

use std::path::Path;
use std::process::{Command, Output};

fn iowhy(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_iowhy")).current_dir(root).args(arguments).output().expect("iowhy runs")
}

/// What is said if a command is refused with this exit status.
fn refused(arguments: &[&str], status: i32) -> String {
    let out = iowhy(arguments);
    assert_eq!(out.status.code(), Some(status), "{arguments:?}: {out:?}");
    String::from_utf8(out.stderr).expect("text")
}

#[test]
fn of_a_mistyped_path_every_command_names_similar_ones() {
    let (wrong, there) = ("fixtures/radnread-baseline", "fixtures/misc-events");
    let commands: [&[&str]; 13] = [
        &["explain", wrong],
        &["explain", wrong, there],
        &["explain", there, wrong],
        &["slow", wrong],
        &["report", wrong],
        &["report", "--html", "/dev/null", wrong],
        &["plot", wrong],
        &["events", wrong],
        &["whatif", wrong, "--without", "x"],
        &["export", "--to", "folded", wrong],
        &["compare", wrong, there],
        &["compare", there, wrong],
        &["pack", wrong],
    ];
    for command in commands {
        let said = refused(command, 1);
        assert!(said.contains(&format!("{wrong}: no such f")), "{command:?}: {said}");
        assert!(said.contains("similar: fixtures/randread-baseline"), "{command:?}: {said}");
    }
    let said = refused(&["compare", wrong], 2);
    assert!(said.contains("similar: fixtures/randread-baseline\n"), "{said}");
    let said = refused(&["compare", "fixtures/fio/alnoe.json", "before=1", "after=2"], 1);
    assert!(said.contains("similar: fixtures/fio/alone.json\n"), "{said}");
    let said = refused(&["explain", "fixtures/postgres"], 1);
    assert!(!said.contains("similar"), "{said}");
}

#[test]
fn a_path_in_place_of_a_command_is_told_how_to_be_explained() {
    let explained = |path: &str| {
        let said = refused(&[path, "-v"], 2);
        assert!(said.contains(&format!("{path} is a path, not a command")), "{said}");
        assert!(said.contains(&format!("`iowhy explain {path}`")), "{said}");
        assert!(!said.contains("unrecognized"), "{said}");
    };
    explained("fixtures/randread-baseline");
    explained("fixtures/mails/writeback.txt");
    // A recording in parts has no file of its name.
    explained("fixtures/seqwrite-max1024k/vda");
    assert!(refused(&["fixtures/none"], 2).contains("unrecognized subcommand"));
    assert!(refused(&["explian"], 2).contains("explain"), "a similar command is named");
}

#[test]
fn of_a_folder_of_recordings_some_are_named() {
    for command in [&["explain", "fixtures"][..], &["slow", "fixtures"], &["compare", "fixtures", "fixtures"]]
    {
        let said = refused(command, 1);
        let inside = "recordings inside: append-stable-page, bad, cgroup-200-iops and others";
        assert!(said.contains(inside), "{command:?}: {said}");
        assert!(said.contains("such as fixtures/append-stable-page\n"), "{command:?}: {said}");
    }
    // Several packed captures.
    let said = refused(&["explain", "lab/corpus"], 1);
    assert!(said.contains("inside: access-time-direct.tar.zst, "), "{said}");
    assert!(refused(&["explain", "fixtures/bad/no-trace"], 1).contains("this folder holds no trace"));
}
