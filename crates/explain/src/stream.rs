//! Reads standard input until its end or an interrupt. After an interrupt, reads what had arrived and what an interrupted recorder still writes.
//!
//! A separate thread reads, so that no other thread blocks.

use crate::interrupt::Interrupt;
use std::io::{self, Cursor, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes per read: the capacity of a pipe (pipe(7)). Below: the maximal number of pieces in the channel.
const PIECE: usize = 64 << 10;
const PIECES: usize = 16;
/// Interval between checks for an interrupt while no data arrives.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long data is still accepted after an interrupt: a recorder in the same pipe was interrupted too and writes its last data.
const LEFT: Duration = Duration::from_secs(1);

/// A readable stream that an interrupt ends.
pub(crate) struct Stream {
    pieces: Receiver<io::Result<Vec<u8>>>,
    now: Cursor<Vec<u8>>,
    interrupt: Interrupt,
    /// Whether an interrupt may end the stream yet.
    may_end: Arc<AtomicBool>,
    until: Option<Instant>,
}

impl Stream {
    /// Starts the reading thread; an interrupt ends the stream once `may_end` is true.
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

    /// Whether the time after an interrupt has passed.
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
