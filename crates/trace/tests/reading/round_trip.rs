//! What was written comes back: both versions, both byte orders, per CPU or merged, compressed or not.

use super::{all_forms, file, plain, read, told};
use proptest::prelude::*;
use std::io::Write;
use testkit::{hostile, nanos, Layout, Script, DISK};
use trace::{Action, Cpu, Detail, Event, Flags, Quality};

#[test]
fn every_form_of_payload_in_every_layout() {
    for layout in Layout::ALL {
        let folder = tempfile::tempdir().unwrap();
        all_forms().files(folder.path(), layout);
        let got = read(folder.path()).unwrap();
        assert_eq!(got.events, told(&all_forms()), "{layout:?}");
        assert_eq!(got.quality, Quality { events: 15, ..Quality::default() }, "{layout:?}");
    }
}

/// Category bits from 16 on (zoned devices) exist in version 8 only, and the zone actions come with it.
#[test]
fn what_only_version_8_has() {
    let zone = |action| Event {
        action,
        dev: DISK,
        flags: Flags::ZONE_APPEND.with(Flags::WRITE),
        ..Event::default()
    };
    let events = [Action::Queue, Action::ZonePlug, Action::ZoneUnplug, Action::ZoneManage].map(zone);
    let told = events.map(|event| testkit::ScriptedEvent { event, text: vec![] }).to_vec();
    for big_endian in [false, true] {
        let (_folder, path) =
            file("d.blktrace.0", &Script { told: told.clone() }.bytes(Layout { version: 8, big_endian }));
        let got = read(&path).unwrap();
        assert!(got.events.iter().zip(&events).all(|((g, _), e)| (g.action, g.flags) == (e.action, e.flags)));
    }
}

/// One kernel writes one version, but a folder may hold the files of several machines.
#[test]
fn layouts_may_differ_from_file_to_file() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (Script::of("0 Q R 0+8 \n 2 Q R 8+8"), Script::of("1 Q R 16+8 cpu=1 \n 3 Q R 24+8 cpu=1"));
    std::fs::write(folder.path().join("a.blktrace.0"), a.bytes(Layout::ALL[1])).unwrap();
    std::fs::write(folder.path().join("a.blktrace.1"), b.bytes(Layout::ALL[2])).unwrap();
    assert_eq!(read(folder.path()).unwrap().events, told(&a.and(b)));
}

#[test]
fn compressed_files() {
    let bytes = all_forms().bytes(Layout::USUAL);
    let mut gz = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    gz.write_all(&bytes).unwrap();
    let packed = [("d.gz", gz.finish().unwrap()), ("d.zst", zstd::encode_all(&bytes[..], 1).unwrap())];
    for (name, packed) in packed {
        // As one file, told by content alone, ...
        let (_folder, path) = file(name, &packed);
        assert_eq!(read(&path).unwrap().events, told(&all_forms()), "{name}");
        // ... and as one of a folder's per-CPU files.
        let (folder, _) = file(&format!("vda.blktrace.0.{}", name.rsplit('.').next().unwrap()), &packed);
        assert_eq!(read(folder.path()).unwrap().events.len(), 15, "{name}");
        assert_eq!(read(&folder.path().join("vda")).unwrap().events.len(), 15, "{name} by NAME");
    }
}

/// Three parts of a zstd file, or of a gzip file, are one file.
#[test]
fn compressed_in_parts() {
    let script = all_forms().numbered();
    let parts: Vec<u8> =
        script.told.iter().flat_map(|t| zstd::encode_all(&Layout::USUAL.record(t)[..], 1).unwrap()).collect();
    let (_folder, path) = file("d.blktrace.0.zst", &parts);
    assert_eq!(read(&path).unwrap().events.len(), 15);
}

/// The record says which CPU, not the file's name. (blkparse reads nothing where they differ.)
#[test]
fn a_file_named_5_of_cpu_1() {
    let script = Script::of("0 Q R 0+8 cpu=1 \n 1 C R 0+8 cpu=1");
    let (folder, path) = file("vda.blktrace.5", &script.bytes(Layout::USUAL));
    for path in [folder.path(), &path, &folder.path().join("vda")] {
        let got = read(path).unwrap();
        assert_eq!(got.events, told(&script));
        assert!(got.events.iter().all(|(e, _)| e.cpu == Cpu(1)));
    }
    let notes = read(folder.path()).unwrap().quality.notes;
    assert!(notes[0].contains("5 of 6 per-CPU files are missing"), "{notes:?}");
}

