//! A file that `blkparse -d` made of a recording gives the same events in the same order as the recording, with times that
//! count from the first one.

use std::process::Command;
use testkit::{tools, Layout, Story};
use trace::{Action, Batch, Nanos};

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
    let story = Story::of(
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
    for name in story.files(folder.path(), Layout::USUAL) {
        blkparse.arg("-i").arg(name);
    }
    let merged = folder.path().join("merged");
    assert!(blkparse.args(["-q", "-O", "-d"]).arg(&merged).output().unwrap().status.success());
    let rebased = |(t, a, s, c): (Nanos, Action, u64, u32)| (t.since(Nanos(20_100_000_000)), a, s, c);
    let direct: Vec<_> = events(folder.path()).into_iter().map(rebased).collect();
    assert_eq!(direct.len(), 6);
    assert_eq!(events(&merged), direct);
}
