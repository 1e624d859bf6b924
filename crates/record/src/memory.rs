//! Limits on the memory of a recording: the kernel's buffers, and a trace that is kept in memory until the end.

use capture::{Error, Result};
use std::path::Path;
use trace::Bytes;

/// Default buffer per CPU: at a million events of 57 bytes per second it lasts 290 ms.
const DEFAULT_BUFFER_KIB: u64 = 16 * 1024;
/// Smallest useful buffer per CPU.
const LEAST_BUFFER_KIB: u64 = 256;
/// By default, all buffers together take at most this part (1/16) of the available memory.
const BUFFERS_PART: u64 = 16;
/// As [`BUFFERS_PART`], for a requested size (1/2): more would harm the host.
const BUFFERS_PART_ASKED: u64 = 2;
/// A trace in memory takes at most this part (1/4) of the available memory.
const KEPT_PART: u64 = 4;

/// `MemAvailable` in /proc/meminfo; `None` if it is missing. `root` is /proc.
pub fn available(root: &Path) -> Option<Bytes> {
    let text = crate::text::small(&root.join("meminfo"))?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes(kib.saturating_mul(1024)))
}

/// Size of the buffer in KiB for each of `cpus` processors; `asked` is the size that the user requested.
pub fn buffer_kib(asked: Option<u64>, cpus: u64, available: Bytes) -> Result<u64> {
    let cpus = cpus.max(1);
    let kib = available.0 / 1024;
    match asked {
        None => Ok((kib / BUFFERS_PART / cpus).clamp(LEAST_BUFFER_KIB, DEFAULT_BUFFER_KIB)),
        Some(asked) if asked.saturating_mul(cpus) > kib / BUFFERS_PART_ASKED => Err(Error::refused(
            format!(
                "buffers of {asked} KiB for each of {cpus} CPUs are more than half of the memory available"
            ),
            format!("give at most --buffer {}K", kib / BUFFERS_PART_ASKED / cpus),
        )),
        Some(0) => Err(Error::refused("a buffer of size 0", "use for example --buffer 16M")),
        Some(asked) => Ok(asked),
    }
}

/// Limit on the size of a trace in memory.
pub fn most_kept(available: Bytes) -> Bytes {
    Bytes(available.0 / KEPT_PART)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn buffers_fit_the_machine() {
        assert_eq!(buffer_kib(None, 2, Bytes(16 * GIB)).unwrap(), DEFAULT_BUFFER_KIB);
        assert_eq!(buffer_kib(None, 256, Bytes(16 * GIB)).unwrap(), 4096);
        assert_eq!(buffer_kib(None, 256, Bytes(GIB / 8)).unwrap(), LEAST_BUFFER_KIB);
        assert_eq!(buffer_kib(Some(8), 2, Bytes(GIB)).unwrap(), 8);
        assert!(buffer_kib(Some(u64::MAX), 2, Bytes(GIB)).is_err());
        assert!(buffer_kib(Some(0), 2, Bytes(GIB)).is_err());
        let e = buffer_kib(Some(1 << 20), 2, Bytes(2 * GIB)).unwrap_err();
        assert_eq!(e.help(), Some("give at most --buffer 524288K"));
    }

    #[test]
    fn meminfo_is_read() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("meminfo"), "MemTotal: 5 kB\nMemAvailable:  3 kB\n").unwrap();
        assert_eq!(available(dir.path()), Some(Bytes(3072)));
        std::fs::write(dir.path().join("meminfo"), "MemAvailable: lots\n").unwrap();
        assert_eq!(available(dir.path()), None);
    }
}