/// A folder, NAME, and a file opened by itself.
#[test]
fn what_can_be_named() {
    let folder = tempfile::tempdir().unwrap();
    let script = all_forms();
    let name = script.files(folder.path(), Layout::USUAL).remove(0);
    for path in [folder.path(), name.as_path()] {
        let recording = trace::open(path).unwrap();
        assert_eq!((recording.format, recording.place.as_deref()), ("blktrace", Some(path)));
        assert_eq!(recording.names, [(DISK, "d8-0".to_string())]);
    }
    let one = folder.path().join("d8-0.blktrace.1");
    assert_eq!(read(&one).unwrap().events.len(), 6, "one CPU's events");
}

/// Events of one disk and CPU that a file can hold.
fn one_cpu(script: Script, layout: Layout) -> Script {
    let mut script = script.forgetting(|e| e.action == Action::Lost).each(|e| {
        (e.cpu, e.dev) = (Cpu(3), DISK);
        e.bytes.0 &= u32::MAX as u64;
        e.cgroup = e.sector.0 % 3;
        let room = if layout.version == 7 { 0xffff } else { u32::MAX };
        let is_note = e.action.is_note() || e.action == Action::WallClock;
        e.flags = Flags(e.flags.0 & room & !Flags::NOTE.0);
        if is_note {
            e.flags = e.flags.with(Flags::NOTE);
        }
        if e.action == Action::WallClock {
            e.detail = Detail::Wall { seconds: 1, nanos: 2 };
        }
    });
    for (i, t) in script.told.iter_mut().enumerate() {
        let numbered = !t.event.flags.has(Flags::NOTE);
        t.event.sequence = if numbered { i as u32 + 1 } else { 0 };
    }
    script
}

/// Events on four CPUs at times of their own.
fn four_cpus() -> impl Strategy<Value = Script> {
    prop::collection::vec((0u32..4, 1u64..1000), 1..300).prop_map(|steps| {
        let mut now = 0;
        let mut script = Script::default();
        for (cpu, step) in steps {
            now += step;
            let q = Script::of("0 Q R 0+8").after(nanos(&format!("{now}ns")));
            script.told.extend(q.each(|e| (e.cpu, e.sector.0) = (Cpu(cpu), now)).told);
        }
        script.numbered()
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(script in hostile::script(60), layout in prop::sample::select(Layout::ALL.to_vec())) {
        let script = one_cpu(script, layout);
        prop_assume!(!script.told.is_empty());
        let bytes: Vec<u8> = script.told.iter().flat_map(|t| layout.record(t)).collect();
        let (folder, _) = file("d.blktrace.0", &bytes);
        let got: Vec<_> = read(folder.path()).unwrap().events;
        let want: Vec<_> = script.told.iter().map(|t| plain(t.event, &t.text)).collect();
        let present: Vec<_> = got.into_iter().filter(|(e, _)| e.action != Action::Lost).collect();
        prop_assert_eq!(present, want);
    }

    /// Per-CPU files, one merged file, and a pipe that delivers each CPU's buffer as a whole: the same events.
    #[test]
    fn merged_or_per_cpu_or_in_buffers(script in four_cpus(), buffer in 1usize..60) {
        // A file of processor 0 alone is told apart: the others' may be missing.
        prop_assume!(script.told.iter().any(|t| t.event.cpu.0 > 0));
        let folder = tempfile::tempdir().unwrap();
        script.files(folder.path(), Layout::USUAL);
        let per_cpu = read(folder.path()).unwrap();
        prop_assert_eq!(&per_cpu.events, &told(&script));

        let (_folder, merged) = file("merged.bin", &script.bytes(Layout::USUAL));
        prop_assert_eq!(&read(&merged).unwrap(), &per_cpu);

        let (_folder, pipe) = file("pipe.bin", &in_buffers(&script, buffer));
        prop_assert_eq!(&read(&pipe).unwrap(), &per_cpu);
    }
}

/// As `blktrace -o -` sends a story: whenever a CPU has so many records, they are sent together.
fn in_buffers(script: &Script, size: usize) -> Vec<u8> {
    let mut buffers: [Vec<&testkit::ScriptedEvent>; 4] = Default::default();
    let mut out = vec![];
    let mut send = |buffer: &mut Vec<&testkit::ScriptedEvent>| {
        out.extend(buffer.drain(..).flat_map(|t| Layout::USUAL.record(t)));
    };
    for t in &script.told {
        let buffer = &mut buffers[t.event.cpu.0 as usize];
        buffer.push(t);
        if buffer.len() == size {
            send(buffer);
        }
    }
    buffers.iter_mut().for_each(send);
    out
}
