//! Which disk a partition is on, found by looking ahead in the trace.
//!
//! Since Linux 5.12 a bio keeps naming its partition after its sector was moved to the whole disk's, and
//! `block_bio_remap` then leads from the partition to itself. Requests name the disk. So on the first such remap
//! of a partition a copy of the cursor goes ahead to the first event that names another device for that very
//! sector: the request's, or the next remap's if the disk makes no requests (md, dm).
//!
//! ```text
//! block_bio_remap  259,1 2056 <- (259,1) 8     the partition moves sector 8 to 2056: who is the disk?
//! block_bio_queue  259,1 R 2056 + 8
//! block_rq_issue   259,0 R 2056 + 8            259,0
//! ```

use super::block::{dev, Blocks};
use super::cursor::{Cursor, Record, Step};
use crate::error::Error;
use crate::event::Action;
use crate::units::DevId;
use rustc_hash::FxHashMap;

/// How far to look. A bio that waits longer than this many events for a request is rare, and the next remap of
/// the partition tries again.
const AHEAD: usize = 200_000;

/// How often to look for one partition before it is taken as it is, and partitions looked for in all.
const TRIES: u8 = 3;
const MAX_PARTITIONS: usize = 256;

/// What is known of partitions.
#[derive(Debug, Default)]
pub struct Disks {
    known: FxHashMap<DevId, Known>,
}

#[derive(Debug)]
enum Known {
    On(DevId),
    Sought(u8),
}

impl Disks {
    /// The disk a device is on: itself if it is none of the known partitions.
    #[inline]
    pub fn disk(&self, dev: DevId) -> DevId {
        if self.known.is_empty() {
            return dev;
        }
        match self.known.get(&dev) {
            Some(Known::On(disk)) => *disk,
            _ => dev,
        }
    }

    /// Says beforehand that `partition` is on `disk`, where that is known from elsewhere (/sys).
    pub fn set(&mut self, partition: DevId, disk: DevId) {
        self.known.insert(partition, Known::On(disk));
    }

    /// Whether the trace should be searched for this one.
    fn wanted(&mut self, partition: DevId) -> bool {
        if self.known.len() >= MAX_PARTITIONS && !self.known.contains_key(&partition) {
            return false;
        }
        match self.known.entry(partition).or_insert(Known::Sought(0)) {
            Known::On(_) => false,
            Known::Sought(n) => {
                *n = n.saturating_add(1);
                *n <= TRIES
            }
        }
    }
}

/// The partition and the disk's sector, if this record is the remap of a partition to itself.
#[inline]
pub fn own_remap(blocks: &Blocks, record: &Record) -> Option<(DevId, u64)> {
    let plan = blocks.plan(record.index)?;
    if plan.action != Action::Remap {
        return None;
    }
    let to = dev(record, plan.dev);
    (to == dev(record, plan.old_dev)).then(|| (to, record.int(plan.sector)))
}

/// Looks for the partition's disk from where `cursor` stands.
pub fn seek(cursor: &Cursor, blocks: &mut Blocks, partition: DevId, sector: u64) -> Result<(), Error> {
    if !blocks.disks.wanted(partition) {
        return Ok(());
    }
    let mut ahead = cursor.clone();
    for _ in 0..AHEAD {
        let Some(step) = ahead.step()? else { break };
        let Step::Record(r) = step else { continue };
        let Some(plan) = blocks.plan(r.index) else { continue };
        let from = match plan.action {
            Action::Remap => (dev(&r, plan.old_dev), r.int(plan.old_sector)),
            Action::Insert | Action::Issue => (dev(&r, plan.dev), r.int(plan.sector)),
            _ => continue,
        };
        if from.1 == sector && from.0 != partition {
            blocks.disks.set(partition, from.0);
            break;
        }
    }
    Ok(())
}
