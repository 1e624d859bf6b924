//! One disk: its queue, its scheduler, its limits, and its lower and upper devices.

use crate::lenient;
use crate::settings::Settings;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A disk or another whole block device.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Disk {
    /// Device number as the kernel prints it, `254:0`.
    #[serde(deserialize_with = "lenient::words")]
    pub dev: String,
    /// Size in sectors of 512 bytes.
    #[serde(deserialize_with = "lenient::number")]
    pub sectors: Option<u64>,
    /// Whether it is read-only.
    #[serde(deserialize_with = "lenient::flag")]
    pub read_only: Option<bool>,
    /// Name of the driver.
    #[serde(deserialize_with = "lenient::text")]
    pub driver: Option<String>,
    /// Those that exist of model, firmware, state, queue depth, error counts, power management.
    pub device: Settings,
    /// All files of `queue/`: scheduler, nr_requests, max_sectors_kb, rotational, ...
    pub queue: Settings,
    /// Settings of the I/O scheduler (`queue/iosched/`).
    pub iosched: Settings,
    /// Hardware queues, with their actual numbers of tags.
    pub hardware_queues: Vec<HardwareQueue>,
    /// Limits of writeback to the disk (its backing device info).
    pub bdi: Settings,
    /// Partitions by name.
    pub partitions: BTreeMap<String, Partition>,
    /// Names of the devices below it (that it is made of).
    pub lower: Vec<String>,
    /// Names of the devices above it (that are made of it).
    #[serde(deserialize_with = "lenient::or_default")]
    pub upper: Vec<String>,
    /// Settings of an md array; empty for other devices.
    #[serde(skip_serializing_if = "Settings::is_empty")]
    pub md: Settings,
    /// Members of an md array by name, with their settings.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub md_members: BTreeMap<String, Settings>,
    /// Name and uuid of a device-mapper device; the uuid's prefix tells its kind (`LVM-`, `CRYPT-`, `mpath-`).
    #[serde(skip_serializing_if = "Settings::is_empty")]
    pub dm: Settings,
    /// The backing file of a loop device.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    pub loop_file: Option<Loop>,
}

/// A partition of a disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Partition {
    /// Device number, `254:1`.
    #[serde(deserialize_with = "lenient::words")]
    pub dev: String,
    /// First sector on the disk, in sectors of 512 bytes.
    #[serde(deserialize_with = "lenient::number")]
    pub start: Option<u64>,
    /// Size in sectors of 512 bytes.
    #[serde(deserialize_with = "lenient::number")]
    pub sectors: Option<u64>,
    /// Names of the devices above it (that are made of it).
    #[serde(deserialize_with = "lenient::or_default")]
    pub upper: Vec<String>,
}

/// One of a disk's hardware queues (block/blk-mq-sysfs.c).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HardwareQueue {
    /// Number of requests that the driver accepts at once; `nr_requests` may differ.
    #[serde(deserialize_with = "lenient::number")]
    pub tags: Option<u64>,
    /// Tags reserved for the driver itself.
    #[serde(deserialize_with = "lenient::number")]
    pub reserved_tags: Option<u64>,
    /// List of the processors that use the queue.
    #[serde(deserialize_with = "lenient::text")]
    pub cpus: Option<String>,
}

/// The backing file of a loop device.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Loop {
    /// Files of `loop/`: backing_file, offset, sizelimit, dio, ...
    #[serde(flatten)]
    pub settings: Settings,
    /// Name of the device that holds the file; `None` if it is not on a device of this machine.
    #[serde(deserialize_with = "lenient::text")]
    pub on: Option<String>,
    /// Location of the file on that device.
    pub extents: Extents,
}

/// A contiguous part of a file (FIEMAP, Documentation/filesystems/fiemap.rst).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Extent {
    /// Offset in the file, in bytes.
    pub file: u64,
    /// Offset on the file system's device, in bytes.
    pub device: u64,
    /// Length in bytes.
    pub len: u64,
}

/// The location of a file on its device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Extents {
    /// Extents in file order. Holes and extents without a fixed location are left out.
    pub list: Vec<Extent>,
    /// Number of further extents that were not kept (a lower bound).
    #[serde(deserialize_with = "lenient::or_default")]
    pub left_out: u64,
    /// Why there are no extents; `None` without an error.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::text")]
    pub error: Option<String>,
}
