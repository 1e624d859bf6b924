//! Who waits for a read that is marked as read ahead: since Linux 5.16 that is all that a buffered read takes into the page cache
//! (`read_pages`, mm/readahead.c), what was asked for included.
//!
//! A window that goes on where the one before ended was sent before anybody needed it. Its first page is marked, and a reader that
//! comes to the mark sends the next window before it waits for the page (`filemap_get_pages`, mm/filemap.c). So such a window is waited
//! for where the next one is sent while it is in flight, and not where it was complete by then. For what starts a stream its task waits,
//! unless it has sent something since.
//!
//! Example: a window of 128 KiB follows another, and takes 1 ms. A program that computes comes to it 3 ms later, and only then the next
//! window is sent: nobody waited. One that only reads sends the next one at once.

use crate::bios::Bios;
use crate::piece::BioId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use trace::{Bytes, Sector, Tid};

/// Streams that are remembered.
const MAX_STREAMS: usize = 1 << 14;

/// Windows grow to `read_ahead_kb`, 128 KiB unless set, by two or four times each. Smaller ones are of small files as well, which
/// often lie side by side.
const LEAST_WINDOW: Bytes = Bytes(64 << 10);

/// A bio takes 256 pages (`BIO_MAX_VECS`, include/linux/bio.h): a window is cut into several only where it is larger.
const FULL_BIO: Bytes = Bytes(1 << 20);

/// Bios of one window that are remembered: 64 MiB.
const MOST_BIOS: usize = 64;

/// What a task reads ahead on a device, from one place on.
#[derive(Debug, Default)]
struct Stream {
    last: Option<BioId>,
    end: Sector,
    bytes: Bytes,
    /// Whether the last bio goes on where the one before ended.
    follows: bool,
    /// Whether a bio of the stream was completed since the last one was sent.
    completed: bool,
    /// The bios of the last window.
    window: SmallVec<[BioId; 1]>,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct ReadsAhead {
    streams: FxHashMap<(Tid, u32), Stream>,
}

impl ReadsAhead {
    /// Whether no task reads ahead.
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// A task sends something else to a device.
    pub fn ends(&mut self, tid: Tid, dev: u32) {
        self.streams.remove(&(tid, dev));
    }

    /// A bio that reads ahead is sent: its task may have come to one that is in flight.
    pub fn sends(&mut self, bio: BioId, bios: &mut Bios) {
        let Some(sent) = bios.get(bio) else { return };
        let (tid, dev, start, end, bytes) = (sent.tid, sent.dev, sent.start, sent.end, sent.bytes);
        if self.streams.len() >= MAX_STREAMS {
            self.streams.clear();
        }
        let stream = self.streams.entry((tid, dev)).or_default();
        let grown = bytes.0 >= stream.bytes.0.saturating_mul(2) || bytes == stream.bytes;
        let follows = stream.last.is_some() && start == stream.end && bytes >= LEAST_WINDOW && grown;
        let is_of_window = follows && stream.bytes >= FULL_BIO && !stream.completed;
        if !is_of_window {
            let reached = std::mem::take(&mut stream.window);
            for bio in reached.into_iter().filter(|_| follows) {
                if let Some(reached) = bios.get_mut(bio) {
                    reached.awaited = true;
                }
            }
        }
        if stream.window.len() < MOST_BIOS {
            stream.window.push(bio);
        }
        (stream.last, stream.end, stream.bytes) = (Some(bio), end, bytes);
        (stream.follows, stream.completed) = (follows, false);
    }

    /// Whether a bio that reads ahead, and is complete, was waited for; `reached`: its task had come to it.
    pub fn is_awaited(&mut self, bio: BioId, tid: Tid, dev: u32, reached: bool) -> bool {
        let Some(stream) = self.streams.get_mut(&(tid, dev)) else { return reached };
        stream.completed = true;
        reached || stream.last == Some(bio) && !stream.follows
    }
}
