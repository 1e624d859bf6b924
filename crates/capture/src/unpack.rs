//! Converts a streamed capture back to a folder with a trace.dat.
//!
//! Reads what `iowhy record -o -` sends ([`crate::Stream`] describes the layout). Input is not trusted: only regular
//! files with plain names are accepted, a part must follow the previous one, and oddities are reported. A truncated
//! stream yields the capture up to that point.

use crate::datfile::{Head, Pages};
use crate::error::{At, Error, Result};
use crate::name::{raw_name, CAPTURE_JSON, HEAD, TRACE};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
use trace::{Bytes, Cpu};

/// Limit on files of a capture, not counting parts.
const MOST_FILES: usize = 10_000;
/// Limit on CPUs in a head (NR_CPUS of the largest kernels is 8192).
const MOST_CPUS: u32 = 65_536;
/// Limit on the length of names in bytes; the recorder's are shorter.
const LONGEST_NAME: usize = 100;

/// The result of unpacking a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unpacked {
    /// Whether the stream was complete.
    pub whole: bool,
    /// Oddities, in words.
    pub notes: Vec<String>,
}

/// Whether a stream with this start (at least 262 bytes) is a tar.
pub fn looks_like_tar(start: &[u8]) -> bool {
    start.get(257..262) == Some(b"ustar")
}

/// Unpacks a stream into the folder `to`, which must be empty.
pub fn unpack(stream: impl Read, to: &Path) -> Result<Unpacked> {
    let mut done = Unpacked::default();
    // Growing files, each with the number of its next part.
    let mut growing: BTreeMap<String, (File, u32)> = BTreeMap::new();
    let mut files = 0;
    let mut tar = tar::Archive::new(stream);
    for entry in tar.entries().at("reading the stream", Path::new("-"))? {
        let outcome = entry.and_then(|mut e| {
            let name = e.path()?.to_string_lossy().into_owned();
            if e.header().entry_type() != tar::EntryType::Regular || !is_plain(&name) {
                return Ok(Some(format!("{name:?} in the stream is not a file of a capture")));
            }
            let Some((whole, part)) = part_of(&name) else {
                files += 1;
                if files > MOST_FILES {
                    return Err(io::Error::other("the stream has too many files"));
                }
                io::copy(&mut e, &mut File::create(to.join(&name))?)?;
                done.whole |= name == CAPTURE_JSON;
                return Ok(None);
            };
            if !growing.contains_key(whole) {
                if growing.len() >= MOST_FILES {
                    return Err(io::Error::other("the stream has too many files"));
                }
                let file = OpenOptions::new().create_new(true).append(true).open(to.join(whole))?;
                growing.insert(whole.to_string(), (file, 0));
            }
            let Some((file, next)) = growing.get_mut(whole) else { return Ok(None) };
            if part != *next {
                return Ok(Some(format!(
                    "part {part} of {whole} came where {next} belongs, and was left out"
                )));
            }
            *next += 1;
            io::copy(&mut e, file)?;
            Ok(None)
        });
        match outcome {
            Ok(note) => done.notes.extend(note),
            Err(e) if e.kind() == io::ErrorKind::StorageFull => return Err(e).at("unpacking the stream", to),
            Err(e) => {
                done.notes.push(format!("the stream breaks off: {e}"));
                break;
            }
        }
    }
    drop(growing);
    if !done.whole {
        done.notes.push("the stream ends early: this is the capture up to there".into());
    }
    assemble(to)?;
    Ok(done)
}

/// Makes `trace.dat` from a folder's `trace.head` and `trace.cpuN.raw`, which are then removed.
pub fn assemble(dir: &Path) -> Result<()> {
    let head_path = dir.join(HEAD);
    let mut file = match File::open(&head_path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Err(Error::refused(
                format!("{}: no {HEAD}: not a capture in raw form", dir.display()),
                "give what `iowhy record -o -` sent, from its beginning",
            ))
        }
        other => other.at("opening", &head_path)?,
    };
    let (head, regions) = Head::read(&mut file, &head_path)?;
    let cpus = (regions.len() as u32).min(MOST_CPUS);
    let mut pages = Vec::new();
    for cpu in (0..cpus).map(Cpu) {
        let Ok(file) = File::open(dir.join(raw_name(cpu))) else { continue };
        let size = file.metadata().map_or(0, |m| m.len());
        // A truncated part may end with an incomplete page.
        let bytes = Bytes(size - size % u64::from(head.page_size.max(1)));
        pages.push(Pages { cpu, file, bytes });
    }
    let path = dir.join(TRACE);
    let mut out =
        OpenOptions::new().read(true).write(true).create_new(true).open(&path).at("making", &path)?;
    head.write(&mut out, &path, cpus, &mut pages)?;
    for p in &pages {
        let _ = fs::remove_file(dir.join(raw_name(p.cpu)));
    }
    fs::remove_file(&head_path).at("removing", &head_path)
}

