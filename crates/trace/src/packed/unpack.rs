//! Unpacks the files of a tar into a spool: joins parts, lets later copies replace earlier ones, and leaves out the rest.
//!
//! Invariant: every file is written into the spool, or into a folder directly below it (`iowhy pack` prefixes file names with
//! the capture's name). No link is ever created, so no name can lead elsewhere.

use crate::error::Error;
use crate::spool::Spool;
use crate::tracedat::raw_cpu;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// Limit on files; a capture has ten, besides the output of the load.
const MOST_FILES: usize = 10_000;
/// The longest name of a file (`NAME_MAX`, include/uapi/linux/limits.h).
const LONGEST_NAME: usize = 255;
/// Bytes copied at a time.
const CHUNK: usize = 128 << 10;
/// Name of a file until it is complete.
const UNFINISHED: &str = ".unfinished";
/// Besides the pages, the only file that a stream carries in parts.
const SAMPLES: &str = "samples.jsonl";
/// Fewest digits of a part's number.
const PART_DIGITS: usize = 5;

/// The file that a part belongs to, and the part's number: `trace.cpu0.raw.00012` is (`trace.cpu0.raw`, 12).
pub fn part_of(name: &str) -> Option<(&str, u32)> {
    let (whole, number) = name.rsplit_once('.')?;
    let digits = number.len() >= PART_DIGITS && number.bytes().all(|b| b.is_ascii_digit());
    let grows = whole == SAMPLES || raw_cpu(whole).is_some();
    Some((whole, number.parse().ok()?)).filter(|_| digits && grows)
}

/// State of one file.
#[derive(Debug, Default)]
struct Taken {
    /// Number of the next expected part.
    next: u32,
    /// Parts that were missing.
    missing: u64,
    /// Parts that came after a later part, or twice.
    late: u64,
}

/// Unpacks files into a spool.
#[derive(Debug)]
pub struct Unpacker {
    /// The spool with the files unpacked so far.
    pub spool: Spool,
    files: BTreeMap<PathBuf, Taken>,
    buffer: Vec<u8>,
    links: u64,
    outside: u64,
    too_many: u64,
    broken: Option<String>,
    notes: Vec<String>,
}

impl Unpacker {
    /// An unpacker with an empty spool.
    pub fn new(spool: Spool) -> Unpacker {
        Unpacker {
            spool,
            files: BTreeMap::new(),
            buffer: vec![0; CHUNK],
            links: 0,
            outside: 0,
            too_many: 0,
            broken: None,
            notes: vec![],
        }
    }

    /// Records that reading cannot continue, and why. Files unpacked so far remain.
    pub fn broken(&mut self, why: String) {
        self.broken.get_or_insert(why);
    }

    /// Whether reading cannot continue.
    pub fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Unpacks an entry of a tar. Errors are those of the spool; problems of the tar are only noted.
    pub fn entry<R: Read>(&mut self, entry: &mut tar::Entry<R>) -> Result<(), Error> {
        let kind = entry.header().entry_type();
        if kind.is_file() || kind.is_contiguous() {
            let path = entry.path().map(|p| p.into_owned());
            let size = entry.size();
            match path {
                Ok(path) => self.take(&path, size, entry)?,
                Err(_) => self.outside += 1,
            }
        } else if !kind.is_dir() && !kind.is_pax_global_extensions() {
            self.links += 1;
        }
        // Entries that are left out must also be read, to reach the next one.
        if let Err(e) = io::copy(entry, &mut io::sink()) {
            self.broken(e.to_string());
        }
        Ok(())
    }

    /// Unpacks a file of `size` bytes, or a part of a file.
    pub fn take(&mut self, path: &Path, size: u64, data: &mut dyn Read) -> Result<(), Error> {
        let Some(names) = names(path) else {
            self.outside += 1;
            return Ok(());
        };
        let (folder, name) = match names[..] {
            [name] => (None, name),
            [folder, name] => (Some(folder), name),
            // Files in deeper folders are never read.
            _ => return Ok(()),
        };
        let (whole, part) = part_of(name).map_or((name, None), |(whole, part)| (whole, Some(part)));
        let folder = PathBuf::from(folder.unwrap_or_default());
        let file = folder.join(whole);
        if self.files.len() >= MOST_FILES && !self.files.contains_key(&file) {
            self.too_many += 1;
            return Ok(());
        }
        fs::create_dir_all(self.spool.path().join(&folder)).map_err(|e| self.spool.fail(e))?;
        match part {
            Some(part) => self.part(&file, part, size, data),
            None => self.whole(&file, size, data),
        }
    }

