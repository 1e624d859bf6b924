//! The recorded machine, as described by the documents beside the recording.
//!
//! **Invariant**: the first value of a setting is used; a later contradicting one is kept as a
//! [`Conflict`] only. Documents are read in a fixed order, so the same folder gives the same system.

use crate::cgroup::Cgroup;
use crate::changes::moves;
use crate::device::Device;
use crate::fact::{At, Conflict, Fact};
use crate::limited::Limited;
use crate::mount::Mount;
use crate::processes::Processes;
use crate::source::{Document, Skipped};
use crate::Extent;
use serde::Serialize;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use trace::{Bytes, DevId, Nanos, Tid};

/// Settings and layout of the recorded machine.
#[derive(Clone, Debug, Default, Serialize)]
pub struct System {
    /// Release of the kernel: `6.1.0-50-amd64`.
    pub kernel: Option<Fact<String>>,
    /// Number of processors that could run threads.
    pub cpus: Option<Fact<u32>>,
    /// Model of the processor.
    pub cpu_model: Option<Fact<String>>,
    /// Block devices by kernel name.
    pub devices: BTreeMap<String, Device>,
    /// Mounted file systems in the order read: of two with the same target, the later one hides the other.
    pub mounts: Vec<Mount>,
    /// Values in `/proc/sys/vm/`, by file name: `dirty_ratio`.
    pub vm: BTreeMap<String, Fact<String>>,
    /// Values in `/proc/meminfo` with a size, by name: `MemTotal`, `Dirty`. The first reading is kept.
    pub memory: BTreeMap<String, Fact<Bytes>>,
    /// Cgroups that limit or weigh I/O, parents first.
    pub cgroups: Vec<Cgroup>,
    /// Limits of cgroups on memory and processor time.
    #[serde(skip)]
    pub limited: Vec<Limited>,
    /// Paths of cgroups by their id in traces (the inode of the folder).
    #[serde(skip)]
    pub(crate) group_paths: BTreeMap<u64, String>,
    /// Processes and open files at the start of the recording.
    #[serde(skip)]
    pub processes: Processes,
    /// Contradictory values.
    pub conflicts: Vec<Conflict>,
    /// Settings that changed during the recording: `kept` is the value before, `other` that after.
    pub changed: Vec<Conflict>,
    /// Documents that were read, with the number of lines understood.
    pub sources: Vec<Document>,
    /// Documents that could not be read.
    pub skipped: Vec<Skipped>,
}

/// Limit on the length of a device name. The kernel's limit is 32 (`DISK_NAME_LEN`, include/linux/blkdev.h); device mapper names may have 128.
const LONGEST_NAME: usize = 128;

// Limits above what machines have. The lists are searched linearly, so a hostile document could otherwise make that
// very slow; lines beyond the limits count as unknown.
const MOST_DEVICES: usize = 16_384;
const MOST_MOUNTS: usize = 4096;
/// Limit on aliases, and on members, of one device.
pub(crate) const MOST_NAMES: usize = 512;

impl System {
    /// The device with this name: `vda`, `/dev/vda`, `/dev/mapper/vg-root`, `vg-root`.
    pub fn device(&self, name: &str) -> Option<&Device> {
        let name = name.strip_prefix("/dev/").unwrap_or(name);
        let name = name.strip_prefix("mapper/").unwrap_or(name).replace('/', "!");
        let by_alias = || self.devices.values().find(|d| d.aliases.iter().any(|alias| alias.value == name));
        self.devices.get(&name).or_else(by_alias)
    }

    /// The device with this number.
    pub fn device_at(&self, dev: DevId) -> Option<&Device> {
        let told = self.devices.values().find(|d| d.dev.as_ref().is_some_and(|fact| fact.value == dev));
        told.or_else(|| self.devices.get(&fixed_name(dev)?).filter(|d| d.dev.is_none()))
    }

    /// The kernel's name for a device whose number is fixed, unless another device is known by that name.
    pub fn fixed_name(&self, dev: DevId) -> Option<String> {
        fixed_name(dev).filter(|name| !self.devices.contains_key(name))
    }

    /// The kernel's name of the device with this number.
    pub fn device_name(&self, dev: DevId) -> Option<&str> {
        self.device_at(dev).map(|d| d.name.as_str())
    }

    /// The disk of the partition `name`, or the device itself if it is no partition. Partitions have no queue of their own.
    ///
    /// Derived from the kernel's naming (`disk_name`, block/partitions/core.c): the disk's name and a number, with a `p` between
    /// if the disk's name ends in a digit: `sda1` on `sda`, `nvme0n1p1` on `nvme0n1`. The disk must be known, too.
    pub fn disk_of(&self, name: &str) -> Option<&Device> {
        let device = self.device(name)?;
        let stem = device.name.trim_end_matches(|c: char| c.is_ascii_digit());
        if stem.len() == device.name.len() {
            return Some(device);
        }
        let ends_in_digit = |name: &str| name.ends_with(|c: char| c.is_ascii_digit());
        let disk = match stem.strip_suffix('p') {
            Some(disk) if ends_in_digit(disk) => disk,
            _ => stem,
        };
        Some(self.devices.get(disk).unwrap_or(device))
    }

