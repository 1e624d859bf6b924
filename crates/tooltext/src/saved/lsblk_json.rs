//! Reads `lsblk -J`: disks with named columns; devices on a disk are in its `children`, and share its settings.
//!
//! ```text
//! {"blockdevices": [ {"name": "sda", "rota": true, "sched": "mq-deadline", "rq-size": 64, "ra": 128, "children": [ .. ]} ]}
//! ```
//!
//! Older versions quote all values: `"rota": "1"`.
//!
//! **Versions**: util-linux 2.38.1 run, older ones by published texts.

use super::json::{field, fields, items, text, Document, Value};
use crate::output::lsblk;
use crate::output::reading::Setting;

/// The settings of the disks. `None` if it is not lsblk's.
pub(super) fn settings(d: &Document, value: Value) -> Option<Vec<Setting>> {
    let disks = items(field(&fields(value), "blockdevices")?);
    let of_disk = |disk: Value| {
        let all = fields(disk);
        let of = |column: &str| {
            let value = field(&all, &column.to_lowercase())?;
            Some(match value.get() {
                "true" => "1".to_owned(),
                "false" => "0".to_owned(),
                "null" => String::new(),
                _ => text(value),
            })
        };
        let told = lsblk::told_of(&|column| of(column)).unwrap_or_default();
        told.into_iter().map(|(name, value)| Setting { name, value, at: d.at(disk) }).collect::<Vec<_>>()
    };
    Some(disks.into_iter().flat_map(of_disk).collect())
}
