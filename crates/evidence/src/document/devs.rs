//! Reads `ls -l /dev/...` and `/proc/partitions`: numbers, links and sizes of devices.
//!
//! ```text
//! brw-rw---- 1 root disk 254, 0 Nov 20 10:38 /dev/vda
//! lrwxrwxrwx 1 root root      7 Nov 20 10:38 /dev/mapper/vg-root -> ../dm-0
//! major minor  #blocks  name
//!  254        0  268435456 vda
//! ```

use super::dev::dev;
use super::kind::Kind;
use crate::device::PARTITIONS_KIB;
use crate::fact::At;
use crate::system::System;

/// Whether the header of `/proc/partitions` has been read.
#[derive(Default)]
pub struct Devs {
    partitions: bool,
}

impl Kind for Devs {
    fn name(&self) -> &'static str {
        "devs"
    }

    fn line(&mut self, line: &str, at: &At, system: &mut System) -> bool {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["major", "minor", "#blocks", "name"] => {
                self.partitions = true;
                true
            }
            [major, minor, blocks, name] if self.partitions => {
                match (dev(major, minor), blocks.parse::<u64>()) {
                    (Some(dev), Ok(_)) => {
                        system.set_dev(name, dev, at)
                            && system.set_attribute(name, PARTITIONS_KIB, blocks, at)
                    }
                    _ => false,
                }
            }
            [mode, _links, _owner, _group, ref rest @ ..] => listed(mode, rest, at, system),
            _ => false,
        }
    }
}

/// Reads a line of `ls -l`; `rest` begins after the group.
fn listed(mode: &str, rest: &[&str], at: &At, system: &mut System) -> bool {
    let permissions = |mode: &str| mode.get(1..).is_some_and(|m| m.starts_with(['r', '-']) && m.len() >= 9);
    if !permissions(mode) {
        return false;
    }
    match (mode.as_bytes()[0], rest) {
        // "254, 0", or "254,0" if columns are narrow. The listing of a folder has names without "/dev/".
        (b'b', [number, more @ .., path]) => {
            let Some((major, minor)) = number.split_once(',') else { return false };
            let minor = if minor.is_empty() { more.first().copied().unwrap_or("") } else { minor };
            let name = path.strip_prefix("/dev/").unwrap_or(path);
            match (dev(major, minor), name.strip_prefix("mapper/")) {
                (Some(dev), None) => system.set_dev(&name.replace('/', "!"), dev, at),
                // Some systems have device nodes there instead of links.
                (Some(dev), Some(alias)) => {
                    let kernel_name = format!("dm-{}", dev.minor());
                    system.set_dev(&kernel_name, dev, at) && system.set_alias(&kernel_name, alias, at)
                }
                (None, _) => false,
            }
        }
        (b'l', [.., path, "->", target]) => match target.strip_prefix("../").unwrap_or(target) {
            // Only links to device-mapper nodes give a device a name that people use.
            kernel_name if kernel_name.starts_with("dm-") => {
                let name = path.rsplit('/').next().unwrap_or(path);
                system.set_alias(kernel_name, name, at)
            }
            _ => true,
        },
        (b'c' | b'd' | b'-' | b's' | b'p', _) => true,
        _ => false,
    }
}
