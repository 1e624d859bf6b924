//! perf.data gives the events that `perf script` prints of it; any other bytes give events, counted damage or an error.
//!
//! The fixtures are of perf 6.1 on Linux 6.18: direct writes of dd, recorded to a file, compressed, and to a pipe.

use proptest::prelude::*;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use testkit::tools::installed;
use trace::tracetext::TraceText;
use trace::{perfdata, Action, Batch, Error, Event, Input, Quality, Source, TaskEvent, What};

/// Names of the fixtures, with how many block events and switches of tasks are in each.
const ALL: [(&str, usize, usize); 3] = [("perf-sched", 66, 63), ("perf-packed", 46, 0), ("perf-pipe", 15, 0)];

static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let read = |(name, ..): &(&str, usize, usize)| {
        let path = fixture(name);
        zstd::decode_all(std::fs::File::open(path).unwrap()).unwrap()
    };
    ALL.iter().map(read).collect()
});

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/{name}.data.zst"))
}

/// The same, not compressed.
fn plain(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    file
}

struct All {
    blocks: Vec<Event>,
    names: Vec<(u32, String)>,
    tasks: Vec<TaskEvent>,
    quality: Quality,
}

fn all(source: &mut dyn Source) -> Result<All, Error> {
    let mut all = All { blocks: vec![], names: vec![], tasks: vec![], quality: Quality::default() };
    let mut batch = Batch::default();
    while source.fill(&mut batch)? {
        for e in &batch.events {
            match e.action {
                Action::TaskName => {
                    all.names.push((e.tid.0, String::from_utf8_lossy(batch.text(e)).into_owned()))
                }
                _ => all.blocks.push(*e),
            }
        }
        all.tasks.extend(batch.tasks.iter().copied());
    }
    all.quality = source.quality();
    Ok(all)
}

/// What a step is, with its time to the nanosecond.
fn told(e: &Event) -> String {
    let (action, time, tid) = (e.action, e.time.0, e.tid.0);
    format!(
        "{time} {action:?} {} {} {} {:?} {} {tid} {}",
        e.dev.0, e.sector.0, e.bytes.0, e.flags, e.error, e.cpu.0
    )
}

#[test]
fn all_that_perf_recorded_is_read() {
    for (i, (name, blocks, switches)) in ALL.iter().enumerate() {
        let file = plain(&FILES[i]);
        let recording = trace::open(file.path()).unwrap();
        assert_eq!((recording.format, recording.kernel.as_deref()), ("perf.data", Some("6.18.44-fc-v669")));
        let mut source = recording.source;
        let read = all(&mut *source).unwrap();
        let switched = read.tasks.iter().filter(|t| matches!(t.what, What::Switch { .. })).count();
        assert_eq!((read.blocks.len(), switched), (*blocks, *switches), "{name}");
        assert!(read.names.iter().any(|(_, name)| name == "dd"), "{name}: {:?}", read.names);
        let q = read.quality;
        assert_eq!(
            (q.lost_total(), q.unknown, q.out_of_order, q.damaged_bytes),
            (0, 0, 0, 0),
            "{:?}",
            q.notes
        );
        assert_eq!(source.size(), Some(source.position()), "{name}");
        // The same as it lies there, compressed as a whole.
        let packed = all(&mut *trace::open(&fixture(name)).unwrap().source).unwrap();
        assert_eq!(packed.blocks, read.blocks, "{name}");
    }
}

/// `perf record --threads`: the same records, those of each processor in a file of its own, in none of which a round ends.
#[test]
fn a_folder_has_the_events_of_all_its_files() {
    let whole = &FILES[0];
    let word = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().unwrap()) as usize;
    let (mut main, mut parts, mut at) = (whole.clone(), [vec![], vec![]], word(40));
    let end = at + word(48);
    while at < end {
        let size = usize::from(u16::from_le_bytes(whole[at + 6..at + 8].try_into().unwrap()));
        if whole[at] == 9 {
            parts[(at / 64) % 2].extend_from_slice(&whole[at..at + size]);
            // A kind that nobody knows.
            main[at] = 200;
        }
        at += size;
    }
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("perf.data");
    std::fs::create_dir(&inside).unwrap();
    for (name, bytes) in [("data", &main), ("data.0", &parts[0]), ("data.1", &parts[1])] {
        std::fs::write(inside.join(name), bytes).unwrap();
    }
    let of_one = read(whole).unwrap();
    for path in [folder.path(), &inside, &inside.join("data")] {
        let recording = trace::open(path).unwrap();
        let mut source = recording.source;
        let of_all = all(&mut *source).unwrap();
        assert_eq!((of_all.blocks, of_all.tasks), (of_one.blocks.clone(), of_one.tasks.clone()));
        assert_eq!(of_all.quality.out_of_order, 0);
        assert_eq!(source.size(), Some(source.position()));
    }
}

