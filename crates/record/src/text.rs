//! Reads text files of the kernel.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Limit on bytes read from a file in /sys: they have one page, or a few.
const MOST: u64 = 64 * 1024;

/// The text of a small file without trailing newlines; `None` if it cannot be read. Invalid UTF-8
/// is replaced.
pub fn small(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\0']).to_string())
}

/// Names in a folder that are numbers.
pub fn numbers(dir: &Path) -> impl Iterator<Item = u32> {
    let names = std::fs::read_dir(dir).into_iter().flatten().flatten();
    names.filter_map(|e| e.file_name().to_str()?.parse().ok())
}

/// A whole kernel file, read from the start in large pieces: `events/header_page` returns nothing after the
/// first read, however small that was, and `std::fs::read` begins with 32 bytes.
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
