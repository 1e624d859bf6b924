//! Writes many small files line by line, without open files and with a bounded buffer.
//!
//! A recording of 100 devices makes 2000 files, more than a process may have open. So lines are buffered in memory and
//! appended to their files when there are [`PENDING`] bytes. A file without lines is not created.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Number of bytes in all buffers at which they are written.
const PENDING: usize = 8 << 20;

/// A file of a [`Folder`], by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dat(usize);

/// The folder with its files.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    files: Vec<File>,
    pending: usize,
    /// The first failure; nothing is written after it.
    failure: Option<(PathBuf, io::Error)>,
}

#[derive(Debug)]
struct File {
    name: String,
    buffer: Vec<u8>,
    lines: u64,
    exists: bool,
}

impl Folder {
    /// Creates the folder unless it exists.
    pub fn create(path: &Path) -> Result<Folder, (PathBuf, io::Error)> {
        fs::create_dir_all(path).map_err(|e| (path.to_path_buf(), e))?;
        Ok(Folder { path: path.into(), files: vec![], pending: 0, failure: None })
    }

    /// Adds a file; an existing file with this name is replaced.
    pub fn file(&mut self, name: String) -> Dat {
        self.files.push(File { name, buffer: vec![], lines: 0, exists: false });
        Dat(self.files.len() - 1)
    }

    /// Adds a line to a file.
    pub fn line(&mut self, to: Dat, text: fmt::Arguments) {
        if self.failure.is_some() {
            return;
        }
        let file = &mut self.files[to.0];
        let before = file.buffer.len();
        // Writing to memory does not fail.
        let _ = file.buffer.write_fmt(text);
        file.buffer.push(b'\n');
        file.lines += 1;
        self.pending += file.buffer.len() - before;
        if self.pending >= PENDING {
            self.write_out();
        }
    }

    fn write_out(&mut self) {
        self.pending = 0;
        for file in self.files.iter_mut().filter(|f| !f.buffer.is_empty()) {
            let path = self.path.join(&file.name);
            let open = || match file.exists {
                true => OpenOptions::new().append(true).open(&path),
                false => fs::File::create(&path),
            };
            if let Err(e) = open().and_then(|mut f| f.write_all(&file.buffer)) {
                self.failure.get_or_insert((path, e));
                return;
            }
            file.exists = true;
            file.buffer = Vec::new();
        }
    }

    /// Writes the rest. Returns the name and number of lines of each file.
    pub fn finish(mut self) -> Result<Vec<(String, u64)>, (PathBuf, io::Error)> {
        if self.failure.is_none() {
            self.write_out();
        }
        match self.failure {
            Some(failure) => Err(failure),
            None => Ok(self.files.into_iter().filter(|f| f.lines > 0).map(|f| (f.name, f.lines)).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_out_in_order_and_empty_files_are_not_made() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = Folder::create(&dir.path().join("new")).unwrap();
        let (a, _empty, b) = (folder.file("a".into()), folder.file("b".into()), folder.file("c".into()));
        let line = "x".repeat(1000);
        for i in 0..20_000 {
            folder.line(if i % 2 == 0 { a } else { b }, format_args!("{i} {line}"));
        }
        assert_eq!(folder.finish().unwrap(), [("a".to_string(), 10_000), ("c".to_string(), 10_000)]);
        let text = fs::read_to_string(dir.path().join("new/a")).unwrap();
        let numbers: Vec<u64> = text.lines().map(|l| l.split(' ').next().unwrap().parse().unwrap()).collect();
        assert_eq!(numbers, (0..20_000).step_by(2).collect::<Vec<_>>());
        assert!(!dir.path().join("new/b").exists());
    }

    #[test]
    fn a_failure_names_the_file() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("taken")).unwrap();
        let mut folder = Folder::create(dir.path()).unwrap();
        let taken = folder.file("taken".into());
        folder.line(taken, format_args!("1"));
        assert_eq!(folder.finish().unwrap_err().0, dir.path().join("taken"));
    }
}
