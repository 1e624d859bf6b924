//! A file system that is unmounted and mounted again, for what can only be changed meanwhile: as it was, and not with the defaults.

use crate::words::shell;
use evidence::Mount;

/// Options that say how a file system is used, of any kind of it (mount(8), "FILESYSTEM-INDEPENDENT MOUNT OPTIONS"). What
/// `/proc/self/mountinfo` shows besides are often no options, or defaults.
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

/// What is mounted, and how.
pub(crate) struct Again {
    /// The device, as a word of a shell.
    pub source: String,
    target: String,
    options: Vec<String>,
}

impl Again {
    /// Of a mount, or where none is known of a device.
    pub fn of(mount: Option<&Mount>, dev: &str) -> Again {
        let Some(mount) = mount else {
            return Again { source: format!("/dev/{dev}"), target: "/MOUNTPOINT".into(), options: vec![] };
        };
        let kept = mount.options.iter().filter(|option| KEPT.contains(&option.as_str()));
        Again { source: shell(&mount.source), target: shell(&mount.target), options: kept.cloned().collect() }
    }

    /// The command that does something while it is unmounted.
    pub fn after(&self, command: &str) -> String {
        format!("umount {} && {command} && {}", self.target, self.mount(&self.options))
    }

    /// The command that mounts it with one option more.
    pub fn with(&self, option: &str) -> String {
        let options: Vec<String> = self.options.iter().cloned().chain([option.to_string()]).collect();
        format!("umount {} && {}", self.target, self.mount(&options))
    }

    /// The command that mounts it without an option.
    pub fn without(&self, option: &str) -> String {
        let options: Vec<String> = self.options.iter().filter(|known| *known != option).cloned().collect();
        format!("umount {} && {}", self.target, self.mount(&options))
    }

    /// The command that changes an option while it is mounted.
    pub fn as_it_is(&self, option: &str) -> String {
        format!("mount -o remount,{option} {}", self.target)
    }

    fn mount(&self, options: &[String]) -> String {
        let with = if options.is_empty() { String::new() } else { format!("-o {} ", options.join(",")) };
        format!("mount {with}{} {}", self.source, self.target)
    }
}
