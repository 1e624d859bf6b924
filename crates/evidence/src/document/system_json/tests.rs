//! Complete, truncated and hostile snapshots.

use super::*;
use trace::DevId;

fn read(text: &str) -> System {
    let mut system = System::default();
    system.add_document(SYSTEM_JSON, text.as_bytes());
    system
}

const BOTH: &str = r#"{ "schema": "iowhy.system/1", "new": [1, {"x": null}],
  "before": { "time": "t", "kernel": {"release": "6.1.0", "version": "v", "architecture": "x"},
    "cpus": {"online": "0-2,7", "model": "M", "governor": null}, "memory_bytes": 4096,
    "disks": {
      "vda": { "dev": "254:0", "sectors": 2048, "read_only": false, "driver": "virtio_blk",
        "device": {"iodone_cnt": "1"},
        "queue": {"scheduler": "[none] mq-deadline", "nr_requests": "256"}, "iosched": {},
        "hardware_queues": [{"tags": 256, "reserved_tags": 0, "cpus": "0, 1"}, {"tags": 128}],
        "bdi": {"max_ratio": "100", "max_bytes": "1"}, "lower": [],
        "partitions": {"vda1": {"dev": "254:1", "start": 8, "sectors": 100, "upper": []}} },
      "loop0": { "dev": "7:0", "loop": {"backing_file": "/f", "dio": "0", "on": "vda1",
        "extents": {"list": [{"file": 0, "device": 1, "len": 2}], "left_out": 0}} },
      "dm-0": { "dev": "253:0", "dm": {"name": "vg-root", "uuid": "LVM-x"}, "lower": ["vda1"] },
      "md0": { "dev": "9:0", "md": {"level": "raid5", "sync_speed": "1"}, "md_members": {"sdb": {"slot": "0"}} }
    },
    "mounts": [{"dev": "254:1", "source": "/dev/vda1", "point": "/mnt/a b", "root": "/", "fstype": "ext4",
      "options": "rw,noatime", "super_options": "rw,data=ordered"}],
    "cgroups": {"list": [{"path": "a.slice", "id": 7, "settings": {"io.max": "254:0 riops=200"}}], "cut": false},
    "vm": {"dirty_ratio": "20"}, "swaps": [], "mdstat": null,
    "processes": {"cut": false, "list": {"100": {"parent": 90, "supervises": true, "threads": [101], "files": {"3": {"dev": "254:1", "inode": 12, "path": "/a/wal"},
      "4": {"dev": "no device", "inode": 1, "path": "/x"}}}, "200": {"cgroup": "/db.slice"}}} },
  "after": { "cpus": {"online": "0-2"},
    "disks": {
      "vda": { "dev": "254:0", "device": {"iodone_cnt": "99"}, "bdi": {"max_bytes": "2"},
        "queue": {"scheduler": "none [mq-deadline]", "nr_requests": "256"}, "hardware_queues": [{"tags": 64}] },
      "dm-0": { "dev": "253:0" }, "md0": { "dev": "9:0", "md": {"sync_speed": "2"} },
      "sdc": { "dev": "8:32" } },
    "mounts": [{"dev": "254:1", "source": "/dev/vda1", "point": "/mnt/a b", "fstype": "ext4", "options": "ro"}],
    "vm": {"dirty_ratio": "5"},
    "processes": {"list": {"200": {"cgroup": "/moved"}, "300": {"cgroup": "/late"}, "100": {"files": {"9": {"dev": "254:1", "inode": 77, "path": "/a/new"}}}}} } }"#;

#[test]
fn what_held_before_is_the_truth() {
    let s = read(BOTH);
    assert_eq!((s.skipped.len(), s.conflicts.len()), (0, 0), "{:?} {:?}", s.skipped, s.conflicts);
    assert_eq!((s.kernel.as_ref().unwrap().value.as_str(), s.cpus.as_ref().unwrap().value), ("6.1.0", 4));
    assert_eq!(s.memory_bytes().unwrap().value, Bytes(4096));
    let vda = s.device_at(DevId::new(254, 0)).unwrap();
    assert_eq!(vda.scheduler().unwrap().value, "none");
    assert_eq!(
        vda.nr_requests().unwrap().to_string(),
        "256 (system.json: before.disks.vda.queue.nr_requests)"
    );
    assert_eq!(vda.tags().iter().map(|t| t.value).collect::<Vec<_>>(), [256, 128]);
    assert_eq!(vda.size_bytes().unwrap().value, Bytes(1 << 20));
    assert_eq!(vda.number("ro").unwrap().value, 0);
    let lower =
        |name: &str| s.device(name).unwrap().lower.iter().map(|l| l.value.as_str()).collect::<Vec<_>>();
    assert_eq!((lower("loop0"), lower("vg-root")), (vec!["vda1"], vec!["vda1"]));
    assert_eq!(s.device("loop0").unwrap().backing_file().unwrap().value, "/f");
    let md = s.device("md0").unwrap().md().unwrap();
    assert_eq!((md.level.unwrap().value.as_str(), md.members[0].value.as_str()), ("raid5", "sdb"));
    let mount = s.mounts_on(vda).next().unwrap();
    assert_eq!((mount.target.as_str(), mount.option("data")), ("/mnt/a b", Some("ordered")));
    assert_eq!(s.cgroups[0].settings["io.max"].value, "254:0 riops=200");
    let told = &s.sources[0];
    assert_eq!((told.kinds.as_slice(), told.unknown), (&[SYSTEM_JSON][..], 0));
    assert!(told.lines > 25, "{}", told.lines);
}

