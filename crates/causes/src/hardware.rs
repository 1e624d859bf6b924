//! What is behind a device's name, and so where its own state can be seen: drivers name devices after their kind (Linux,
//! Documentation/admin-guide/devices.txt).

use crate::remedy::Action;

/// What is behind a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hardware {
    /// A drive, as far as anybody knows: it answers SMART or has NVMe's health log.
    Drive,
    /// A guest's disk: virtio's or Xen's. Its drive is the host's.
    Guest,
    /// A file on another device.
    File,
    /// Other devices of this host: device mapper, md.
    Stacked,
}

/// What names begin with, before their number or letters.
const KINDS: [(&str, Hardware); 6] = [
    ("loop", Hardware::File),
    // A loop device whose name is not known: its major number and a comma.
    ("7,", Hardware::File),
    ("vd", Hardware::Guest),
    ("xvd", Hardware::Guest),
    ("dm-", Hardware::Stacked),
    ("md", Hardware::Stacked),
];

impl Hardware {
    pub fn of(name: &str) -> Hardware {
        KINDS.iter().find(|(kind, _)| name.starts_with(kind)).map_or(Hardware::Drive, |(_, of)| *of)
    }

    /// How to see the state of what does the work, and what that shows.
    pub fn check(name: &str) -> (&'static str, Action) {
        let path = path(name);
        match Hardware::of(name) {
            Hardware::Drive => (
                "check the device itself: sectors that are hard to read, wear, link errors, temperature",
                Action::look(format!("smartctl -a {path} # NVMe: nvme smart-log {path}")),
            ),
            Hardware::Guest => (
                "a virtual disk: look at its host, or the volume's own numbers, at the same second; its serial number says which volume it is",
                Action::look(format!("lsblk -d -o NAME,SIZE,MODEL,SERIAL {path}")),
            ),
            Hardware::File => (
                "it is a file: look at the device on which this lies, and at what else uses that",
                Action::look(format!("losetup --list {path}")),
            ),
            Hardware::Stacked => (
                "it lies on other devices: look at each of them",
                Action::look(format!("lsblk -s -o NAME,TYPE,MODEL {path}")),
            ),
        }
    }
}

/// The file of a device; of one whose name is not known, the one named after its numbers.
fn path(name: &str) -> String {
    match name.split_once(',') {
        Some((major, minor)) => format!("/dev/block/{major}:{minor}"),
        None => format!("/dev/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_drives_are_asked_for_their_health() {
        for (name, command) in [
            ("sda", "smartctl -a /dev/sda # NVMe: nvme smart-log /dev/sda"),
            ("8,0", "smartctl -a /dev/block/8:0 # NVMe: nvme smart-log /dev/block/8:0"),
            ("vdb", "lsblk -d -o NAME,SIZE,MODEL,SERIAL /dev/vdb"),
            ("loop1", "losetup --list /dev/loop1"),
            ("7,1", "losetup --list /dev/block/7:1"),
            ("dm-3", "lsblk -s -o NAME,TYPE,MODEL /dev/dm-3"),
            ("md127", "lsblk -s -o NAME,TYPE,MODEL /dev/md127"),
        ] {
            assert_eq!(Hardware::check(name).1.command(), command);
        }
    }
}
