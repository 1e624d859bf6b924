//! Files that were deleted during the recording: another one may have had the number, before or after.

use rustc_hash::FxHashSet;
use trace::DevId;

/// Files that are remembered at most; beyond that any number may have been used again.
const MAX: usize = 1 << 16;

/// Deleted files by device and inode.
#[derive(Clone, Debug, Default)]
pub struct Freed(FxHashSet<(DevId, u64)>);

impl Freed {
    pub(crate) fn add(&mut self, dev: DevId, inode: u64) {
        if self.0.len() < MAX {
            self.0.insert((dev, inode));
        }
    }

    /// Whether a number may have been that of more than one file during the recording.
    pub fn has(&self, dev: DevId, inode: u64) -> bool {
        self.0.len() >= MAX || self.0.contains(&(dev, inode))
    }
}
