//! Device numbers as documents write them.

use trace::DevId;

/// A device number from decimal major and minor; `None` if they exceed the kernel's `dev_t`.
pub(crate) fn dev(major: &str, minor: &str) -> Option<DevId> {
    let (major, minor) = (major.parse().ok()?, minor.parse().ok()?);
    let dev = DevId::new(major, minor);
    (dev.major() == major && dev.minor() == minor).then_some(dev)
}

/// A device number in the form `254:0`.
pub(crate) fn dev_with_colon(text: &str) -> Option<DevId> {
    let (major, minor) = text.split_once(':')?;
    dev(major, minor)
}
