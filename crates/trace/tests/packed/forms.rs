//! The same recording in all its forms.

use crate::capture::{parts, tar_of};
use crate::{open, read, skip, Temp};
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn a_folder_of_raw_pages() {
    let _temp = Temp::new();
    let (parts, dir) = (parts(), tempfile::tempdir_in("/tmp").unwrap());
    let want = open(&parts.dat).unwrap();
    assert!(want.events.len() > 1000 && parts.pages.len() > 1);
    parts.folder(dir.path(), true);
    let got = open(dir.path()).unwrap();
    assert_eq!((&got.events, &got.quality), (&want.events, &want.quality));

    // Killed: pages are cut anywhere, and the recorder did not come to say how it ended.
    fs::remove_file(dir.path().join("capture.json")).unwrap();
    fs::write(dir.path().join("trace.cpu0.raw"), &parts.pages[0][..5000]).unwrap();
    let cut = open(dir.path()).unwrap();
    assert!(!cut.events.is_empty() && cut.events.len() < want.events.len());
    assert!(cut.quality.notes.iter().any(|n| n.contains("was not completed")), "{:?}", cut.quality.notes);
    assert_eq!(cut.quality.cut_records, 1);

    // Killed while it put the trace together: a trace.dat lies there, but less is in it.
    fs::write(dir.path().join("trace.dat"), &fs::read(&parts.dat).unwrap()[..parts.head.len() + 9000])
        .unwrap();
    parts.folder(dir.path(), true);
    assert_eq!(open(dir.path()).unwrap().events, want.events);
    fs::write(dir.path().join("trace.dat"), "no trace").unwrap();
    assert_eq!(open(dir.path()).unwrap().events, want.events);
    // The other way round: all is in the trace.dat and some of the pages are removed already.
    fs::copy(&parts.dat, dir.path().join("trace.dat")).unwrap();
    fs::remove_file(dir.path().join("trace.cpu0.raw")).unwrap();
    assert_eq!(open(dir.path()).unwrap().events, want.events);

    fs::remove_file(dir.path().join("trace.dat")).unwrap();
    fs::remove_file(dir.path().join("trace.head")).unwrap();
    let e = open(dir.path()).unwrap_err().to_string();
    assert!(e.contains("trace.head"), "{e}");
}

#[test]
fn a_stream_as_it_is_and_compressed() {
    let temp = Temp::new();
    let (parts, dir) = (parts(), tempfile::tempdir_in("/tmp").unwrap());
    let want = open(&parts.dat).unwrap();
    for pages in [1, 3, 256] {
        let tar = tar_of(&parts.stream(pages));
        let path = dir.path().join("c.tar");
        fs::write(&path, &tar).unwrap();
        let recording = trace::open(&path).unwrap();
        let place = recording.place.clone().unwrap();
        assert!(place.starts_with(&temp.0), "{}", place.display());
        assert_eq!(fs::read_to_string(place.join("system.json")).unwrap(), r#"{"before": {}, "after": {}}"#);
        assert!(fs::read_to_string(place.join("samples.jsonl")).unwrap().starts_with("{\"mono_ns\": 0}\n"));
        let got = read(recording).unwrap();
        assert_eq!((&got.events, &got.quality), (&want.events, &want.quality));
        assert_eq!(open(&place).unwrap().events, want.events, "it can be opened again");
        drop(place);
        temp.assert_empty();

        fs::write(&path, zstd::encode_all(&tar[..], 1).unwrap()).unwrap();
        assert_eq!(open(&path).unwrap().events, want.events);
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gz, &tar).unwrap();
        fs::write(&path, gz.finish().unwrap()).unwrap();
        assert_eq!(open(&path).unwrap().events, want.events);
    }
    fs::write(dir.path().join("t.zst"), zstd::encode_all(&fs::read(&parts.dat).unwrap()[..], 1).unwrap())
        .unwrap();
    assert_eq!(open(&dir.path().join("t.zst")).unwrap().events, want.events, "a compressed trace.dat");
    temp.assert_empty();
}

#[test]
fn a_stream_unpacked_with_tar() {
    let temp = Temp::new();
    let (parts, dir) = (parts(), tempfile::tempdir_in("/tmp").unwrap());
    let want = open(&parts.dat).unwrap().events;
    for (name, data) in parts.stream(2) {
        fs::write(dir.path().join(name), data).unwrap();
    }
    let recording = trace::open(dir.path()).unwrap();
    let place = recording.place.clone().unwrap();
    assert!(place.join("samples.jsonl").is_file() && place.join("capture.json").is_file());
    assert_eq!(read(recording).unwrap().events, want);
    drop(place);
    // Joined by hand since: the parts are not needed any more, nor told twice.
    parts.folder(dir.path(), true);
    fs::write(dir.path().join("samples.jsonl"), "").unwrap();
    let recording = trace::open(dir.path()).unwrap();
    assert_eq!(recording.place.as_deref(), Some(dir.path()));
    assert_eq!(read(recording).unwrap().events, want);
    temp.assert_empty();
}

#[test]
fn what_tar_packs() {
    let temp = Temp::new();
    let (parts, dir) = (parts(), tempfile::tempdir_in("/tmp").unwrap());
    let want = open(&parts.dat).unwrap().events;
    let capture = dir.path().join("run1");
    fs::create_dir_all(capture.join("logs")).unwrap();
    fs::write(capture.join("logs/trace.dat"), "not this one").unwrap();
    fs::copy(&parts.dat, capture.join("trace.dat")).unwrap();
    let at = dir.path().display();
    for (format, what) in [
        ("gnu", "run1"),
        ("pax", "run1"),
        ("ustar", "run1/trace.dat"),
        ("pax", "-C run1 ."),
        ("gnu", "--transform=s/run1/a-very-long-name-of-a-capture-that-does-not-fit-into-the-hundred-bytes-of-a-tar-header-at-all/ run1"),
    ] {
        let script = format!("tar --format={format} -cf {at}/c.tar -C {at} {what}");
        if !Command::new("sh").args(["-c", &script]).status().is_ok_and(|s| s.success()) {
            return skip("there is no tar(1) that can do this");
        }
        let got = open(&dir.path().join("c.tar"));
        assert_eq!(got.unwrap().events, want, "{script}");
    }
    temp.assert_empty();
}

#[test]
fn trace_cmd_makes_the_same_of_it() {
    let _temp = Temp::new();
    let (parts, dir) = (parts(), tempfile::tempdir_in("/tmp").unwrap());
    parts.folder(dir.path(), true);
    let from_raw = open(dir.path()).unwrap().events;
    let restored = dir.path().join("restored.dat");
    let mut restore = Command::new("trace-cmd");
    restore.arg("restore").arg("-i").arg(dir.path().join("trace.head")).arg("-o").arg(&restored);
    for cpu in 0..parts.pages.len() {
        restore.arg(dir.path().join(format!("trace.cpu{cpu}.raw")));
    }
    match restore.output() {
        Ok(out) => assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr)),
        Err(_) => return skip("trace-cmd is not installed"),
    }
    assert_eq!(open(&restored).unwrap().events, from_raw);
    let lines = |path: &Path| {
        let out = Command::new("trace-cmd").args(["report", "-i"]).arg(path).output().unwrap();
        String::from_utf8_lossy(&out.stdout).lines().filter(|l| l.contains(": block_")).count()
    };
    assert_eq!(lines(&restored), lines(&parts.dat));
}
