//! Remarks beside an answer, on standard error. They are optional: if they cannot be written, the answer and the exit status are
//! the same.

/// Writes a line to standard error, formatted like `println!`.
macro_rules! remark {
    ($($words:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}
