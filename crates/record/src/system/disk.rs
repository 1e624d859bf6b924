//! Reads one disk: its queue, its scheduler, its limits, and its lower and upper devices.

use super::extents;
use super::files::{all_settings, names, settings};
use crate::devices::{Device, Devices};
use crate::text;
use capture::{Disk, HardwareQueue, Loop, Partition, Settings};
use std::collections::BTreeMap;
use std::path::Path;

/// Files in the disk's `device` folder, written by the driver (drivers/scsi/scsi_sysfs.c, drivers/nvme/host/sysfs.c).
const DEVICE: &[&str] = &[
    "model",
    "vendor",
    "rev",
    "firmware_rev",
    "transport",
    "state",
    "queue_depth",
    "queue_type",
    "timeout",
    "eh_timeout",
    "ioerr_cnt",
    "iodone_cnt",
    "iorequest_cnt",
    "numa_node",
    "power/control",
    "power/runtime_status",
    "power/pm_qos_latency_tolerance_us",
];
/// Files with md's settings (Documentation/admin-guide/md.rst).
const MD: &[&str] = &[
    "level",
    "layout",
    "raid_disks",
    "chunk_size",
    "component_size",
    "metadata_version",
    "array_state",
    "degraded",
    "consistency_policy",
    "sync_action",
    "sync_completed",
    "sync_speed",
    "sync_speed_min",
    "sync_speed_max",
    "stripe_size",
    "stripe_cache_size",
    "stripe_cache_active",
    "group_thread_cnt",
    "preread_bypass_threshold",
    "rmw_level",
    "skip_copy",
    "journal_mode",
    "bitmap_type",
    "bitmap/location",
    "bitmap/chunksize",
    "bitmap/metadata",
    "bitmap/backlog",
    "bitmap/time_base",
];
/// Files with the settings of an array's member.
const MD_MEMBER: &[&str] = &["slot", "state", "offset", "size", "errors"];
/// Files with a disk's writeback settings (Documentation/ABI/testing/sysfs-class-bdi).
const BDI: &[&str] = &[
    "read_ahead_kb",
    "min_ratio",
    "max_ratio",
    "min_bytes",
    "max_bytes",
    "strict_limit",
    "stable_pages_required",
];
/// Limit on hardware queues and on members of arrays.
const MOST: usize = 4096;

/// Reads a disk; `None` if it is gone.
pub fn read(device: &Device, all: &Devices) -> Option<Disk> {
    let dir = &device.path;
    let number = |file: &Path| text::small(file).and_then(|t| t.parse().ok());
    let mut members = BTreeMap::new();
    for name in names(&dir.join("md")).iter().filter(|n| n.starts_with("dev-")).take(MOST) {
        members.insert(
            name.trim_start_matches("dev-").to_string(),
            settings(&dir.join("md").join(name), MD_MEMBER),
        );
    }
    let partitions = all.iter().filter(|d| d.disk.as_ref() == Some(&device.name)).map(|p| {
        let part = Partition {
            dev: text::small(&p.path.join("dev")).unwrap_or_default(),
            start: Some(number(&p.path.join("start")).unwrap_or(0)),
            sectors: Some(number(&p.path.join("size")).unwrap_or(0)),
            upper: names(&p.path.join("holders")),
        };
        (p.name.clone(), part)
    });
    let driver = std::fs::read_link(dir.join("device/driver")).ok();
    Some(Disk {
        dev: text::small(&dir.join("dev"))?,
        sectors: Some(number(&dir.join("size")).unwrap_or(0)),
        read_only: Some(number(&dir.join("ro")) == Some(1)),
        driver: driver.and_then(|d| Some(d.file_name()?.to_string_lossy().into_owned())),
        device: trimmed(settings(&dir.join("device"), DEVICE)),
        queue: all_settings(&dir.join("queue")),
        iosched: all_settings(&dir.join("queue/iosched")),
        hardware_queues: hardware_queues(&dir.join("mq")),
        bdi: settings(&dir.join("bdi"), BDI),
        partitions: partitions.collect(),
        lower: names(&dir.join("slaves")),
        upper: names(&dir.join("holders")),
        md: settings(&dir.join("md"), MD),
        md_members: members,
        dm: settings(&dir.join("dm"), &["name", "uuid", "suspended"]),
        loop_file: loop_file(dir, all),
    })
}

/// SCSI pads names with spaces.
fn trimmed(settings: Settings) -> Settings {
    settings.into_iter().map(|(k, v)| (k, v.trim().to_string())).collect()
}

fn hardware_queues(mq: &Path) -> Vec<HardwareQueue> {
    let mut numbers: Vec<u32> = names(mq).iter().filter_map(|n| n.parse().ok()).collect();
    numbers.sort_unstable();
    let read = |n: u32| {
        let file = |name: &str| text::small(&mq.join(n.to_string()).join(name));
        HardwareQueue {
            tags: file("nr_tags").and_then(|t| t.parse().ok()),
            reserved_tags: file("nr_reserved_tags").and_then(|t| t.parse().ok()),
            cpus: file("cpu_list"),
        }
    };
    numbers.into_iter().take(MOST).map(read).collect()
}

fn loop_file(dir: &Path, all: &Devices) -> Option<Loop> {
    let settings = all_settings(&dir.join("loop"));
    let file = settings.get("backing_file")?;
    let on = all.under(Path::new(file)).map(|d| d.name.clone());
    let extents = extents::of(Path::new(file));
    Some(Loop { on, extents, settings })
}
