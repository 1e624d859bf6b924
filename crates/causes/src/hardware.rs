//! What hardware is behind a device's name, and so which tool shows its state: drivers name devices after their kind
//! (Linux, Documentation/admin-guide/devices.txt).

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
                "it is a file: look at the device on which this lies, and at what else uses that",
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

/// Folders of devices by name, and the folders that have the same devices by number (udev; Linux, Documentation/ABI/testing/sysfs-dev).
const BY_NUMBER: [(&str, &str); 2] = [("/dev/", "/dev/block/"), ("/sys/block/", "/sys/dev/block/")];

/// The option of fio that names a device.
const OF_FIO: &str = "--filename=";

/// A command with paths that exist: a device of unknown name is called by its numbers, as in traces (`254,0`), and has
/// paths by number only.
pub(crate) fn with_paths(command: &str) -> String {
    let mut out = String::with_capacity(command.len());
    let mut rest = command;
    while let Some((at, folder, by_number)) = first_folder(rest) {
        let (before, after) = (&rest[..at], &rest[at + folder.len()..]);
        out += before;
        match numbers(after) {
            Some((major, minor, left)) => {
                // fio takes a colon as the end of a name (HOWTO, filename), and the shell removes one backslash.
                let colon = if out.ends_with(OF_FIO) { "\\\\:" } else { ":" };
                out += &format!("{by_number}{major}{colon}{minor}");
                rest = left;
            }
            None => {
                out += folder;
                rest = after;
            }
        }
    }
    out + rest
}

/// The first folder of devices in a command: its offset, its name, and the folder by number.
fn first_folder(text: &str) -> Option<(usize, &'static str, &'static str)> {
    let all =
        BY_NUMBER.iter().filter_map(|(folder, by_number)| Some((text.find(folder)?, *folder, *by_number)));
    all.min_by_key(|(at, ..)| *at)
}

/// Splits `254,0` off the beginning of a text: major, minor, and the rest.
fn numbers(text: &str) -> Option<(&str, &str, &str)> {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (major, rest) = text.split_at(digits(text));
    let rest = rest.strip_prefix(',')?;
    let (minor, rest) = rest.split_at(digits(rest));
    (!major.is_empty() && !minor.is_empty()).then_some((major, minor, rest))
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

    #[test]
    fn a_device_without_a_name_has_paths_by_its_numbers() {
        for (command, with) in [
            ("echo 1 > /sys/block/254,0/queue/x", "echo 1 > /sys/dev/block/254:0/queue/x"),
            (
                "a --filename=/dev/7,1 && b \"/dev/7,1 5\"",
                "a --filename=/dev/block/7\\\\:1 && b \"/dev/block/7:1 5\"",
            ),
            ("cat /dev/sda /sys/block/sda/dev 7,1", "cat /dev/sda /sys/block/sda/dev 7,1"),
            ("x > /dev/null; grep . /dev/7, /dev/,1 /dev/", "x > /dev/null; grep . /dev/7, /dev/,1 /dev/"),
        ] {
            assert_eq!(with_paths(command), with);
        }
    }
}
