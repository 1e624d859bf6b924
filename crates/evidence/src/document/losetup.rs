//! Reads the table of losetup(8): loop devices and their backing files.
//!
//! ```text
//! NAME       SIZELIMIT OFFSET AUTOCLEAR RO BACK-FILE           DIO LOG-SEC
//! /dev/loop0         0      0         0  0 /mnt/slowdev/disk   1     512
//! ```

use super::kind::Kind;
use crate::fact::At;
use crate::system::System;

/// The columns of the table; empty before its header.
#[derive(Default)]
pub struct Losetup {
    columns: Vec<String>,
}

/// Columns that correspond to a sysfs file (below `/sys/block/loopN/`).
const IN_SYSFS: [(&str, &str); 7] = [
    ("SIZELIMIT", "loop/sizelimit"),
    ("OFFSET", "loop/offset"),
    ("AUTOCLEAR", "loop/autoclear"),
    ("BACK-FILE", "loop/backing_file"),
    ("DIO", "loop/dio"),
    ("RO", "ro"),
    ("LOG-SEC", "queue/logical_block_size"),
];

impl Kind for Losetup {
    fn name(&self) -> &'static str {
        "losetup"
    }

    fn line(&mut self, line: &str, at: &At, system: &mut System) -> bool {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.first() == Some(&"NAME") && words.contains(&"BACK-FILE") {
            self.columns = words.into_iter().map(str::to_owned).collect();
            return true;
        }
        let Some(device) = words.first().and_then(|name| name.strip_prefix("/dev/")) else { return false };
        // Only the backing file may contain spaces: columns left of it count from the left, the others from the right.
        let Some(file) = self.columns.iter().position(|column| column == "BACK-FILE") else { return false };
        let Some(spaces) = words.len().checked_sub(self.columns.len()) else { return false };
        for (i, column) in self.columns.iter().enumerate() {
            let value = match i {
                _ if i < file => words[i].to_owned(),
                _ if i > file => words[i + spaces].to_owned(),
                _ => words[i..=i + spaces].join(" "),
            };
            if let Some((_, path)) = IN_SYSFS.iter().find(|(name, _)| name == column) {
                if !system.set_attribute(device, path, &value, at) {
                    return false;
                }
            }
        }
        true
    }
}
