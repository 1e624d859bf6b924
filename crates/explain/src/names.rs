//! Names of operations on the command line, and of the steps of a journal commit.

use operation::{called, Kind};
use trace::CommitPhase;

/// All names of operations that `--op` accepts.
pub fn all_names() -> impl Iterator<Item = String> {
    Kind::all().map(called)
}

/// Whether no kind of operation has this name.
pub fn no_operation_is_called(name: &str) -> bool {
    !all_names().any(|known| known == name)
}

/// A step of a journal commit in words.
pub fn commit(phase: CommitPhase) -> &'static str {
    match phase {
        CommitPhase::Start => "the commit begins",
        CommitPhase::Locking => "commit, locking: until the transaction's open handles are closed",
        CommitPhase::Flushing => "commit, flushing: sending other files' data",
        CommitPhase::Logging => {
            "commit, logging: the journal's blocks, waiting for other files' data, the commit block"
        }
        CommitPhase::End => "after the commit",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_asked_for_by_their_names() {
        assert!(!no_operation_is_called("fsync") && !no_operation_is_called("page-fault"));
        assert!(no_operation_is_called("fsnyc") && no_operation_is_called(""));
    }
}
