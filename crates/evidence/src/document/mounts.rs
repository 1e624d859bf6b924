//! Reads `/proc/mounts` (format of fstab(5)), `/proc/self/mountinfo` (proc_pid_mountinfo(5)) and the output of mount(8).
//!
//! ```text
//! /dev/vda1 /mnt ext4 rw,relatime,data=ordered 0 0
//! 67 44 7:0 / /mnt/lab rw,relatime shared:3 - xfs /dev/loop0 rw,noquota
//! /dev/vda1 on /mnt type ext4 (rw,relatime,data=ordered)
//! ```

use super::dev::dev_with_colon;
use super::kind::Kind;
use crate::fact::At;
use crate::mount::Mount;
use crate::system::System;
use capture::{mountinfo, unescaped};
use trace::DevId;

pub struct Mounts;

impl Kind for Mounts {
    fn name(&self) -> &'static str {
        "mounts"
    }

    fn line(&mut self, line: &str, at: &At, system: &mut System) -> bool {
        let words: Vec<&str> = line.split(' ').collect();
        let found = mounted(line, at).or_else(|| proc_mounts(&words, at)).or_else(|| printed(&words, at));
        let Some(mount) = found else { return false };
        if let Some(dev) = mount.dev {
            name_device(&mount.source, dev, at, system);
        }
        system.set_mount(mount)
    }
}

fn proc_mounts(words: &[&str], at: &At) -> Option<Mount> {
    let &[source, target, fstype, options, dump, pass] = words else { return None };
    let (_, _): (u32, u32) = (dump.parse().ok()?, pass.parse().ok()?);
    mount(unescaped(source), unescaped(target), fstype, &[options], None, at)
}

/// A line of mount(8), optionally followed by a label in brackets.
fn printed(words: &[&str], at: &At) -> Option<Mount> {
    let &[source, "on", target, "type", fstype, options, ..] = words else { return None };
    let options = options.strip_prefix('(')?.strip_suffix(')')?;
    mount(unescaped(source), unescaped(target), fstype, &[options], None, at)
}

fn mounted(line: &str, at: &At) -> Option<Mount> {
    let m = mountinfo(line)?.mount;
    mount(m.source, m.point, &m.fstype, &[&m.options, &m.super_options], Some(dev_with_colon(&m.dev)?), at)
}

/// A mount from its fields: `source` and `target` without escapes, options as the kernel prints them.
pub(super) fn mount(
    source: String,
    target: String,
    fstype: &str,
    options: &[&str],
    dev: Option<DevId>,
    at: &At,
) -> Option<Mount> {
    // The target is always a path; "none" is printed for a mount outside the reader's tree.
    if !(target.starts_with('/') || target == "none") || fstype.is_empty() {
        return None;
    }
    let mut all: Vec<String> = Vec::new();
    for option in options.iter().flat_map(|list| list.split(',')) {
        let option = unescaped(option);
        if !option.is_empty() && !all.contains(&option) {
            all.push(option);
        }
    }
    Some(Mount { source, target, fstype: fstype.to_owned(), options: all, dev, at: at.clone() })
}

/// Assigns a mount's device number to the device in its source.
pub(super) fn name_device(source: &str, dev: DevId, at: &At, system: &mut System) {
    // Major 0 is no block device. "/dev/root" is a placeholder.
    let Some(name) = source.strip_prefix("/dev/").filter(|name| dev.major() != 0 && *name != "root") else {
        return;
    };
    match name.strip_prefix("mapper/") {
        // Everything in this folder is a device-mapper device, which the kernel names dm-MINOR (drivers/md/dm.c).
        Some(alias) => {
            let kernel_name = format!("dm-{}", dev.minor());
            system.set_dev(&kernel_name, dev, at);
            system.set_alias(&kernel_name, alias, at);
        }
        // A path of several components may be a link (/dev/vg/root, /dev/disk/by-uuid/...): it gives no name.
        None if name.contains('/') => {}
        None => {
            system.set_dev(name, dev, at);
        }
    }
}
