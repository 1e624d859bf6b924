//! One block device: its number, its names, and its settings as in sysfs.
//!
//! Every setting has one name, that of its file below `/sys/block/DEVICE/`, whatever document it is from: `DIO` of
//! `losetup` is stored as `loop/dio`, what `/proc/mdstat` says about an array is under `md/`. Getters interpret
//! the text of a file; `None` means that no document has it, or that the kernel shows it empty (not supported).
//! The files are described in the kernel's Documentation/ABI/stable/sysfs-block.

use crate::fact::Fact;
use crate::Extent;
use serde::Serialize;
use std::collections::BTreeMap;
use trace::{Bytes, DevId, Nanos};

/// All known data about a block device (disk, partition, md, dm or loop device).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Device {
    /// Name in the kernel: `vda`, `dm-0`, `nvme0n1p2`.
    pub name: String,
    /// Device number; `None` if no document has it.
    pub dev: Option<Fact<DevId>>,
    /// Other names: `vg-root` for the kernel's `dm-0`.
    pub aliases: Vec<Fact<String>>,
    /// Settings as text, by path below `/sys/block/DEVICE/`: `queue/nr_requests`, `md/level`, `size`.
    pub attributes: BTreeMap<String, Fact<String>>,
    /// Names of the members of an md array; empty for other devices.
    pub members: Vec<Fact<String>>,
    /// Names of the devices below it: for md and dm those it is made of, for a loop device the one with its backing file.
    pub lower: Vec<Fact<String>>,
    /// Location of a loop device's backing file on the device below.
    pub extents: Vec<Extent>,
}

/// Whether a completed write may still be lost when power fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteCache {
    /// It may: the device has a volatile cache, so flushes are needed and cost time.
    Back,
    /// It may not; the kernel completes flushes without sending them to the device.
    Through,
}

impl Device {
    /// The text of a setting, by path below `/sys/block/DEVICE/`. `None` if it is missing or empty.
    pub fn attribute(&self, path: &str) -> Option<Fact<String>> {
        self.attributes.get(path).filter(|fact| !fact.value.is_empty()).cloned()
    }

    /// A setting that is a number, or starts with one (`200000 (system)`).
    pub fn number(&self, path: &str) -> Option<Fact<u64>> {
        self.attributes.get(path)?.read(|text| text.split_whitespace().next()?.parse().ok())
    }

    pub(crate) fn flag(&self, path: &str) -> Option<Fact<bool>> {
        self.number(path)?.read(|n| Some(*n != 0))
    }

    pub(crate) fn bytes(&self, path: &str) -> Option<Fact<Bytes>> {
        self.number(path)?.read(|n| Some(Bytes(*n)))
    }

    fn kib(&self, path: &str) -> Option<Fact<Bytes>> {
        self.number(path)?.read(|n| Some(Bytes(n.saturating_mul(1024))))
    }

    /// The I/O scheduler in use: the one in brackets, or the only one listed. `none` counts as a scheduler.
    pub fn scheduler(&self) -> Option<Fact<String>> {
        self.attributes.get("queue/scheduler")?.read(|text| {
            let mut words = text.split_whitespace();
            let chosen = words.clone().find_map(|w| w.strip_prefix('[')?.strip_suffix(']'));
            let only = words.next().filter(|_| words.next().is_none());
            chosen.or(only).map(str::to_owned)
        })
    }

    /// A setting of the I/O scheduler in use, for example `read_expire` or `fifo_batch`.
    pub fn iosched(&self, name: &str) -> Option<Fact<String>> {
        self.attribute(&format!("queue/iosched/{name}"))
    }

    /// Number of requests that may wait in the scheduler, or with `none`, that may exist (`queue/nr_requests`).
    pub fn nr_requests(&self) -> Option<Fact<u64>> {
        self.number("queue/nr_requests")
    }

    /// The largest request that the kernel builds (`queue/max_sectors_kb`, converted to bytes).
    pub fn max_sectors_kb(&self) -> Option<Fact<Bytes>> {
        self.kib("queue/max_sectors_kb")
    }

    /// The largest request that the hardware accepts (`queue/max_hw_sectors_kb`, converted to bytes).
    pub fn max_hw_sectors_kb(&self) -> Option<Fact<Bytes>> {
        self.kib("queue/max_hw_sectors_kb")
    }

