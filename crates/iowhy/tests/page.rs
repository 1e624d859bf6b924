//! `iowhy report --html`: the page says what the screen says.

use std::path::Path;
use std::process::Command;

/// Of time in device-mapper itself, which no cause explains.
/// `-` is standard output, as everywhere, and no file of that name.
#[test]
fn the_page_goes_into_a_pipe() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/randread-baseline");
    let folder = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_iowhy"));
    let out = command.current_dir(folder.path()).args(["report", "--html", "-", root]).output().unwrap();
    let page = String::from_utf8(out.stdout).unwrap();
    assert!(
        out.status.success() && page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>")
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn what_no_cause_explains_is_on_the_page_too() {
    let recording = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/dm-delay/capture.tar.zst");
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let iowhy = |arguments: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_iowhy")).args(arguments).arg(&recording).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    iowhy(&["report", "--html", page.to_str().unwrap()]);
    let page = std::fs::read_to_string(page).unwrap();
    let screen = iowhy(&["explain"]).split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "65 % of it was spent in dm-0 itself, and no cause here explains that";
    assert!(screen.contains(said), "{screen}");
    assert!(page.contains(&format!("<p>{said}")));
}
