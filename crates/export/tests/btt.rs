//! btt's files: the same where btt is right, right where it is wrong.

use export::{BttExport, BttOptions};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use testkit::{golden, tools, Layout, Script};
use trace::{Batch, DevId, Nanos};

type Files = BTreeMap<String, Vec<String>>;

/// The files of a folder by name.
fn files(folder: &Path) -> Files {
    let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap());
    let read = |e: std::fs::DirEntry| {
        let text = std::fs::read_to_string(e.path()).unwrap();
        (e.file_name().into_string().unwrap(), text.lines().map(str::to_string).collect())
    };
    entries.map(read).collect()
}

/// What iowhy makes of a recording.
fn exported(recording: &Path, to: &Path) -> Files {
    let mut source = trace::open(recording).unwrap().source;
    let mut export = BttExport::create(to, BttOptions::default()).unwrap();
    let mut batch = Batch::default();
    while source.fill(&mut batch).unwrap() {
        export.feed(&batch);
    }
    let written = export.finish().unwrap();
    let found = files(to);
    assert_eq!(
        written.iter().map(|w| &w.0).collect::<std::collections::BTreeSet<_>>(),
        found.keys().collect()
    );
    found
}

/// What btt makes of it, without its report.
fn btt(merged: &Path, to: &Path) -> Files {
    std::fs::create_dir(to).unwrap();
    let options =
        "-A -o out -l d2c -q q2c -z q2d -L 1 -B off -s seek -m sps -Q aqd -u unp -Z -p per_io -P pit -i";
    let mut btt = Command::new("btt");
    let out = btt.current_dir(to).args(options.split(' ')).arg(merged).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let mut all = files(to);
    all.remove("out.avg");
    all.retain(|_, lines| !lines.is_empty());
    all
}

/// Merges a recording's files as btt wants them.
fn merge(names: &[std::path::PathBuf], to: &Path) {
    let mut blkparse = Command::new("blkparse");
    names.iter().for_each(|name| {
        blkparse.arg("-i").arg(name);
    });
    assert!(blkparse.args(["-q", "-O", "-d"]).arg(to).output().unwrap().status.success());
}

fn have_btt() -> bool {
    tools::installed("blkparse", &["-V"]) && tools::installed("btt", &["-V"])
}

/// Rows of one completion come in the order of btt's search tree; within a line of `-P` too. That order says nothing.
fn in_any_order(lines: &[String]) -> Vec<String> {
    let queues_sorted = |l: &String| match l.split_once('|') {
        Some((queued, rest)) => {
            let mut queued: Vec<&str> = queued.split_whitespace().collect();
            queued.sort();
            format!("{} |{rest}", queued.join(" "))
        }
        None => l.clone(),
    };
    let mut sorted: Vec<String> = lines.iter().map(queues_sorted).collect();
    sorted.sort();
    sorted
}

/// Three kinds of I/O on two SCSI disks, none of which btt gets wrong: single reads, merged writes, plugged writes.
fn plain() -> Script {
    let reads = Script::of(
        "0    Q R 4096+8 tid=7
         3    G R 4096+8 tid=7
         5    I R 4096+8 tid=7
         9    D R 4096+8 tid=7
         170  C R 4096+8 tid=7",
    );
    let writes = Script::of(
        "0    P N tid=9
         1    Q W 90000+16 tid=9
         2    G W 90000+16 tid=9
         4    Q W 90016+16 tid=9
         5    M W 90016+16 tid=9
         7    Q W 90032+16 tid=9
         8    M W 90032+16 tid=9
         10   I W 90000+48 tid=9
         12   U N 1 tid=9
         20   D W 90000+48 tid=9
         900  C W 90000+48 tid=9",
    );
    let other_disk = DevId::new(8, 16);
    Script::of("0 name fio tid=7\n0 name postgres tid=9")
        .and(reads.repeated(400, Nanos(9_000_000), 24).after(Nanos(10_000)))
        .and(writes.repeated(300, Nanos(11_500_000), 100).after(Nanos(40_000)))
        .and(reads.repeated(50, Nanos(70_000_000), 3000).after(Nanos(1_003_000)).on(other_disk))
        .in_order()
}

#[test]
fn the_same_as_btt_where_btt_is_right() {
    if !have_btt() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let merged = folder.path().join("merged");
    merge(&plain().files(folder.path(), Layout::USUAL), &merged);
    let theirs = btt(&merged, &folder.path().join("btt"));
    let mut ours = exported(&merged, &folder.path().join("iowhy"));
    // Ours alone: btt writes these over the seeks per second between bios.
    for dev in ["8,0", "8,16"] {
        assert!(ours.remove(&format!("sps_{dev}_d2d.dat")).is_some());
    }
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    assert_eq!(ours.len(), 48);
    for (name, lines) in &theirs {
        let (mut got, mut wanted) = (in_any_order(&ours[name]), in_any_order(lines));
        if name.ends_with("q2c_plat.dat") {
            // At which time a mean stands depends on which of a request's bios comes last.
            let mean = |l: &mut String| *l = l.split(' ').next_back().unwrap_or_default().to_string();
            got.iter_mut().chain(wanted.iter_mut()).for_each(mean);
        }
        if let Some(at) = got.iter().zip(&wanted).position(|(g, w)| g != w) {
            panic!("{name}: got {:?}, btt has {:?}", got[at], wanted[at]);
        }
        assert_eq!(got.len(), wanted.len(), "{name}");
    }
}

