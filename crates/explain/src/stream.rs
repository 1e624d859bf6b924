//! Standard input that an interrupt ends: what had come by then is read, and what a recorder still writes when it is interrupted, too.
//!
//! A thread of its own waits for it, so that nothing else need.

use crate::interrupt::Interrupt;
use std::io::{self, Cursor, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes that are read at once, as many as a pipe holds (pipe(7)), and how many such pieces wait to be taken.
const PIECE: usize = 64 << 10;
const PIECES: usize = 16;
/// How often an interrupt is looked for while nothing comes.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long after one what still comes is taken: a recorder in the same pipe was interrupted, too, and writes what it has.
const LEFT: Duration = Duration::from_secs(1);

/// The stream.
pub(crate) struct Stream {
    pieces: Receiver<io::Result<Vec<u8>>>,
    now: Cursor<Vec<u8>>,
    interrupt: Interrupt,
    /// Whether an interrupt counts yet.
    may_end: Arc<AtomicBool>,
    until: Option<Instant>,
}

impl Stream {
    /// Begins to read; an interrupt counts once `may_end` says so.
    pub fn of(mut input: impl Read + Send + 'static, may_end: Arc<AtomicBool>) -> Stream {
        let (send, pieces) = sync_channel(PIECES);
        std::thread::spawn(move || loop {
            let mut piece = vec![0; PIECE];
            let read = match input.read(&mut piece) {
                Ok(0) => return,
                Ok(read) => read,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return drop(send.send(Err(e))),
            };
            piece.truncate(read);
            if send.send(Ok(piece)).is_err() {
                return;
            }
        });
        Stream { pieces, now: Cursor::default(), interrupt: Interrupt::catch(), may_end, until: None }
    }

    /// Whether it was interrupted so long ago that it is over.
    fn is_over(&mut self) -> bool {
        if !self.may_end.load(Ordering::Relaxed) {
            self.interrupt.forget();
        }
        let until = self.until.or_else(|| self.interrupt.came().then(|| Instant::now() + LEFT));
        self.until = until;
        until.is_some_and(|until| Instant::now() >= until)
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.now.read(into)?;
            if read > 0 || into.is_empty() {
                return Ok(read);
            }
            if self.is_over() {
                return Ok(0);
            }
            match self.pieces.recv_timeout(PATIENCE) {
                Ok(piece) => self.now = Cursor::new(piece?),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_what_was_read_in_its_order() {
        let all: Vec<u8> = (0..3 * PIECE + 7).map(|n| (n % 251) as u8).collect();
        let mut read = Vec::new();
        Stream::of(Cursor::new(all.clone()), Arc::default()).read_to_end(&mut read).unwrap();
        assert!(read == all);
    }

    #[test]
    fn an_error_is_told() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("gone"))
            }
        }
        let error = Stream::of(Broken, Arc::default()).read(&mut [0; 8]).unwrap_err();
        assert_eq!(error.to_string(), "gone");
    }
}
