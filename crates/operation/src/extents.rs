//! Where files are on their devices, learned from direct I/O. Example: a read at offset 1 MiB has a bio at sector 10,240 (5 MiB), so this
//! extent is 4 MiB further on the device than in the file, and so is everything else in that extent.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use trace::{Bytes, DevId, Sector};

/// A direct I/O that a task begins (`iomap_dio_rw_begin`, fs/iomap/direct-io.c).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Direct {
    /// The file system's device.
    pub dev: DevId,
    pub inode: u64,
    /// Offset in the file.
    pub at: Bytes,
    pub bytes: Bytes,
}

impl Direct {
    /// What is left after its first bio; `None` if nothing is.
    pub fn rest(&self, first: Bytes) -> Option<Direct> {
        let left = self.bytes.0.checked_sub(first.0).filter(|left| *left > 0)?;
        Some(Direct { at: Bytes(self.at.0.wrapping_add(first.0)), bytes: Bytes(left), ..*self })
    }
}

/// Largest number of files remembered.
const MAX_FILES: usize = 4096;

/// Largest number of extents remembered for a file: a file of 4 GiB on ext4 has 32 (`EXT_INIT_MAX_LEN`, 128 MiB each).
const MAX_PIECES: usize = 32;

/// A device, and how much further an extent is on it than in the file, in bytes.
type Shift = (DevId, i64);

/// Shifts of the extents of files, by device and inode.
#[derive(Debug, Default)]
pub(crate) struct Extents {
    files: FxHashMap<(DevId, u64), SmallVec<[Shift; 2]>>,
}

fn shift(begins: Bytes, sector: Sector) -> i64 {
    sector.0.wrapping_mul(512).wrapping_sub(begins.0) as i64
}

impl Extents {
    /// The first bio of a direct I/O begins at this sector.
    pub fn learn(&mut self, io: &Direct, dev: DevId, sector: Sector) {
        if self.files.len() >= MAX_FILES {
            self.files.clear();
        }
        let known = self.files.entry((io.dev, io.inode)).or_default();
        let shift = (dev, shift(io.at, sector));
        if known.last() == Some(&shift) || known.contains(&shift) {
            return;
        }
        if known.len() >= MAX_PIECES {
            known.remove(0);
        }
        known.push(shift);
    }

    /// Whether any extent of its file is known.
    pub fn knows(&self, io: &Direct) -> bool {
        self.files.contains_key(&(io.dev, io.inode))
    }

    /// Whether a bio at this sector can belong to the direct I/O.
    pub fn is_of(&self, io: &Direct, dev: DevId, sector: Sector) -> bool {
        let known = self.files.get(&(io.dev, io.inode)).map(SmallVec::as_slice).unwrap_or_default();
        known.iter().any(|(on, shift)| {
            let at = sector.0.wrapping_mul(512).wrapping_sub(*shift as u64);
            *on == dev && at == io.at.0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_that_was_seen_shows_where_the_rest_of_it_lies() {
        let disk = DevId::new(8, 0);
        let io = |inode, at: u64| Direct { dev: disk, inode, at: Bytes(at << 10), bytes: Bytes(8 << 10) };
        let mut extents = Extents::default();
        extents.learn(&io(7, 1024), disk, Sector(10_240));
        let is = |io, dev, sector| extents.is_of(&io, dev, Sector(sector));
        assert!(is(io(7, 0), disk, 8192) && is(io(7, 2048), disk, 12_288));
        assert!(!is(io(7, 0), disk, 8200), "what is beside it");
        assert!(!is(io(8, 0), disk, 8192) && !is(io(7, 0), DevId::new(8, 1), 8192), "what is elsewhere");
        let rest = io(7, 0).rest(Bytes(4096)).unwrap();
        assert!(is(rest, disk, 8200) && rest.rest(Bytes(4096)).is_none(), "its second bio is its last");
    }
}
