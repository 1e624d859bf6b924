//! What is known of file descriptors, by process: what was open when recording began, and the operations on each since.

use rustc_hash::FxHashMap;
use trace::{DevId, Fs, Tid};

/// Descriptors that are remembered at most.
const MAX: usize = 1 << 16;

/// What a descriptor stands for: the kind of file system, its device, the file (0 where that is not known).
pub(crate) type OnFile = (Fs, DevId, u64);

/// Descriptors and their files.
#[derive(Debug, Default)]
pub(crate) struct Files {
    by_process: FxHashMap<Tid, FxHashMap<i32, OnFile>>,
    count: usize,
}

impl Files {
    pub fn get(&self, process: Tid, fd: i32) -> Option<OnFile> {
        self.by_process.get(&process)?.get(&fd).copied()
    }

    pub fn insert(&mut self, process: Tid, fd: i32, file: OnFile) {
        if self.count >= MAX {
            self.by_process.clear();
            self.count = 0;
        }
        let before = self.by_process.entry(process).or_default().insert(fd, file);
        self.count += usize::from(before.is_none());
    }

    /// A descriptor is closed.
    pub fn remove(&mut self, process: Tid, fd: i32) {
        let before = self.by_process.get_mut(&process).and_then(|files| files.remove(&fd));
        self.count -= usize::from(before.is_some());
    }

    /// A process is over, or a new one has its number.
    pub fn forget(&mut self, process: Tid) {
        self.count -= self.by_process.remove(&process).map_or(0, |files| files.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_by_process_and_never_too_many() {
        let mut files = Files::default();
        let file = (Fs::Xfs, DevId::new(8, 1), 12);
        files.insert(Tid(1), 3, file);
        files.insert(Tid(1), 3, file);
        files.insert(Tid(2), 3, file);
        assert_eq!((files.get(Tid(1), 3), files.get(Tid(1), 4), files.count), (Some(file), None, 2));
        files.remove(Tid(2), 3);
        files.remove(Tid(2), 3);
        files.forget(Tid(1));
        assert_eq!((files.get(Tid(1), 3), files.get(Tid(2), 3), files.count), (None, None, 0));
        (0..2 * MAX as i32).for_each(|fd| files.insert(Tid(fd as u32 % 7), fd, file));
        assert!(files.count <= MAX);
    }
}
