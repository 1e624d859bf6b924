//! A minimal request.

use life::{Request, Timeline};
use trace::{Bytes, DevId, Flags, Sector, Tid};

/// A read of 4 KiB at sector 8 by task 7, alone in the device. A test sets the fields that it is about.
pub fn plain_read(dev: DevId, time: Timeline) -> Request {
    let (flags, start, bytes) = (Flags::READ, Sector(8), Bytes(4096));
    Request { dev, flags, start, bytes, tid: Tid(7), bios: 1, completions: 1, time, ..Request::default() }
}
