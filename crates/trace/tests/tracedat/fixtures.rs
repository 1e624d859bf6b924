//! Two small real recordings (Linux 6.18, fio and dd on a partition of a loop device), one per version.
//!
//! They were made from the raw pages of a tracefs instance with `trace-cmd restore` and `trace-cmd convert`, with
//! /proc/kallsyms cut down to the functions that their stacks need.

use crate::{have, report, skip};
use std::collections::BTreeMap;
use std::path::PathBuf;
use trace::tracedat::{self, Raw, Stacks, Step};
use trace::{Action, Batch, Detail, DevId, Event, Flags, Source, What};

pub const V6: &str = "loop-v6.dat";
pub const V7: &str = "loop-v7-zstd.dat";

pub fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn events(name: &str) -> (Vec<Event>, Vec<String>) {
    let mut dat = tracedat::open(&path(name)).unwrap();
    let (mut batch, mut events, mut names, mut tasks) = (Batch::default(), Vec::new(), Vec::new(), 0);
    while dat.fill(&mut batch).unwrap() {
        tasks += batch.tasks.len();
        for e in &batch.events {
            if e.action == Action::TaskName {
                names.push(String::from_utf8_lossy(batch.text(e)).into_owned());
            }
        }
        events.append(&mut batch.events);
    }
    let q = dat.quality();
    assert_eq!(
        (q.events, q.lost_total(), q.damaged_bytes, q.unknown),
        ((events.len() + tasks) as u64, 0, 0, 0)
    );
    (events, names)
}

fn letters(events: &[Event]) -> BTreeMap<&'static str, usize> {
    let mut count = BTreeMap::new();
    for e in events.iter().filter(|e| !e.action.is_note()) {
        *count.entry(e.action.letters()).or_default() += 1;
    }
    count
}

#[test]
fn fixtures_agree_with_trace_cmd() {
    if !have("trace-cmd") {
        return skip("trace-cmd is not installed: the fixtures were not compared with it");
    }
    for name in [V6, V7] {
        assert!(report::compare(&path(name), &[]) > 1000);
        report::compare_stacks(&path(name));
    }
}

/// A second reading begins where the first did, whatever that has read, with the same texts. Without symbols only these are missing.
#[test]
fn what_is_read_again_is_the_same() {
    let read = |source: &mut dyn Source| {
        let (mut batch, mut all, mut texts) = (Batch::default(), (vec![], vec![]), 0);
        while source.fill(&mut batch).unwrap() {
            // Where a text lies in its batch depends on the texts before it.
            let detail =
                |e: &Event| if matches!(e.detail, Detail::Text(_)) { Detail::None } else { e.detail };
            let bare = |e: &Event| (Event { detail: detail(e), ..*e }, batch.text(e).to_vec());
            all.0.extend(batch.events.iter().map(bare));
            for task in &batch.tasks {
                match task.what {
                    What::Text { text, .. } => texts += batch.at(text).len(),
                    _ => all.1.push((task.time, task.tid)),
                }
            }
        }
        (all, texts)
    };
    for place in [V6, V7].map(path).into_iter().chain([bundled("volume-249-iops")]) {
        let mut first = trace::open(&place).unwrap().source;
        first.fill(&mut Batch::default()).unwrap();
        let (mut again, mut other) = (first.again().unwrap(), first.again().unwrap());
        other.without_symbols();
        let whole = read(&mut *trace::open(&place).unwrap().source);
        assert!(whole.0 .0.len() > 1000, "{}", place.display());
        assert!(read(&mut *again) == whole, "{}", place.display());
        assert!(read(&mut *other).0 == whole.0, "{}", place.display());
    }
}

/// A packed recording of this repository.
fn bundled(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name).join("capture.tar.zst")
}

#[test]
fn block_events_by_letter() {
    let (v6, _) = events(V6);
    let want =
        [("A", 16), ("C", 96), ("D", 65), ("G", 64), ("I", 40), ("M", 313), ("P", 34), ("Q", 376), ("U", 35)];
    assert_eq!(letters(&v6), want.into());
    let (v7, _) = events(V7);
    let want = [
        ("A", 50),
        ("C", 228),
        ("D", 218),
        ("G", 218),
        ("I", 154),
        ("M", 508),
        ("P", 184),
        ("Q", 726),
        ("U", 184),
    ];
    assert_eq!(letters(&v7), want.into());
}

