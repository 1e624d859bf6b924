//! How an export finds the names of devices.

use trace::DevId;

/// Returns the name of a device.
pub type DeviceNames = Box<dyn Fn(DevId) -> String>;
