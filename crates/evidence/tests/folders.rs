//! Folders of documents, hostile ones too, and real captures.

use evidence::{System, MOST_BYTES};
use proptest::prelude::*;
use std::fs;
use trace::DevId;

#[test]
fn a_folder_a_file_in_it_and_nothing_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("queue-vda.txt"), "vda/queue/nr_requests: 256\n").unwrap();
    fs::write(at("diskstats.before"), " 254 0 vda 1 2 3 4 5 6 7 8 9 10 11\n").unwrap();
    fs::write(at("notes"), "vdb/queue/nr_requests: 1\n").unwrap();
    fs::write(at("vda.blktrace.0"), [7, 4, 0, 0]).unwrap();
    fs::create_dir(at("mounts")).unwrap();

    let whole = System::read(folder.path());
    assert_eq!(whole.device_name(DevId::new(254, 0)), Some("vda"));
    assert_eq!(whole.devices.keys().collect::<Vec<_>>(), ["vda", "vdb"]);
    assert_eq!(whole.skipped[0].to_owned().file, "mounts");
    assert_eq!(whole.skipped[0].why, "not a regular file");

    let beside = System::read(&at("vda.blktrace.0"));
    assert_eq!(beside.devices.keys().collect::<Vec<_>>(), ["vda"], "only what its name tells");
    let asked = System::read(&at("notes"));
    assert_eq!(asked.devices.keys().collect::<Vec<_>>(), ["vda", "vdb"]);

    let nothing = System::read(&at("no/such/trace.dat"));
    assert!(nothing.devices.is_empty() && nothing.skipped[0].why.contains("cannot list"));
}

#[test]
fn too_large_binary_and_linked_files_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::File::create(at("mounts.txt")).unwrap().set_len(MOST_BYTES + 1).unwrap();
    fs::write(at("uname.txt"), b"Linux\0").unwrap();
    std::os::unix::fs::symlink("/dev/zero", at("meminfo.txt")).unwrap();
    let system = System::read(folder.path());
    let why: Vec<_> = system.skipped.iter().map(|s| (s.file.as_str(), s.why.as_str())).collect();
    assert_eq!(why[0], ("meminfo.txt", "not a regular file"));
    assert!(why[1].0 == "mounts.txt" && why[1].1.contains("too many"));
    assert_eq!(why[2], ("uname.txt", "not text"));
}

/// Names that choose each kind of reader, and all of them.
const NAMES: [&str; 11] = [
    "queue-vda.txt",
    "settings.txt",
    "vm-dirty.txt",
    "mounts.txt",
    "uname.txt",
    "diskstats.after",
    "mdstat.txt",
    "losetup.txt",
    "lsblk.txt",
    "devs.txt",
    "cpu.txt",
];

/// Lines of every kind, to be torn apart.
const LINES: &str = "\
vda/queue/nr_requests: 256
/sys/block/vda/mq/0/nr_tags:64
/proc/sys/vm/dirty_ratio:20
67 44 7:0 / /mnt rw - xfs /dev/loop0 rw\\040,a=b
/dev/vda1 / ext4 rw 0 0
Linux host 6.1.0 #1 SMP
 254 0 vda 1 2 3 4 5 6 7 8 9 10 11
md0 : active raid5 vde[4] vdd[3](F)
      2453504 blocks super 1.2 level 5, 64k chunk, algorithm 2 [5/5] [UUUUU]
      [=>..] resync = 1%
NAME SIZELIMIT OFFSET AUTOCLEAR RO BACK-FILE DIO LOG-SEC
/dev/loop0 0 0 0 0 /mnt/a b 1 512
NAME MAJ:MIN RM SIZE RO TYPE MOUNTPOINTS
└─vg-root 253:0 0 20G 0 lvm /
brw-rw---- 1 root disk 254, 0 Nov 20 10:38 /dev/vda
lrwxrwxrwx 1 root root 7 Nov 20 10:38 /dev/mapper/r -> ../dm-1
MemTotal: 4007080 kB
processor : 0
";