#[test]
fn perf_script_prints_the_same() {
    if !installed("perf", &["--version"]) {
        return;
    }
    for (i, (name, ..)) in ALL.iter().enumerate() {
        let file = plain(&FILES[i]);
        let out = Command::new("perf").args(["script", "--ns", "-i"]).arg(file.path()).output().unwrap();
        let input =
            Input::from_reader(PathBuf::from("text"), Box::new(Cursor::new(out.stdout)), None).unwrap();
        let printed = all(&mut TraceText::open(input)).unwrap();
        let read = all(&mut perfdata::open(file.path()).unwrap()).unwrap();
        let steps = |all: &All| all.blocks.iter().map(told).collect::<Vec<_>>();
        assert_eq!(steps(&read), steps(&printed), "{name}");
        let whats = |all: &All| all.tasks.iter().map(|t| (t.time, t.tid, t.what)).collect::<Vec<_>>();
        assert_eq!(whats(&read), whats(&printed), "{name}");
    }
}

/// Recorded with `perf record -g --kernel-callchains`; beside it the names of the functions in its stacks.
#[test]
fn stacks_have_the_names_of_the_kernel_that_was_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    let bytes = zstd::decode_all(std::fs::File::open(fixture("perf-stacks")).unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    let names = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/perf-stacks.kallsyms");
    std::fs::copy(names, folder.path().join("kallsyms")).unwrap();
    let mut source = perfdata::open(&path).unwrap();
    let (mut batch, mut texts, mut stacks) = (Batch::default(), vec![], vec![]);
    while source.fill(&mut batch).unwrap() {
        for task in &batch.tasks {
            match task.what {
                What::Text { text, .. } => texts.push(String::from_utf8_lossy(batch.at(text)).into_owned()),
                What::Stack(id) => stacks.push(texts[id.0 as usize].clone()),
                _ => {}
            }
        }
    }
    assert!(stacks.len() >= 8, "{stacks:?}");
    assert!(
        stacks.iter().any(|s| s.starts_with("wait_for_completion_io_timeout\nsubmit_bio_wait\n")),
        "{stacks:?}"
    );
    assert!(stacks.iter().any(|s| s.starts_with("folio_wait_bit\nfolio_wait_writeback\n")), "{stacks:?}");
    assert!(!source.quality().notes.iter().any(|note| note.contains("stacks")));
}

#[test]
fn what_is_missing_is_said() {
    let whole = &FILES[0];
    // A killed perf record leaves the size of the records 0, and no formats.
    let mut killed = whole.clone();
    killed[48..56].fill(0);
    let error =
        |bytes: &[u8]| perfdata::open(plain(bytes).path()).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error(&killed).contains("was perf record killed?"), "{}", error(&killed));
    // The first word of each attribute says that it is a tracepoint.
    let mut cycles = whole.clone();
    let (from, size, each) = (24, 32, 16);
    let word = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().unwrap()) as usize;
    for at in (word(from)..word(from) + word(size)).step_by(word(each)) {
        cycles[at] = 0;
    }
    assert!(error(&cycles).contains("no tracepoints"), "{}", error(&cycles));
    assert!(error(b"PERFILE2").contains("are needed here"));
}

fn read(bytes: &[u8]) -> Result<All, Error> {
    all(&mut perfdata::open(plain(bytes).path())?)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_file_cut_anywhere(which in 0..3usize, at in any::<prop::sample::Index>()) {
        let whole = &FILES[which];
        let cut = at.index(whole.len());
        if let Ok(part) = read(&whole[..cut]) {
            let all = read(whole).unwrap().blocks.len();
            prop_assert!(part.quality.cut_records > 0 || !part.quality.notes.is_empty() || part.blocks.len() <= all);
        }
    }

    #[test]
    fn bytes_changed_anywhere(
        which in 0..3usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..3usize, any::<u8>()), 1..20),
    ) {
        let mut bytes = FILES[which].clone();
        for (at, part, value) in changes {
            let range = [bytes.len(), bytes.len().min(0x400), bytes.len().min(0x8000)][part];
            bytes[at.index(range)] = value;
        }
        let _ = read(&bytes);
    }

    #[test]
    fn words_changed_to_extremes(
        which in 0..3usize,
        at in any::<prop::sample::Index>(),
        value in prop::sample::select(vec![0u64, 1, 7, 0x7fff_ffff, 0x8000_0000, u64::MAX, u64::MAX / 2, 1 << 40]),
    ) {
        let mut bytes = FILES[which].clone();
        let at = at.index(0x1000) & !7;
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        let _ = read(&bytes);
    }
}
