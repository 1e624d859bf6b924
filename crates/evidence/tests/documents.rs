//! Each kind of document, in the shapes people save it.

use evidence::{Place, System, WriteCache};
use trace::{Bytes, DevId, Nanos};

fn read(file: &str, content: &str) -> System {
    let mut system = System::default();
    assert!(system.add_document(file, content.as_bytes()), "{file} was not taken for a document");
    let document = &system.sources[0];
    assert_eq!(document.unknown, 0, "not understood: {:?}", document.first_unknown);
    system
}

const QUEUE: &str = "\
vda/queue/fua: 0 
vda/queue/max_hw_sectors_kb: 2147483647 
vda/queue/max_sectors_kb: 1280 
vda/queue/minimum_io_size: 512 
vda/queue/nr_requests: 256 
vda/queue/optimal_io_size: 0 
vda/queue/read_ahead_kb: 128 
vda/queue/rotational: 1 
vda/queue/scheduler: none [mq-deadline] kyber 
vda/queue/stable_writes: 0 
vda/queue/wbt_lat_usec: 75000 
vda/queue/write_cache: write back 
vda/queue/iosched/read_expire: 500 
vda/device/queue_depth: 32 
vda/mq/10/nr_tags: 64 
vda/mq/2/nr_tags: 32 
vda/dev: 254:0 
vda/size: 1228800 
";

#[test]
fn queue_settings_by_name_and_content() {
    let system = read("queue-vda.txt", QUEUE);
    let vda = system.device("/dev/vda").unwrap();
    assert_eq!(vda.scheduler().unwrap().to_string(), "mq-deadline (queue-vda.txt:9)");
    assert_eq!(vda.nr_requests().unwrap().value, 256);
    assert_eq!(vda.max_sectors_kb().unwrap().value, Bytes(1280 * 1024));
    assert_eq!(vda.max_hw_sectors_kb().unwrap().value, Bytes(2147483647 * 1024));
    assert_eq!(
        (vda.optimal_io_size().unwrap().value, vda.minimum_io_size().unwrap().value),
        (Bytes(0), Bytes(512))
    );
    assert_eq!(vda.read_ahead_kb().unwrap().value, Bytes(131072));
    assert!(
        vda.rotational().unwrap().value && !vda.fua().unwrap().value && !vda.stable_writes().unwrap().value
    );
    assert_eq!(vda.wbt_lat_usec().unwrap().value, Nanos(75_000_000));
    assert_eq!(vda.write_cache().unwrap().value, WriteCache::Back);
    assert_eq!(vda.iosched("read_expire").unwrap().value, "500");
    assert_eq!(
        vda.tags().iter().map(|t| t.value).collect::<Vec<_>>(),
        [32, 64],
        "in the order of the queues"
    );
    assert_eq!(vda.queue_depth().unwrap().value, 32);
    assert_eq!(vda.size_bytes().unwrap().value, Bytes(1228800 * 512));
    assert_eq!(system.device_name(DevId::new(254, 0)), Some("vda"));
    assert!(vda.md().is_none() && vda.nomerges().is_none());

    let mut renamed = System::default();
    assert!(renamed.add_document("my notes", QUEUE.as_bytes()), "recognised by content");
    assert_eq!(renamed.sources[0].kinds, ["sysfs"]);
}

#[test]
fn a_setting_that_is_empty_or_odd_has_no_meaning() {
    let system = read(
        "queue-md0.txt",
        "md0/queue/wbt_lat_usec: \nmd0/queue/scheduler: none \nmd0/queue/write_cache: ?\n",
    );
    let md0 = system.device("md0").unwrap();
    assert_eq!(
        (md0.wbt_lat_usec(), md0.write_cache(), md0.attribute("queue/wbt_lat_usec")),
        (None, None, None)
    );
    assert_eq!(md0.scheduler().unwrap().value, "none");
    let two = read("queue-x.txt", "x/queue/scheduler: none mq-deadline\n");
    assert_eq!(two.device("x").unwrap().scheduler(), None);
}

#[test]
fn sysfs_paths_of_all_shapes() {
    let system = read(
        "settings.txt",
        "/sys/block/sda/queue/nr_requests:1\n\
         /sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sdb/queue/nr_requests:2\n\
         /sys/class/block/sdc/queue/nr_requests = 3\n\
         /sys/block/dm-3/dm/name:vg-root\n",
    );
    let nr = |name: &str| system.device(name).unwrap().nr_requests().unwrap().value;
    assert_eq!((nr("sda"), nr("sdb"), nr("sdc")), (1, 2, 3));
    assert_eq!(system.device("/dev/mapper/vg-root").unwrap().name, "dm-3");
}

