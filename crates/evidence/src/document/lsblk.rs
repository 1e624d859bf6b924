//! Reads the table of lsblk(8): device names and numbers, and names of device-mapper devices.
//!
//! ```text
//! NAME          MAJ:MIN RM  SIZE RO TYPE  MOUNTPOINTS
//! vda           254:0    0  256G  0 disk
//! └─vda1        254:1    0  255G  0 part
//!   └─vg-root   253:0    0   20G  0 lvm   /
//! ```
//!
//! Sizes are rounded, so they are ignored.

use super::dev::dev_with_colon;
use super::kind::Kind;
use crate::fact::At;
use crate::system::System;

/// Index of the column TYPE; `None` before the header.
#[derive(Default)]
pub struct Lsblk {
    type_column: Option<usize>,
}

/// TYPEs of device-mapper devices: lsblk prints the mapping's name, the kernel's is `dm-MINOR` (drivers/md/dm.c).
const MAPPED: [&str; 4] = ["lvm", "crypt", "mpath", "dm"];

impl Kind for Lsblk {
    fn name(&self) -> &'static str {
        "lsblk"
    }

    fn line(&mut self, line: &str, at: &At, system: &mut System) -> bool {
        let words: Vec<&str> = line.split_whitespace().collect();
        if matches!(words[..], ["NAME" | "KNAME", "MAJ:MIN", ..]) {
            self.type_column = words.iter().position(|word| *word == "TYPE");
            return self.type_column.is_some();
        }
        let Some(type_column) = self.type_column else { return false };
        let row = line.trim_start_matches(['├', '└', '─', '│', '|', '`', '-', ' ']);
        let words: Vec<&str> = row.split_whitespace().collect();
        let (Some(name), Some(dev)) = (words.first(), words.get(1).and_then(|w| dev_with_colon(w))) else {
            return false;
        };
        match words.get(type_column) {
            Some(kind) if MAPPED.contains(kind) => {
                let kernel_name = format!("dm-{}", dev.minor());
                system.set_dev(&kernel_name, dev, at) && system.set_alias(&kernel_name, name, at)
            }
            _ => system.set_dev(name, dev, at),
        }
    }
}
