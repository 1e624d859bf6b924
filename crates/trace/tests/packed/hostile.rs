//! Tars that lie. Nothing may be written outside of the spool, nothing may be left there, nothing may panic or grow.

use crate::capture::{parts, tar_of, PAGE};
use crate::{open, Read, Temp};
use proptest::prelude::*;
use std::fs;
use std::io::Write;
use std::path::Path;
use tar::{Builder, EntryType, Header};
use trace::Error;

/// Opens bytes as a file.
fn open_bytes(bytes: &[u8]) -> Result<Read, Error> {
    let mut file = tempfile::NamedTempFile::new_in("/tmp").unwrap();
    file.write_all(bytes).unwrap();
    open(file.path())
}

fn entry(tar: &mut Builder<Vec<u8>>, kind: EntryType, path: &str, link: &str, data: &[u8]) {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(data.len() as u64);
    header.set_mode(0o644);
    // Past the checks of the crate: the names go in as they are.
    let gnu = header.as_gnu_mut().unwrap();
    gnu.name[..path.len()].copy_from_slice(path.as_bytes());
    gnu.linkname[..link.len()].copy_from_slice(link.as_bytes());
    header.set_cksum();
    tar.append(&header, data).unwrap();
}

#[test]
fn names_and_links_that_lead_outside() {
    let temp = Temp::new();
    let parts = parts();
    let outside = temp.0.join("sentinel");
    let mut tar = Builder::new(Vec::new());
    let file = EntryType::Regular;
    for name in
        ["/tmp/iowhy-was-here", "../../iowhy-was-here", "c/../../iowhy-was-here", "a\nb", ".unfinished"]
    {
        entry(&mut tar, file, name, "", b"x");
    }
    let target = outside.to_str().unwrap();
    entry(&mut tar, EntryType::Symlink, "c", target, b"");
    entry(&mut tar, file, "c/planted", "", b"x");
    entry(&mut tar, EntryType::Link, "system.json", "/etc/passwd", b"");
    entry(&mut tar, EntryType::Symlink, "trace.dat", "/etc/passwd", b"");
    entry(&mut tar, EntryType::Fifo, "samples.jsonl", "", b"");
    entry(&mut tar, EntryType::Block, "disk", "", b"");
    entry(&mut tar, EntryType::Directory, "logs", "", b"");
    for (name, data) in parts.stream(4) {
        entry(&mut tar, file, &name, "", &data);
    }
    let got = open_bytes(&tar.into_inner().unwrap()).unwrap();
    assert_eq!(got.events, open(&parts.dat).unwrap().events);
    assert_eq!(
        got.quality.notes,
        [
            "left out: links and special files: 5",
            "left out: files whose names lead outside of it, or are invalid: 5"
        ]
    );
    assert!(!outside.exists() && !Path::new("/tmp/iowhy-was-here").exists());
    temp.assert_empty();
}

#[test]
fn sizes_that_lie() {
    let temp = Temp::new();
    let parts = parts();
    let want = open(&parts.dat).unwrap().events.len();
    // A file of eight exabytes.
    let mut header = Header::new_gnu();
    header.set_path("fio.json").unwrap();
    header.set_size(i64::MAX as u64);
    header.set_cksum();
    let mut tar = tar_of(&parts.stream(4));
    tar.truncate(tar.len() - 1024);
    tar.extend_from_slice(header.as_bytes());
    tar.extend_from_slice(&[0; 600]);
    let got = open_bytes(&tar).unwrap();
    assert_eq!(got.events.len(), want);
    assert!(got.quality.notes[0].contains("fio.json should have"), "{:?}", got.quality.notes);

    // A name of a gigabyte, well compressed.
    for kind in [EntryType::GNULongName, EntryType::XHeader] {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(1 << 30);
        header.set_cksum();
        let mut packed = zstd::Encoder::new(Vec::new(), 1).unwrap();
        packed.write_all(header.as_bytes()).unwrap();
        std::io::copy(&mut std::io::Read::take(std::io::repeat(b'n'), 1 << 30), &mut packed).unwrap();
        let e = open_bytes(&packed.finish().unwrap()).unwrap_err().to_string();
        assert!(e.contains("a file's header is longer than 1048576 bytes"), "{e}");
    }
    temp.assert_empty();
}

