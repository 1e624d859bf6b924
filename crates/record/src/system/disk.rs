//! One disk: its queue, its scheduler, its limits, and what it is made of.

use super::{all_settings, names, settings, Extents, Settings};
use crate::devices::{Device, Devices};
use crate::text;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// What the driver says (drivers/scsi/scsi_sysfs.c, drivers/nvme/host/sysfs.c), from the disk's `device` folder.
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
/// md's own settings (Documentation/admin-guide/md.rst).
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
/// The same for a member of an array.
const MD_MEMBER: &[&str] = &["slot", "state", "offset", "size", "errors"];
/// Settings of a disk's writeback (Documentation/ABI/testing/sysfs-class-bdi).
const BDI: &[&str] = &[
    "read_ahead_kb",
    "min_ratio",
    "max_ratio",
    "min_bytes",
    "max_bytes",
    "strict_limit",
    "stable_pages_required",
];
/// The most hardware queues and members of arrays that are kept.
const MOST: usize = 4096;

/// A disk or another whole device.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Disk {
    /// Its number as the kernel prints it, `254:0`.
    pub dev: String,
    /// Its size in sectors of 512 bytes.
    pub sectors: u64,
    /// Whether it is read-only.
    pub read_only: bool,
    /// The driver's name.
    pub driver: Option<String>,
    /// Model, firmware, state, queue depth, errors so far, power management: what of it there is.
    pub device: Settings,
    /// All of `queue/`: scheduler, nr_requests, max_sectors_kb, rotational, ...
    pub queue: Settings,
    /// The scheduler's own settings.
    pub iosched: Settings,
    /// Its hardware queues: the tags they really have.
    pub hardware_queues: Vec<HardwareQueue>,
    /// Limits of writeback to it.
    pub bdi: Settings,
    /// Its partitions by name.
    pub partitions: BTreeMap<String, Partition>,
    /// Devices that it lies on.
    pub lower: Vec<String>,
    /// Devices that lie on it.
    pub upper: Vec<String>,
    /// An md array's settings.
    #[serde(skip_serializing_if = "Settings::is_empty")]
    pub md: Settings,
    /// An md array's members.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub md_members: BTreeMap<String, Settings>,
    /// A device-mapper device's name and uuid; the uuid's beginning tells its kind (`LVM-`, `CRYPT-`, `mpath-`).
    #[serde(skip_serializing_if = "Settings::is_empty")]
    pub dm: Settings,
    /// A loop device's file.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    pub loop_file: Option<Loop>,
}

/// Part of a disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Partition {
    /// Its number.
    pub dev: String,
    /// Where it begins on the disk, in sectors of 512 bytes.
    pub start: u64,
    /// Its size in sectors of 512 bytes.
    pub sectors: u64,
    /// Devices that lie on it.
    pub upper: Vec<String>,
}

/// One of a disk's hardware queues (block/blk-mq-sysfs.c).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HardwareQueue {
    /// How many requests the driver takes at once. Not what `nr_requests` shows.
    pub tags: Option<u64>,
    /// How many of them are for the driver itself.
    pub reserved_tags: Option<u64>,
    /// Which processors use it.
    pub cpus: Option<String>,
}

/// The file behind a loop device.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Loop {
    /// backing_file, offset, sizelimit, dio, ...
    #[serde(flatten)]
    pub settings: Settings,
    /// The device that the file lies on, if it is one of this machine.
    pub on: Option<String>,
    /// Where on that device.
    pub extents: Extents,
}

impl Disk {
    /// Reads it; `None` if it is gone.
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
                start: number(&p.path.join("start")).unwrap_or(0),
                sectors: number(&p.path.join("size")).unwrap_or(0),
                upper: names(&p.path.join("holders")),
            };
            (p.name.clone(), part)
        });
        let driver = std::fs::read_link(dir.join("device/driver")).ok();
        Some(Disk {
            dev: text::small(&dir.join("dev"))?,
            sectors: number(&dir.join("size")).unwrap_or(0),
            read_only: number(&dir.join("ro")) == Some(1),
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
}

/// SCSI fills names up with spaces.
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
    let extents = Extents::of(Path::new(file));
    Some(Loop { on, extents, settings })
}
