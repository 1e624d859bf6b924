//! Extents in flight to a disk that one task sent for others, until their requests are completed.
//!
//! A bio may be cut into several requests, and a request may carry several bios, so they are matched by common
//! sectors. A task that sends the same sectors again replaces the entry, so that a later write by another task is not
//! attributed wrongly.

use crate::writers::SentFor;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::sync::Arc;
use trace::{Bytes, DevId, Sector};

/// Largest number of extents remembered; 8 MB.
const MAX: usize = 1 << 16;

/// Extents by disk and first sector, each with its end. They never overlap.
#[derive(Debug, Default)]
pub(crate) struct Sent(BTreeMap<(DevId, Sector), (Sector, Arc<SentFor>)>);

impl Sent {
    /// A task sends an extent, for others or (`None`) for itself.
    pub fn put(&mut self, disk: DevId, start: Sector, bytes: Bytes, sent_for: Option<SentFor>) {
        let end = start.after(bytes);
        if end <= start || self.0.is_empty() && sent_for.is_none() {
            return;
        }
        while let Some((first, ..)) = self.last_before(disk, start, end) {
            self.0.remove(&(disk, first));
        }
        if let Some(sent_for) = sent_for {
            if self.0.len() >= MAX {
                self.0.clear();
            }
            self.0.insert((disk, start), (end, Arc::new(sent_for)));
        }
    }

    /// A request is completed: returns the parts of it that were sent for other tasks, in order of sectors. What lies
    /// beyond its end is still in flight.
    pub fn take(&mut self, disk: DevId, start: Sector, bytes: Bytes) -> SmallVec<[(Arc<SentFor>, Bytes); 1]> {
        let mut found = SmallVec::new();
        let end = start.after(bytes);
        let mut behind = end;
        while let Some((first, last, sent_for)) = self.last_before(disk, start, behind) {
            let shared = last.min(end).0 - first.max(start).0;
            found.push((sent_for, Bytes::from_sectors(shared)));
            behind = first;
            if last <= end {
                self.0.remove(&(disk, first));
            }
            if first <= start {
                break;
            }
        }
        found.reverse();
        found
    }

    /// The last extent that overlaps the range from `start` to `end`.
    fn last_before(&self, disk: DevId, start: Sector, end: Sector) -> Option<(Sector, Sector, Arc<SentFor>)> {
        let ((_, first), (last, sent_for)) = self.0.range((disk, Sector(0))..(disk, end)).next_back()?;
        (*last > start).then(|| (*first, *last, sent_for.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writers::{Purpose, Tasks};

    const DISK: DevId = DevId(8 << 20);

    fn of(inode: u64) -> Option<SentFor> {
        let (purpose, tasks) = (Purpose::FileData, Tasks::new());
        Some(SentFor { purpose, inode: Some(inode), tasks, probably: false, cgroup: None })
    }

    fn put(sent: &mut Sent, at: u64, sectors: u64, sent_for: Option<SentFor>) {
        sent.put(DISK, Sector(at), Bytes::from_sectors(sectors), sent_for);
    }

    fn take(sent: &mut Sent, at: u64, sectors: u64) -> Vec<(u64, u64)> {
        let all = sent.take(DISK, Sector(at), Bytes::from_sectors(sectors));
        all.iter().map(|(s, bytes)| (s.inode.unwrap_or(0), bytes.sectors())).collect()
    }

    #[test]
    fn a_bio_in_pieces_and_bios_put_together() {
        let mut sent = Sent::default();
        put(&mut sent, 0, 100, of(1));
        assert_eq!(take(&mut sent, 0, 60), [(1, 60)]);
        assert_eq!(take(&mut sent, 60, 40), [(1, 40)]);
        assert_eq!(take(&mut sent, 60, 40), []);
        put(&mut sent, 0, 8, of(1));
        put(&mut sent, 8, 16, of(2));
        put(&mut sent, 100, 8, of(3));
        assert_eq!(take(&mut sent, 0, 24), [(1, 8), (2, 16)]);
        assert_eq!(sent.0.len(), 1);
    }

    #[test]
    fn who_sends_it_again_for_himself_sends_it_for_himself() {
        let mut sent = Sent::default();
        put(&mut sent, 0, 100, of(1));
        put(&mut sent, 40, 8, None);
        assert_eq!(take(&mut sent, 40, 8), []);
        put(&mut sent, 0, 8, of(1));
        put(&mut sent, 0, 8, of(2));
        assert_eq!(take(&mut sent, 0, 8), [(2, 8)]);
        // A flush has no sectors.
        assert_eq!(take(&mut sent, u64::MAX, 0), []);
    }
}