#[test]
fn parts_late_twice_and_missing() {
    let temp = Temp::new();
    let parts = parts();
    let mut files = parts.stream(2);
    let place = |files: &[(String, Vec<u8>)], name: &str| files.iter().position(|f| f.0 == name).unwrap();
    // Part 2 before part 1; part 0 again.
    let (one, two) = (place(&files, "trace.cpu1.raw.00001"), place(&files, "trace.cpu1.raw.00002"));
    files.swap(one, two);
    files.push(("trace.cpu1.raw.00000".into(), vec![0; PAGE]));
    let got = open_bytes(&tar_of(&files)).unwrap();
    let all = open(&parts.dat).unwrap();
    assert!(got.events.len() < all.events.len());
    assert_eq!(
        got.quality.notes[..2],
        [
            "trace.cpu1.raw: parts missing, with what they held: 1",
            "trace.cpu1.raw: parts left out because they came late or twice: 2"
        ]
    );
    // No head: nothing can be read of the pages.
    files.retain(|f| f.0 != "trace.head");
    let e = open_bytes(&tar_of(&files)).unwrap_err().to_string();
    assert!(e.contains("trace.head"), "{e}");
    // Two captures.
    let mut two = Builder::new(Vec::new());
    for dir in ["a", "b"] {
        entry(&mut two, EntryType::Regular, &format!("{dir}/trace.head"), "", &parts.head);
    }
    let e = open_bytes(&two.into_inner().unwrap()).unwrap_err().to_string();
    assert!(e.contains("more than one capture is in it (a, b)"), "{e}");
    // A damaged head: the error names the tar and the file in it, not the folder that is gone.
    let e =
        open_bytes(&tar_of(&[("trace.head".into(), parts.head[..500].to_vec())])).unwrap_err().to_string();
    assert!(e.contains("/trace.head: at byte") && !e.contains("iowhy-spool"), "{e}");
    temp.assert_empty();
}

#[test]
fn cut_anywhere_gives_what_came_before() {
    let temp = Temp::new();
    let parts = parts();
    let all = open(&parts.dat).unwrap().events.len();
    let tar = tar_of(&parts.stream(1));
    let mut most = 0;
    for at in (600..tar.len()).step_by(1777) {
        match open_bytes(&tar[..at]) {
            Ok(got) => {
                assert!(got.events.len() >= most && got.events.len() <= all);
                most = got.events.len();
                let notes = got.quality.notes;
                let ended = at > tar.len() - 1024;
                assert!(ended || notes.iter().any(|n| n.contains("was not completed")), "{at}: {notes:?}");
            }
            Err(e) => assert!(at < parts.head.len() + 4 * 1024, "{at}: {e}"),
        }
    }
    assert_eq!(most, all);
    // The second head is cut: the first one serves.
    let at = tar.len() - parts.head.len() / 2 - 4096;
    let got = open_bytes(&tar[..at]).unwrap();
    assert_eq!(got.events.len(), all);
    assert!(
        got.quality.notes[1].contains("trace.head: the copy that came first is used"),
        "{:?}",
        got.quality.notes
    );
    temp.assert_empty();
}

#[test]
fn a_damaged_zstd_stream_gives_what_came_before() {
    let temp = Temp::new();
    let mut files = parts().stream(1);
    // Noise, so that the frame has many blocks and ends within this file.
    let mut noise = 1u32;
    let mut next = || {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (noise >> 24) as u8
    };
    files.push(("fio.log".into(), (0..1 << 20).map(|_| next()).collect()));
    let mut packed = zstd::encode_all(&tar_of(&files)[..], 1).unwrap();
    packed.truncate(packed.len() - 300_000);
    let cut = open_bytes(&packed).unwrap();
    assert_eq!(cut.events.len(), open(&parts().dat).unwrap().events.len());
    assert!(cut.quality.notes[0].contains("breaks off"), "{:?}", cut.quality.notes);
    temp.assert_empty();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 40 } else { 400 }))]

    #[test]
    fn any_damage(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20), in_headers: bool) {
        let temp = Temp::new();
        let mut tar = tar_of(&parts().stream(2));
        let mut headers = Vec::new();
        for entry in tar::Archive::new(&tar[..]).entries().unwrap() {
            headers.push(entry.unwrap().raw_header_position() as usize);
        }
        for (at, byte) in flips {
            let place = match in_headers {
                true => headers[at.index(headers.len())] + at.index(512),
                false => at.index(tar.len()),
            };
            tar[place] = byte;
        }
        // Whatever comes out: it ends, and leaves nothing.
        let _ = open_bytes(&tar);
        temp.assert_empty();
    }
}

#[test]
fn a_file_that_is_no_capture_is_not_believed() {
    let temp = Temp::new();
    let mut tar = Builder::new(Vec::new());
    entry(&mut tar, EntryType::Regular, "notes.txt", "", b"hello");
    let e = open_bytes(&tar.into_inner().unwrap()).unwrap_err();
    assert!(e.to_string().contains("no capture is in it (trace.dat, trace.head and NAME.blktrace.N"), "{e}");
    assert!(e.help().is_some());
    let zeros = open_bytes(&[0; 2048]).map(|r| r.events.len());
    assert!(zeros.is_err());
    temp.assert_empty();
    fs::create_dir(temp.0.join("x")).unwrap();
    fs::remove_dir(temp.0.join("x")).unwrap();
}
