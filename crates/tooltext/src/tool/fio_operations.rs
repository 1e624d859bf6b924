//! The names of operations in the text of fio.

/// Operations that have rows, as fio 2 and 3 print them (`io_ddir_name`; `READ` in the group's summary).
pub(super) const OPERATIONS: [&str; 4] = ["read", "write", "trim", "sync"];

/// Operations in the summary of a group, and the names of their rows.
pub(super) const OF_ALL: [(&str, &str); 3] = [("READ", "read"), ("WRITE", "write"), ("TRIM", "trim")];
