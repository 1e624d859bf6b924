//! Damage that can be stepped over: counted, and said with file and offset.

use super::{all_forms, file, read, told};
use testkit::{nanos, Layout, Script, DISK};
use trace::{Action, Cpu, Detail, LossAt, Nanos};

/// Reads of 8 sectors, one every 100 ms, alternating between two CPUs.
fn reads(n: u64) -> Script {
    Script::of("0 Q R 0+8 \n 50ms Q R 8+8 cpu=1").repeated(n / 2, nanos("100ms"), 16).numbered()
}

/// Numbers that are missing are events that are missing: per CPU and second, and in the stream where they were.
#[test]
fn sequence_gaps_are_losses() {
    let script = reads(40).forgetting(|e| {
        let lost_on_0 = e.cpu == Cpu(0) && [3, 4, 5].contains(&e.sequence);
        let lost_on_1 = e.cpu == Cpu(1) && [7, 15, 16].contains(&e.sequence);
        lost_on_0 || lost_on_1
    });
    let folder = tempfile::tempdir().unwrap();
    script.files(folder.path(), Layout::USUAL);
    let (_keep, merged) = file("merged.bin", &script.bytes(Layout::USUAL));
    for path in [folder.path(), merged.as_path()] {
        let got = read(path).unwrap();
        let at = |cpu, second| LossAt { dev: DISK, cpu: Cpu(cpu), second };
        let lost: Vec<_> = got.quality.lost.clone().into_iter().collect();
        assert_eq!(lost, [(at(0, 0), 3), (at(1, 0), 1), (at(1, 1), 2)]);
        assert_eq!((got.quality.lost_total(), got.quality.events), (6, 34));
        let notes: Vec<_> = got
            .events
            .iter()
            .filter(|(e, _)| e.action == Action::Lost)
            .map(|(e, _)| (e.cpu.0, e.detail))
            .collect();
        assert_eq!(notes, [(0, Detail::Lost(3)), (1, Detail::Lost(1)), (1, Detail::Lost(2))]);
    }
}

/// A second recording behind the first begins with 1 again. That is no loss.
#[test]
fn numbers_that_begin_again() {
    let mut bytes = reads(20).bytes(Layout::USUAL);
    bytes.extend(reads(20).after(nanos("60s")).bytes(Layout::USUAL));
    let (_folder, path) = file("two.bin", &bytes);
    let got = read(&path).unwrap();
    assert_eq!((got.events.len(), got.quality.lost_total()), (40, 0));
}

#[test]
fn damage_in_the_middle_is_stepped_over() {
    let script = Script::of("0 Q R 0+8").repeated(10, nanos("1ms"), 8).numbered();
    let good = script.bytes(Layout::USUAL);
    // The header of record 4 is overwritten, and 100 bytes of something else stand before record 7.
    let mut bytes = good[..4 * 48].to_vec();
    bytes.extend([0xaa; 48]);
    bytes.extend(&good[5 * 48..7 * 48]);
    bytes.extend([0x55; 100]);
    bytes.extend(&good[7 * 48..]);
    let (_folder, path) = file("vda.blktrace.0", &bytes);
    let got = read(&path).unwrap();
    let q = got.quality;
    assert_eq!((q.events, q.damaged_bytes, q.lost_total(), q.cut_records), (9, 148, 1, 0));
    assert!(q.notes[0].ends_with("vda.blktrace.0: 48 bytes at byte 192 are not a record"), "{:?}", q.notes);
    assert!(q.notes[1].ends_with("vda.blktrace.0: 100 bytes at byte 336 are not a record"), "{:?}", q.notes);
}

/// Nothing but damage behind the first record, more than a buffer of it.
#[test]
fn a_megabyte_of_damage() {
    let one = Script::of("0 Q R 0+8");
    let mut bytes = one.bytes(Layout::USUAL);
    bytes.resize(bytes.len() + (1 << 20), 0x07);
    bytes.extend(Script::of("1 Q R 8+8 seq=2").bytes(Layout::USUAL));
    let (_folder, path) = file("x.bin", &bytes);
    let got = read(&path).unwrap();
    assert_eq!((got.events.len(), got.quality.damaged_bytes), (2, 1 << 20));
}

#[test]
fn cut_in_the_middle_of_a_record() {
    let bytes = all_forms().bytes(Layout::USUAL);
    let whole = told(&all_forms());
    for missing in [1, 20, 47, 48] {
        let (_folder, path) = file("vda.blktrace.0", &bytes[..bytes.len() - missing]);
        let got = read(&path).unwrap();
        assert_eq!(got.events, whole[..14]);
        assert_eq!(got.quality.cut_records, u64::from(missing < 48));
        let said =
            format!("the last record, at byte {}, is cut off after {} bytes", bytes.len() - 48, 48 - missing);
        assert!(missing == 48 || got.quality.notes[0].ends_with(&said), "{:?}", got.quality.notes);
    }
}

/// The last record claims a payload that is not there.
#[test]
fn payload_of_65535_at_the_end() {
    for layout in Layout::ALL {
        let script = Script::of("0 Q R 0+8 \n 1 C R 0+8");
        let mut bytes = script.bytes(layout);
        let head = bytes.len() / 2;
        let at = head + if layout.version == 7 { 46 } else { 50 };
        bytes[at..at + 2].copy_from_slice(&[0xff, 0xff]);
        let (_folder, path) = file("vda.blktrace.0", &bytes);
        let got = read(&path).unwrap();
        assert_eq!((got.events.len(), got.quality.cut_records), (1, 1), "{layout:?}");
        let said = format!("vda.blktrace.0: the last record, at byte {head}, is cut off after {head} bytes");
        assert!(got.quality.notes[0].ends_with(&said), "{:?}", got.quality.notes);
    }
}