#[test]
fn everything_pasted_into_one_file() {
    let system = read(
        "settings.txt",
        "\
/sys/block/loop0/queue/scheduler:[none] mq-deadline kyber bfq 
/sys/block/loop0/queue/wbt_lat_usec:2000
/proc/sys/vm/dirty_ratio:20
/proc/sys/vm/dirty_bytes 0
vm.dirty_expire_centisecs = 3000
66 44 0:40 / /mnt/slow\\040dev rw,relatime - fuse.slowdev slowdev rw,user_id=0
67 44 7:0 / /mnt/lab rw,relatime shared:3 master:1 - ext4 /dev/loop0 rw,data=ordered,nodioread_nolock
NAME       SIZELIMIT OFFSET AUTOCLEAR RO BACK-FILE           DIO LOG-SEC
/dev/loop0         0      0         0  0 /mnt/slow dev/disk   1     512
Linux vmlab 6.1.0-50-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.176-1 x86_64 GNU/Linux
MemTotal:        4007080 kB
HugePages_Total:       0
",
    );
    assert_eq!(system.sources[0].kinds, ["sysfs", "sysctl", "mounts", "losetup", "uname", "meminfo"]);
    let loop0 = system.device_at(DevId::new(7, 0)).unwrap();
    assert_eq!((loop0.name.as_str(), loop0.scheduler().unwrap().value.as_str()), ("loop0", "none"));
    assert_eq!(loop0.backing_file().unwrap().value, "/mnt/slow dev/disk");
    assert!(loop0.loop_direct_io().unwrap().value);
    let lab = system.mounts_on(loop0).next().unwrap();
    assert_eq!(
        (lab.target.as_str(), lab.fstype.as_str(), &lab.at.place),
        ("/mnt/lab", "ext4", &Place::Line(7))
    );
    assert_eq!(
        (lab.option("data"), lab.option("nodioread_nolock"), lab.option("noatime")),
        (Some("ordered"), Some(""), None)
    );
    assert_eq!(lab.options, ["rw", "relatime", "data=ordered", "nodioread_nolock"]);
    assert_eq!(system.mounts[0].target, "/mnt/slow dev");
    let vm = |name| system.vm_number(name).unwrap().value;
    assert_eq!((vm("dirty_ratio"), vm("dirty_bytes"), vm("dirty_expire_centisecs")), (20, 0, 3000));
    assert_eq!(system.kernel.as_ref().unwrap().value, "6.1.0-50-amd64");
    assert_eq!(system.memory_bytes().unwrap().value, Bytes(4007080 * 1024));
}

#[test]
fn mounts_of_partitions_and_mapped_devices() {
    let mut system =
        read("mounts.txt", "/dev/nvme0n1p1 / ext4 rw,relatime 0 0\n/dev/mapper/vg-a /a xfs rw 0 0\n");
    system.add_document(
        "diskstats.before",
        b" 259 0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11\n 259 1 nvme0n1p1 1 2 3 4 5 6 7 8 9 10 11\n",
    );
    system.add_document("mountinfo", b"30 1 253:2 / /a rw,noatime - xfs /dev/mapper/vg-a rw,logbsize=32k\n");
    let root = system.device("nvme0n1p1").unwrap();
    for device in [root, system.device("nvme0n1").unwrap()] {
        let targets: Vec<_> = system.mounts_on(device).map(|m| m.target.as_str()).collect();
        assert_eq!(targets, ["/"]);
    }
    assert_eq!(system.disk_of("/dev/nvme0n1p1").unwrap().name, "nvme0n1");
    assert_eq!(system.disk_of("nvme0n1").unwrap().name, "nvme0n1");
    assert!(system.disk_of("sda").is_none());
    let mapped = system.device("vg-a").unwrap();
    assert_eq!((mapped.name.as_str(), mapped.dev.as_ref().unwrap().value), ("dm-2", DevId::new(253, 2)));
    let a = system.mounts_on(mapped).next().unwrap();
    assert_eq!(a.options, ["rw", "noatime", "logbsize=32k"], "two documents, one mount");
    assert_eq!(system.mounts.len(), 2);
}