    /// The preferred size of I/O, for a RAID its full stripe; 0 if the device does not report it (`queue/optimal_io_size`).
    pub fn optimal_io_size(&self) -> Option<Fact<Bytes>> {
        self.bytes("queue/optimal_io_size")
    }

    /// The smallest size without penalty, for a RAID its chunk (`queue/minimum_io_size`).
    pub fn minimum_io_size(&self) -> Option<Fact<Bytes>> {
        self.bytes("queue/minimum_io_size")
    }

    /// The unit of addressing (`queue/logical_block_size`).
    pub fn logical_block_size(&self) -> Option<Fact<Bytes>> {
        self.bytes("queue/logical_block_size")
    }

    /// The unit that the device writes without reading first (`queue/physical_block_size`).
    pub fn physical_block_size(&self) -> Option<Fact<Bytes>> {
        self.bytes("queue/physical_block_size")
    }

    /// The maximum read-ahead for a sequential reader (`queue/read_ahead_kb`, converted to bytes).
    pub fn read_ahead_kb(&self) -> Option<Fact<Bytes>> {
        self.kib("queue/read_ahead_kb")
    }

    /// Whether the kernel treats it as a rotating disk (`queue/rotational`); virtual disks often report this wrongly.
    pub fn rotational(&self) -> Option<Fact<bool>> {
        self.flag("queue/rotational")
    }

    /// The read latency that writeback throttling aims for; 0 if off, `None` if not built in (`queue/wbt_lat_usec`).
    pub fn wbt_lat_usec(&self) -> Option<Fact<Nanos>> {
        self.number("queue/wbt_lat_usec")?.read(|us| Some(Nanos(us.saturating_mul(1000))))
    }

    /// Whether the device has a volatile write cache (`queue/write_cache`).
    pub fn write_cache(&self) -> Option<Fact<WriteCache>> {
        self.attributes.get("queue/write_cache")?.read(|text| match text.as_str() {
            "write back" => Some(WriteCache::Back),
            "write through" => Some(WriteCache::Through),
            _ => None,
        })
    }

    /// Whether the device supports writing through its cache (FUA), which saves a flush (`queue/fua`).
    pub fn fua(&self) -> Option<Fact<bool>> {
        self.flag("queue/fua")
    }

    /// Whether pages must not change during writeback, so that writers wait for it (`queue/stable_writes`).
    pub fn stable_writes(&self) -> Option<Fact<bool>> {
        self.flag("queue/stable_writes")
    }

    /// Merging of requests: 0 all kinds, 1 only simple merges, 2 none (`queue/nomerges`).
    pub fn nomerges(&self) -> Option<Fact<u64>> {
        self.number("queue/nomerges")
    }

    /// Tags of each hardware queue, ordered by queue (`mq/*/nr_tags`). Empty if unknown.
    pub fn tags(&self) -> Vec<Fact<u64>> {
        let queue_of = |path: &str| path.strip_prefix("mq/")?.strip_suffix("/nr_tags")?.parse::<u32>().ok();
        let mut tags: Vec<_> =
            self.attributes.keys().filter_map(|path| Some((queue_of(path)?, self.number(path)?))).collect();
        tags.sort_by_key(|(queue, _)| *queue);
        tags.into_iter().map(|(_, tags)| tags).collect()
    }

    /// Number of commands that a SCSI device accepts at once (`device/queue_depth`).
    pub fn queue_depth(&self) -> Option<Fact<u64>> {
        self.number("device/queue_depth")
    }

    /// Capacity (`size`, in units of 512 bytes; or `/proc/partitions`, in whole KiB), converted to bytes.
    pub fn size_bytes(&self) -> Option<Fact<Bytes>> {
        match self.number("size") {
            Some(sectors) => sectors.read(|n| Some(Bytes::from_sectors(*n))),
            None => self.kib(PARTITIONS_KIB),
        }
    }

    /// The backing file of a loop device (`loop/backing_file`).
    pub fn backing_file(&self) -> Option<Fact<String>> {
        self.attribute("loop/backing_file")
    }

    /// Whether a loop device bypasses the page cache of its backing file (`loop/dio`).
    pub fn loop_direct_io(&self) -> Option<Fact<bool>> {
        self.flag("loop/dio")
    }
}

/// Key of a size from `/proc/partitions`. It is rounded down to KiB, so it must not be mistaken for sysfs's `size`.
pub(crate) const PARTITIONS_KIB: &str = "/proc/partitions";
