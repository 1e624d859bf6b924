//! Units as types: a time is not a sector is not a byte count.
//!
//! Arithmetic saturates, because inputs are hostile: a wrapped `u64` would look like a fact.

use serde::Serialize;
use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A point in time, or a length of time, in nanoseconds. Points count from the zero of the trace's own clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// One second.
    pub const SECOND: Nanos = Nanos(1_000_000_000);

    /// The time from `earlier` to `self`; zero if the clock stepped backwards in between.
    pub fn since(self, earlier: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }

    /// As seconds, for rates and for printing.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

/// An address on a block device in units of 512 bytes, whatever the device's own block size
/// (`sector_t`, include/linux/blk_types.h).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(transparent)]
pub struct Sector(pub u64);

/// Bytes in a [`Sector`] (`SECTOR_SIZE`).
pub const SECTOR_BYTES: u64 = 512;

impl Sector {
    /// The first sector after an extent of `len` bytes that starts here.
    pub fn after(self, len: Bytes) -> Sector {
        Sector(self.0.saturating_add(len.sectors()))
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Whole sectors in it, as the kernel counts them (`>> 9`).
    pub fn sectors(self) -> u64 {
        self.0 / SECTOR_BYTES
    }

    /// The bytes of `sectors` sectors.
    pub fn from_sectors(sectors: u64) -> Bytes {
        Bytes(sectors.saturating_mul(SECTOR_BYTES))
    }
}

macro_rules! saturating {
    ($($t:ident),*) => {$(
        impl Add for $t {
            type Output = $t;
            fn add(self, o: $t) -> $t { $t(self.0.saturating_add(o.0)) }
        }
        impl Sub for $t {
            type Output = $t;
            fn sub(self, o: $t) -> $t { $t(self.0.saturating_sub(o.0)) }
        }
        impl AddAssign for $t {
            fn add_assign(&mut self, o: $t) { *self = *self + o }
        }
        impl std::iter::Sum for $t {
            fn sum<I: Iterator<Item = $t>>(i: I) -> $t { i.fold($t(0), |a, b| a + b) }
        }
    )*};
}
saturating!(Nanos, Bytes);

/// A block device number: major and minor as the kernel packs them (`MKDEV`, 12 and 20 bits).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(into = "String")]
pub struct DevId(pub u32);

impl DevId {
    /// Packs a major and a minor number; bits that the kernel's `dev_t` has no room for are dropped.
    pub fn new(major: u32, minor: u32) -> DevId {
        DevId((major << 20) | (minor & 0xf_ffff))
    }

    /// Selects the driver: 8 is SCSI disks, 9 md, 7 loop; 240 to 254 are given out at run time.
    pub fn major(self) -> u32 {
        self.0 >> 20
    }

    /// Selects the device of that driver.
    pub fn minor(self) -> u32 {
        self.0 & 0xf_ffff
    }
}

impl fmt::Display for DevId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.major(), self.minor())
    }
}

impl From<DevId> for String {
    fn from(d: DevId) -> String {
        d.to_string()
    }
}

/// A thread, as the kernel's `pid_t` (what user space calls a thread id).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(transparent)]
pub struct Tid(pub u32);

/// A processor number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(transparent)]
pub struct Cpu(pub u32);
