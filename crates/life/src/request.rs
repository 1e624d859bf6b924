//! A request that was completed: what the device was asked for, once.

use crate::contention::Contention;
use crate::holding::Owner;
use crate::names::TaskName;
use crate::op::{Class, Op};
use crate::timeline::Timeline;
use serde::Serialize;
use trace::{Bytes, Cpu, DevId, Flags, Sector, Tid};

/// A completed request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Request {
    /// The device.
    pub dev: DevId,
    /// The operation.
    pub op: Op,
    /// What kind: the flags of its first bio, or of its issue where no bio was seen.
    #[serde(skip)]
    pub flags: Flags,
    /// Where it started; 0 for a flush.
    pub start: Sector,
    /// How much it moved.
    pub bytes: Bytes,
    /// Who queued its first bio (issued it, where no bio was seen).
    pub tid: Tid,
    /// What that task was called then.
    #[serde(skip)]
    pub task: TaskName,
    /// Whose data it is, where another task sent it.
    #[serde(skip)]
    pub owner: Option<Owner>,
    /// Where it was queued.
    pub submit_cpu: Cpu,
    /// Where it was completed.
    pub complete_cpu: Cpu,
    /// How many bios it carried; 0 where none was seen.
    pub bios: u32,
    /// How many of these were merged into it.
    pub merges: u32,
    /// Whether one of its bios was split and went into other requests as well.
    pub split: bool,
    /// How large the pieces of that bio are on average; 0 if none was cut.
    #[serde(skip)]
    pub piece: Bytes,
    /// In how many steps it was completed.
    pub completions: u32,
    /// 0, or the error of its completion.
    pub error: u16,
    /// Its steps.
    pub time: Timeline,
    /// Who else was there.
    #[serde(skip)]
    pub contention: Contention,
}

impl Request {
    /// The class it competes in.
    pub fn class(&self) -> Class {
        Class::of(self.op, self.flags)
    }

    /// Whether it ended with an error: not where the device cannot do such a thing at all, or would have had to wait (`RWF_NOWAIT`).
    #[inline]
    pub fn failed(&self) -> bool {
        // As the low half of a negative number, or as a positive one.
        let number = self.error.min(self.error.wrapping_neg());
        !matches!(number, 0 | EAGAIN | EOPNOTSUPP)
    }
}

/// Numbers of errors (include/uapi/asm-generic/errno-base.h, errno.h).
const EAGAIN: u16 = 11;
const EOPNOTSUPP: u16 = 95;

#[cfg(test)]
#[test]
fn what_a_device_refuses_is_no_failure() {
    let failed = |error: i32| Request { error: error as u16, ..Request::default() }.failed();
    assert_eq!([-5, 5, -11, 11, -95, 0].map(failed), [true, true, false, false, false, false]);
}