    /// Unpacks a file of unknown size, up to the end of `data`.
    pub fn take_all(&mut self, name: &Path, data: &mut dyn Read) -> Result<(), Error> {
        let to = self.spool.path().join(name);
        let mut out = File::create(to).map_err(|e| self.spool.fail(e))?;
        self.copy(data, &mut out)?;
        Ok(())
    }

    fn part(&mut self, file: &Path, part: u32, size: u64, data: &mut dyn Read) -> Result<(), Error> {
        let taken = self.files.entry(file.to_owned()).or_default();
        if part < taken.next {
            taken.late += 1;
            return Ok(());
        }
        taken.missing += u64::from(part - taken.next);
        taken.next = part.saturating_add(1);
        let to = self.spool.path().join(file);
        let mut out =
            OpenOptions::new().append(true).create(true).open(to).map_err(|e| self.spool.fail(e))?;
        let copied = self.copy(data, &mut out)?;
        self.check(file, copied, size);
        Ok(())
    }

    /// A later copy replaces an earlier one, but only if it is complete.
    fn whole(&mut self, file: &Path, size: u64, data: &mut dyn Read) -> Result<(), Error> {
        let unfinished = self.spool.path().join(UNFINISHED);
        let mut out = File::create(&unfinished).map_err(|e| self.spool.fail(e))?;
        let copied = self.copy(data, &mut out)?;
        self.check(file, copied, size);
        let before = self.files.insert(file.to_owned(), Taken::default());
        if copied == size || before.is_none() {
            fs::rename(&unfinished, self.spool.path().join(file)).map_err(|e| self.spool.fail(e))?;
        } else {
            self.notes.push(format!("{}: the copy that came first is used", file.display()));
        }
        Ok(())
    }

    fn check(&mut self, file: &Path, copied: u64, size: u64) {
        if copied < size {
            self.broken(format!("{} should have {size} more bytes, {copied} came", file.display()));
        }
    }

    /// Copies to the end, or until reading fails; returns the number of bytes copied.
    fn copy(&mut self, data: &mut dyn Read, out: &mut File) -> Result<u64, Error> {
        let mut copied = 0;
        loop {
            match data.read(&mut self.buffer) {
                Ok(0) => return Ok(copied),
                Ok(n) => {
                    self.spool.write(out, &self.buffer[..n])?;
                    copied += n as u64;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    self.broken(e.to_string());
                    return Ok(copied);
                }
            }
        }
    }

    /// Notes about damage and about what was left out.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(why) = &self.broken {
            notes.push(format!("it breaks off ({why}): what came before is used"));
        }
        notes.extend(self.notes.iter().cloned());
        for (file, taken) in &self.files {
            let file = file.display();
            if taken.missing > 0 {
                notes.push(format!("{file}: parts missing, with what they held: {}", taken.missing));
            }
            if taken.late > 0 {
                notes.push(format!("{file}: parts left out because they came late or twice: {}", taken.late));
            }
        }
        for (n, what) in [
            (self.links, "links and special files"),
            (self.outside, "files whose names lead outside of it, or are invalid"),
            (self.too_many, "files more than a capture can have"),
        ] {
            if n > 0 {
                notes.push(format!("left out: {what}: {n}"));
            }
        }
        notes
    }
}

/// The components of a path; `None` if it leads anywhere but down, or if a component is no valid file name.
fn names(path: &Path) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => {
                let name =
                    name.to_str().filter(|n| n.len() <= LONGEST_NAME && !n.contains(char::is_control))?;
                names.push(name);
            }
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!names.is_empty() && names[0] != UNFINISHED).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_down_or_nowhere() {
        assert_eq!(names(Path::new("./c/./trace.dat")).unwrap(), ["c", "trace.dat"]);
        for bad in ["/etc/passwd", "../x", "a/../../x", "", ".", "a\nb", UNFINISHED, &"n".repeat(256)] {
            assert_eq!(names(Path::new(bad)), None, "{bad:?}");
        }
    }

    #[test]
    fn only_what_grows_has_parts() {
        assert_eq!(part_of("trace.cpu3.raw.00012"), Some(("trace.cpu3.raw", 12)));
        assert_eq!(part_of("samples.jsonl.100000"), Some(("samples.jsonl", 100_000)));
        for other in [
            "trace.dat.00000",
            "vda.blktrace.0",
            "samples.jsonl.1",
            "samples.jsonl.0000x",
            "samples.jsonl.99999999999",
        ] {
            assert_eq!(part_of(other), None, "{other}");
        }
    }
}
