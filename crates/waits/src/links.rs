//! Requests as links of a chain: pieces of a split bio, and writes of partial blocks, are distinguished.

use crate::chain::Link;
use life::Op;
use operation::Done;
use trace::{Bytes, Sector};

/// The block size of file systems: by default one page on all Linux file systems (mkfs.ext4(8), mkfs.xfs(8)). A write that begins or ends
/// within a block is ragged.
const BLOCK: u64 = 4096;

/// The flush that a write waits for, before or after its data.
pub(crate) const FLUSH: Link = Link::Request(Op::Flush, false, false);

/// The link of a request: pieces of a split bio, and writes of partial blocks, are distinguished.
pub(crate) fn request_link(done: &Done) -> Link {
    match done {
        Done::Request(r) => Link::Request(r.op, r.split, r.op == Op::Write && is_ragged(r.start, r.bytes)),
        Done::Bio(b) => Link::Request(b.op, b.pieces > 1, b.op == Op::Write && is_ragged(b.start, b.bytes)),
    }
}

/// Whether an extent begins or ends within a block.
pub(crate) fn is_ragged(at: Sector, bytes: Bytes) -> bool {
    at.0 % Bytes(BLOCK).sectors() != 0 || bytes.0 % BLOCK != 0
}
