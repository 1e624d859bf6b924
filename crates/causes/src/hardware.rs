//! What hardware is behind a device's name, and so which tool shows its state: drivers name devices after their kind
//! (Linux, Documentation/admin-guide/devices.txt).

use crate::by_number::numbers;
use crate::remedy::Action;
use evidence::whole_disk;

/// The kind of hardware behind a device's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hardware {
    /// A disk of the SCSI or SATA driver, which answers SMART unless a host only emulates it.
    Scsi,
    /// An NVMe drive, which has a health log.
    Nvme,
    /// A guest's disk (virtio, Xen): the drive behind it is the host's.
    Guest,
    /// A loop device: a file on another device.
    File,
    /// A device on other devices of this host: device mapper, md, bcache, drbd.
    Stacked,
    /// A disk of another host, over the network (nbd, rbd).
    Remote,
    /// Compressed memory of this host (zram).
    Memory,
    /// A card or chip that answers no SMART.
    Card,
    /// Anything else, or a major number that belongs to a different driver on each host.
    Unknown,
}

/// Name prefixes, without the device's number or letters.
const KINDS: [(&str, Hardware); 18] = [
    ("sd", Hardware::Scsi),
    // From texts that do not name the drive.
    ("DISK", Hardware::Scsi),
    ("nvme", Hardware::Nvme),
    ("loop", Hardware::File),
    // Devices whose names are not known: a major number that is the same on all hosts, and a comma.
    ("8,", Hardware::Scsi),
    ("7,", Hardware::File),
    ("9,", Hardware::Stacked),
    ("43,", Hardware::Remote),
    ("vd", Hardware::Guest),
    ("xvd", Hardware::Guest),
    ("dm-", Hardware::Stacked),
    ("md", Hardware::Stacked),
    ("bcache", Hardware::Stacked),
    ("drbd", Hardware::Stacked),
    ("nbd", Hardware::Remote),
    ("rbd", Hardware::Remote),
    ("zram", Hardware::Memory),
    ("mmcblk", Hardware::Card),
];

impl Hardware {
    pub fn of(name: &str) -> Hardware {
        KINDS.iter().find(|(kind, _)| name.starts_with(kind)).map_or(Hardware::Unknown, |(_, of)| *of)
    }

    /// What to search for in the kernel's messages, which never contain device numbers; `None` if only the device's number is known.
    pub fn pattern(name: &str) -> Option<&str> {
        (!name.is_empty() && numbers(name).is_none()).then_some(name)
    }

    /// What to check on the hardware behind a name, in words, and the command that shows it.
    pub fn check(name: &str) -> (&'static str, Action) {
        let disk = whole_disk(name);
        match Hardware::of(name) {
            Hardware::Scsi => (
                "check the device itself: sectors that are hard to read, wear, link errors, temperature",
                Action::look(format!("smartctl -a /dev/{disk}")),
            ),
            Hardware::Nvme => (
                "check the device itself: wear, spare blocks, errors of its media, temperature",
                Action::look(format!("nvme smart-log /dev/{disk}")),
            ),
            Hardware::Unknown => (
                "see what it is, and on what it lies: look there",
                Action::look(format!("lsblk -s -o NAME,TYPE,TRAN,MODEL,SERIAL /dev/{name}")),
            ),
            Hardware::Guest => (
                "a virtual disk: look at its host, or the volume's own numbers, at the same second; its serial number says which volume it is",
                Action::look(format!("lsblk -d -o NAME,SIZE,MODEL,SERIAL /dev/{name}")),
            ),
            Hardware::File => (
                "it is a file: look at the device that holds it, and who else uses that device",
                Action::look(format!("losetup --list /dev/{name}")),
            ),
            Hardware::Stacked => (
                "it lies on other devices: look at each of them",
                Action::look(format!("lsblk -s -o NAME,TYPE,MODEL /dev/{name}")),
            ),
            Hardware::Remote => (
                "its data is on another host: look at the connection, and at that host at the same second",
                Action::look("ss -tin"),
            ),
            Hardware::Memory => (
                "it is compressed memory: look at how much it holds, and at the processors",
                Action::look(format!("zramctl /dev/{name}")),
            ),
            Hardware::Card => (
                "check the card itself: how worn it says it is (eMMC), whether the kernel complains",
                Action::look(format!("mmc extcsd read /dev/{name}; dmesg | grep mmc")),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_drives_are_asked_for_their_health() {
        for (name, command) in [
            ("sda", "smartctl -a /dev/sda"),
            ("8,0", "smartctl -a /dev/block/8:0"),
            ("nvme0n1", "nvme smart-log /dev/nvme0n1"),
            ("nvme0n1p4", "nvme smart-log /dev/nvme0n1"),
            ("sdb2", "smartctl -a /dev/sdb"),
            ("259,0", "lsblk -s -o NAME,TYPE,TRAN,MODEL,SERIAL /dev/block/259:0"),
            ("nullb0", "lsblk -s -o NAME,TYPE,TRAN,MODEL,SERIAL /dev/nullb0"),
            ("vdb", "lsblk -d -o NAME,SIZE,MODEL,SERIAL /dev/vdb"),
            ("loop1", "losetup --list /dev/loop1"),
            ("7,1", "losetup --list /dev/block/7:1"),
            ("dm-3", "lsblk -s -o NAME,TYPE,MODEL /dev/dm-3"),
            ("md127", "lsblk -s -o NAME,TYPE,MODEL /dev/md127"),
            ("nbd0", "ss -tin"),
            ("zram0", "zramctl /dev/zram0"),
            ("mmcblk0", "mmc extcsd read /dev/mmcblk0; dmesg | grep mmc"),
        ] {
            assert_eq!(Hardware::check(name).1.command(), command);
        }
    }
}
