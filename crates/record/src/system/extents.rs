//! Finds the location of a file on its device (FIEMAP, Documentation/filesystems/fiemap.rst).
//!
//! A loop device's requests become requests of the lower device at other sectors. Only the extents of the backing file
//! relate the two.

use capture::{Extent, Extents};
use std::path::Path;

/// Limit on extents per file: 64 GiB in the smallest extents of 4 KiB would be 16 million.
const MOST: usize = 100_000;

/// Asks the file system. Data that is not yet allocated has no location; nothing is flushed for this.
pub fn of(file: &Path) -> Extents {
    use fiemap::FiemapExtentFlags as F;
    let mut extents = Extents::default();
    let map = match fiemap::fiemap(file) {
        Ok(map) => map,
        Err(e) => return Extents { error: Some(e.to_string()), ..extents },
    };
    for extent in map {
        let e = match extent {
            Ok(e) => e,
            Err(e) => {
                extents.error = Some(e.to_string());
                break;
            }
        };
        if e.fe_flags.intersects(F::UNKNOWN | F::DELALLOC | F::ENCODED | F::DATA_INLINE | F::DATA_TAIL) {
            continue;
        }
        if extents.list.len() == MOST {
            extents.left_out += 1;
            break;
        }
        extents.list.push(Extent { file: e.fe_logical, device: e.fe_physical, len: e.fe_length });
    }
    extents
}
