//! Writes the data file that is read later, and measures how fast the disk writes.

use crate::error::{Error, Result};
use crate::signals::Signals;
use record::At;
use rustix::fs::{fadvise, Advice};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes that are written and synced at a time: so the deadline is checked often.
const CHUNK: usize = 4 << 20;
/// Minimal size, however slow the disk is.
const LEAST: u64 = 8 << 20;

/// The data file that was written.
#[derive(Clone, Copy, Debug)]
pub struct Laid {
    /// Its size in bytes.
    pub size: u64,
    /// Bytes per second, with a sync after each 4 MiB.
    pub bandwidth: u64,
}

/// Writes up to `size` bytes, and stops after `most` time. The bytes are random, so a disk cannot compress them.
pub fn lay(path: &Path, size: u64, most: Duration, signals: &Signals) -> Result<Laid> {
    let began = Instant::now();
    let mut file = File::create(path).at("writing the data file", path)?;
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut chunk = vec![0u8; CHUNK];
    let mut laid = 0;
    while laid < size && (laid < LEAST || began.elapsed() < most) {
        if signals.came() {
            return Err(Error::Interrupted);
        }
        for word in chunk.chunks_exact_mut(8) {
            // xorshift64 (Marsaglia 2003).
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            word.copy_from_slice(&random.to_le_bytes());
        }
        file.write_all(&chunk).and_then(|()| file.sync_data()).at("writing the data file", path)?;
        laid += CHUNK as u64;
    }
    let bandwidth = (laid as f64 / began.elapsed().as_secs_f64().max(1e-6)) as u64;
    file.sync_all().at("writing the data file", path)?;
    // Reads shall come from the disk; a file system that ignores this answers from memory, except for direct reads.
    let _ = fadvise(&file, 0, None, Advice::DontNeed);
    Ok(Laid { size: laid, bandwidth })
}