#[test]
fn arrays_from_sysfs() {
    let system = read(
        "queue-md0.txt",
        "md0/md/chunk_size: 65536 \nmd0/md/consistency_policy: bitmap \nmd0/md/group_thread_cnt: 0 \n\
         md0/md/level: raid5 \nmd0/md/raid_disks: 5 \nmd0/md/skip_copy: 1 \nmd0/md/stripe_cache_size: 256 \n\
         md0/md/sync_speed_max: 200000 (system) \n",
    );
    let device = system.device("md0").unwrap();
    let md = device.md().unwrap();
    assert_eq!(
        (md.level.as_ref().unwrap().value.as_str(), md.raid_disks.as_ref().unwrap().value),
        ("raid5", 5)
    );
    assert_eq!(md.chunk_size.as_ref().unwrap().value, Bytes(65536));
    assert_eq!(
        (md.stripe_cache_size.as_ref().unwrap().value, md.group_thread_cnt.as_ref().unwrap().value),
        (256, 0)
    );
    assert!(md.skip_copy.as_ref().unwrap().value && md.bitmap().unwrap().value);
    assert_eq!(md.rmw_level, None);
    assert_eq!(device.number("md/sync_speed_max").unwrap().value, 200000);
}

#[test]
fn arrays_from_mdstat() {
    let system = read(
        "mdstat.txt",
        "\
Personalities : [raid6] [raid5] [raid4] [raid1] [raid0] 
md0 : active raid5 vde[5](S) vdd[3](F) vdc[2] vdb[1] vda[0]
      2453504 blocks super 1.2 level 5, 64k chunk, algorithm 2 [4/3] [UUU_]
      [=>...................]  recovery =  8.5% (52224/613376) finish=0.5min speed=17408K/sec
      bitmap: 1/1 pages [4KB], 65536KB chunk

md127 : active (auto-read-only) raid1 sdb1[1] sda1[0]
      1046528 blocks super 1.2 [2/2] [UU]
      \tresync=DELAYED

md_d3 : inactive sdc[0](S)
      1046528 blocks super 1.2
       
unused devices: <none>
",
    );
    let md = system.device_at(DevId::new(9, 0)).unwrap().md().unwrap();
    assert_eq!(md.level.as_ref().unwrap().to_string(), "raid5 (mdstat.txt:2)");
    assert_eq!((md.raid_disks.as_ref().unwrap().value, md.degraded.as_ref().unwrap().value), (4, 1));
    assert_eq!((md.chunk_size.as_ref().unwrap().value, md.layout.as_ref().unwrap().value), (Bytes(65536), 2));
    assert_eq!(md.sync_action.as_ref().unwrap().value, "recover");
    let device = system.device("md0").unwrap();
    assert_eq!(device.attribute("md/sync_completed").unwrap().value, "104448 / 1226752");
    assert_eq!(device.attribute("md/sync_speed").unwrap().value, "17408");
    assert!(md.bitmap().unwrap().value);
    let members: Vec<_> = md.members.iter().map(|m| m.value.as_str()).collect();
    assert_eq!(members, ["vde", "vdd", "vdc", "vdb", "vda"]);

    // How far it is moves on: two snapshots are no contradiction.
    let at = |done: &str| {
        format!("md0 : active raid1 sdb1[1] sda1[0]\n      9990 blocks [2/2] [UU]\n      [>...]  resync =  {done}/9990) finish=1.0min speed=100K/sec\n")
    };
    assert_eq!(read("mdstat.txt", &(at("1.0% (100") + &at("2.0% (200"))).conflicts, []);
    // One that waits for the first write does nothing yet.
    let waits = "md1 : active (auto-read-only) raid1 sdb1[1] sda1[0]\n      1046528 blocks super 1.2 [2/2] [UU]\n      \tresync=PENDING\n";
    let waiting = read("mdstat.txt", waits).device("md1").unwrap().md().unwrap();
    assert_eq!(waiting.sync_action.unwrap().value, "idle");

    let mirror = system.device("md127").unwrap().md().unwrap();
    assert_eq!(
        (mirror.level.unwrap().value, mirror.sync_action.unwrap().value),
        ("raid1".into(), "resync".into())
    );
    assert_eq!(
        (mirror.chunk_size, mirror.consistency_policy, mirror.degraded.unwrap().value),
        (None, None, 0)
    );
    assert_eq!(system.device("md_d3").unwrap().dev, None, "its number does not follow from its name");
}

/// Where no document tells numbers, the fixed ones are known.
#[test]
fn fixed_numbers() {
    let lines = "/sys/block/loop3/queue/nr_requests:128\n/sys/block/sdb/queue/nr_requests:64\n";
    let mut system = System::default();
    assert!(system.add_document("settings.txt", lines.as_bytes()));
    assert_eq!(system.device_name(DevId::new(7, 3)), Some("loop3"));
    assert_eq!(system.device_name(DevId::new(8, 16)), Some("sdb"));
    assert_eq!(system.device_name(DevId::new(8, 17)), None);
    assert_eq!(system.device_name(DevId::new(7, 4)), None, "no document speaks of loop4");
}

