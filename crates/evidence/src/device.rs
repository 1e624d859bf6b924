//! One block device: its number, its names, and its settings as sysfs shows them.
//!
//! All settings have one name, that of the file below `/sys/block/DEVICE/`, whichever document told them: what
//! `losetup` calls `DIO` is kept as `loop/dio`, what `/proc/mdstat` says of an array under `md/`. Getters give the
//! meaning of a file's text; `None` means that no document tells it, or that the kernel shows it empty (not supported).
//! The files are described in the kernel's Documentation/ABI/stable/sysfs-block.

use crate::fact::Fact;
use crate::md::Md;
use crate::Extent;
use serde::Serialize;
use std::collections::BTreeMap;
use trace::{Bytes, DevId, Nanos};

/// What is known of a block device (disk, partition, md, dm or loop device).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Device {
    /// The kernel's name: `vda`, `dm-0`, `nvme0n1p2`.
    pub name: String,
    /// Its number.
    pub dev: Option<Fact<DevId>>,
    /// Other names: `vg-root` for what the kernel calls `dm-0`.
    pub aliases: Vec<Fact<String>>,
    /// Settings as text, by path below `/sys/block/DEVICE/`: `queue/nr_requests`, `md/level`, `size`.
    pub attributes: BTreeMap<String, Fact<String>>,
    /// Of an md array: what it is made of.
    pub members: Vec<Fact<String>>,
    /// Devices that it lies on, by the kernel's names: of md and dm those below, of a loop device that of its file.
    pub lower: Vec<Fact<String>>,
    /// Of a loop device: where its file lies on the device below.
    pub extents: Vec<Extent>,
}

/// Whether a write that completed may still be lost when power fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteCache {
    /// It may: the device has a volatile cache, so flushes are needed and cost time.
    Back,
    /// It may not; the kernel completes flushes without asking the device.
    Through,
}

impl Device {
    /// The text of a setting, by path below `/sys/block/DEVICE/`. `None` also if it is empty.
    pub fn attribute(&self, path: &str) -> Option<Fact<String>> {
        self.attributes.get(path).filter(|fact| !fact.value.is_empty()).cloned()
    }

    /// A setting that is a number, or begins with one (`200000 (system)`).
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

    /// The I/O scheduler in use: the one in brackets, or the only one there is. `none` is one too.
    pub fn scheduler(&self) -> Option<Fact<String>> {
        self.attributes.get("queue/scheduler")?.read(|text| {
            let mut words = text.split_whitespace();
            let chosen = words.clone().find_map(|w| w.strip_prefix('[')?.strip_suffix(']'));
            let only = words.next().filter(|_| words.next().is_none());
            chosen.or(only).map(str::to_owned)
        })
    }

    /// A setting of the I/O scheduler in use, such as `read_expire` or `fifo_batch`.
    pub fn iosched(&self, name: &str) -> Option<Fact<String>> {
        self.attribute(&format!("queue/iosched/{name}"))
    }

    /// Requests that may wait in the scheduler, or with `none`, that may exist (`queue/nr_requests`).
    pub fn nr_requests(&self) -> Option<Fact<u64>> {
        self.number("queue/nr_requests")
    }

    /// The largest request the kernel makes (`queue/max_sectors_kb`, in bytes here).
    pub fn max_sectors_kb(&self) -> Option<Fact<Bytes>> {
        self.kib("queue/max_sectors_kb")
    }

    /// The largest request the hardware takes (`queue/max_hw_sectors_kb`, in bytes here).
    pub fn max_hw_sectors_kb(&self) -> Option<Fact<Bytes>> {
        self.kib("queue/max_hw_sectors_kb")
    }

    /// The size the device likes best, of a RAID its full stripe; 0 if it does not say (`queue/optimal_io_size`).
    pub fn optimal_io_size(&self) -> Option<Fact<Bytes>> {
        self.bytes("queue/optimal_io_size")
    }

    /// The smallest size without penalty, of a RAID its chunk (`queue/minimum_io_size`).
    pub fn minimum_io_size(&self) -> Option<Fact<Bytes>> {
        self.bytes("queue/minimum_io_size")
    }

    /// The unit of addressing (`queue/logical_block_size`).
    pub fn logical_block_size(&self) -> Option<Fact<Bytes>> {
        self.bytes("queue/logical_block_size")
    }

    /// The unit the device writes without reading first (`queue/physical_block_size`).
    pub fn physical_block_size(&self) -> Option<Fact<Bytes>> {
        self.bytes("queue/physical_block_size")
    }

    /// The most that is read ahead of a sequential reader (`queue/read_ahead_kb`, in bytes here).
    pub fn read_ahead_kb(&self) -> Option<Fact<Bytes>> {
        self.kib("queue/read_ahead_kb")
    }

    /// Whether the kernel takes it for a disk that turns (`queue/rotational`); virtual disks often say so wrongly.
    pub fn rotational(&self) -> Option<Fact<bool>> {
        self.flag("queue/rotational")
    }

    /// The read latency that writeback throttling aims for; 0 is off, `None` not built in (`queue/wbt_lat_usec`).
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

    /// Whether the device can write through its cache (FUA), which saves a flush (`queue/fua`).
    pub fn fua(&self) -> Option<Fact<bool>> {
        self.flag("queue/fua")
    }

    /// Whether pages must not change while they are written: writers wait for writeback (`queue/stable_writes`).
    pub fn stable_writes(&self) -> Option<Fact<bool>> {
        self.flag("queue/stable_writes")
    }

    /// 0: merges as it can; 1: only the simple ones; 2: not at all (`queue/nomerges`).
    pub fn nomerges(&self) -> Option<Fact<u64>> {
        self.number("queue/nomerges")
    }

    /// Tags of each hardware queue, in the order of the queues (`mq/*/nr_tags`). Empty if not told.
    pub fn tags(&self) -> Vec<Fact<u64>> {
        let queue_of = |path: &str| path.strip_prefix("mq/")?.strip_suffix("/nr_tags")?.parse::<u32>().ok();
        let mut tags: Vec<_> =
            self.attributes.keys().filter_map(|path| Some((queue_of(path)?, self.number(path)?))).collect();
        tags.sort_by_key(|(queue, _)| *queue);
        tags.into_iter().map(|(_, tags)| tags).collect()
    }

    /// Commands a SCSI device takes at once (`device/queue_depth`).
    pub fn queue_depth(&self) -> Option<Fact<u64>> {
        self.number("device/queue_depth")
    }

    /// How large it is (`size`, in units of 512 bytes; or `/proc/partitions`, in whole KiB).
    pub fn size_bytes(&self) -> Option<Fact<Bytes>> {
        match self.number("size") {
            Some(sectors) => sectors.read(|n| Some(Bytes::from_sectors(*n))),
            None => self.kib(PARTITIONS_KIB),
        }
    }

    /// The settings of the array, if this is one.
    pub fn md(&self) -> Option<Md> {
        Md::of(self)
    }

    /// Of a loop device: the file behind it (`loop/backing_file`).
    pub fn backing_file(&self) -> Option<Fact<String>> {
        self.attribute("loop/backing_file")
    }

    /// Of a loop device: whether it passes by the page cache of the file behind it (`loop/dio`).
    pub fn loop_direct_io(&self) -> Option<Fact<bool>> {
        self.flag("loop/dio")
    }
}

/// Where a size from `/proc/partitions` is kept. It is rounded down to KiB, so it must not pass for sysfs's `size`.
pub(crate) const PARTITIONS_KIB: &str = "/proc/partitions";
