//! The tar's bytes, with a bound on how many of them may be headers.
//!
//! A tar may say that the next file's name is a gigabyte long, and the `tar` crate would believe it. Between two
//! files only as much is read as headers need: names of any length that a file system takes, and attributes.

use crate::input::Input;
use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// The most bytes from the end of one file's data to the beginning of the next one's. Linux takes paths of 4 KiB; other
/// programs add times and attributes of some hundred bytes each.
const MOST_HEADERS: u64 = 1 << 20;

/// See the module.
pub struct Guarded {
    input: Input,
    left: Rc<Cell<u64>>,
}

/// Says what is being read.
pub struct Guard(Rc<Cell<u64>>);

impl Guarded {
    /// Nothing can be read before the guard says what.
    pub fn new(input: Input) -> (Guarded, Guard) {
        let left = Rc::new(Cell::new(0));
        (Guarded { input, left: left.clone() }, Guard(left))
    }
}

impl Guard {
    /// Headers come next.
    pub fn headers(&self) {
        self.0.set(MOST_HEADERS);
    }

    /// A file's data comes next; its reader knows how much.
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
