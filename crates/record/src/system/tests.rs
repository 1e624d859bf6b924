//! A test machine in a folder: an array of two disks, one of them a loop device, and a limited cgroup.

use super::*;
use std::path::PathBuf;

struct Fake(tempfile::TempDir);

impl Fake {
    fn put(&self, path: &str, text: &str) -> PathBuf {
        let file = self.0.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        file
    }

    fn disk(&self, name: &str, dev: &str) {
        self.put(&format!("sys/devices/{name}/dev"), dev);
        let class = self.0.path().join("sys/class/block");
        fs::create_dir_all(&class).unwrap();
        std::os::unix::fs::symlink(self.0.path().join("sys/devices").join(name), class.join(name)).unwrap();
    }

    fn take(&self) -> Snapshot {
        snapshot(&self.0.path().join("sys"), &self.0.path().join("proc"))
    }
}

fn fake() -> Fake {
    let f = Fake(tempfile::tempdir().unwrap());
    f.disk("sda", "8:0\n");
    f.put("sys/devices/sda/size", "2048\n");
    f.put("sys/devices/sda/queue/scheduler", "none [mq-deadline]\n");
    f.put("sys/devices/sda/queue/iosched/read_expire", "500\n");
    f.put("sys/devices/sda/device/model", "FAST DISK       \n");
    f.put("sys/devices/sda/device/serial", "SECRET\n");
    f.put("sys/devices/sda/mq/0/nr_tags", "4\n");
    f.put("sys/devices/sda/mq/10/nr_tags", "6\n");
    f.put("sys/devices/sda/mq/2/nr_tags", "5\n");
    f.disk("md0", "9:0\n");
    f.put("sys/devices/md0/md/level", "raid5\n");
    f.put("sys/devices/md0/md/dev-sda/state", "in_sync\n");
    f.put("sys/devices/md0/slaves/sda", "");
    let image = f.put("image", &"x".repeat(8192));
    f.disk("loop0", "7:0\n");
    f.put("sys/devices/loop0/loop/backing_file", &format!("{}\n", image.display()));
    f.put("sys/devices/loop0/loop/dio", "1\n");
    f.put("sys/fs/cgroup/cgroup.controllers", "io\n");
    f.put("sys/fs/cgroup/a/io.max", "8:0 riops=200\n");
    f.put("sys/fs/cgroup/a/io.weight", "default 100\n");
    f.put("sys/fs/cgroup/b/io.max", "\n");
    f.put("proc/sys/vm/dirty_ratio", "20\n");
    f.put("proc/sys/vm/stat_refresh", "must not be read\n");
    f.put("proc/sys/kernel/osrelease", "6.1.0\n");
    f.put("proc/meminfo", "MemTotal:  4 kB\n");
    f.put("proc/self/mountinfo", "1 2 8:0 / /mnt rw - xfs /dev/sda rw,logbsize=32k\n");
    f
}

#[test]
fn disks() {
    let s = fake().take();
    let sda = &s.disks["sda"];
    assert_eq!((sda.dev.as_str(), sda.sectors), ("8:0", Some(2048)));
    assert_eq!(sda.queue["scheduler"], "none [mq-deadline]");
    assert_eq!(sda.iosched["read_expire"], "500");
    assert_eq!(sda.device["model"], "FAST DISK");
    let tags: Vec<_> = sda.hardware_queues.iter().map(|q| q.tags).collect();
    assert_eq!(tags, [Some(4), Some(5), Some(6)]);
    assert_eq!(s.disks["md0"].md["level"], "raid5");
    assert_eq!(s.disks["md0"].md_members["sda"]["state"], "in_sync");
    assert_eq!(s.disks["md0"].lower, ["sda"]);
}

#[test]
fn a_loop_device_knows_where_its_file_is() {
    let s = fake().take();
    let file = s.disks["loop0"].loop_file.as_ref().unwrap();
    assert_eq!(file.settings["dio"], "1");
    // tmpfs does not support extents and reports an error; the file systems of disks do.
    assert!(file.extents.error.is_some() || file.extents.list.iter().all(|e| e.len > 0), "{file:?}");
}

#[test]
fn limits_and_settings() {
    let s = fake().take();
    let groups: Vec<_> = s.cgroups.list.iter().map(|c| (c.path.as_str(), &c.settings)).collect();
    assert_eq!(groups.len(), 1);
    assert_eq!(groups[0].0, "a");
    assert_eq!(groups[0].1["io.max"], "8:0 riops=200");
    assert!(!groups[0].1.contains_key("io.weight"));
    assert_eq!(s.vm.keys().collect::<Vec<_>>(), ["dirty_ratio"]);
    assert_eq!(s.kernel.release, "6.1.0");
    assert_eq!(s.memory_bytes, 4096);
    assert_eq!(s.mounts[0].super_options, "rw,logbsize=32k");
}

#[test]
fn nothing_that_names_the_machine() {
    let json = String::from_utf8(capture::SystemFile::new(Some(fake().take()), None).json()).unwrap();
    assert!(!json.contains("SECRET") && !json.contains("must not be read"));
    assert!(json.contains("\"schema\": \"iowhy.system/1\""));
}

#[test]
fn what_is_written_is_read() {
    let written = capture::SystemFile::new(Some(fake().take()), None).json();
    let read: capture::SystemFile = serde_json::from_slice(&written).unwrap();
    assert_eq!(read.json(), written);
    assert_eq!(read.before.unwrap().disks["loop0"].loop_file.as_ref().unwrap().settings["dio"], "1");
}

#[test]
fn a_machine_without_anything() {
    let dir = tempfile::tempdir().unwrap();
    let s = snapshot(dir.path(), dir.path());
    assert!(s.disks.is_empty() && s.mounts.is_empty() && s.vm.is_empty());
}
