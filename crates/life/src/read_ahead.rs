//! Decides whether a task waits for a bio that is marked as read-ahead. Since Linux 5.16 everything that a buffered
//! read takes into the page cache is marked so (`read_pages`, mm/readahead.c), including the data that was asked for.
//!
//! A window that continues the one before was sent before any task needed it. Its first page is marked, and a reader
//! that reaches the mark sends the next window before it waits for the page (`filemap_get_pages`, mm/filemap.c). So a
//! task waits for such a window if the next one is sent while it is in flight, and not if it was complete by then. The
//! task waits for the first window of a stream, unless it has sent something else since.
//!
//! Example: a window of 128 KiB follows another and takes 1 ms. A program that computes reaches it 3 ms later, and
//! only then is the next window sent: no task waited. A program that only reads sends the next window at once.

use crate::bio_id::BioId;
use crate::bios::Bios;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use trace::{Bytes, Sector, Tid};

/// Largest number of streams that are remembered.
const MAX_STREAMS: usize = 1 << 14;

/// Smallest window that counts as a continuation. Windows grow to `read_ahead_kb`, 128 KiB by default, by a factor of
/// two or four each time. Smaller ones can also come from small files that lie side by side.
const LEAST_WINDOW: Bytes = Bytes(64 << 10);

/// Largest bio: 256 pages (`BIO_MAX_VECS`, include/linux/bio.h). Only larger windows are cut into several bios.
const FULL_BIO: Bytes = Bytes(1 << 20);

/// Largest number of bios remembered for one window: 64 MiB.
const MOST_BIOS: usize = 64;

/// A sequential read-ahead stream of one task on one device.
#[derive(Debug, Default)]
struct Stream {
    last: Option<BioId>,
    end: Sector,
    bytes: Bytes,
    /// Whether the last bio continues the one before.
    follows: bool,
    /// Whether a bio of the stream was completed since the last one was sent.
    completed: bool,
    /// The bios of the last window.
    window: SmallVec<[BioId; 1]>,
}

/// The read-ahead streams of all tasks.
#[derive(Debug, Default)]
pub(crate) struct ReadsAhead {
    streams: FxHashMap<(Tid, u32), Stream>,
}

impl ReadsAhead {
    /// Whether there are no streams.
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// Ends the stream of a task that sends something else to the device.
    pub fn ends(&mut self, tid: Tid, dev: u32) {
        self.streams.remove(&(tid, dev));
    }

    /// Adds a read-ahead bio that is sent. It shows that its task has reached the window before, if that is in flight.
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

    /// Whether a task waited for a completed read-ahead bio; `reached`: its task had reached the data.
    pub fn is_awaited(&mut self, bio: BioId, tid: Tid, dev: u32, reached: bool) -> bool {
        let Some(stream) = self.streams.get_mut(&(tid, dev)) else { return reached };
        stream.completed = true;
        reached || stream.last == Some(bio) && !stream.follows
    }
}