/// Reads it, and uses whatever came of it.
fn exercise(name: &str, content: &[u8]) {
    let mut system = System::default();
    system.add_document(name, content);
    for document in &system.sources {
        assert!(document.unknown <= document.lines);
        assert_eq!(document.unknown > 0, document.first_unknown.is_some());
    }
    for (name, device) in &system.devices {
        assert_eq!(name, &device.name);
        let _ = (device.scheduler(), device.tags(), device.md().map(|md| md.bitmap()), device.size_bytes());
        let _ = (device.max_hw_sectors_kb(), device.wbt_lat_usec(), device.write_cache());
        let _ = (system.disk_of(name), system.mounts_on(device).count());
        if let Some(dev) = &device.dev {
            assert!(system.device_name(dev.value).is_some());
        }
    }
    serde_json::to_string(&system).unwrap();
}

proptest! {
    #[test]
    fn any_bytes_are_read(name in prop::sample::select(&NAMES[..]), content in prop::collection::vec(any::<u8>(), 0..2000)) {
        exercise(name, &content);
    }

    /// Real lines with bytes changed, words dropped and lines out of order.
    #[test]
    fn torn_documents_are_read(
        name in prop::sample::select(&NAMES[..]),
        picks in prop::collection::vec((0usize..18, 0usize..90, prop::option::of(any::<u8>()), 0usize..60), 0..40),
    ) {
        let lines: Vec<&str> = LINES.lines().collect();
        let mut content = Vec::new();
        for (line, place, byte, cut) in picks {
            let mut line = lines[line % lines.len()].as_bytes().to_vec();
            if let (Some(byte), true) = (byte, place < line.len()) {
                line[place] = byte;
            }
            if cut < line.len() && cut % 3 == 0 {
                line.drain(cut..(cut + 7).min(line.len()));
            }
            content.extend(line);
            content.push(b'\n');
        }
        exercise(name, &content);
    }
}

/// The largest documents there may be, made to be slow: more devices, mounts and members than any machine has.
#[test]
fn huge_documents_take_little_time() {
    let size = MOST_BYTES as usize;
    let lines = |line: &dyn Fn(usize) -> String| {
        let mut text = String::with_capacity(size);
        (0..).map_while(|i| (text.len() + 40 < size).then(|| text.push_str(&line(i)))).count();
        text
    };
    let mut system = System::default();
    let begun = std::time::Instant::now();
    system.add_document(
        "mdstat",
        format!("md0 : active raid1{}\n", lines(&|i| format!(" x{i}[0]"))).as_bytes(),
    );
    system.add_document("queue-x.txt", lines(&|i| format!("d{i}/size: {i}\n")).as_bytes());
    system.add_document("mounts.txt", lines(&|i| format!("/dev/a{i} /{i} x rw 0 0\n")).as_bytes());
    system.add_document(
        "mountinfo",
        lines(&|i| format!("1 1 8:{} / /{i} rw - x /dev/d{i} rw\n", i % 999)).as_bytes(),
    );
    assert!(system.sources.iter().all(|document| document.unknown > 0), "what is too much is counted");
    let device = system.device("d7").unwrap();
    assert!(system.mounts_on(device).count() < 2);
    // Generous: unoptimised, on a busy machine.
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}

/// Every capture in $CAPTURES: each document understood to the last line, nothing contradictory.
#[test]
fn captures_are_understood() {
    let Some(captures) = std::env::var_os("CAPTURES") else {
        eprintln!("SKIPPED: no real capture was read; set CAPTURES to a folder of captures to have it done");
        return;
    };
    let mut seen = 0;
    for entry in fs::read_dir(captures).unwrap().filter_map(Result::ok).filter(|e| e.path().is_dir()) {
        let capture = entry.path();
        let system = System::read(&capture);
        if system.sources.is_empty() {
            continue;
        }
        seen += 1;
        let name = capture.display();
        for document in &system.sources {
            assert_eq!(document.unknown, 0, "{name}: {:?}", document.first_unknown);
        }
        assert!(system.skipped.is_empty(), "{name}: {:?}", system.skipped);
        assert!(system.conflicts.is_empty(), "{name}: {:?}", system.conflicts);
        let disks: Vec<_> = system.devices.values().filter(|d| d.scheduler().is_some()).collect();
        assert!(!disks.is_empty(), "{name}: no queue settings");
        for disk in disks {
            assert!(disk.nr_requests().is_some() && disk.write_cache().is_some(), "{name}: {}", disk.name);
        }
        let read = system.sources.iter().map(|d| format!("{} [{}]", d.file, d.kinds.join(" ")));
        eprintln!("{name}: {}", read.collect::<Vec<_>>().join(", "));
    }
    assert!(seen > 0, "CAPTURES holds no capture");
}
