//! Location of loop devices' backing files on the devices below.

use crate::system::System;
use trace::{Bytes, DevId, Sector};

/// A range of an upper device, and its location on a lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Number of the upper (loop) device.
    pub upper: DevId,
    /// First sector on the upper device.
    pub at: Sector,
    /// Length of the range in bytes.
    pub len: Bytes,
    /// Number of the disk below.
    pub lower: DevId,
    /// First sector on the disk below.
    pub lies: Sector,
}

impl System {
    /// Location of all loop devices' backing files. Requests of a partition are recorded with sectors of its disk, so the start of the
    /// partition is added.
    pub fn placed(&self) -> Vec<Placed> {
        let mut all = Vec::new();
        for device in self.devices.values().filter(|d| !d.extents.is_empty()) {
            let below = || {
                let lower = self.device(&device.lower.first()?.value)?;
                let disk = self.disk_of(&lower.name).unwrap_or(lower);
                let start = if disk.name == lower.name { 0 } else { lower.number("start")?.value };
                Some((device.dev.as_ref()?.value, disk.dev.as_ref()?.value, start))
            };
            let Some((upper, lower, start)) = below() else { continue };
            let offset = device.number("loop/offset").map_or(0, |n| n.value);
            for e in &device.extents {
                let skipped = offset.saturating_sub(e.file).min(e.len);
                let len = e.len - skipped;
                if len > 0 {
                    all.push(Placed {
                        upper,
                        at: Sector(
                            e.file.saturating_add(skipped).saturating_sub(offset) / trace::SECTOR_BYTES,
                        ),
                        len: Bytes(len),
                        lower,
                        lies: Sector(
                            (e.device.saturating_add(skipped) / trace::SECTOR_BYTES).saturating_add(start),
                        ),
                    });
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_device_on_a_partition() {
        let json = r#"{"before": {"disks": {
            "vda": {"dev": "254:0", "partitions": {"vda1": {"dev": "254:1", "start": 2048}}},
            "loop0": {"dev": "7:0", "loop": {"backing_file": "/img", "offset": 4096, "on": "vda1",
                "extents": {"list": [{"file": 0, "device": 1048576, "len": 8192}, {"file": 8192, "device": 0, "len": 512}]}}}
        }}}"#;
        let mut system = System::default();
        system.add_document("system.json", json.as_bytes());
        let (upper, lower) = (DevId::new(7, 0), DevId::new(254, 0));
        assert_eq!(
            system.placed(),
            [
                Placed { upper, at: Sector(0), len: Bytes(4096), lower, lies: Sector(2048 + 2056) },
                Placed { upper, at: Sector(8), len: Bytes(512), lower, lies: Sector(2048) },
            ]
        );
    }
}
