//! The settings of a software RAID array (md), from `/sys/block/mdN/md/` or from `/proc/mdstat`.

use crate::device::Device;
use crate::fact::Fact;
use serde::Serialize;
use trace::Bytes;

/// An md array; documented in the kernel's Documentation/admin-guide/md.rst.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Md {
    /// `raid0`, `raid1`, `raid5`, `raid10`, `linear`, ...
    pub level: Option<Fact<String>>,
    /// Devices it is made for, spares not counted.
    pub raid_disks: Option<Fact<u64>>,
    /// How many of them are missing or failed.
    pub degraded: Option<Fact<u64>>,
    /// Data that lies on one device before the next one's turn.
    pub chunk_size: Option<Fact<Bytes>>,
    /// Parity layout number; 2 is left-symmetric.
    pub layout: Option<Fact<u64>>,
    /// What makes it consistent after a crash: `bitmap`, `journal`, `ppl`, `resync` or `none`.
    pub consistency_policy: Option<Fact<String>>,
    /// Entries of the stripe cache, each a page for every device (raid4, 5, 6).
    pub stripe_cache_size: Option<Fact<u64>>,
    /// Whether parity is made from the writer's pages without copying them; then those pages must be stable.
    pub skip_copy: Option<Fact<bool>>,
    /// Worker threads per group of processors (raid5, 6); 0 leaves all to the one raid thread.
    pub group_thread_cnt: Option<Fact<u64>>,
    /// 0 never read-modify-write, 1 when cheaper, 2 prefer it.
    pub rmw_level: Option<Fact<u64>>,
    /// `idle`, `resync`, `recover`, `check`, `repair`, `reshape`, `frozen`.
    pub sync_action: Option<Fact<String>>,
    /// The kernel names of the devices it is made of, spares and failed ones too.
    pub members: Vec<Fact<String>>,
}

impl Md {
    /// `None` if nothing says that the device is an array.
    pub(crate) fn of(device: &Device) -> Option<Md> {
        let is_array =
            device.attributes.keys().any(|key| key.starts_with("md/")) || !device.members.is_empty();
        is_array.then(|| Md {
            level: device.attribute("md/level"),
            raid_disks: device.number("md/raid_disks"),
            degraded: device.number("md/degraded"),
            chunk_size: device.bytes("md/chunk_size"),
            layout: device.number("md/layout"),
            consistency_policy: device.attribute("md/consistency_policy"),
            stripe_cache_size: device.number("md/stripe_cache_size"),
            skip_copy: device.flag("md/skip_copy"),
            group_thread_cnt: device.number("md/group_thread_cnt"),
            rmw_level: device.number("md/rmw_level"),
            sync_action: device.attribute("md/sync_action"),
            members: device.members.clone(),
        })
    }

    /// Whether it keeps a write-intent bitmap.
    pub fn bitmap(&self) -> Option<Fact<bool>> {
        self.consistency_policy.as_ref()?.read(|policy| Some(policy == "bitmap"))
    }
}
