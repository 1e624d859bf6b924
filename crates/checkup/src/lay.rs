//! Lays the data file that is read later, and learns by it how fast the disk writes.

use crate::error::{Error, Result};
use crate::signals::Signals;
use record::At;
use rustix::fs::{fadvise, Advice};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Written and made safe at a time: so the time that is left over is known.
const CHUNK: usize = 4 << 20;
/// No smaller, however slow the disk is.
const LEAST: u64 = 8 << 20;

/// What was laid.
#[derive(Clone, Copy, Debug)]
pub struct Laid {
    /// Bytes.
    pub size: u64,
    /// Bytes a second, each 4 MiB made safe.
    pub bandwidth: u64,
}

/// Writes up to `size` bytes, and stops after `most` time. They cannot be compressed, as a disk may do.
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
    // Reads are to come from the disk; who ignores this answers from memory, and direct reads do not ask it.
    let _ = fadvise(&file, 0, None, Advice::DontNeed);
    Ok(Laid { size: laid, bandwidth })
}
