//! Reads files below `/sys/block/DEVICE/`, printed as path and content.
//!
//! ```text
//! vda/queue/nr_requests: 256
//! /sys/block/loop0/queue/scheduler:[none] mq-deadline        (grep . FILES)
//! ```

use super::dev::dev_with_colon;
use super::kind::Kind;
use crate::fact::At;
use crate::system::System;

pub struct Sysfs;

/// Entries directly below a device that are read; they also distinguish such a path from other text.
const BELOW: [&str; 11] =
    ["queue", "mq", "md", "dm", "loop", "device", "size", "dev", "ro", "removable", "hidden"];

/// Errors that `cat` and `grep` print after an unreadable path (glibc's strerror): not the value of a setting.
const UNREADABLE: [&str; 8] = [
    "Invalid argument",
    "Permission denied",
    "No such file or directory",
    "Is a directory",
    "Input/output error",
    "No such device",
    "Operation not permitted",
    "Operation not supported",
];

impl Kind for Sysfs {
    fn name(&self) -> &'static str {
        "sysfs"
    }

    fn line(&mut self, line: &str, at: &At, system: &mut System) -> bool {
        // Paths by bus, /sys/devices/pci0000:00/..., contain colons, but only before the device.
        let path = match line.strip_prefix("/sys/") {
            Some(path) => path.find("block/").map(|found| &path[found + "block/".len()..]),
            None => Some(line),
        };
        let Some((path, value)) = path.and_then(|path| path.split_once([':', '=', ' ', '\t'])) else {
            return false;
        };
        let Some((device, attribute)) = path.split_once('/') else { return false };
        let below = attribute.split('/').next().unwrap_or("");
        if !BELOW.contains(&below) {
            return false;
        }
        let value = value.trim_start_matches([':', '=', ' ', '\t']).trim_end();
        // `cat: Permission denied`, if a shell loop printed the path.
        if UNREADABLE.iter().any(|error| value.ends_with(error)) {
            return false;
        }
        if attribute == "dev" {
            return dev_with_colon(value).is_some_and(|dev| system.set_dev(device, dev, at));
        }
        if let Some(name) = (attribute == "dm/name" && !value.is_empty()).then_some(value) {
            system.set_alias(device, name, at);
        }
        system.set_attribute(device, attribute, value, at)
    }
}