/// Whether a name is plain: no folders, not hidden, only letters, digits, `.`, `-` and `_`.
fn is_plain(name: &str) -> bool {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    name.len() <= LONGEST_NAME
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(fine)
}

/// The file and number of a part: `samples.jsonl.00012` is part 12 of `samples.jsonl`.
fn part_of(name: &str) -> Option<(&str, u32)> {
    let (whole, number) = name.rsplit_once('.')?;
    let digits = number.len() >= 5 && number.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| number.parse().ok()).flatten().map(|n| (whole, n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Stream;
    use proptest::prelude::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Sent(Arc<Mutex<Vec<u8>>>);
    impl io::Write for Sent {
        fn write(&mut self, b: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(b);
            Ok(b.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn sent() -> Vec<u8> {
        let sent = Sent::default();
        let s = Stream::new(Box::new(sent.clone()));
        let head = Head { page_size: 4096, clock: "[mono]".into(), ..Head::default() };
        s.file(HEAD, &head.bytes(2)).unwrap();
        let mut raw = s.parts(raw_name(Cpu(1)));
        raw.write(&[1; 4096]).unwrap();
        raw.write(&[2; 4096]).unwrap();
        s.parts("samples.jsonl").write(b"{}\n").unwrap();
        s.file(CAPTURE_JSON, b"{}").unwrap();
        s.end().unwrap();
        let bytes = sent.0.lock().unwrap().clone();
        bytes
    }

    #[test]
    fn a_whole_stream() {
        let dir = tempfile::tempdir().unwrap();
        assert!(looks_like_tar(&sent()));
        let done = unpack(&sent()[..], dir.path()).unwrap();
        assert_eq!(done, Unpacked { whole: true, notes: vec![] });
        let mut file = File::open(dir.path().join(TRACE)).unwrap();
        let (_, regions) = Head::read(&mut file, Path::new("t")).unwrap();
        assert_eq!(regions.iter().map(|r| r.bytes.0).collect::<Vec<_>>(), [0, 8192]);
        assert_eq!(fs::read(dir.path().join("samples.jsonl")).unwrap(), b"{}\n");
        assert!(!dir.path().join(HEAD).exists() && !dir.path().join("trace.cpu1.raw").exists());
    }

    #[test]
    fn a_stream_that_breaks_off() {
        let dir = tempfile::tempdir().unwrap();
        let all = sent();
        // In the middle of the second part: the first page is complete.
        let cut = all.windows(8).position(|w| w == [2; 8]).unwrap() + 100;
        let done = unpack(&all[..cut], dir.path()).unwrap();
        assert!(!done.whole && done.notes.len() == 2, "{done:?}");
        let mut file = File::open(dir.path().join(TRACE)).unwrap();
        assert_eq!(Head::read(&mut file, Path::new("t")).unwrap().1[1].bytes, Bytes(4096));
    }

    #[test]
    fn nothing_leaves_the_folder() {
        for bad in ["../x", "/etc/passwd", "a/b", ".hidden", "", "a b"] {
            assert!(!is_plain(bad), "{bad}");
        }
        assert_eq!(part_of("trace.cpu0.raw.00012"), Some(("trace.cpu0.raw", 12)));
        assert_eq!(part_of("fio.json"), None);
    }

    proptest! {
        #[test]
        fn any_stream(cut in 0usize..12_000, at in 0usize..12_000, byte: u8) {
            let dir = tempfile::tempdir().unwrap();
            let mut bytes = sent();
            let i = at % bytes.len();
            bytes[i] = byte;
            bytes.truncate(cut);
            let _ = unpack(&bytes[..], dir.path());
        }
    }
}