/// If a side's cgroups were read, a limit that it lacks is not set; otherwise it is unknown.
#[test]
fn a_limit_of_one_side_is_a_difference() {
    let with = |cgroups: &str| {
        read(&format!(r#"{{"schema": "iowhy.system/1", "before": {{"cgroups": {cgroups}}}}}"#))
    };
    let limited = with(
        r#"{"list": [{"path": "blkio/a", "id": 7, "settings": {"blkio.throttle.read_iops_device": "8:0 150"}}],
            "paths": {"7": "blkio/a"}}"#,
    );
    let free = with(r#"{"list": [], "paths": {"1": "unified"}}"#);
    let told = |a: &System, b: &System| {
        let all = a.differences(b);
        all.iter().map(|c| format!("{}: {} -> {}", c.what, c.kept.value, c.other.value)).collect::<Vec<_>>()
    };
    let name = "cgroup blkio/a/blkio.throttle.read_iops_device";
    assert_eq!(told(&free, &limited), [format!("{name}: not set -> 8:0 150")]);
    assert_eq!(told(&limited, &free), [format!("{name}: 8:0 150 -> not set")]);
    assert_eq!(told(&limited, &limited), [""; 0]);
    assert_eq!(told(&with(r#"{"list": []}"#), &limited), [""; 0]);
}

#[test]
fn processes_and_what_they_had_open() {
    let p = read(BOTH).processes;
    let threads: Vec<_> = p.threads.iter().map(|(t, of)| (t.0, of.0)).collect();
    assert_eq!(threads, [(100, 100), (101, 100), (200, 200)]);
    assert_eq!(
        p.parents.iter().map(|(process, parent)| (process.0, parent.0)).collect::<Vec<_>>(),
        [(100, 90)]
    );
    assert_eq!(p.supervisors.iter().map(|process| process.0).collect::<Vec<_>>(), [100]);
    // Of files open at the end, only the names are used.
    let files: Vec<_> = p.files.iter().map(|f| (f.process.0, f.fd, f.inode)).collect();
    assert_eq!(files, [(100, 3, 12)]);
    // The cgroup of a process at the start of the recording; for later processes, that at the end.
    let groups = [100, 200, 300].map(|pid| p.groups.get(&trace::Tid(pid)).map(String::as_str));
    assert_eq!(groups, [None, Some("/db.slice"), Some("/late")]);
    let path = |inode| p.path(DevId::new(254, 1), inode);
    assert_eq!((path(12), path(77), path(1)), (Some("/a/wal"), Some("/a/new"), None));
}

#[test]
fn what_changed_is_told_and_counters_are_no_settings() {
    let s = read(BOTH);
    let said: Vec<_> =
        s.changed.iter().map(|c| format!("{}: {} -> {}", c.what, c.kept.value, c.other.value)).collect();
    assert_eq!(
        said,
        [
            "processors: 4 -> 3",
            "loop0: there -> not there",
            "vda/mq/0/nr_tags: 256 -> 64",
            "vda/queue/scheduler: [none] mq-deadline -> none [mq-deadline]",
            "sdc: not there -> there",
            "vm.dirty_ratio: 20 -> 5",
            "/dev/vda1 on /mnt/a b: rw,noatime,data=ordered -> ro",
            "cgroup a.slice/io.max: there -> not there",
        ]
    );
    assert_eq!(s.changed[3].other.at.to_string(), "system.json: after.disks.vda.queue.scheduler");
    let cut_short = read(r#"{"before": {"disks": {"vda": {"dev": "254:0"}}}, "after": null}"#);
    assert_eq!((cut_short.devices.len(), cut_short.changed.len()), (1, 0));
    let late = read(r#"{"after": {"disks": {"vda": {"dev": "254:0"}}}}"#);
    assert_eq!(late.devices["vda"].dev.as_ref().unwrap().at.to_string(), "system.json: after.disks.vda.dev");
}

#[test]
fn hostile_json_is_told_not_believed() {
    for bad in
        ["", "[]", "{}", "{\"before\": 7}", "{\"before\": {\"disks\": []}}", "\u{0}", &"[".repeat(9999)]
    {
        let s = read(bad);
        assert!(s.devices.is_empty() && s.sources.is_empty());
        assert_eq!(s.skipped.len(), 1, "{bad}");
    }
    let s = read(
        r#"{"before": {"disks": {"../x": {"dev": "8:0", "queue": {"a": "b"}}, "sda": {"dev": "99999:1"},
        "sdb": {"queue": {"nr_requests": [1], "x": null, "y": 1e300, "z": -4}}}, "cpus": {"online": "9-1"},
        "mounts": [{"point": "nowhere"}]}}"#,
    );
    let told = &s.sources[0];
    assert_eq!((told.lines, told.unknown), (7, 5), "{told:?}");
    assert_eq!(told.first_unknown.as_ref().unwrap().to_string(), "system.json: before.cpus.online");
    assert_eq!(s.device("sdb").unwrap().attributes.keys().collect::<Vec<_>>(), ["queue/y", "queue/z"]);
}
