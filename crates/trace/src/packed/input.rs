//! The bytes of a tar, with a limit on the bytes of headers.
//!
//! A tar may claim that the next file's name has a gigabyte, and the `tar` crate would believe it. Between two
//! files, only as much is read as headers need: names of any length that a file system accepts, and attributes.

use crate::input::Input;
use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// Most bytes from the end of one file's data to the start of the next one's. Linux accepts paths of 4 KiB;
/// programs add timestamps and attributes of some hundred bytes each.
const MOST_HEADERS: u64 = 1 << 20;

/// A reader with the limit that its [`Guard`] sets.
pub struct Guarded {
    input: Input,
    left: Rc<Cell<u64>>,
}

/// Sets the limit for what is read next.
pub struct Guard(Rc<Cell<u64>>);

impl Guarded {
    /// Wraps `input`. Nothing can be read until the guard sets a limit.
    pub fn new(input: Input) -> (Guarded, Guard) {
        let left = Rc::new(Cell::new(0));
        (Guarded { input, left: left.clone() }, Guard(left))
    }
}

impl Guard {
    /// Headers are read next: at most [`MOST_HEADERS`] bytes.
    pub fn headers(&self) {
        self.0.set(MOST_HEADERS);
    }

    /// A file's data is read next, without a limit; its reader knows the length.
    pub fn data(&self) {
        self.0.set(u64::MAX);
    }
}

impl Read for Guarded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 && !buffer.is_empty() {
            let what = format!("a file's header is longer than {MOST_HEADERS} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let n = self.input.read(&mut buffer[..most]).map_err(io::Error::other)?;
        self.left.set(left - n as u64);
        Ok(n)
    }
}