#[test]
fn facts_and_single_events() {
    let (v7, names) = events(V7);
    let dat = tracedat::open(&path(V7)).unwrap();
    assert_eq!((dat.facts().version, dat.facts().cpus, dat.long()), (7, 2, 8));
    assert!(v7.windows(2).all(|w| w[0].time <= w[1].time));
    for name in ["fio", "dd", "kworker/0:1H"] {
        assert!(names.iter().any(|n| n == name), "{name} in {names:?}");
    }
    // block_rq_issue: 7,0 DS 1048576 () 106496 + 2048 [kworker/0:1H] at 3205.686920797
    let discard = v7.iter().rfind(|e| e.flags.has(Flags::DISCARD) && e.action == Action::Issue).unwrap();
    assert_eq!(
        (discard.time.0, discard.sector.0, discard.bytes.0, discard.dev, discard.tid.0, discard.cpu.0),
        (3_205_686_920_797, 106_496, 1 << 20, DevId::new(7, 0), 44, 0)
    );
    let flags = Flags::WRITE.with(Flags::DISCARD).with(Flags::SYNC).with(Flags::ISSUE).with(Flags::FS);
    assert_eq!(discard.flags, flags);
    let flush = v7.iter().find(|e| e.action == Action::Complete && e.sector.0 == u64::MAX).unwrap();
    assert!(flush.flags.has(Flags::FLUSH) && flush.bytes.0 == 0);
    // A plug is on the device of the request before it.
    assert!(v7.iter().filter(|e| e.action == Action::Plug).all(|e| e.dev != DevId(0)));
}

#[test]
fn stacks_by_name() {
    let mut dat = tracedat::open(&path(V6)).unwrap();
    let symbols = dat.symbols().unwrap();
    let stacks = Stacks::of(dat.formats(), dat.long()).unwrap();
    let mut named = 0;
    while let Some(step) = dat.cursor().step().unwrap() {
        let Step::Record(r) = step else { continue };
        let names: Vec<_> = stacks.addresses(&r).filter_map(|a| symbols.find(a)).map(|s| s.0).collect();
        named += usize::from(names.contains(&"schedule") && names.len() > 8);
    }
    assert_eq!(named, 39);
}

/// The same pages without their container give the same events.
#[test]
fn raw_pages_and_formats() {
    let bytes = std::fs::read(path(V6)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    // trace-cmd aligns the pages: CPU 0 has 40960 bytes at 0x6000, CPU 1 49152 at 0x10000.
    let mut pages = Vec::new();
    for (cpu, at, len) in [(0, 0x6000, 40960), (1, 0x10000, 49152)] {
        let file = dir.path().join(format!("cpu{cpu}.raw"));
        std::fs::write(&file, &bytes[at..at + len]).unwrap();
        pages.push((trace::Cpu(cpu), file));
    }
    let find = |from: &[u8], what: &[u8]| from.windows(what.len()).position(|w| w == what).unwrap();
    let text = |title: &str| {
        let at = find(&bytes, title.as_bytes()) + title.len();
        let len = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
        bytes[at + 8..at + 8 + len].to_vec()
    };
    let block = |name: &str| {
        let at = find(&bytes, format!("name: {name}\n").as_bytes());
        let end = at + find(&bytes[at..], b"print fmt");
        ("block".to_string(), bytes[at..end].to_vec())
    };
    let raw = Raw {
        header_page: text("header_page\0"),
        header_event: text("header_event\0"),
        formats: ["block_rq_issue", "block_rq_complete"].map(block).into(),
        pages,
        ..Raw::default()
    };
    let mut dat = raw.open(dir.path()).unwrap();
    let mut batch = Batch::default();
    let mut got = Vec::new();
    while dat.fill(&mut batch).unwrap() {
        got.extend(batch.events.iter().copied().filter(|e| !e.action.is_note()));
    }
    let (mut want, _) = events(V6);
    want.retain(|e| matches!(e.action, Action::Issue | Action::Complete));
    assert_eq!(got, want);
    assert!(dat.quality().unknown > 500);
}

/// The events up to wherever a file of so many bytes is cut off, and whether those of some CPU are missing altogether; nothing where it cannot
/// be read.
fn of_cut(bytes: &[u8]) -> Option<(Vec<Event>, bool)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.dat");
    std::fs::write(&path, bytes).unwrap();
    let mut dat = tracedat::open(&path).ok()?;
    let (mut batch, mut events) = (Batch::default(), Vec::new());
    while dat.fill(&mut batch).ok()? {
        events.append(&mut batch.events);
    }
    events.retain(|e| !e.action.is_note());
    Some((events, dat.quality().files_missing))
}

/// Behind the end of the CPU that is cut, what others did would seem to have no end.
#[test]
fn what_is_cut_off_ends_for_all_cpus_at_once() {
    let whole = std::fs::read(path(V6)).unwrap();
    let (all, _) = of_cut(&whole).unwrap();
    let (mut shorter, mut lacking) = (0, 0);
    for tenth in 1..40 {
        let Some((events, lacks)) = of_cut(&whole[..whole.len() * tenth / 40]) else { continue };
        lacking += u32::from(lacks);
        if !lacks {
            shorter += u32::from(events.len() < all.len());
            let same = |(a, b): (&Event, &Event)| (a.time, a.cpu, a.action) == (b.time, b.cpu, b.action);
            assert!(events.iter().zip(&all).all(same), "{tenth}/40");
        }
    }
    assert!(shorter > 0 && lacking > 0, "{shorter} {lacking}");
}
