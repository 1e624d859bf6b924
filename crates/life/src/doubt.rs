//! Handles ambiguity: which of several pieces an event means, lost completions, and limits on what is in flight.

use crate::op::Op;
use crate::piece::{Key, Piece, PieceId, Stage};
use crate::tally::Tally;
use crate::tracker::IoTracker;
use trace::{Event, Nanos};

/// Largest number of pieces in flight, of 500 bytes each. The deepest queues that exist hold 64 Ki requests.
const MAX_IN_FLIGHT: usize = 1 << 17;

/// Largest number of pieces with one operation and start. Real recordings have two or three.
const MAX_SAME_KEY: usize = 64;

/// Largest number of flushes in flight on a device, which has one or two per hardware queue.
const MAX_FLUSHES: usize = 4096;

/// Age at which a piece is stale. The kernel times a request out after 30 s (`queue/io_timeout`, 30000 ms). If two
/// pieces match one sector, a piece unchanged for longer is a lost completion, not a slow request.
const STALE: Nanos = Nanos(30_000_000_000);

impl IoTracker {
    /// Counts an event whose beginning was not seen.
    pub(crate) fn count_unmatched(&mut self, dev: u32, after_losses: impl Fn(&mut Tally) -> &mut u64) {
        if self.devices[dev as usize].losses == 0 {
            self.tally.began_before += 1;
        } else {
            *after_losses(&mut self.tally) += 1;
        }
    }

    /// The piece of a key that an event means, among those that satisfy `wanted`: one of the same length, and of these
    /// the one that has been in its stage for longest. Stale pieces are given up if another is left.
    pub(crate) fn choose(&mut self, key: Key, e: &Event, wanted: impl Fn(&Piece) -> bool) -> Option<PieceId> {
        let (first, several) = {
            let mut candidates = self.table.chain(key).filter(|id| wanted(self.table.get(*id)));
            (candidates.next()?, candidates.next().is_some())
        };
        if !several {
            return Some(first);
        }
        let losses = self.devices[key.dev as usize].losses;
        let stale = |p: &Piece| e.time.since(p.touched) > STALE || losses > p.losses;
        let all: Vec<PieceId> = self.table.chain(key).filter(|id| wanted(self.table.get(*id))).collect();
        let (gone, fresh): (Vec<_>, Vec<_>) = all.iter().partition(|id| stale(self.table.get(**id)));
        if fresh.is_empty() {
            return Some(first);
        }
        for id in gone {
            self.give_up(id, e.time);
        }
        let longest_there = |ids: &mut dyn Iterator<Item = &PieceId>| {
            ids.min_by_key(|id| self.table.get(**id).touched).copied()
        };
        let same_length = |id: &&PieceId| self.table.get(**id).bytes() == e.bytes;
        longest_there(&mut fresh.iter().filter(same_length)).or_else(|| longest_there(&mut fresh.iter()))
    }

    /// Gives up a piece whose completion was lost.
    pub(crate) fn give_up(&mut self, id: PieceId, now: Nanos) {
        match self.table.get(id).stage {
            Stage::Queued => self.stop_waiting(id),
            Stage::Issued => {
                let p = self.table.get_mut(id);
                let (class, bytes) = (p.request.class(), p.done + p.bytes());
                let device = &mut self.devices[p.dev as usize];
                device.load.leave(class, bytes, false, now);
                device.inside.leave(now, &mut p.ticket);
            }
            _ => {}
        }
        let piece = self.table.remove(id);
        if piece.stage != Stage::Queued {
            self.tally.requests_lost += 1;
        }
        for part in std::mem::take(&mut piece.parts) {
            let Some(bio) = self.bios.remove(part.bio) else { continue };
            self.tally.bytes_lost += bio.bytes;
            let (waiting, parent, op) = (std::mem::take(&mut bio.waiting), bio.parent, bio.op);
            for w in waiting {
                if w != id {
                    self.forget_waiting(w);
                }
            }
            self.tell_parent(parent, op, now);
        }
    }

    /// Bounds the table of pieces: if too many have one key, or too many are in flight in total, the oldest are lost
    /// completions.
    pub(crate) fn make_room_for_piece(&mut self, key: Key, now: Nanos) {
        let limit = if key.op == Op::Flush { MAX_FLUSHES } else { MAX_SAME_KEY };
        if let Some(oldest) = self.table.oldest_of_many(key, limit) {
            self.give_up(oldest, now);
        }
        if self.table.len() >= MAX_IN_FLIGHT {
            self.give_up_oldest(now);
        }
    }

    /// Gives up the older half of everything in flight: the table is full of lost completions.
    pub(crate) fn give_up_oldest(&mut self, now: Nanos) {
        let mut ages: Vec<(Nanos, PieceId)> =
            self.table.all().map(|id| (self.table.get(id).touched, id)).collect();
        if ages.is_empty() {
            return;
        }
        let half = ages.len() / 2;
        ages.select_nth_unstable_by_key(half, |(t, _)| *t);
        for (_, id) in &ages[..=half] {
            if self.table.contains(*id) {
                self.give_up(*id, now);
            }
        }
    }
}
