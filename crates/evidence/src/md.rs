//! The settings of a software RAID array (md), from `/sys/block/mdN/md/` or `/proc/mdstat`.

use crate::device::Device;
use crate::fact::Fact;
use serde::Serialize;
use trace::Bytes;

/// An md array; see the kernel's Documentation/admin-guide/md.rst.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Md {
    /// `raid0`, `raid1`, `raid5`, `raid10`, `linear`, ...
    pub level: Option<Fact<String>>,
    /// Number of devices that the array is made for, not counting spares.
    pub raid_disks: Option<Fact<u64>>,
    /// Number of these that are missing or failed.
    pub degraded: Option<Fact<u64>>,
    /// Bytes of data on one device before the next device follows.
    pub chunk_size: Option<Fact<Bytes>>,
    /// Number of the parity layout; 2 is left-symmetric.
    pub layout: Option<Fact<u64>>,
    /// Mechanism for consistency after a crash: `bitmap`, `journal`, `ppl`, `resync` or `none`.
    pub consistency_policy: Option<Fact<String>>,
    /// Entries of the stripe cache, each one page per device (raid4, 5, 6).
    pub stripe_cache_size: Option<Fact<u64>>,
    /// Whether parity is computed from the writer's pages without a copy; these pages must then be stable.
    pub skip_copy: Option<Fact<bool>>,
    /// Worker threads per group of processors (raid5, 6); with 0, the raid thread does all work.
    pub group_thread_cnt: Option<Fact<u64>>,
    /// Use of read-modify-write: 0 never, 1 if cheaper, 2 preferred.
    pub rmw_level: Option<Fact<u64>>,
    /// Current activity: `idle`, `resync`, `recover`, `check`, `repair`, `reshape`, `frozen`.
    pub sync_action: Option<Fact<String>>,
    /// Names of the member devices, including spares and failed ones.
    pub members: Vec<Fact<String>>,
}

impl Device {
    /// The settings of an md array; `None` for other devices.
    pub fn md(&self) -> Option<Md> {
        Md::of(self)
    }
}

impl Md {
    /// The array's settings; `None` if no document shows that the device is an array.
    fn of(device: &Device) -> Option<Md> {
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

    /// Whether it has a write-intent bitmap.
    pub fn bitmap(&self) -> Option<Fact<bool>> {
        self.consistency_policy.as_ref()?.read(|policy| Some(policy == "bitmap"))
    }
}
