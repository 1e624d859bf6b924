//! Splits the time of a group's slowest operations into rows for a screen: by reason and, for operations, also by the waits around
//! it.
//!
//! Example: `journal's commit, ordered data: in the device (D2C)`, 886 ms.

use ledger::Reason;
use operation::{Wait, Waits};
use stats::{Facts, Group};
use std::collections::BTreeMap;
use trace::Nanos;

/// The rows: label and time, the largest first.
pub fn rows(facts: &Facts, group: &Group) -> Vec<(String, Nanos)> {
    let mut rows = BTreeMap::<String, Nanos>::new();
    for row in group.tail_rows(&facts.waits) {
        *rows.entry(label(row.waits, row.reason)).or_default() += row.time;
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    rows
}

/// Waits that are named before the reason, outer waits first. Waits that are missing here are evident from the reason itself (a device,
/// a tag, a limit).
const NAMED: &[(Wait, &str)] = &[
    (Wait::OwnData, "own data"),
    (Wait::InodeLock, "the file's lock"),
    (Wait::FilePosition, "the file's position"),
    (Wait::Lock, "a lock"),
    (Wait::StablePage, "stable page"),
    (Wait::JournalCommit, "journal's commit"),
    (Wait::JournalHandle, "jbd2 handle"),
    (Wait::JournalBuffer, "journal's buffer"),
    (Wait::JournalUpdates, "open changes"),
    (Wait::OrderedData, "ordered data"),
    (Wait::JournalSuperblock, "journal's superblock"),
    (Wait::LogPush, "CIL push"),
    (Wait::LogForce, "log force"),
    (Wait::LogSpace, "log space"),
    (Wait::SpaceReserved, "space in the file system"),
    (Wait::Metadata, "metadata"),
    (Wait::StripeCache, "stripe cache"),
    (Wait::RaidBitmap, "bitmap"),
    (Wait::RaidBarrier, "md synchronising"),
    (Wait::RaidSuperblock, "md superblock"),
    (Wait::RaidRequest, "md's array"),
    (Wait::TransactionGroup, "transaction group"),
    (Wait::PoolThrottle, "ZFS's dirty data"),
    (Wait::Crypt, "dm-crypt"),
    (Wait::Server, "the file system's server"),
    (Wait::Swap, "swap"),
    (Wait::LoopFile, "loop device's file"),
    (Wait::JournalBatch, "journal's batching"),
    (Wait::Rcu, "RCU"),
    (Wait::Tracing, "the recording's buffers"),
];

fn label(waits: Waits, reason: Reason) -> String {
    let names: Vec<&str> = NAMED.iter().filter(|(w, _)| waits.has(*w)).map(|(_, name)| *name).collect();
    match names.is_empty() {
        true => reason.words().to_string(),
        false => format!("{}: {}", names.join(", "), reason.words()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_come_from_the_outside_in() {
        let both = Waits(Wait::OrderedData.bit() | Wait::JournalCommit.bit() | Wait::DirectIo.bit());
        assert_eq!(label(both, Reason::Device), "journal's commit, ordered data: in the device (D2C)");
        assert_eq!(label(Waits(Wait::DirectIo.bit()), Reason::Device), "in the device (D2C)");
    }
}