#[test]
fn numbers_from_ls_partitions_and_lsblk() {
    let system = read(
        "devs.txt",
        "\
brw-rw---- 1 root disk 254,  0 Nov 20 10:38 /dev/vda
brw-rw----+ 1 root disk 259,12 Nov 20 10:38 nvme0n1
crw------- 1 root root  10, 236 Nov 20 10:38 /dev/mapper/control
lrwxrwxrwx 1 root root      7 Nov 20 10:38 /dev/mapper/vg-root -> ../dm-1
brw-rw---- 1 root disk 104, 0 Nov 20 10:38 /dev/cciss/c0d0
major minor  #blocks  name

 254        0     614401 vda
 254       16     614400 vdb
",
    );
    for (major, minor, name) in
        [(254, 0, "vda"), (259, 12, "nvme0n1"), (254, 16, "vdb"), (104, 0, "cciss!c0d0")]
    {
        assert_eq!(system.device_name(DevId::new(major, minor)), Some(name));
    }
    assert_eq!(system.device("/dev/cciss/c0d0").unwrap().name, "cciss!c0d0");
    assert_eq!(system.device("vg-root").unwrap().name, "dm-1");
    assert_eq!(system.device("vda").unwrap().size_bytes().unwrap().value, Bytes(614401 * 1024));

    let system = read(
        "lsblk.txt",
        "\
NAME          MAJ:MIN RM  SIZE RO TYPE  MOUNTPOINTS
vda           254:0    0  256G  0 disk  
├─vda1        254:1    0  512M  0 part  /boot
└─vda2        254:2    0  255G  0 part  
  └─vg-root   253:0    0   20G  0 lvm   /
",
    );
    assert_eq!(system.device_name(DevId::new(254, 2)), Some("vda2"));
    assert_eq!(system.device("vg-root").unwrap().name, "dm-0");
    assert_eq!(system.disk_of("vda2").unwrap().name, "vda");
}

#[test]
fn processors() {
    let system = read(
        "cpu.txt",
        "Architecture:   x86_64\nCPU(s):         2\nModel name:     AMD EPYC\nFlags:  fpu vme\n",
    );
    assert_eq!((system.cpus.unwrap().value, system.cpu_model.unwrap().value.as_str()), (2, "AMD EPYC"));
    let system =
        read("cpu.txt", "processor\t: 0\nmodel name\t: X\ncpu MHz\t: 1\nprocessor\t: 1\nmodel name\t: X\n");
    assert_eq!(system.cpus.unwrap().value, 2);
    let system = read("version", "Linux version 6.8.0-1 (me@host) (gcc-13) #1 SMP\n");
    assert_eq!(system.kernel.unwrap().value, "6.8.0-1");
}

#[test]
fn what_is_not_understood_is_counted() {
    let mut system = System::default();
    system.add_document("queue-vda.txt", b"\nvda/queue/nr_requests: 256\nhello\n\xff\xfe/queue\n   \n");
    let document = &system.sources[0];
    assert_eq!((document.lines, document.unknown), (3, 2));
    assert_eq!(document.first_unknown.as_ref().unwrap().to_string(), "queue-vda.txt:3");
    // Numbers that no dev_t has.
    let mut system = System::default();
    system.add_document(
        "diskstats",
        b" 4096 0 x 1 2 3 4 5 6 7 8 9 10 11\n 8 1048576 y 1 2 3 4 5 6 7 8 9 10 11\n",
    );
    assert_eq!((system.sources[0].unknown, system.devices.len()), (2, 0));
}

#[test]
fn what_changed_in_between_is_told() {
    let mut system = read("queue-vda.before", "vda/queue/nr_requests: 256\n");
    system.add_document("queue-vda.after", b"vda/queue/nr_requests: 64\n");
    assert_eq!(system.device("vda").unwrap().nr_requests().unwrap().value, 256);
    let conflict = &system.conflicts[0];
    assert_eq!(conflict.what, "vda/queue/nr_requests");
    assert_eq!(conflict.other.to_string(), "64 (queue-vda.after:1)");
}

#[test]
fn other_text_is_no_document() {
    let mut system = System::default();
    for text in [
        "",
        "Dear all,\nwrites are slow since vda/queue/nr_requests: 64 was set.\nAny idea?\n",
        "  8,0    1        1     0.000000000   697  Q   R 223490 + 8 [fio]\n",
        "Device   r/s   rkB/s\nvda 0.00 0.00\n",
        "1795171100.872726499\n28.43\n",
        "{\"queue\": 1}",
    ] {
        assert!(!system.add_document("mail.txt", text.as_bytes()), "{text}");
    }
    assert!(system.sources.is_empty() && system.devices.is_empty());
    assert!(!system.add_document("queue-vda.json", b"{}"));
}
