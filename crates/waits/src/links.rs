//! Requests as links of a chain: pieces of a bio that was cut, and blocks that are not whole, are told apart.

use crate::chain::Link;
use life::Op;
use operation::Done;
use trace::{Bytes, Sector};

/// A write that ends or begins within a page: the file system's block on all Linux file systems by default (mkfs.ext4(8),
/// mkfs.xfs(8)).
const BLOCK: u64 = 4096;

/// The flush that a write waits for, before its data or after it.
pub(crate) const FLUSH: Link = Link::Request(Op::Flush, false, false);

/// What a request is, as a link: pieces of a bio that was cut, and blocks that are not whole, are told apart.
pub(crate) fn request_link(done: &Done) -> Link {
    match done {
        Done::Request(r) => Link::Request(r.op, r.split, r.op == Op::Write && is_ragged(r.start, r.bytes)),
        Done::Bio(b) => Link::Request(b.op, b.pieces > 1, b.op == Op::Write && is_ragged(b.start, b.bytes)),
    }
}

/// Whether an extent cuts a block at either end.
pub(crate) fn is_ragged(at: Sector, bytes: Bytes) -> bool {
    at.0 % Bytes(BLOCK).sectors() != 0 || bytes.0 % BLOCK != 0
}
