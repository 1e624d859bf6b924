//! Which file system is on which device, and which partition is on which disk.
//!
//! The flusher's events name disks, not partitions. The file system is known if the disk has only one
//! ([`FileSystems::of_disk`]), or if the bio names the partition ([`FileSystems::of_bio`]).

use crate::known::Known;
use rustc_hash::{FxHashMap, FxHashSet};
use trace::{DevId, Fs};

/// Largest number of devices whose kind of file system is remembered.
const MAX: usize = 1 << 16;

/// File systems by device and by disk.
#[derive(Debug, Default)]
pub(crate) struct FileSystems {
    kinds: FxHashMap<DevId, Fs>,
    /// The disk of each partition.
    disks: FxHashMap<DevId, DevId>,
    /// Devices with mounted file systems, by disk.
    mounted: FxHashMap<DevId, FxHashSet<DevId>>,
}

impl FileSystems {
    pub fn knows(&mut self, known: &Known) {
        self.disks.extend(known.partitions.iter().copied());
        known.kinds.iter().for_each(|(dev, fs)| self.seen(*dev, *fs));
        for dev in &known.mounted {
            let disk = self.disk(*dev);
            self.mounted.entry(disk).or_default().insert(*dev);
        }
    }

    /// An event shows which kind of file system is on a device.
    pub fn seen(&mut self, dev: DevId, fs: Fs) {
        if fs != Fs::Unknown && dev != DevId(0) && self.kinds.len() < MAX {
            self.kinds.insert(dev, fs);
        }
    }

    pub fn kind(&self, dev: DevId) -> Fs {
        self.kinds.get(&dev).copied().unwrap_or_default()
    }

    /// The only device with this kind of file system; `None` if there are several.
    pub fn only(&self, fs: Fs) -> Option<DevId> {
        let mut all = self.kinds.iter().filter(|(_, kind)| **kind == fs).map(|(dev, _)| *dev);
        all.next().filter(|_| all.next().is_none())
    }

    /// The disk that a device is on; the device itself if it is no known partition.
    pub fn disk(&self, dev: DevId) -> DevId {
        self.disks.get(&dev).copied().unwrap_or(dev)
    }

    /// The file system on a disk, or the disk itself if no mount is known; `None` if there are several.
    pub fn of_disk(&self, disk: DevId) -> Option<DevId> {
        let mut on_disk = self.mounted.get(&disk).into_iter().flatten();
        match (on_disk.next(), on_disk.next()) {
            (None, _) => Some(disk),
            (one, None) => one.copied(),
            _ => None,
        }
    }

    /// The same, for a bio that went to the device `bio`.
    pub fn of_bio(&self, disk: DevId, bio: DevId) -> Option<DevId> {
        self.of_disk(disk).or(Some(bio).filter(|bio| *bio != disk))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISK: DevId = DevId(8 << 20);
    const PART: DevId = DevId(8 << 20 | 1);
    const OTHER: DevId = DevId(8 << 20 | 2);

    #[test]
    fn a_kind_that_two_devices_have_says_nothing_of_either() {
        let mut f = FileSystems::default();
        f.seen(PART, Fs::Xfs);
        assert_eq!((f.only(Fs::Xfs), f.only(Fs::Ext4)), (Some(PART), None));
        f.seen(OTHER, Fs::Xfs);
        assert_eq!(f.only(Fs::Xfs), None);
    }

    #[test]
    fn a_disk_with_two_file_systems_says_nothing_of_either() {
        let of = |mounted: &[DevId]| {
            let mut f = FileSystems::default();
            f.knows(&Known {
                partitions: vec![(PART, DISK), (OTHER, DISK)],
                mounted: mounted.to_vec(),
                ..Known::default()
            });
            (f.of_disk(DISK), f.of_bio(DISK, DISK), f.of_bio(DISK, OTHER))
        };
        assert_eq!(of(&[]), (Some(DISK), Some(DISK), Some(DISK)));
        assert_eq!(of(&[PART]), (Some(PART), Some(PART), Some(PART)));
        // The bio names the partition.
        assert_eq!(of(&[PART, OTHER]), (None, None, Some(OTHER)));
    }
}
