//! A completed request: one command to the device.

use crate::contention::Contention;
use crate::op::{Class, Op};
use crate::owner::Owner;
use crate::task_name::TaskName;
use crate::timeline::Timeline;
use serde::Serialize;
use trace::{Bytes, Cpu, DevId, Flags, Sector, Tid};

/// A completed request, with the time of each step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Request {
    /// Device that served it.
    pub dev: DevId,
    /// Read, write, flush and so on.
    pub op: Op,
    /// Kind flags of its first bio, or of its issue if no bio was seen.
    #[serde(skip)]
    pub flags: Flags,
    /// First sector; 0 for a flush.
    pub start: Sector,
    /// Bytes moved.
    pub bytes: Bytes,
    /// Task that queued its first bio (that issued it, if no bio was seen).
    pub tid: Tid,
    /// Name of that task at that time.
    #[serde(skip)]
    pub task: TaskName,
    /// Owner of the data, if another task sent it.
    #[serde(skip)]
    pub owner: Option<Owner>,
    /// CPU on which it was queued.
    pub submit_cpu: Cpu,
    /// CPU on which it was completed.
    pub complete_cpu: Cpu,
    /// Number of bios in it; 0 if none was seen.
    pub bios: u32,
    /// Number of these bios that were merged into it.
    pub merges: u32,
    /// Whether one of its bios was split and went into other requests as well.
    pub split: bool,
    /// Average size of the pieces of that bio; 0 if none was split.
    #[serde(skip)]
    pub piece: Bytes,
    /// Number of completion events; more than 1 if it was completed in parts.
    pub completions: u32,
    /// Error of its completion as the kernel reports it; 0 if none.
    pub error: u16,
    /// Timestamps of its steps.
    pub time: Timeline,
    /// What else was in the device or passed it in the scheduler.
    #[serde(skip)]
    pub contention: Contention,
}

impl Request {
    /// The class by which contention is counted.
    pub fn class(&self) -> Class {
        Class::of(self.op, self.flags)
    }

    /// Whether it ended with an error. `EOPNOTSUPP` (not supported by the device) and `EAGAIN` (`RWF_NOWAIT`) do not count.
    #[inline]
    pub fn failed(&self) -> bool {
        // The number can be the low half of a negative errno, or a positive errno.
        let number = self.error.min(self.error.wrapping_neg());
        !matches!(number, 0 | EAGAIN | EOPNOTSUPP)
    }
}

/// Error numbers (include/uapi/asm-generic/errno-base.h, errno.h).
const EAGAIN: u16 = 11;
const EOPNOTSUPP: u16 = 95;

#[cfg(test)]
#[test]
fn what_a_device_refuses_is_no_failure() {
    let failed = |error: i32| Request { error: error as u16, ..Request::default() }.failed();
    assert_eq!([-5, 5, -11, 11, -95, 0].map(failed), [true, true, false, false, false, false]);
}
