//! One disk: its queue, its scheduler, its limits, and what it is made of.

use crate::lenient;
use crate::settings::Settings;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A disk or another whole device.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Disk {
    /// Its number as the kernel prints it, `254:0`.
    #[serde(deserialize_with = "lenient::words")]
    pub dev: String,
    /// Its size in sectors of 512 bytes.
    #[serde(deserialize_with = "lenient::number")]
    pub sectors: Option<u64>,
    /// Whether it is read-only.
    #[serde(deserialize_with = "lenient::flag")]
    pub read_only: Option<bool>,
    /// The driver's name.
    #[serde(deserialize_with = "lenient::text")]
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
    #[serde(deserialize_with = "lenient::or_default")]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Partition {
    /// Its number.
    #[serde(deserialize_with = "lenient::words")]
    pub dev: String,
    /// Where it begins on the disk, in sectors of 512 bytes.
    #[serde(deserialize_with = "lenient::number")]
    pub start: Option<u64>,
    /// Its size in sectors of 512 bytes.
    #[serde(deserialize_with = "lenient::number")]
    pub sectors: Option<u64>,
    /// Devices that lie on it.
    #[serde(deserialize_with = "lenient::or_default")]
    pub upper: Vec<String>,
}

/// One of a disk's hardware queues (block/blk-mq-sysfs.c).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HardwareQueue {
    /// How many requests the driver takes at once. Not what `nr_requests` shows.
    #[serde(deserialize_with = "lenient::number")]
    pub tags: Option<u64>,
    /// How many of them are for the driver itself.
    #[serde(deserialize_with = "lenient::number")]
    pub reserved_tags: Option<u64>,
    /// Which processors use it.
    #[serde(deserialize_with = "lenient::text")]
    pub cpus: Option<String>,
}

/// The file behind a loop device.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Loop {
    /// backing_file, offset, sizelimit, dio, ...
    #[serde(flatten)]
    pub settings: Settings,
    /// The device that the file lies on, if it is one of this machine.
    #[serde(deserialize_with = "lenient::text")]
    pub on: Option<String>,
    /// Where on that device.
    pub extents: Extents,
}

/// A contiguous piece of a file (FIEMAP, Documentation/filesystems/fiemap.rst).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Extent {
    /// Where in the file, in bytes.
    pub file: u64,
    /// Where on the file system's device, in bytes.
    pub device: u64,
    /// Bytes.
    pub len: u64,
}

/// Where a file lies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Extents {
    /// In the order of the file. Holes and pieces without a fixed place are left out.
    pub list: Vec<Extent>,
    /// How many more there are than were kept (at least).
    #[serde(deserialize_with = "lenient::or_default")]
    pub left_out: u64,
    /// Why there are none, if that is so.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::text")]
    pub error: Option<String>,
}
