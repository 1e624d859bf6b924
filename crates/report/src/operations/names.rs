//! What operations are called on the command line.

use operation::{Kind, Operation};
use trace::Call;

/// All kinds that are ledgers' subjects.
fn kinds() -> impl Iterator<Item = Kind> {
    use Call::*;
    let calls = [
        Read,
        Write,
        Fsync,
        Fdatasync,
        Sync,
        Syncfs,
        SyncFileRange,
        Msync,
        Open,
        Close,
        Unlink,
        Rename,
        Truncate,
        Fallocate,
        Getdents,
        Sendfile,
        CopyFileRange,
        IoSubmit,
        IoGetevents,
        IoUringEnter,
    ];
    let others = [
        Kind::PageFault,
        Kind::RingRead,
        Kind::RingWrite,
        Kind::RingSync,
        Kind::RingOther,
        Kind::AioRead,
        Kind::AioWrite,
        Kind::JournalCommit,
        Kind::Writeback,
    ];
    calls.into_iter().map(Kind::Call).chain(others)
}

/// Its name without blanks: `io_uring-read`.
fn plain(kind: Kind) -> String {
    kind.name().replace(' ', "-")
}

/// The names that may be asked for.
pub fn all_names() -> impl Iterator<Item = String> {
    kinds().map(plain)
}

/// Whether no kind of operation has this name.
pub fn no_operation_is_called(name: &str) -> bool {
    !all_names().any(|known| known == name)
}

/// Whether an operation is of the kind with this name.
pub(super) fn is_called(o: &Operation, name: &str) -> bool {
    plain(o.kind) == name
}
