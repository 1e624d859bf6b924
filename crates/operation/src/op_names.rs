//! Names of kinds of operations on the command line.

use crate::operation::Kind;
use trace::Call;

/// Name of a kind of operation on the command line: `io_uring-read`.
pub fn called(kind: Kind) -> String {
    kind.name().replace(' ', "-")
}

/// Names that select a kind: its own, and that of the system call with the same effect, so that `read` selects all reads.
pub(crate) fn names_of(kind: Kind) -> Vec<String> {
    let by_call = match kind {
        Kind::RingRead | Kind::AioRead => Some(Call::Read),
        Kind::RingWrite | Kind::AioWrite => Some(Call::Write),
        Kind::RingSync => Some(Call::Fsync),
        _ => None,
    };
    by_call.map(Kind::Call).into_iter().chain([kind]).map(called).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `read` selects reads by any interface; the name of one kind selects that kind only.
    #[test]
    fn reads_through_a_ring_are_reads() {
        let of = |kind| names_of(kind).join(" ");
        assert_eq!(
            (of(Kind::AioRead), of(Kind::RingSync)),
            ("read libaio-read".into(), "fsync io_uring-fsync".into())
        );
        assert_eq!((of(Kind::Call(Call::Read)), of(Kind::RingOther)), ("read".into(), "io_uring".into()));
    }
}
