//! A capture as a tar stream, for `-o -`: the same files as in a folder, with long files in parts.
//!
//! In a tar, an entry's size precedes its data, so a growing file cannot be one entry. It is sent
//! as parts `NAME.00000`, `NAME.00001`, ..., which joined in order are the file. A short file may be sent
//! twice (its state at the start, and at the end); as always in tar, the later one counts. A
//! truncated stream is thus a capture up to that point, and `tar x` unpacks it.

use crate::error::{At, Result};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::UNIX_EPOCH;

/// A tar stream that several threads write to, each a whole entry at a time.
#[derive(Clone)]
pub struct Stream(Arc<Mutex<tar::Builder<Box<dyn Write + Send>>>>);

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stream")
    }
}

impl Stream {
    /// A stream that writes to `to`.
    pub fn new(to: Box<dyn Write + Send>) -> Stream {
        Stream(Arc::new(Mutex::new(tar::Builder::new(to))))
    }

    /// Sends a whole file.
    pub fn file(&self, name: &str, data: &[u8]) -> Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_size(data.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(UNIX_EPOCH.elapsed().map_or(0, |d| d.as_secs()));
        let mut tar = self.0.lock().unwrap_or_else(|e| e.into_inner());
        tar.append_data(&mut header, name, data).at("writing the stream", Path::new("standard output"))?;
        tar.get_mut().flush().at("writing the stream", Path::new("standard output"))
    }

    /// Starts a file that will be sent in parts.
    pub fn parts(&self, name: impl Into<String>) -> Parts {
        Parts { stream: self.clone(), name: name.into(), next: 0 }
    }

    /// Writes the end of the tar.
    pub fn end(&self) -> Result<()> {
        let mut tar = self.0.lock().unwrap_or_else(|e| e.into_inner());
        tar.finish()
            .and_then(|()| tar.get_mut().flush())
            .at("ending the stream", Path::new("standard output"))
    }
}

/// A growing file in a stream.
#[derive(Debug)]
pub struct Parts {
    stream: Stream,
    name: String,
    next: u32,
}

impl Parts {
    /// Sends `data` as the next part.
    pub fn write(&mut self, data: &[u8]) -> Result<()> {
        let name = format!("{}.{:05}", self.name, self.next);
        self.next += 1;
        self.stream.file(&name, data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);
    impl Write for Shared {
        fn write(&mut self, b: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(b);
            Ok(b.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn parts_join_to_the_file() {
        let out = Shared::default();
        let s = Stream::new(Box::new(out.clone()));
        let mut p = s.parts("trace.cpu0.raw");
        p.write(b"ab").unwrap();
        s.file("system.json", b"{}").unwrap();
        p.write(b"cd").unwrap();
        s.end().unwrap();
        let bytes = out.0.lock().unwrap().clone();
        let mut joined = Vec::new();
        let mut names = Vec::new();
        for e in tar::Archive::new(&bytes[..]).entries().unwrap() {
            let mut e = e.unwrap();
            let name = e.path().unwrap().display().to_string();
            if name.starts_with("trace.cpu0.raw.") {
                e.read_to_end(&mut joined).unwrap();
            }
            names.push(name);
        }
        assert_eq!(names, ["trace.cpu0.raw.00000", "system.json", "trace.cpu0.raw.00001"]);
        assert_eq!(joined, b"abcd");
    }
}
