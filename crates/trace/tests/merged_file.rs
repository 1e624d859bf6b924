//! A file that `blkparse -d` made of a recording gives the same events in the same order as the recording, with times that
//! count from the first one.

use std::process::Command;
use testkit::{tools, Layout, Script};
use trace::{Action, Batch, Detail, Nanos};

/// Time, action, sector and CPU of everything but notes.
fn events(path: &std::path::Path) -> Vec<(Nanos, Action, u64, u32)> {
    let mut source = trace::open(path).unwrap().source;
    let (mut batch, mut all) = (Batch::default(), vec![]);
    while source.fill(&mut batch).unwrap() {
        let plain = batch.events.iter().filter(|e| !e.action.is_note());
        all.extend(plain.map(|e| (e.time, e.action, e.sector.0, e.cpu.0)));
    }
    assert_eq!(source.quality().out_of_order, 0);
    all
}

#[test]
fn notes_of_absolute_time_do_not_hold_events_back() {
    if !tools::installed("blkparse", &["-V"]) {
        return;
    }
    // The notes have the machine's time, 20 s; in the merged file the events begin at 0.
    let script = Script::of(
        "20s    name fio tid=7 cpu=0
         20s    name dd  tid=8 cpu=1
         20.1s  Q R 64+8  tid=7 cpu=0
         20.2s  Q R 128+8 tid=8 cpu=1
         20.3s  D R 64+8  tid=7 cpu=0
         20.4s  D R 128+8 tid=8 cpu=1
         20.5s  C R 128+8 tid=8 cpu=1
         20.6s  C R 64+8  tid=7 cpu=0",
    );
    let folder = tempfile::tempdir().unwrap();
    let mut blkparse = Command::new("blkparse");
    for name in script.files(folder.path(), Layout::USUAL) {
        blkparse.arg("-i").arg(name);
    }
    let merged = folder.path().join("merged");
    assert!(blkparse.args(["-q", "-O", "-d"]).arg(&merged).output().unwrap().status.success());
    let rebased = |(t, a, s, c): (Nanos, Action, u64, u32)| (t.since(Nanos(20_100_000_000)), a, s, c);
    let direct: Vec<_> = events(folder.path()).into_iter().map(rebased).collect();
    assert_eq!(direct.len(), 6);
    assert_eq!(events(&merged), direct);
}

/// When 1970 was by the clock of the events, and the time of the first one.
fn epoch(path: &std::path::Path) -> (i128, i128) {
    let mut source = trace::open(path).unwrap().source;
    let (mut batch, mut epoch, mut first) = (Batch::default(), None, None);
    while source.fill(&mut batch).unwrap() {
        for e in &batch.events {
            match e.detail {
                Detail::Wall { seconds, nanos } => {
                    let wall = seconds as i128 * 1_000_000_000 + nanos as i128;
                    epoch.get_or_insert(wall - e.time.0 as i128);
                }
                _ if !e.action.is_note() => _ = first.get_or_insert(e.time.0 as i128),
                _ => {}
            }
        }
    }
    (epoch.unwrap(), first.unwrap())
}

/// The bundled recordings, merged: they began when they began.
#[test]
fn the_wall_clock_is_moved_with_the_events() {
    if !tools::installed("blkparse", &["-V"]) {
        return;
    }
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    for (recording, device) in
        [("deadline-starved", "sda"), ("fsync-heavy-j4", "vda"), ("misc-events", "dm-0")]
    {
        let folder = tempfile::tempdir().unwrap();
        for cpu in 0..2 {
            let name = format!("{device}.blktrace.{cpu}");
            let packed = std::fs::File::open(fixtures.join(recording).join(format!("{name}.zst"))).unwrap();
            std::fs::write(folder.path().join(name), zstd::decode_all(packed).unwrap()).unwrap();
        }
        let (raw, merged) = (folder.path().join(device), folder.path().join("merged"));
        let mut blkparse = Command::new("blkparse");
        blkparse.arg("-i").arg(device).args(["-q", "-O", "-d"]).arg(&merged).current_dir(folder.path());
        assert!(blkparse.output().unwrap().status.success());
        let ((e, first), (moved_e, moved_first)) = (epoch(&raw), epoch(&merged));
        assert_eq!(moved_first, 0, "{recording}: blkparse counts from the first event");
        let off = (e + first) - moved_e;
        assert!((0..1_000_000).contains(&off), "{recording}: {off} ns");
    }
}
