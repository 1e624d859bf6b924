//! Requests that the end of the recording cut off: they were sent and not completed.
//!
//! Who sleeps until the recording ends waits for one of them. Each is given as if it had been completed at the end, with the time of its
//! last step up to then. They are in no count of completed requests.

use crate::op::Op;
use crate::piece::{Piece, Stage};
use crate::request::Request;
use crate::timeline::FlushWait;
use crate::tracker::IoTracker;
use device::Inside;
use rustc_hash::FxHashMap;
use trace::{Flags, Nanos};

/// Maximal number of requests that are given, 3 MB: more than devices have in flight (`nr_requests` is 256 by default, for each queue).
const MOST: usize = 4096;

impl IoTracker {
    /// Requests in flight, as if completed at `at`, in the order in which they began. Bios without a request are left out, requests
    /// whose completion may have been lost, and what is beyond [`MOST`].
    pub fn cut_off(&self, at: Nanos) -> Vec<Request> {
        let mut pieces: Vec<&Piece> = self.table.all().map(|id| self.table.get(id)).collect();
        pieces.retain(|p| p.stage != Stage::Queued && p.losses == self.devices[p.dev as usize].losses);
        pieces.sort_by_key(|p| (p.request.time.start(), p.dev, p.start));
        pieces.truncate(MOST);
        let mut inside: FxHashMap<u32, Inside> = FxHashMap::default();
        let ended: Vec<Request> = pieces.iter().map(|p| self.ended(p, at, &mut inside)).collect();
        let flushes: Vec<&Request> =
            ended.iter().filter(|r| r.op == Op::Flush && r.time.issued.is_some()).collect();
        let with_flush = |(p, r): (&&Piece, &Request)| with_flush(p.stage, *r, &flushes, at);
        pieces.iter().zip(&ended).map(with_flush).collect()
    }

    /// A request with its last step ended at `at`. `inside` has copies of the devices' state, so that nothing is learned from it.
    fn ended(&self, piece: &Piece, at: Nanos, inside: &mut FxHashMap<u32, Inside>) -> Request {
        let mut r = piece.request;
        (r.start, r.bytes) = piece.extent();
        r.bios = piece.parts.len() as u32;
        r.merges = piece.parts.iter().filter(|p| p.merged).count() as u32;
        r.time.completed = at.max(r.time.start());
        let end = Some(r.time.completed);
        match piece.stage {
            Stage::Queued | Stage::PostFlush => {}
            Stage::Got => r.time.inserted = end,
            Stage::Inserted => (r.time.first_issued, r.time.issued) = (end, end),
            Stage::Requeued => {
                r.time.requeued += at.since(piece.touched);
                r.time.issued = end;
            }
            Stage::Issued => {
                r.time.data_completed = end;
                let device = &self.devices[piece.dev as usize];
                r.contention.shared(&piece.since, &device.load.completed(at));
                let inside = inside.entry(piece.dev).or_insert_with(|| device.inside.clone());
                let ticket = &mut piece.ticket.clone();
                r.contention.split = inside.complete(at, r.class().index() as u8, r.bytes, ticket);
            }
        }
        r
    }
}

/// Adds the flush that a request waits for at `at`: the one in its device, or one that has not begun.
fn with_flush(stage: Stage, mut r: Request, flushes: &[&Request], at: Nanos) -> Request {
    let asks = r.op == Op::Flush || r.flags.has(Flags::FLUSH);
    let since = match stage {
        Stage::Got if asks => r.time.got,
        Stage::PostFlush => r.time.data_completed,
        _ => None,
    };
    let Some(since) = since else { return r };
    let in_device = |f: &&&Request| f.dev == r.dev && f.time.issued.is_some_and(|issued| issued >= since);
    let flush = match flushes.iter().find(in_device) {
        Some(f) => FlushWait::new(f.time.issued.unwrap_or(at), f.time.completed, &f.contention.split),
        None if stage == Stage::Got && r.op != Op::Flush => return r,
        None => FlushWait { issued: at, completed: at, ..FlushWait::default() },
    };
    r.time.flushed = true;
    match stage {
        Stage::PostFlush => r.time.postflush = Some(flush),
        _ => (r.time.inserted, r.time.preflush) = (None, Some(flush)),
    }
    r
}