/// What btt leaves out or tells wrong, on a virtio disk (major 254).
fn difficult() -> Script {
    Script::of(
        "0     name fio tid=7
         0     Q WS 64+8 tid=7       # a write, then a flush of 50 ms
         1     G WS 64+8 tid=7
         2     I WS 64+8 tid=7
         3     D WS 64+8 tid=7
         103   C WS 64+8 tid=7
         200   Q FWS 0+0 tid=7
         201   G FWS 0+0 tid=7
         202   D FN 0+0 tid=7
         50202 C FN 0+0 tid=7
         50203 C WS 0+0 tid=7
         60000 Q R 2000+16 tid=7     # split in two
         60001 X R 2000+16 / 2008 tid=7
         60002 G R 2000+8 tid=7
         60003 D R 2000+8 tid=7
         60004 G R 2008+8 tid=7
         60005 D R 2008+8 tid=7
         61000 C R 2000+8 tid=7
         62000 C R 2008+8 tid=7
         70000 Q R 4000+8 tid=7      # given back by the driver, issued again after 4 ms
         70001 G R 4000+8 tid=7
         70002 D R 4000+8 tid=7
         70010 R R 4000+8 tid=7
         74010 D R 4000+8 tid=7
         74110 C R 4000+8 tid=7
         80000 Q R 6000+8 tid=7      # two reads of one sector at once
         80001 G R 6000+8 tid=7
         80002 D R 6000+8 tid=7
         80003 Q R 6000+8 tid=7
         80004 G R 6000+8 tid=7
         80005 D R 6000+8 tid=7
         80100 C R 6000+8 tid=7
         85000 C R 6000+8 tid=7
         90000 m raid5 rmw 8 1 cg=1234",
    )
    .on(DevId::new(254, 0))
}

#[test]
fn right_where_btt_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("recording");
    std::fs::create_dir(&recording).unwrap();
    difficult().files(&recording, Layout::USUAL);
    let ours = exported(&recording, &folder.path().join("iowhy"));
    let mut text = String::new();
    // The histograms are a thousand lines of zeros.
    for (name, lines) in ours.iter().filter(|(name, _)| !name.ends_with("hist.dat")) {
        text += &format!("== {name}\n{}\n", lines.join("\n"));
    }
    golden(env!("CARGO_MANIFEST_DIR"), "btt.txt", &text);
    if have_btt() {
        let merged = folder.path().join("merged");
        merge(&difficult().files(&recording, Layout::USUAL), &merged);
        let theirs = btt(&merged, &folder.path().join("btt"));
        let rows = |f: &Files, name: &str| f.get(name).map_or(0, |l| l.len());
        // Of 7 requests in the device btt has 3: not the flush, not the halves, one of the two on one sector.
        let d2c = "d2c_254,0_d2c.dat";
        assert_eq!((rows(&theirs, d2c), rows(&ours, d2c)), (3, 7));
        // Every bio, the flush and the split one too, has its Q2C.
        let q2c = "q2c_254,0_q2c.dat";
        assert_eq!((rows(&theirs, q2c), rows(&ours, q2c)), (3, 6));
        assert_eq!((rows(&theirs, "out.msg"), rows(&ours, "out.msg")), (0, 1));
    }
}

/// A recording of ext4 under mq-deadline, on a SCSI disk: what docs/btt.md says of the differences, in numbers.
#[test]
fn a_real_recording_differs_as_documented() {
    if !have_btt() {
        return;
    }
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/deadline-starved");
    let folder = tempfile::tempdir().unwrap();
    for cpu in 0..2 {
        let packed = std::fs::read(fixture.join(format!("sda.blktrace.{cpu}.zst"))).unwrap();
        let plain = zstd::decode_all(packed.as_slice()).unwrap();
        std::fs::write(folder.path().join(format!("sda.blktrace.{cpu}")), plain).unwrap();
    }
    let merged = folder.path().join("merged");
    let mut blkparse = Command::new("blkparse");
    blkparse.args(["-q", "-O", "-i", "sda", "-d"]).arg(&merged).current_dir(folder.path());
    assert!(blkparse.output().unwrap().status.success());
    let theirs = btt(&merged, &folder.path().join("btt"));
    let ours = exported(&merged, &folder.path().join("iowhy"));
    let direct = exported(folder.path(), &folder.path().join("direct"));
    assert!(ours == direct, "a merged file and the files it was made of give different rows");

    // What does not depend on following an I/O is the same, line for line.
    for name in [
        "off_8,0_c.dat",
        "off_8,0_r.dat",
        "off_8,0_w.dat",
        "out_dhist.dat",
        "out_qhist.dat",
        "seek_8,0_d2d_c.dat",
        "seek_8,0_q2q_c.dat",
        "unp_8,0.dat",
        "8,0_mbps_fp.dat",
    ] {
        assert!(ours[name] == theirs[name], "{name}");
    }
    let count = |f: &Files, name: &str| f[name].len() as i64;
    let missing = |name: &str| {
        let mut left: BTreeMap<&String, i64> = BTreeMap::new();
        ours[name].iter().for_each(|l| *left.entry(l).or_default() += 1);
        theirs[name].iter().for_each(|l| *left.entry(l).or_default() -= 1);
        -left.values().filter(|n| **n < 0).sum::<i64>()
    };
    // D2C and Q2D: all of btt's rows, and those of flushes and of split bios besides.
    let (d2c, q2d, q2c) = ("d2c_8,0_d2c.dat", "q2d_8,0_q2d.dat", "q2c_8,0_q2c.dat");
    assert_eq!((count(&theirs, d2c), count(&ours, d2c), missing(d2c)), (3751, 3751 + 1330 + 1137, 0));
    assert_eq!((count(&theirs, q2d), count(&ours, q2d), missing(q2d)), (3751, 3751 + 1137, 0));
    // Q2C: 199 split bios more, and 665 writes whose end btt sees before the flush after them.
    assert_eq!((count(&theirs, q2c), count(&ours, q2c), missing(q2c)), (3751, 3751 + 199, 665));
}
