//! Requests as links of a chain: pieces of a bio that was cut, and blocks that are not whole, are told apart.

use crate::chain::Link;
use life::Op;
use operation::Done;
use trace::Bytes;

/// A write that ends or begins within a page: the file system's block on all Linux file systems by default (mkfs.ext4(8),
/// mkfs.xfs(8)).
const BLOCK: u64 = 4096;

/// What a request is, as a link: pieces of a bio that was cut, and blocks that are not whole, are told apart.
pub(crate) fn request_link(done: &Done) -> Link {
    match done {
        Done::Request(r) => {
            Link::Request(r.op, r.split, r.op == Op::Write && is_ragged(r.start.0 * 512, r.bytes))
        }
        Done::Bio(b) => {
            Link::Request(b.op, b.pieces > 1, b.op == Op::Write && is_ragged(b.start.0 * 512, b.bytes))
        }
    }
}

/// Whether an extent cuts a block at either end.
pub(crate) fn is_ragged(at: u64, bytes: Bytes) -> bool {
    at % BLOCK != 0 || bytes.0 % BLOCK != 0
}