    /// The file systems mounted from this device or, if it is a disk, from its partitions, in the order read.
    pub fn mounts_on<'a>(&'a self, device: &'a Device) -> impl Iterator<Item = &'a Mount> {
        self.mounts.iter().filter(move |mount| {
            let by_number = || self.device_at(mount.dev?);
            let by_name = || self.device(mount.source.strip_prefix("/dev/")?);
            by_number().or_else(by_name).is_some_and(|from| {
                let disk = self.disk_of(&from.name);
                from.name == device.name || disk.is_some_and(|disk| disk.name == device.name)
            })
        })
    }

    /// The path of the cgroup with this id in traces.
    pub fn group_path(&self, number: u64) -> Option<&str> {
        let told = self.group_paths.get(&number).map(String::as_str);
        told.or_else(|| self.cgroups.iter().find(|g| g.id == number).map(|g| g.path.as_str()))
    }

    /// A value in `/proc/sys/vm/` as a number.
    pub fn vm_number(&self, name: &str) -> Option<Fact<u64>> {
        self.vm.get(name)?.read(|text| text.trim().parse().ok())
    }

    /// The memory that the kernel can use (`MemTotal`).
    pub fn memory_bytes(&self) -> Option<Fact<Bytes>> {
        self.memory.get("MemTotal").cloned()
    }

    /// Among the memory limits of these processes, the one that was hit most often; `None` if none was hit.
    pub fn memory_limit_met(&self, processes: impl Iterator<Item = Tid>) -> Option<&Limited> {
        self.limits_of(processes).filter(|limited| limited.met() > 0).max_by_key(|limited| limited.met())
    }

    /// Among the processor quotas of these processes, the one that throttled longest, if that is at least `least`.
    pub fn quota_met(&self, processes: impl Iterator<Item = Tid>, least: Nanos) -> Option<&Limited> {
        let stopped = |limited: &&Limited| limited.stopped();
        self.limits_of(processes)
            .filter(|limited| stopped(limited) >= least.max(Nanos(1)))
            .max_by_key(stopped)
    }

    fn limits_of(&self, processes: impl Iterator<Item = Tid>) -> impl Iterator<Item = &Limited> {
        let processes: BTreeSet<Tid> = processes.collect();
        self.limited.iter().filter(move |limited| !limited.members.is_disjoint(&processes))
    }

    // Readers of documents add data only through these functions, which ensures the invariant in any order.

    /// The device with this name, added if it is new; `None` if the name is invalid or there are too many devices.
    pub(crate) fn named(&mut self, name: &str) -> Option<&mut Device> {
        if !is_device_name(name) {
            return None;
        }
        if self.devices.len() >= MOST_DEVICES && !self.devices.contains_key(name) {
            return None;
        }
        let device = self.devices.entry(name.to_owned()).or_default();
        device.name = name.to_owned();
        Some(device)
    }

    /// Adds a setting of a device; false if the device's name is invalid.
    pub(crate) fn set_attribute(&mut self, device: &str, path: &str, value: &str, at: &At) -> bool {
        let Some(target) = self.named(device) else { return false };
        match target.attributes.entry(path.to_owned()) {
            Entry::Vacant(free) => {
                free.insert(Fact::new(value.to_owned(), at));
            }
            Entry::Occupied(kept) if kept.get().value == value || moves(path) => {}
            Entry::Occupied(kept) => {
                let kept = kept.get().clone();
                self.conflict(format!("{device}/{path}"), kept, value, at);
            }
        }
        true
    }

    /// Adds a device's number; false if the device's name is invalid.
    pub(crate) fn set_dev(&mut self, device: &str, dev: DevId, at: &At) -> bool {
        let Some(target) = self.named(device) else { return false };
        let kept = target.dev.get_or_insert_with(|| Fact::new(dev, at)).clone();
        if kept.value != dev {
            let kept = Fact::new(kept.value.to_string(), &kept.at);
            self.conflict(format!("{device}: number"), kept, &dev.to_string(), at);
        }
        true
    }

    /// Adds another name of a device; false if the device's name is invalid or it has too many.
    pub(crate) fn set_alias(&mut self, device: &str, alias: &str, at: &At) -> bool {
        let Some(target) = self.named(device) else { return false };
        alias == device || insert(&mut target.aliases, alias, at)
    }

    /// Adds `member` to the members of `device`; false if the device's name is invalid or it has too many.
    pub(crate) fn set_member(&mut self, device: &str, member: &str, at: &At) -> bool {
        self.named(device).is_some_and(|target| insert(&mut target.members, member, at))
    }

