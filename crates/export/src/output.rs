//! Files of an export. They are written while a recording is read, where failures cannot be reported: the first failure
//! is kept, nothing is written after it, and it is reported at the end.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The path that could not be written, and the error.
pub type Failure = (PathBuf, io::Error);

/// The folder into which an export is written.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Creates the folder unless it exists.
    pub fn create(path: &Path) -> Result<Folder, Failure> {
        fs::create_dir_all(path).map_err(|e| (path.to_path_buf(), e))?;
        Ok(Folder(path.into()))
    }

    /// Creates a file in the folder; an existing one is replaced. In its name, everything but letters, digits and `.-_`
    /// becomes `_`, so that no name of a device leads out of the folder.
    pub fn file(&self, name: &str) -> Result<Output, Failure> {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let name: String = name.chars().map(plain).collect();
        let path = self.0.join(&name);
        let file = File::create(&path).map_err(|e| (path.clone(), e))?;
        Ok(Output { path, name, file: BufWriter::with_capacity(BUFFER, file), failure: None, entries: 0 })
    }
}

/// Number of bytes that are buffered before they are written.
const BUFFER: usize = 256 << 10;

/// A file of an export that is being written.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    name: String,
    file: BufWriter<File>,
    failure: Option<io::Error>,
    /// Number of entries written so far: lines, packets, histograms.
    pub entries: u64,
}

impl Output {
    /// Writes the rest. Returns the file's name and its number of entries, or the first failure.
    pub fn finish(mut self) -> Result<(String, u64), Failure> {
        let flushed = self.file.flush();
        match self.failure.or(flushed.err()) {
            Some(e) => Err((self.path, e)),
            None => Ok((self.name, self.entries)),
        }
    }
}

/// Never fails: see the module's documentation.
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failure.is_none() {
            self.failure = self.file.write_all(bytes).err();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.failure.is_none() {
            self.failure = self.file.flush().err();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_at_the_end_and_names_lead_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::create(&dir.path().join("a/b")).unwrap();
        let mut file = folder.file("../md/0 x").unwrap();
        file.write_all(b"text").unwrap();
        file.entries += 1;
        assert_eq!(file.finish().unwrap(), (".._md_0_x".to_string(), 1));
        assert_eq!(fs::read(dir.path().join("a/b/.._md_0_x")).unwrap(), b"text");
        let file = File::open("/dev/null").unwrap();
        let (path, name) = (PathBuf::from("/dev/null"), String::new());
        let mut broken = Output { path, name, file: BufWriter::new(file), failure: None, entries: 0 };
        broken.write_all(b"text").unwrap();
        assert_eq!(broken.finish().unwrap_err().0, PathBuf::from("/dev/null"));
    }
}
