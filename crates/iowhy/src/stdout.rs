//! Standard output: where what a command prints goes.

use crate::clean::clean;
use crate::failure::Failure;
use serde::Serialize;
use std::io::Write;

/// Writes a text to standard output, without harmful characters; a closed pipe is a normal end.
pub fn print(text: &str) -> Result<(), Failure> {
    print_as_it_is(&clean(text))
}

/// Writes a document to standard output as indented JSON.
pub fn print_json(document: &impl Serialize) -> Result<(), Failure> {
    print(&(serde_json::to_string_pretty(document).unwrap_or_default() + "\n"))
}

/// Writes a text to standard output that is safe already, such as one with colours of its own.
pub fn print_as_it_is(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::write("standard output"))
}
