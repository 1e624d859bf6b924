//! Reads the documents beside a recording, whatever other files are there.
//!
//! A folder may be huge, full of traces, or hostile. Therefore only regular files are opened (a pipe would never end,
//! a link may lead anywhere), only up to fixed sizes, and documents that were not read are reported.

use crate::document::kind_by_name;
use crate::system::System;
use capture::SYSTEM_JSON;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Limit on the size of a document in bytes. `/proc/mounts` of a busy container host has about 1 MB.
pub const MOST_BYTES: u64 = 4 << 20;
/// Limit on the size of `system.json` in bytes: it may have the extents of loop devices' files, twice 130 bytes for each, up to
/// 100,000 per file.
pub const MOST_BYTES_OF_SYSTEM_JSON: u64 = 32 << 20;
/// Limit on the total size of all documents in bytes.
pub const MOST_BYTES_IN_ALL: u64 = 64 << 20;
/// Limit on directory entries that are examined.
pub const MOST_FILES: usize = 10_000;

/// Bytes at the start of a file that are checked for zero bytes, to tell whether it is text.
const LOOK: usize = 4096;

impl System {
    /// Reads all documents of a capture.
    ///
    /// `path` is the folder of the capture, whose text files are all examined, or a file in it. Beside a single file, only
    /// documents with known names are read (`queue-vda.txt`, `mounts.txt`, `settings.txt`, ...), since the folder may
    /// have many other files. If nothing is found or the folder does not exist, the system is empty: see [`System::sources`] and
    /// [`System::skipped`].
    pub fn read(path: &Path) -> System {
        let mut system = System::default();
        let mut left = MOST_BYTES_IN_ALL;
        let (folder, any_name) = match path.is_dir() {
            true => (path, true),
            false => (path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")), false),
        };
        let names = match names(folder) {
            Ok(names) => names,
            Err(e) => {
                system.skip(&folder.display().to_string(), format!("cannot list the folder: {e}"));
                return system;
            }
        };
        if names.len() == MOST_FILES {
            system.skip(
                &folder.display().to_string(),
                format!("only {MOST_FILES} of its files were looked at"),
            );
        }
        // The recorder's own snapshot comes first: it was taken at the start of the recording.
        if names.iter().any(|name| name == SYSTEM_JSON) {
            let mut own = MOST_BYTES_OF_SYSTEM_JSON;
            match load(&folder.join(SYSTEM_JSON), MOST_BYTES_OF_SYSTEM_JSON, &mut own) {
                Ok(content) => {
                    system.add_document(SYSTEM_JSON, &content);
                }
                Err(why) => system.skip(SYSTEM_JSON, why),
            }
        }
        // Next documents with known names, which have precedence over those recognised by content.
        for name in names.iter().filter(|name| kind_by_name(name).is_some()) {
            match load(&folder.join(name), MOST_BYTES, &mut left) {
                Ok(content) => {
                    system.add_document(name, &content);
                }
                Err(why) => system.skip(name, why),
            }
        }
        let own_name = path.file_name().and_then(|name| name.to_str());
        for name in names.iter().filter(|name| kind_by_name(name).is_none()) {
            let plain = name.ends_with(".txt") || !name.contains('.');
            let asked_for = own_name == Some(name) && name != SYSTEM_JSON;
            if !(asked_for || (any_name && plain)) {
                continue;
            }
            // An unreadable file is not reported here: it was hardly a document.
            if let Ok(content) = load(&folder.join(name), MOST_BYTES, &mut left) {
                system.add_document(name, &content);
            }
        }
        system
    }
}

/// The names of a folder's entries, sorted; at most [`MOST_FILES`]. Names in invalid UTF-8 are left out.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = fs::read_dir(folder)?.filter_map(Result::ok).take(MOST_FILES);
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    Ok(names)
}

/// The content of a text file of at most `most` bytes, subtracted from the budget `left`; or the reason for a failure.
fn load(path: &Path, most: u64, left: &mut u64) -> Result<Vec<u8>, String> {
    let cannot = |e: io::Error| format!("cannot read it: {e}");
    let facts = fs::symlink_metadata(path).map_err(cannot)?;
    if !facts.is_file() {
        return Err("not a regular file".into());
    }
    if facts.len() > most {
        return Err(format!("{} bytes are too many for a document (at most {most})", facts.len()));
    }
    if facts.len() > *left {
        return Err(format!("more than {MOST_BYTES_IN_ALL} bytes of documents"));
    }
    let file = File::open(path).map_err(cannot)?;
    let mut content = Vec::new();
    file.take(most.min(*left)).read_to_end(&mut content).map_err(cannot)?;
    *left -= content.len() as u64;
    if content[..content.len().min(LOOK)].contains(&0) {
        return Err("not text".into());
    }
    Ok(content)
}
