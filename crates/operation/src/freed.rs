//! Files deleted during the recording: their inode numbers may have belonged to other files, before or after.

use rustc_hash::FxHashSet;
use trace::DevId;

/// Largest number of files remembered. Beyond it, any number may have been reused.
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

    /// Whether an inode number may have belonged to more than one file during the recording.
    pub fn has(&self, dev: DevId, inode: u64) -> bool {
        self.0.len() >= MAX || self.0.contains(&(dev, inode))
    }
}
