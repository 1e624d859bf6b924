//! A request as plain as it can be.

use life::{Op, Request, TaskName, Timeline};
use trace::{Bytes, Cpu, DevId, Flags, Sector, Tid};

/// A read of 4 KiB at sector 8 by task 7, alone in the device: what a test is about it sets itself.
pub fn plain_read(dev: DevId, time: Timeline) -> Request {
    Request {
        dev,
        op: Op::Read,
        flags: Flags::READ,
        start: Sector(8),
        bytes: Bytes(4096),
        tid: Tid(7),
        task: TaskName(0),
        submit_cpu: Cpu(0),
        complete_cpu: Cpu(0),
        bios: 1,
        merges: 0,
        split: false,
        completions: 1,
        error: 0,
        time,
        company: Default::default(),
    }
}
