//! What operations are called on the command line.

use operation::{Kind, Operation};

/// Its name without blanks: `io_uring-read`.
fn plain(kind: Kind) -> String {
    kind.name().replace(' ', "-")
}

/// The names that may be asked for.
pub fn all_names() -> impl Iterator<Item = String> {
    Kind::all().map(plain)
}

/// Whether no kind of operation has this name.
pub fn no_operation_is_called(name: &str) -> bool {
    !all_names().any(|known| known == name)
}

/// Whether an operation is of the kind with this name.
pub(super) fn is_called(o: &Operation, name: &str) -> bool {
    plain(o.kind) == name
}