    /// Adds `lower` to the devices below `device`; false if the device's name is invalid or it has too many.
    pub(crate) fn set_lower(&mut self, device: &str, lower: &str, at: &At) -> bool {
        self.named(device).is_some_and(|target| insert(&mut target.lower, lower, at))
    }

    /// Sets the location of a loop device's backing file.
    pub(crate) fn set_extents(&mut self, device: &str, extents: Vec<Extent>) {
        if let Some(target) = self.named(device).filter(|_| !extents.is_empty()) {
            target.extents = extents;
        }
    }

    /// Adds a value in `/proc/sys/vm/`.
    pub(crate) fn set_vm(&mut self, name: &str, value: &str, at: &At) {
        let kept = self.vm.entry(name.to_owned()).or_insert_with(|| Fact::new(value.to_owned(), at)).clone();
        if kept.value != value {
            self.conflict(format!("vm.{name}"), kept, value, at);
        }
    }

    /// Sets the kernel's release.
    pub(crate) fn set_kernel(&mut self, release: &str, at: &At) {
        let kept = self.kernel.get_or_insert_with(|| Fact::new(release.to_owned(), at)).clone();
        if kept.value != release {
            self.conflict("kernel".to_owned(), kept, release, at);
        }
    }

    /// Adds a mount; false if there are too many. If another document has it already, only missing data is
    /// added.
    pub(crate) fn set_mount(&mut self, mount: Mount) -> bool {
        if self.mounts.len() >= MOST_MOUNTS {
            return false;
        }
        let same = |known: &&mut Mount| {
            known.at.file != mount.at.file
                && (&known.source, &known.target, &known.fstype)
                    == (&mount.source, &mount.target, &mount.fstype)
        };
        let Some(known) = self.mounts.iter_mut().find(same) else {
            self.mounts.push(mount);
            return true;
        };
        known.dev = known.dev.or(mount.dev);
        for option in mount.options {
            if !known.options.contains(&option) {
                known.options.push(option);
            }
        }
        true
    }

    /// Adds a document that was not read.
    pub(crate) fn skip(&mut self, file: &str, why: String) {
        self.skipped.push(Skipped { file: file.to_owned(), why });
    }

    fn conflict(&mut self, what: String, kept: Fact<String>, other: &str, at: &At) {
        self.conflicts.push(Conflict { what, kept, other: Fact::new(other.to_owned(), at) });
    }
}

/// Whether a block device can have this name. Names appear in commands that people paste into a shell, so characters with a
/// meaning there are rejected; no driver uses them (`sda1`, `nvme0n1p1`, `cciss!c0d0`, `dm-0`).
pub fn is_device_name(name: &str) -> bool {
    let usual =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '!' | '+' | ',' | '@' | '=');
    (1..=LONGEST_NAME).contains(&name.len()) && !name.starts_with(['.', '-']) && name.chars().all(usual)
}

/// The disk of a partition by the kernel's naming (`disk_name`, block/partitions/core.c): `sda1` is on `sda`, `nvme0n1p1` on `nvme0n1`.
pub fn whole_disk(name: &str) -> &str {
    // An eMMC's other parts (drivers/mmc/core/mmc.c): mmcblk0boot0, mmcblk0gp1, mmcblk0rpmb.
    if let Some(rest) = name.strip_prefix("mmcblk") {
        let number = rest.bytes().take_while(u8::is_ascii_digit).count();
        if ["boot", "gp", "rpmb"].iter().any(|part| rest[number..].starts_with(part)) {
            return &name[..name.len() - (rest.len() - number)];
        }
    }
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let ends_in_digit = |name: &str| name.ends_with(|c: char| c.is_ascii_digit());
    let letters = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_lowercase());
    let by_letters =
        ["sd", "hd", "vd", "xvd"].iter().any(|kind| stem.strip_prefix(kind).is_some_and(letters));
    match stem.strip_suffix('p') {
        Some(disk) if ends_in_digit(disk) && stem.len() < name.len() => disk,
        _ if by_letters => stem,
        _ => name,
    }
}

/// Adds a name to a list unless it is already there; false if the list is full.
fn insert(names: &mut Vec<Fact<String>>, name: &str, at: &At) -> bool {
    if names.len() >= MOST_NAMES {
        return false;
    }
    if names.iter().all(|known| known.value != name) {
        names.push(Fact::new(name.to_owned(), at));
    }
    true
}

/// The kernel's name for a whole disk with a fixed number (Documentation/admin-guide/devices.txt): loop devices without
/// partitions, and the first 16 SCSI disks. Example: 7:3 is `loop3`, 8:16 is `sdb`. Most other majors are assigned when
/// drivers are loaded.
fn fixed_name(dev: DevId) -> Option<String> {
    match (dev.major(), dev.minor()) {
        (7, n) => Some(format!("loop{n}")),
        (8, n @ 0..=255) if n % 16 == 0 => Some(format!("sd{}", char::from(b'a' + (n / 16) as u8))),
        _ => None,
    }
}
