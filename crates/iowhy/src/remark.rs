//! What is said beside an answer, on standard error. Nobody need read it: where it cannot be written, the answer and the exit status are
//! what they are.

/// A line on standard error, formatted as by `println!`.
macro_rules! remark {
    ($($words:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}
