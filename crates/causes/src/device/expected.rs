//! What Linux expects of a device: whether it rotates, and how long its requests may take.

use crate::case::Case;
use crate::hardware::Hardware;
pub use crate::thresholds::healthy::{EXPECTED_DISK, EXPECTED_FLASH};
use evidence::Fact;
use trace::{DevId, Nanos};

/// Whether a device rotates; `None` if that is not known. A guest's disk reports that it rotates whatever is below it:
/// its driver is not told (drivers/block/virtio_blk.c, xen-blkfront.c).
pub(crate) fn rotational(case: &Case, dev: DevId) -> Option<Fact<bool>> {
    let said = case.settings(dev)?.rotational()?;
    (!said.value || !is_guests(case, dev)).then_some(said)
}

/// Whether it is a disk of a virtual machine by its name: `vda`, `xvda`.
pub(crate) fn is_guests(case: &Case, dev: DevId) -> bool {
    Hardware::of(&case.name(dev)) == Hardware::Guest
}

/// The latency that Linux expects of a device, and the kind of device in words.
pub(crate) fn expected(rotational: &Option<Fact<bool>>) -> (Nanos, String) {
    match rotational {
        Some(r) if r.value => (EXPECTED_DISK, format!("a rotating disk (rotational is 1, {})", r.at)),
        Some(r) => (EXPECTED_FLASH, format!("a non-rotating device (rotational is 0, {})", r.at)),
        None => (EXPECTED_FLASH, "a non-rotating device".into()),
    }
}