/// A length that is wrong does not hide the records behind it.
#[test]
fn payload_of_65535_near_the_end() {
    let script = Script::of("0 Q R 0+8").repeated(100, nanos("1ms"), 8).numbered();
    let mut bytes = script.bytes(Layout::USUAL);
    bytes[50 * 48 + 46..50 * 48 + 48].copy_from_slice(&[0xff, 0xff]);
    let (_folder, path) = file("vda.blktrace.0", &bytes);
    let q = read(&path).unwrap().quality;
    assert_eq!((q.events, q.damaged_bytes, q.lost_total()), (99, 48, 1), "{q:?}");
    assert!(q.notes[0].contains("48 bytes at byte 2400 are not a record"), "{:?}", q.notes);
}

/// A CPU's clock that steps back once, for good: one step, however many events follow.
#[test]
fn time_running_backwards() {
    let early = Script::of("0 Q R 0+8").repeated(10, nanos("1ms"), 8);
    let mut told_late_first = early.clone().after(nanos("5s"));
    told_late_first.told.extend(early.told);
    let script = told_late_first.numbered();
    let (folder, path) = file("vda.blktrace.0", &script.bytes(Layout::USUAL));
    for path in [folder.path(), path.as_path()] {
        let got = read(path).unwrap();
        assert_eq!((got.quality.clock_steps, got.events.len()), (1, 20));
        assert_eq!(got.events[10].0.time, Nanos(0), "stamps are never adjusted");
        assert!(got.quality.notes[0].contains("at byte 480"), "{:?}", got.quality.notes);
    }
}

/// CPUs that take turns in a pipe are no clock that steps.
#[test]
fn buffers_of_two_cpus_are_no_clock_step() {
    let all = reads(200);
    let one = all.clone().forgetting(|e| e.cpu == Cpu(1));
    let other = all.clone().forgetting(|e| e.cpu == Cpu(0));
    let bytes = [one.bytes(Layout::USUAL), other.bytes(Layout::USUAL)].concat();
    let (_folder, path) = file("pipe.bin", &bytes);
    let got = read(&path).unwrap();
    assert_eq!(got.events, told(&all));
    assert_eq!((got.quality.clock_steps, got.quality.out_of_order), (0, 0));
}

/// More disorder than the window holds: late events come late and are counted.
#[test]
fn more_disorder_than_the_window() {
    let script = Script::of("0 Q R 0+8").repeated(70_000, nanos("1us"), 8).numbered();
    let late = Script::of("3 Q R 0+8 cpu=1").repeated(10, nanos("1us"), 8).numbered();
    let bytes = [script.bytes(Layout::USUAL), late.bytes(Layout::USUAL)].concat();
    let (_folder, path) = file("pipe.bin", &bytes);
    let got = read(&path).unwrap();
    assert_eq!((got.events.len(), got.quality.out_of_order), (70_010, 10));
}

#[test]
fn one_cpus_file_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let script = Script::of("0 Q R 0+8 \n 1 D R 0+8 cpu=1 \n 2 C R 0+8 cpu=2").numbered();
    script.files(folder.path(), Layout::USUAL);
    std::fs::remove_file(folder.path().join("d8-0.blktrace.1")).unwrap();
    let got = read(folder.path()).unwrap();
    assert_eq!(got.events.len(), 2);
    assert!(
        got.quality.files_missing
            && got.quality.notes[0].starts_with("d8-0: 1 of 3 per-CPU files are missing"),
        "{:?}",
        got.quality.notes
    );
}

/// Of a machine with one processor, or all that was copied: the numbers of files do not tell.
#[test]
fn only_one_cpus_file_is_there() {
    let folder = tempfile::tempdir().unwrap();
    Script::of("0 Q R 0+8 \n 2 C R 0+8").numbered().files(folder.path(), Layout::USUAL);
    let quality = read(folder.path()).unwrap().quality;
    let said = quality.notes[0].starts_with("d8-0: only processor 0's file is there");
    assert!(said, "{:?}", quality.notes);
    assert!(!quality.files_missing, "few machines have one processor, but some do");
}

/// An idle CPU's file is empty. That is as it should be.
#[test]
fn an_idle_cpu() {
    let folder = tempfile::tempdir().unwrap();
    Script::of("0 Q R 0+8 \n 1 C R 0+8 cpu=2").files(folder.path(), Layout::USUAL);
    let got = read(folder.path()).unwrap();
    assert_eq!((got.events.len(), got.quality.notes.len()), (2, 0));
}

#[test]
fn files_of_two_runs_in_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    reads(10).files(folder.path(), Layout::USUAL);
    let other = Script::of("0 Q R 0+8 dev=8,16").after(nanos("7200s"));
    other.files(folder.path(), Layout::USUAL);
    let got = read(folder.path()).unwrap();
    assert_eq!(got.events.len(), 11);
    let notes = got.quality.notes;
    let apart = |note: &String| note.contains("7200 s apart") && note.contains("d8-16.blktrace.0");
    assert!(notes.iter().any(apart), "{notes:?}");
}

/// Actions and notes of a newer kernel come through and are counted.
#[test]
fn unknown_actions() {
    let mut script = Script::of("0 Q R 0+8 \n 1 Q R 0+8 \n 2 Q R 0+8");
    script.told[1].event.action = Action::Other(99);
    let (_folder, path) = file("x.bin", &script.bytes(Layout::USUAL));
    let got = read(&path).unwrap();
    assert_eq!((got.quality.unknown, got.events[1].0.action), (1, Action::Other(99)));
}
