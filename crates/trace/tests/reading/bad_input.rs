//! What cannot be read: one clear error with the file, the offset where there is one, and what to do.

use super::{all_forms, file, read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use testkit::{Layout, Script};
use trace::Error;

/// The message, without the folder in front of the file's name.
fn message(path: &Path) -> String {
    let error = read(path).expect_err("an error");
    assert!(error.help().is_some(), "{error}: nothing said of what to do");
    let text = error.to_string();
    assert!(text.starts_with(&path.parent().unwrap().display().to_string()), "{text}: no file");
    text.rsplit_once('/').map_or(text.clone(), |(_, rest)| rest.to_string())
}

#[test]
fn an_empty_file() {
    let (_folder, path) = file("vda.blktrace.0", b"");
    assert_eq!(message(&path), "vda.blktrace.0: the file is empty");
}

#[test]
fn a_wrong_magic_and_a_text() {
    for bytes in
        [&b"\x07\x74\x61\x66 this is no magic"[..], b"Dear all,\n\nthe disk is slow.\n", b"a", &[0; 10_000]]
    {
        let (_folder, path) = file("vda.blktrace.0", bytes);
        let text = message(&path);
        assert!(text.starts_with("vda.blktrace.0: at byte 0: unrecognised format"), "{text}");
    }
}

/// The same as one file of several.
#[test]
fn a_text_among_per_cpu_files() {
    let folder = tempfile::tempdir().unwrap();
    all_forms().files(folder.path(), Layout::USUAL);
    let bad = folder.path().join("d8-0.blktrace.2");
    std::fs::write(&bad, "a text").unwrap();
    let text = read(folder.path()).unwrap_err().to_string();
    assert!(text.contains("d8-0.blktrace.2: at byte 0: no blktrace record here"), "{text}");
}

#[test]
fn versions_that_nobody_knows() {
    for version in [6u8, 9, 255] {
        let mut bytes = all_forms().bytes(Layout::USUAL);
        bytes[0] = version;
        let (_folder, path) = file("vda.blktrace.0", &bytes);
        let said = format!("vda.blktrace.0: at byte 0: blktrace version {version}; 7 and 8 are known");
        assert_eq!(message(&path), said);
    }
}

#[test]
fn nothing_there() {
    let folder = tempfile::tempdir().unwrap();
    let text = message(&folder.path().join("vda"));
    assert_eq!(text, "vda: no such file or folder");
}

#[test]
fn a_folder_without_a_trace() {
    let (folder, _) = file("notes.txt", b"nothing");
    let error = read(folder.path()).unwrap_err();
    assert!(error.to_string().contains("this folder holds no trace"), "{error}");
    assert!(error.help().is_some());
}

/// blkparse's text in a mail, below a long letter; more than a letter is no recording.
#[test]
fn a_long_letter_before_the_text() {
    let output = |lines: usize| {
        let letter =
            "On Monday our database stood still for a minute, and this is what it did.\n".repeat(lines);
        format!("{letter}  8,0    0        1     0.000000000   100  Q   R 0 + 8 [fio]\n")
    };
    let (_folder, path) = file("mail.txt", output(1000).as_bytes());
    let got = read(&path).unwrap();
    assert_eq!((got.events.len(), got.quality.unknown), (2, 1000));
    let (_folder, path) = file("book.txt", output(10_000).as_bytes());
    assert!(read(&path).unwrap_err().to_string().contains("unrecognised format"));
}

/// A trace cut off within the compressed bytes, and one damaged there: where, and that it is the compression.
#[test]
fn damaged_compression() {
    let bytes = Script::of("0 Q R 0+8").repeated(5000, testkit::nanos("1ms"), 7919).bytes(Layout::USUAL);
    let good = zstd::encode_all(&bytes[..], 1).unwrap();
    let mut gz = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    std::io::Write::write_all(&mut gz, &bytes).unwrap();
    for (kind, good) in [("zstd", good), ("gzip", gz.finish().unwrap())] {
        let half = good.len() / 2;
        let mut damaged = good.clone();
        damaged[half..half + 40].fill(0xee);
        for bad in [&good[..half], &damaged] {
            let (_folder, path) = file("vda.blktrace.0", bad);
            match read(&path) {
                Err(Error::Malformed { offset, what, .. }) => {
                    assert!(what.contains(kind), "{what}");
                    assert!(offset > 0 && offset <= bad.len() as u64);
                }
                other => panic!("{kind}: {other:?}"),
            }
        }
    }
}

/// Root may read everything, so as root the test runs again as another user.
#[test]
fn no_permission() {
    const AGAIN: &str = "READING_AS_ANOTHER_USER";
    if let Some(path) = std::env::var_os(AGAIN) {
        let error = read(Path::new(&path)).expect_err("no permission");
        assert!(error.to_string().contains("Permission denied"), "{error}");
        assert!(error.help().is_some_and(|h| h.contains("sudo")), "{error}");
        return;
    }
    let (folder, path) = file("vda.blktrace.0", &all_forms().bytes(Layout::USUAL));
    let closed = folder.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    let mode = |p: &Path, mode| std::fs::set_permissions(p, PermissionsExt::from_mode(mode)).unwrap();
    mode(folder.path(), 0o755);
    mode(&path, 0o000);
    mode(&closed, 0o000);
    let nobody = 65534;
    let is_root = std::fs::read(&path).is_ok();
    for what in [&path, &closed, &folder.path().join("vda"), &closed.join("vda")] {
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", "bad_input::no_permission"]).env(AGAIN, what).current_dir("/");
        if is_root {
            again.uid(nobody).gid(nobody);
        }
        match again.output() {
            Err(e) => return testkit::tools::skipped(&format!("cannot run as another user: {e}")),
            Ok(out) => assert!(out.status.success(), "{what:?}: {}", String::from_utf8_lossy(&out.stdout)),
        }
    }
    mode(&closed, 0o700);
}
