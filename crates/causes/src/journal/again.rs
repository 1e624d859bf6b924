//! Unmounts and mounts a file system, for changes that need it: with its own options, not with the defaults.

use evidence::Mount;
use units::words::shell;

/// Options that say how a file system of any type is used (mount(8), "FILESYSTEM-INDEPENDENT MOUNT OPTIONS"). Other
/// words in `/proc/self/mountinfo` are often no options, or defaults.
const KEPT: [&str; 11] = [
    "ro",
    "noatime",
    "nodiratime",
    "strictatime",
    "lazytime",
    "nosuid",
    "nodev",
    "noexec",
    "sync",
    "dirsync",
    "discard",
];

/// How a file system was mounted.
pub(crate) struct Again {
    /// The device, quoted for the shell.
    pub source: String,
    target: String,
    options: Vec<String>,
}

impl Again {
    /// From a mount, or from a device's name if no mount is known.
    pub fn of(mount: Option<&Mount>, dev: &str) -> Again {
        let Some(mount) = mount else {
            return Again { source: format!("/dev/{dev}"), target: "/MOUNTPOINT".into(), options: vec![] };
        };
        let kept = mount.options.iter().filter(|option| KEPT.contains(&option.as_str()));
        Again { source: shell(&mount.source), target: shell(&mount.target), options: kept.cloned().collect() }
    }

    /// The command that unmounts the file system, runs `command` and mounts it again.
    pub fn after(&self, command: &str) -> String {
        format!("umount {} && {command} && {}", self.target, self.mount(&self.options))
    }

    /// The command that mounts it again with one more option.
    pub fn with(&self, option: &str) -> String {
        let options: Vec<String> = self.options.iter().cloned().chain([option.to_string()]).collect();
        format!("umount {} && {}", self.target, self.mount(&options))
    }

    /// The command that mounts it again without an option.
    pub fn without(&self, option: &str) -> String {
        let options: Vec<String> = self.options.iter().filter(|known| *known != option).cloned().collect();
        format!("umount {} && {}", self.target, self.mount(&options))
    }

    /// The command that changes an option without unmounting.
    pub fn as_it_is(&self, option: &str) -> String {
        format!("mount -o remount,{option} {}", self.target)
    }

    fn mount(&self, options: &[String]) -> String {
        let with = if options.is_empty() { String::new() } else { format!("-o {} ", options.join(",")) };
        format!("mount {with}{} {}", self.source, self.target)
    }
}
