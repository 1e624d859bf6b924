//! Small readings of the kernel's text files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The most that is read of one file in /sys: they are one page, or a few.
const MOST: u64 = 64 * 1024;

/// A small file's text without the newline at its end; `None` if it cannot be read. Bytes that are no UTF-8
/// are replaced.
pub fn small(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\0']).to_string())
}

/// The numbers among the names in a folder.
pub fn numbers(dir: &Path) -> impl Iterator<Item = u32> {
    let names = std::fs::read_dir(dir).into_iter().flatten().flatten();
    names.filter_map(|e| e.file_name().to_str()?.parse().ok())
}

/// The whole of a kernel file, read in large pieces from the start: `events/header_page` gives nothing after the
/// first read, however little that asked for, and `std::fs::read` begins with 32 bytes.
pub fn whole(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    loop {
        let have = bytes.len();
        bytes.resize(have + MOST as usize, 0);
        match file.read(&mut bytes[have..]) {
            Ok(n) => bytes.truncate(have + n),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {
                bytes.truncate(have);
                continue;
            }
            Err(e) => return Err(e),
        }
        if bytes.len() == have {
            return Ok(bytes);
        }
    }
}
